//! Peers that do not keep to the protocol, and those that may not speak to the agent at all.

use crate::Outcome;
use crate::client::{Client, framed, shell};
use crate::world::World;
use flake_wire::{Exec, Program, Reply, Request, Source, Stream, VERSION, Window};
use std::io::{Read, Write};

type Case = (&'static str, fn(&World) -> Outcome);

pub(crate) const CASES: &[Case] = &[
    ("another_version_is_turned_away", another_version_is_turned_away),
    ("nothing_before_the_greeting", nothing_before_the_greeting),
    ("garbage_ends_the_connection", garbage_ends_the_connection),
    ("one_command_a_connection", one_command_a_connection),
    ("announced_descriptors_have_to_come", announced_descriptors_have_to_come),
    ("a_process_inside_is_turned_away", a_process_inside_is_turned_away),
    ("it_is_small_and_idle", it_is_small_and_idle),
];

/// Whether the agent closes the connection without having run anything.
fn is_closed(client: &mut Client) -> bool {
    while let Some(reply) = client.next() {
        if !matches!(reply, Reply::Hello { .. } | Reply::Credit { .. }) {
            return false;
        }
    }
    true
}

fn another_version_is_turned_away(world: &World) -> Outcome {
    let mut client = Client::silent(world.stream());
    client.say(&Request::Hello { version: VERSION + 1 });
    assert!(is_closed(&mut client));
    Ok(())
}

fn nothing_before_the_greeting(world: &World) -> Outcome {
    let mut client = Client::silent(world.stream());
    client.say(&Request::Exec(Box::new(shell("true"))));
    assert!(is_closed(&mut client));
    Ok(())
}

fn garbage_ends_the_connection(world: &World) -> Outcome {
    for garbage in
        [&[0xff; 64][..], &[0, 0, 0, 0, 0], &[2, 0, 0, 0, 9, 9], &[5, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]]
    {
        let mut stream = world.stream();
        stream.write_all(garbage)?;
        let mut rest = Vec::new();
        // Bytes that were not read make the close a reset.
        let _ = stream.read_to_end(&mut rest);
    }
    // The agent is as well as before.
    let mut client = world.client();
    client.say(&Request::Ping { token: 7 });
    assert_eq!(client.next(), Some(Reply::Pong { token: 7 }));
    Ok(())
}

fn one_command_a_connection(world: &World) -> Outcome {
    let marker = world.path("second-command");
    let mut client = world.client();
    client.start(shell("sleep 1000"));
    client.say(&Request::Exec(Box::new(shell(&format!("touch {}", marker.display())))));
    assert!(is_closed(&mut client));
    assert!(!marker.exists());
    Ok(())
}

fn announced_descriptors_have_to_come(world: &World) -> Outcome {
    let passed = Exec { streams: vec![Stream { number: 0, source: Source::Passed }], ..shell("true") };
    let terminal = Exec { streams: vec![Stream { number: 0, source: Source::Terminal }], ..shell("true") };
    for exec in [passed, terminal] {
        let mut client = world.client();
        client.say(&Request::Exec(Box::new(exec)));
        assert!(matches!(client.next(), Some(Reply::Failed(_))));
    }
    let mut client = world.client();
    client.start(Exec { terminal: Some(Window::default()), ..shell("true") });
    assert!(matches!(client.next(), Some(Reply::Exit(_))));
    Ok(())
}

fn a_process_inside_is_turned_away(world: &World) -> Outcome {
    let own = std::env::current_exe()?;
    let mut client = world.client();
    let args = vec![format!("--knock={}", world.socket().display()).into_bytes()];
    let program = Program::Path(own.to_string_lossy().into_owned().into_bytes());
    client.start(Exec { program, args, ..framed("") });
    let answer = client.finish(b"").written.remove(&1).unwrap_or_default();
    assert_eq!(String::from_utf8_lossy(&answer), "0\n", "the agent spoke to a process inside");
    Ok(())
}

fn it_is_small_and_idle(world: &World) -> Outcome {
    let status = std::fs::read_to_string(format!("/proc/{}/status", world.agent()))?;
    let rss = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).ok_or("no RssAnon")?;
    let kib: u64 = rss.trim().trim_end_matches(" kB").parse()?;
    assert!(kib < 4096, "{kib} KiB of its own");
    Ok(())
}
