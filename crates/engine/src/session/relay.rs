//! Copying between a regular file and a pipe that stands for it inside.

use rustix::fs::{OFlags, fcntl_getfl, fstat};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::thread::{self, JoinHandle};

/// A copy to be made.
#[derive(Debug)]
pub(super) struct Relay {
    file: File,
    pipe: OwnedFd,
    inwards: bool,
    /// Another reference to the pipe's end inside, for a second descriptor of the same file.
    inside: Option<OwnedFd>,
    identity: (u64, u64),
}

/// A copy being made.
#[derive(Debug)]
pub(super) struct Running {
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// A pipe for a file, and the end that goes inside. Two descriptors of one file that is written, as
    /// `>file 2>&1` makes them, share a pipe, so that what is written stays in its order.
    pub(super) fn new(file: BorrowedFd<'_>, others: &[Self]) -> io::Result<(Option<Self>, OwnedFd)> {
        let inwards = fcntl_getfl(file)? & OFlags::RWMODE == OFlags::RDONLY;
        let stat = fstat(file)?;
        let identity = (stat.st_dev, stat.st_ino);
        let shared = others.iter().find(|other| !inwards && !other.inwards && other.identity == identity);
        if let Some(inside) = shared.and_then(|other| other.inside.as_ref()) {
            return Ok((None, inside.try_clone()?));
        }
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        let (pipe, inside) = if inwards { (writer, reader) } else { (reader, writer) };
        let kept = if inwards { None } else { Some(inside.try_clone()?) };
        let file = File::from(file.try_clone_to_owned()?);
        Ok((Some(Self { file, pipe, inwards, inside: kept, identity }), inside))
    }

    /// Copies in a thread of its own.
    pub(super) fn start(self) -> Running {
        let Self { mut file, pipe, inwards, inside, .. } = self;
        drop(inside);
        let mut pipe = File::from(pipe);
        let copying = thread::spawn(move || {
            // An error is the end of the copy, as it would be of the pipe.
            let _ = if inwards { io::copy(&mut file, &mut pipe) } else { io::copy(&mut pipe, &mut file) };
        });
        // A command need not read all of its input.
        Running { thread: (!inwards).then_some(copying) }
    }
}

impl Running {
    pub(super) fn finish(self) {
        if let Some(thread) = self.thread {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    #[test]
    fn two_descriptors_of_one_file_keep_their_order() {
        let mut file = tempfile::tempfile().unwrap();
        let other = file.try_clone().unwrap();
        let (first, one) = Relay::new(file.as_fd(), &[]).unwrap();
        let relays = [first.unwrap()];
        let (second, two) = Relay::new(other.as_fd(), &relays).unwrap();
        assert!(second.is_none());
        let running: Vec<Running> = relays.into_iter().map(Relay::start).collect();
        let (mut one, mut two) = (File::from(one), File::from(two));
        one.write_all(b"1").unwrap();
        two.write_all(b"2").unwrap();
        one.write_all(b"3").unwrap();
        drop((one, two));
        running.into_iter().for_each(Running::finish);
        let mut text = String::new();
        io::Seek::rewind(&mut file).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "123");
    }
}
