//! File descriptors passed over Unix sockets beside bytes (`SCM_RIGHTS`).

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The most descriptors that one call passes.
pub const AT_ONCE: usize = 128;

const SPACE: usize = rustix::cmsg_space!(ScmRights(AT_ONCE));

/// Sends bytes and, beside the first of them, descriptors. Returns how many bytes went out; the
/// descriptors went with them whenever that is not zero.
///
/// # Errors
/// `WouldBlock` on a non-blocking socket that is full, `BrokenPipe` when the peer is gone (no SIGPIPE is
/// raised), `InvalidInput` for more than [`AT_ONCE`] descriptors.
pub fn send(socket: impl AsFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); SPACE];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    let too_many = descriptors.len() > AT_ONCE;
    if too_many || !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many file descriptors for one message"));
    }
    Ok(sendmsg(socket, &[IoSlice::new(bytes)], &mut beside, SendFlags::NOSIGNAL)?)
}

/// Receives bytes into `buffer` and appends the descriptors that came beside them, closed on exec.
/// Returns how many bytes came; zero is the end.
///
/// # Errors
/// `WouldBlock` on a non-blocking socket with nothing there, or what the kernel says.
pub fn receive(socket: impl AsFd, buffer: &mut [u8], descriptors: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); SPACE];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut beside, RecvFlags::CMSG_CLOEXEC)?;
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            descriptors.extend(passed);
        }
    }
    Ok(received.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_pipe_travels_and_still_works() {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        assert_eq!(send(&here, b"x", &[writer.as_fd()]).unwrap(), 1);
        drop(writer);
        let mut passed = Vec::new();
        let mut buffer = [0; 8];
        assert_eq!(receive(&there, &mut buffer, &mut passed).unwrap(), 1);
        assert_eq!((&buffer[..1], passed.len()), (&b"x"[..], 1));
        let mut sink = std::fs::File::from(passed.remove(0));
        sink.write_all(b"through").unwrap();
        drop(sink);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[test]
    fn too_many_are_refused() {
        let (here, _there) = UnixStream::pair().unwrap();
        let many = vec![here.as_fd(); AT_ONCE + 1];
        assert_eq!(send(&here, b"x", &many).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
