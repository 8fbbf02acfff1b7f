//! Somebody inside who has taken the agent's place.

use super::*;
use flake_core::guest::Guest;
use flake_link::Link;
use flake_schema::{Scratch, Target};
use flake_wire::{Closing, REPLY_MAX, VERSION};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

fn launch() -> Launch {
    Launch {
        name: "dev".parse().unwrap(),
        file: "/dev.yaml".into(),
        uid: 0,
        as_root: false,
        image: "dev".into(),
        reference: "dev".into(),
        image_state: String::new(),
        archive: None,
        target: Target::Entrypoint,
        args: Vec::new(),
        network: None,
        binds: Vec::new(),
        passing: None,
        env: BTreeMap::new(),
        workdir: None,
        identity: None,
        scratch: Scratch::Memory,
        options: Vec::new(),
        umask: 0o022,
        warning: None,
    }
}

fn hello(version: u16) -> Reply {
    Reply::Hello { version, agent: "9.9".into(), watch: false }
}

/// What the agent does on each connection, with what it is asked going nowhere.
type Agent = fn(UnixStream);

/// It says these.
fn says(stream: UnixStream, replies: &[Reply]) {
    let mut asked = stream.try_clone().unwrap();
    let mut link: Link<Request, Reply> = Link::new(stream.into()).unwrap();
    for reply in replies {
        link.say(reply);
    }
    link.flush();
    let mut buffer = [0; 4096];
    // The other end does not block either; until it is closed.
    while !matches!(asked.read(&mut buffer), Ok(0)) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// With an instance whose agent is this one.
fn with<T>(agent: Agent, act: impl FnOnce(&mut AgentGuest<'_>) -> T) -> T {
    let launch = launch();
    let connect = move || {
        let (ours, theirs) = UnixStream::pair()?;
        thread::spawn(move || agent(theirs));
        Ok(ours.into())
    };
    let mut guest = AgentGuest::new(Box::new(connect), &launch);
    guest.answer_within = Duration::from_secs(1);
    // So that scripts have their first connection to themselves.
    guest.agent = Some(Some(0));
    act(&mut guest)
}

fn script() -> Script<'static> {
    let timeout = Some(Duration::from_secs(20));
    Script { text: "true", mode: ProvisionMode::System, env: &[], timeout }
}

fn every_operation_fails(agent: Agent, words: &str) {
    with(agent, |guest| {
        let errors = [
            guest.run(&script(), &mut |_| {}).map(drop).unwrap_err(),
            guest.read("/f", 100).map(drop).unwrap_err(),
            guest.write("/f", b"x").unwrap_err(),
            guest.watch(&[]).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains(words), "{error}");
        }
    });
}

#[test]
fn silence_ends() {
    every_operation_fails(|stream| says(stream, &[]), "did not answer within 1 seconds");
    every_operation_fails(|stream| says(stream, &[hello(VERSION)]), "did not answer within 1 seconds");
}

#[test]
fn what_is_no_protocol_is_no_answer() {
    every_operation_fails(drop, "went away");
    every_operation_fails(|mut stream| drop(stream.write_all(&[0xff; 64])), "keep to the protocol");
    every_operation_fails(|stream| says(stream, &[Reply::Done]), "keep to the protocol");
    every_operation_fails(|stream| says(stream, &[hello(VERSION + 1)]), "release 9.9");
    every_operation_fails(
        |stream| says(stream, &[hello(VERSION), Reply::Pong { token: 1 }]),
        "keep to the protocol",
    );
    every_operation_fails(|stream| says(stream, &[hello(VERSION), hello(VERSION)]), "keep to the protocol");
}

#[test]
fn notes_are_for_others() {
    let agent: Agent =
        |stream| says(stream, &[hello(VERSION), Reply::Note { text: "x".into() }, Reply::Done]);
    with(agent, |guest| guest.write("/f", b"x")).unwrap();
}

#[test]
fn an_impossible_end_is_shown_as_it_is() {
    let agent: Agent = |stream| {
        says(stream, &[hello(VERSION), Reply::Started { pid: 0 }, Reply::Exit(Closing::Killed(255))]);
    };
    let end = with(agent, |guest| guest.run(&script(), &mut |_| {})).unwrap();
    assert_eq!(end, ScriptEnd::Killed(255));
}

#[test]
fn data_without_end_is_no_file() {
    let agent: Agent = |mut stream| {
        let mut bytes = Vec::new();
        flake_wire::encode(&hello(VERSION), &mut bytes).unwrap();
        let data = vec![0; DATA_MAX.min(REPLY_MAX - 3)];
        while stream.write_all(&bytes).is_ok() {
            bytes.clear();
            flake_wire::encode_data(CONTENT, &data, &mut bytes).unwrap();
        }
    };
    assert_eq!(with(agent, |guest| guest.read("/f", 1 << 30)).unwrap(), None);
}

#[test]
fn credit_without_end_is_no_answer() {
    let agent: Agent = |mut stream| {
        let mut bytes = Vec::new();
        flake_wire::encode(&hello(VERSION), &mut bytes).unwrap();
        while stream.write_all(&bytes).is_ok() {
            bytes.clear();
            flake_wire::encode(&Reply::Credit { stream: CONTENT, bytes: 1 }, &mut bytes).unwrap();
        }
    };
    let error = with(agent, |guest| guest.write("/f", b"x")).unwrap_err();
    assert!(error.to_string().contains("did not answer"), "{error}");
}

#[test]
fn nobody_there_is_said() {
    let launch = launch();
    let mut guest = AgentGuest::new(Box::new(|| Err(io::ErrorKind::ConnectionRefused.into())), &launch);
    let error = guest.run(&script(), &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "cannot talk to the instance: connection refused");
}
