//! Copying between a file and a pipe that stands for it inside.
//!
//! A file that is read is left as far as the command has read it: what is still in the pipe at the end is given
//! back by moving the file's offset.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, SeekFrom, fcntl_getfl, fstat, seek};
use rustix::io::{ioctl_fionbio, ioctl_fionread};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::thread::{self, JoinHandle};

const CHUNK: usize = 64 << 10;

/// A copy to be made.
#[derive(Debug)]
pub(super) struct Relay {
    file: File,
    pipe: OwnedFd,
    inwards: bool,
    /// Another reference to the pipe's end inside: for a second descriptor of the same file, or to see what
    /// was not read.
    inside: OwnedFd,
    identity: (u64, u64),
}

/// A copy being made.
#[derive(Debug)]
pub(super) struct Running {
    inwards: bool,
    /// Closed to end the copy of a file that is read.
    stop: Option<OwnedFd>,
    thread: JoinHandle<io::Result<()>>,
}

impl Relay {
    /// A pipe for a file that is descriptor `number`, and the end that goes inside. Two descriptors of one
    /// file that is written, as `>file 2>&1` makes them, share a pipe, so that what is written stays in its
    /// order.
    pub(super) fn new(
        number: u16,
        file: BorrowedFd<'_>,
        others: &[Self],
    ) -> io::Result<(Option<Self>, OwnedFd)> {
        let access = fcntl_getfl(file)? & OFlags::RWMODE;
        let inwards = access == OFlags::RDONLY || access == OFlags::RDWR && number == 0;
        let stat = fstat(file)?;
        let identity = (stat.st_dev, stat.st_ino);
        let shared = others.iter().find(|other| !inwards && !other.inwards && other.identity == identity);
        if let Some(other) = shared {
            return Ok((None, other.inside.try_clone()?));
        }
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        let (pipe, inside) = if inwards { (writer, reader) } else { (reader, writer) };
        let kept = inside.try_clone()?;
        let file = File::from(file.try_clone_to_owned()?);
        Ok((Some(Self { file, pipe, inwards, inside: kept, identity }), inside))
    }

    /// Copies in a thread of its own.
    pub(super) fn start(self) -> io::Result<Running> {
        let Self { file, pipe, inwards, inside, .. } = self;
        let (ended, stop) = pipe_with(PipeFlags::CLOEXEC)?;
        let thread = thread::Builder::new().spawn(move || {
            if !inwards {
                drop(inside);
                return copy_out(file, pipe);
            }
            let copied = copy_in(&file, pipe, &ended);
            give_back(&file, copied.as_ref().map_or(0, |unsent| *unsent), &inside);
            copied.map(drop)
        })?;
        Ok(Running { inwards, stop: Some(stop), thread })
    }
}

impl Running {
    /// Ends the copy of a file that is read; waits for the whole of one that is written.
    ///
    /// # Errors
    /// What writing the file said.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.inwards {
            self.stop = None;
        }
        let copied = self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the copy broke off")));
        // A command need not read all of its input, nor can it see that reading a file failed.
        if self.inwards { Ok(()) } else { copied }
    }
}

/// Copies until the end is told; says how much was read and not sent.
fn copy_in(mut file: &File, pipe: OwnedFd, ended: &OwnedFd) -> io::Result<usize> {
    ioctl_fionbio(&pipe, true)?;
    let mut pipe = Some(pipe);
    let mut chunk = vec![0; CHUNK];
    let mut waiting = 0..0;
    loop {
        let mut polled = vec![PollFd::new(ended, PollFlags::IN)];
        match &pipe {
            Some(pipe) if !waiting.is_empty() => polled.push(PollFd::new(pipe, PollFlags::OUT)),
            // A named pipe may have nothing for a long time.
            Some(_) => polled.push(PollFd::new(&file, PollFlags::IN)),
            None => {}
        }
        match poll(&mut polled, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        if !polled[0].revents().is_empty() {
            return Ok(waiting.len());
        }
        if waiting.is_empty() {
            waiting = 0..file.read(&mut chunk)?;
        }
        let sent = pipe.as_ref().map(|pipe| rustix::io::write(pipe, &chunk[waiting.clone()]));
        match sent {
            Some(Ok(length @ 1..)) => waiting.start += length,
            Some(Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR)) => {}
            // The end of the file, which the reader is to see, or of the pipe.
            _ => pipe = None,
        }
    }
}

/// Moves a file's offset back by what the command has not read. What has none, such as a named pipe, cannot
/// take anything back.
fn give_back(file: &File, unsent: usize, inside: &OwnedFd) {
    let unread = unsent as u64 + ioctl_fionread(inside).unwrap_or(0);
    if let Ok(back) = i64::try_from(unread) {
        let _ = seek(file, SeekFrom::Current(-back));
    }
}

/// Plain reads and writes: copying within the kernel would take the file's offset before it waits, and so
/// write over what others have written meanwhile.
fn copy_out(mut file: File, pipe: OwnedFd) -> io::Result<()> {
    let mut pipe = File::from(pipe);
    let mut chunk = vec![0; CHUNK];
    loop {
        match pipe.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(length) => file.write_all(&chunk[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};
    use std::os::fd::AsFd;

    fn text(file: &mut File) -> String {
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn two_descriptors_of_one_file_keep_their_order() {
        let mut file = tempfile::tempfile().unwrap();
        let other = file.try_clone().unwrap();
        let (first, one) = Relay::new(1, file.as_fd(), &[]).unwrap();
        let relays = [first.unwrap()];
        let (second, two) = Relay::new(2, other.as_fd(), &relays).unwrap();
        assert!(second.is_none());
        let running: Vec<Running> = relays.into_iter().map(|relay| relay.start().unwrap()).collect();
        let (mut one, mut two) = (File::from(one), File::from(two));
        one.write_all(b"1").unwrap();
        two.write_all(b"2").unwrap();
        one.write_all(b"3").unwrap();
        drop((one, two));
        running.into_iter().for_each(|running| running.finish().unwrap());
        assert_eq!(text(&mut file), "123");
    }

    #[test]
    fn what_others_write_meanwhile_stays() {
        let mut file = tempfile::tempfile().unwrap();
        let (relay, inside) = Relay::new(1, file.as_fd(), &[]).unwrap();
        let running = relay.unwrap().start().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        file.write_all(b"outside ").unwrap();
        File::from(inside).write_all(b"inside").unwrap();
        running.finish().unwrap();
        assert_eq!(text(&mut file), "outside inside");
    }

    #[test]
    fn what_was_not_read_is_given_back() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b'x'; 200_000]).unwrap();
        file.rewind().unwrap();
        let (relay, inside) = Relay::new(0, file.as_fd(), &[]).unwrap();
        let running = relay.unwrap().start().unwrap();
        let mut inside = File::from(inside);
        inside.read_exact(&mut [0; 10]).unwrap();
        running.finish().unwrap();
        assert_eq!(file.stream_position().unwrap(), 10);
    }

    #[test]
    fn so_is_the_rest_of_a_small_file_whose_end_was_seen() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"first\nsecond\n").unwrap();
        file.rewind().unwrap();
        let (relay, inside) = Relay::new(0, file.as_fd(), &[]).unwrap();
        let running = relay.unwrap().start().unwrap();
        let mut inside = File::from(inside);
        inside.read_exact(&mut [0; 6]).unwrap();
        running.finish().unwrap();
        assert_eq!(file.stream_position().unwrap(), 6);
    }

    #[test]
    fn a_full_disk_is_told() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (relay, inside) = Relay::new(1, full.as_fd(), &[]).unwrap();
        let running = relay.unwrap().start().unwrap();
        File::from(inside).write_all(b"x").unwrap();
        assert_eq!(running.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
