//! What any peer of either side could send: it decodes or it is refused, and what was decoded means the same when it is
//! said again.
//!
//! `cargo fuzz run decode` in `crates/wire`, with cargo-fuzz; on a stable compiler with `--sanitizer none`.

#![no_main]

use flake_wire::{Decoder, Frame, Handed, Handoff, Message, Reply, Request, encode, encode_data};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((first, bytes)) = input.split_first() else { return };
    // The first byte says who reads, and how the bytes are cut.
    let step = usize::from(first >> 2) * 7 + 1;
    match first & 3 {
        0 => read::<Request>(bytes, step),
        1 => read::<Reply>(bytes, step),
        2 => read::<Handoff>(bytes, step),
        _ => read::<Handed>(bytes, step),
    }
});

fn read<M: Message + Clone + PartialEq + std::fmt::Debug>(bytes: &[u8], step: usize) {
    let mut decoder = Decoder::<M>::default();
    for part in bytes.chunks(step) {
        decoder.push(part);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => say_again(&frame),
                Ok(None) => break,
                Err(_) => return,
            }
        }
        assert!(decoder.held() <= bytes.len());
    }
}

fn say_again<M: Message + Clone + PartialEq + std::fmt::Debug>(frame: &Frame<M>) {
    let mut said = Vec::new();
    match frame {
        Frame::Message(message) => encode(message, &mut said),
        Frame::Data { stream, bytes } => encode_data(*stream, bytes, &mut said),
    }
    .expect("what was short enough to come");
    let mut decoder = Decoder::<M>::default();
    decoder.push(&said);
    assert_eq!(decoder.next_frame().as_ref(), Ok(&Some(frame.clone())));
}
