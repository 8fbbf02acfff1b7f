//! Frames to bytes and back.

use crate::frame::{Frame, Message};
use crate::limits::DATA_MAX;
use std::marker::PhantomData;

const KIND_MESSAGE: u8 = 0;
const KIND_DATA: u8 = 1;
const HEADER: usize = 4;
/// Room that a decoder keeps between two frames, in bytes.
const KEPT: usize = 64 << 10;

/// What is wrong with the bytes of a peer, or with a message that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A frame is longer than its side's bound, or data longer than [`DATA_MAX`].
    #[error("a frame of {0} bytes is over the limit")]
    TooLong(usize),
    /// A frame is too short for its kind.
    #[error("a frame of {0} bytes is too short")]
    TooShort(usize),
    /// The kind is none of this version's.
    #[error("frame kind {0} is unknown")]
    UnknownKind(u8),
    /// The payload is no message of this version.
    #[error("a message does not decode: {0}")]
    Malformed(postcard::Error),
}

/// Appends a message's frame to `out`.
///
/// # Errors
/// [`WireError::TooLong`] for a message over the limit; `out` is as it was.
pub fn encode<M: Message>(message: &M, out: &mut Vec<u8>) -> Result<(), WireError> {
    let body = postcard::to_stdvec(message).map_err(WireError::Malformed)?;
    let length = frame_length(1 + body.len(), M::FRAME_MAX)?;
    out.reserve(HEADER + 1 + body.len());
    out.extend_from_slice(&length);
    out.push(KIND_MESSAGE);
    out.extend_from_slice(&body);
    Ok(())
}

/// Appends a data frame to `out`.
///
/// # Errors
/// [`WireError::TooLong`] for more than [`DATA_MAX`] bytes; `out` is as it was.
pub fn encode_data(stream: u16, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
    let length = frame_length(3 + bytes.len(), 3 + DATA_MAX)?;
    out.extend_from_slice(&length);
    out.push(KIND_DATA);
    out.extend_from_slice(&stream.to_le_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}

fn frame_length(length: usize, max: usize) -> Result<[u8; HEADER], WireError> {
    match u32::try_from(length) {
        Ok(short) if length <= max => Ok(short.to_le_bytes()),
        _ => Err(WireError::TooLong(length)),
    }
}

/// Turns a peer's bytes into frames, holding at most one frame and what was pushed behind it.
#[derive(Debug)]
pub struct Decoder<M> {
    buffer: Vec<u8>,
    taken: usize,
    message: PhantomData<M>,
}

impl<M> Default for Decoder<M> {
    fn default() -> Self {
        Self { buffer: Vec::new(), taken: 0, message: PhantomData }
    }
}

impl<M: Message> Decoder<M> {
    /// Takes bytes as they came.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.taken = 0;
            // What a long frame took is not kept for short ones.
            self.buffer.shrink_to(KEPT);
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// How many bytes of unfinished frames are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.buffer.len() - self.taken
    }

    /// The next complete frame, if there is one.
    ///
    /// # Errors
    /// Any [`WireError`]: the stream cannot be read on after one.
    pub fn next_frame(&mut self) -> Result<Option<Frame<M>>, WireError> {
        let waiting = &self.buffer[self.taken..];
        let Some((header, rest)) = waiting.split_first_chunk::<HEADER>() else { return Ok(None) };
        let length = usize::try_from(u32::from_le_bytes(*header)).unwrap_or(usize::MAX);
        if length > M::FRAME_MAX {
            return Err(WireError::TooLong(length));
        }
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let decoded = decode(frame)?;
        self.taken += HEADER + length;
        Ok(Some(decoded))
    }
}

fn decode<M: Message>(frame: &[u8]) -> Result<Frame<M>, WireError> {
    let (kind, payload) = frame.split_first().ok_or(WireError::TooShort(0))?;
    match *kind {
        KIND_MESSAGE => postcard::from_bytes(payload).map(Frame::Message).map_err(WireError::Malformed),
        KIND_DATA => {
            let (stream, bytes) = payload.split_first_chunk::<2>().ok_or(WireError::TooShort(frame.len()))?;
            if bytes.len() > DATA_MAX {
                return Err(WireError::TooLong(bytes.len()));
            }
            Ok(Frame::Data { stream: u16::from_le_bytes(*stream), bytes: bytes.to_vec() })
        }
        unknown => Err(WireError::UnknownKind(unknown)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reply, Request};
    use proptest::prelude::*;

    fn frames_of<M: Message>(bytes: &[u8], step: usize) -> Result<Vec<Frame<M>>, WireError> {
        let mut decoder = Decoder::default();
        let mut frames = Vec::new();
        for part in bytes.chunks(step.max(1)) {
            decoder.push(part);
            while let Some(frame) = decoder.next_frame()? {
                frames.push(frame);
            }
        }
        Ok(frames)
    }

    proptest! {
        #[test]
        fn frames_survive_any_cutting(
            tokens in proptest::collection::vec(any::<u64>(), 0..20),
            data in proptest::collection::vec(any::<u8>(), 0..3000),
            step in 1_usize..64,
        ) {
            let mut bytes = Vec::new();
            let mut expected = Vec::new();
            for token in tokens {
                encode(&Request::Ping { token }, &mut bytes).unwrap();
                expected.push(Frame::Message(Request::Ping { token }));
                encode_data(7, &data, &mut bytes).unwrap();
                expected.push(Frame::Data { stream: 7, bytes: data.clone() });
            }
            prop_assert_eq!(frames_of::<Request>(&bytes, step).unwrap(), expected);
        }

        #[test]
        fn any_bytes_decode_or_fail_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = frames_of::<Reply>(&bytes, 50);
        }
    }

    #[test]
    fn a_huge_length_is_refused_before_anything_is_held() {
        let mut decoder = Decoder::<Request>::default();
        decoder.push(&u32::MAX.to_le_bytes());
        assert_eq!(decoder.next_frame(), Err(WireError::TooLong(u32::MAX as usize)));
    }

    #[test]
    fn data_over_the_limit_is_refused_on_both_sides() {
        let mut out = Vec::new();
        let big = vec![0; DATA_MAX + 1];
        assert_eq!(encode_data(0, &big, &mut out), Err(WireError::TooLong(DATA_MAX + 4)));
        assert!(out.is_empty());
        let mut forged = u32::try_from(big.len() + 3).unwrap().to_le_bytes().to_vec();
        forged.extend_from_slice(&[KIND_DATA, 0, 0]);
        forged.extend_from_slice(&big);
        assert_eq!(frames_of::<Request>(&forged, forged.len()), Err(WireError::TooLong(DATA_MAX + 1)));
    }
}
