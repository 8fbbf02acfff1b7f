//! Commands on a terminal of the agent's.

use crate::Outcome;
use crate::client::{Client, shell};
use crate::world::World;
use flake_wire::{Closing, Exec, Reply, Request, Source, Stream, Window};
use std::fs::File;
use std::io::{Read, Write};

type Case = (&'static str, fn(&World) -> Outcome);

pub(crate) const CASES: &[Case] = &[
    ("it_is_the_controlling_terminal", it_is_the_controlling_terminal),
    ("keys_stop_and_interrupt", keys_stop_and_interrupt),
    ("the_window_changes", the_window_changes),
];

fn on_terminal(world: &World, script: &str) -> (Client, File) {
    let streams = [0, 1, 2].map(|number| Stream { number, source: Source::Terminal }).to_vec();
    let terminal = Some(Window { rows: 33, columns: 77, width: 0, height: 0 });
    let mut client = world.client();
    client.start(Exec { streams, terminal, ..shell(script) });
    let master = client.take_passed().expect("the master");
    (client, File::from(master))
}

/// Everything shown until the terminal is closed.
fn rest(mut master: File) -> String {
    let mut shown = Vec::new();
    // The end of a pseudo-terminal is an error.
    let _ = master.read_to_end(&mut shown);
    String::from_utf8_lossy(&shown).into_owned()
}

fn expect(master: &mut File, text: &str) {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(text.as_bytes()) {
        assert_eq!(
            master.read(&mut byte).unwrap_or(0),
            1,
            "ended after {:?}",
            String::from_utf8_lossy(&seen)
        );
        seen.push(byte[0]);
    }
}

fn it_is_the_controlling_terminal(world: &World) -> Outcome {
    let (mut client, master) =
        on_terminal(world, "stty size </dev/tty; test -t 0 && test -t 2 && echo yes; exit 5");
    assert_eq!(client.next(), Some(Reply::Exit(Closing::Exited(5))));
    assert_eq!(rest(master), "33 77\r\nyes\r\n");
    Ok(())
}

fn keys_stop_and_interrupt(world: &World) -> Outcome {
    let (mut client, mut master) = on_terminal(world, "echo ready; exec sleep 1000");
    expect(&mut master, "ready\r\n");
    master.write_all(b"\x1a")?;
    assert_eq!(client.next(), Some(Reply::Stopped { signal: 20 }));
    client.say(&Request::Continue);
    master.write_all(b"\x03")?;
    assert_eq!(client.next(), Some(Reply::Exit(Closing::Killed(2))));
    Ok(())
}

fn the_window_changes(world: &World) -> Outcome {
    let script = "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.05; done";
    let (mut client, mut master) = on_terminal(world, script);
    expect(&mut master, "ready\r\n");
    client.say(&Request::Resize(Window { rows: 10, columns: 20, width: 0, height: 0 }));
    expect(&mut master, "10 20\r\n");
    assert_eq!(client.next(), Some(Reply::Exit(Closing::Exited(0))));
    Ok(())
}
