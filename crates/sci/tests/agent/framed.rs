//! Streams in data frames, and the credit that bounds them.

use crate::Outcome;
use crate::client::framed;
use crate::world::World;
use flake_wire::{Closing, DATA_MAX, Frame, Reply, Request, WINDOW};

type Case = (&'static str, fn(&World) -> Outcome);

pub(crate) const CASES: &[Case] = &[
    ("ten_mebibytes_both_ways", ten_mebibytes_both_ways),
    ("output_and_error_are_apart", output_and_error_are_apart),
    ("input_that_nobody_reads_does_not_block", input_that_nobody_reads_does_not_block),
    ("without_credit_nothing_more_comes", without_credit_nothing_more_comes),
    ("more_than_the_window_ends_the_connection", more_than_the_window_ends_the_connection),
    ("what_was_written_before_the_end_arrives", what_was_written_before_the_end_arrives),
];

/// Bytes that do not repeat in any short period.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

fn ten_mebibytes_both_ways(world: &World) -> Outcome {
    let input = noise(10 << 20);
    let mut client = world.client();
    client.start(framed("cat"));
    let finished = client.finish(&input);
    assert_eq!(finished.closing, Closing::Exited(0));
    assert!(finished.written[&1] == input, "the bytes differ");
    Ok(())
}

fn output_and_error_are_apart(world: &World) -> Outcome {
    let mut client = world.client();
    client.start(framed("echo out; echo err >&2; exit 3"));
    let finished = client.finish(b"");
    assert_eq!(finished.closing, Closing::Exited(3));
    assert_eq!((&finished.written[&1][..], &finished.written[&2][..]), (&b"out\n"[..], &b"err\n"[..]));
    Ok(())
}

fn input_that_nobody_reads_does_not_block(world: &World) -> Outcome {
    let mut client = world.client();
    client.start(framed("exec <&-; head -c 5 /dev/zero | wc -c"));
    let finished = client.finish(&noise(2 << 20));
    assert_eq!(finished.written[&1], b"5\n");
    Ok(())
}

fn without_credit_nothing_more_comes(world: &World) -> Outcome {
    let mut client = world.client();
    client.start(framed("head -c 1000000 /dev/zero"));
    let mut came = 0;
    client.say(&Request::Ping { token: 1 });
    while came < WINDOW as usize {
        if let Some(Frame::Data { stream: 1, bytes }) = client.frame() {
            came += bytes.len();
        }
    }
    assert_eq!(came, WINDOW as usize);
    client.say(&Request::Ping { token: 2 });
    loop {
        match client.frame() {
            Some(Frame::Message(Reply::Pong { token: 2 })) => break,
            Some(Frame::Data { .. }) => panic!("data without credit"),
            Some(_) => {}
            None => panic!("closed"),
        }
    }
    client.say(&Request::Credit { stream: 1, bytes: WINDOW });
    assert!(matches!(client.frame(), Some(Frame::Data { stream: 1, .. })));
    Ok(())
}

fn more_than_the_window_ends_the_connection(world: &World) -> Outcome {
    let mut client = world.client();
    client.start(framed("sleep 1000"));
    // The pipe takes 64 KiB of it, and gives credit for that much.
    for _ in 0..(2 * WINDOW as usize / DATA_MAX + 2) {
        client.send(0, &noise(DATA_MAX));
    }
    while let Some(frame) = client.frame() {
        assert!(!matches!(frame, Frame::Message(Reply::Exit(_))), "{frame:?}");
    }
    Ok(())
}

fn what_was_written_before_the_end_arrives(world: &World) -> Outcome {
    for _ in 0..50 {
        let mut client = world.client();
        // Something in the background keeps the pipe open; the end of the command does not wait for it.
        client.start(framed("sleep 1000 & seq 1 20000; exit 9"));
        let finished = client.finish(b"");
        assert_eq!(finished.closing, Closing::Exited(9));
        assert!(finished.written[&1].ends_with(b"\n20000\n"));
    }
    Ok(())
}
