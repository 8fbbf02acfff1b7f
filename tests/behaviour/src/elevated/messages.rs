//! Callers that say nothing a launcher would say.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use anyhow::{Result, anyhow, ensure};
use flake_testkit::{ADA, Outcome, processes, until};

use super::forge::{Rendezvous, handoff, privileged};
use super::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("bytes_that_are_no_message", |ground| answered(ground, b"GET / HTTP/1.1\r\n\r\n")),
    ("a_message_that_does_not_decode", |ground| {
        answered(ground, &framed(&[0, 0xff, 0xff, 0xff, 0xff, 0xff]))
    }),
    ("a_message_of_zeros", |ground| answered(ground, &[0; 64])),
    ("data_instead_of_a_message", |ground| answered(ground, &framed(&[1, 0, 0, 65, 65]))),
    ("a_message_of_an_unknown_kind", |ground| answered(ground, &framed(&[9, 0]))),
    ("a_huge_length", |ground| answered(ground, &[0xff; 4])),
    ("a_length_just_over_the_limit", |ground| {
        let length = u32::try_from(flake_wire::REQUEST_MAX + 1)?;
        answered(ground, &length.to_le_bytes())
    }),
    ("a_message_with_a_list_of_impossible_length", |ground| {
        // The environment's number of variables, as postcard writes a number.
        answered(ground, &framed(&[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]))
    }),
    ("a_caller_who_closes_at_once", |ground| closing(ground, &[])),
    ("a_caller_who_closes_in_the_middle", |ground| {
        let mut bytes = Vec::new();
        flake_wire::encode(&handoff(0), &mut bytes)?;
        closing(ground, &bytes[..bytes.len() - 1])
    }),
    ("a_caller_who_says_nothing", silent),
];

const ATTACKED: &str = "attacked";

fn framed(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or_default();
    [&length.to_le_bytes()[..], bytes].concat()
}

/// What the privileged launcher says to these bytes is a refusal, and it goes.
fn answered(ground: &Ground<'_>, bytes: &[u8]) -> Result<()> {
    let (said, ended) = talk(ground, |mut socket| {
        socket.write_all(bytes)?;
        let mut said = Vec::new();
        socket.read_to_end(&mut said)?;
        Ok(said)
    })?;
    let text = String::from_utf8_lossy(&said);
    ensure!(text.contains("nothing usable") && !text.contains('\n'), "{text:?}, {ended}");
    ensure!(ended.success() && ended.err().is_empty(), "{ended}");
    ground.nothing_ran(ATTACKED)
}

fn closing(ground: &Ground<'_>, bytes: &[u8]) -> Result<()> {
    let (path, ended) = talk(ground, |mut socket| {
        socket.write_all(bytes)?;
        let address = socket.local_addr()?;
        Ok(address.as_pathname().unwrap_or(Path::new("/")).to_owned())
    })?;
    // Sudo's part was over when the privileged launcher had found the caller.
    ensure!(ended.success(), "{ended}");
    processes::until_gone(&path.to_string_lossy())?;
    ground.nothing_ran(ATTACKED)
}

/// Lets `act` talk to the privileged launcher and waits for the end of that.
fn talk<T>(ground: &Ground<'_>, act: impl FnOnce(UnixStream) -> Result<T>) -> Result<(T, Outcome)> {
    ground.flake(ATTACKED, &[])?;
    let rendezvous = Rendezvous::of(ground.host, &ADA)?;
    thread::scope(|scope| {
        let sudo = scope.spawn(|| privileged(ATTACKED, &rendezvous.path, &["true"]).run());
        let done = rendezvous.accept().and_then(act);
        let ended = sudo.join().map_err(|_| anyhow!("sudo"))??;
        Ok((done?, ended))
    })
}

/// Sudo is done meanwhile; the privileged launcher waits for a while, holds nothing, and goes with the caller.
fn silent(ground: &Ground<'_>) -> Result<()> {
    ground.flake(ATTACKED, &[])?;
    let rendezvous = Rendezvous::of(ground.host, &ADA)?;
    let mut sudo = privileged(ATTACKED, &rendezvous.path, &["true"]).spawn()?;
    let socket = rendezvous.accept()?;
    until("the end of sudo", || sudo.try_wait().ok().flatten(), String::new)?;
    ensure!(!processes::marked(&rendezvous.path.to_string_lossy()).is_empty(), "it did not wait");
    ground.nothing_ran(ATTACKED)?;
    drop(socket);
    processes::until_gone(&rendezvous.path.to_string_lossy())?;
    ground.nothing_ran(ATTACKED)
}
