//! The container is stopped from outside.

use crate::Outcome;
use crate::client::{framed, shell};
use crate::world::World;
use flake_wire::{Closing, Exec, Reply, Request, Source, Stream, Window};
use rustix::process::Signal;
use std::os::unix::net::UnixStream;

type Case = (&'static str, fn(&World) -> Outcome);

pub(crate) const CASES: &[Case] = &[
    ("nothing_runs", nothing_runs),
    ("commands_hear_of_it_and_end_it", commands_hear_of_it_and_end_it),
    ("a_shared_terminal_hears_of_it", a_shared_terminal_hears_of_it),
    ("harmless_signals_end_nothing", harmless_signals_end_nothing),
];

fn nothing_runs(world: &World) -> Outcome {
    // Somebody is connected, and has asked for nothing.
    let mut idle = world.client();
    world.signal(Signal::TERM);
    assert_eq!(world.ended(), (0, String::new()));
    assert_eq!(idle.next(), None);
    assert!(UnixStream::connect(world.socket()).is_err());
    Ok(())
}

fn commands_hear_of_it_and_end_it(world: &World) -> Outcome {
    let mut plain = world.client();
    plain.start(shell("sleep 1000"));
    let mut slow = world.client();
    slow.start(framed("trap 'sleep 0.3; echo done; exit 7' TERM; echo ready; while :; do sleep 0.02; done"));
    // The shell has set its trap when it says so.
    let ready = slow.frame();
    assert!(
        matches!(&ready, Some(flake_wire::Frame::Data { bytes, .. }) if bytes == b"ready\n"),
        "{ready:?}"
    );
    world.signal(Signal::TERM);
    assert_eq!(plain.next(), Some(Reply::Exit(Closing::Killed(15))));
    // While the slow one takes its time nobody comes in any more.
    assert!(UnixStream::connect(world.socket()).is_err());
    let finished = slow.finish(b"");
    assert_eq!((finished.closing, finished.written[&1].as_slice()), (Closing::Exited(7), &b"done\n"[..]));
    assert_eq!(world.ended().0, 0);
    Ok(())
}

fn a_shared_terminal_hears_of_it(world: &World) -> Outcome {
    let streams = [0, 1, 2].map(|number| Stream { number, source: Source::Terminal }).to_vec();
    let exec = Exec { streams, terminal: Some(Window::default()), ..shell("exec sleep 1000") };
    let mut clients = [world.client(), world.client()];
    for client in &mut clients {
        client.say(&Request::Join(Box::new(exec.clone())));
        assert!(matches!(client.next(), Some(Reply::Started { .. })));
    }
    world.signal(Signal::TERM);
    for client in &mut clients {
        assert_eq!(client.next(), Some(Reply::Exit(Closing::Killed(15))));
    }
    assert_eq!(world.ended().0, 0);
    Ok(())
}

fn harmless_signals_end_nothing(world: &World) -> Outcome {
    for signal in [Signal::WINCH, Signal::CONT, Signal::URG, Signal::PIPE, Signal::TSTP] {
        world.signal(signal);
    }
    let mut client = world.client();
    client.start(shell("exit 3"));
    assert_eq!(client.next(), Some(Reply::Exit(Closing::Exited(3))));
    Ok(())
}
