//! The launcher's side of the protocol, as plain as can be: blocking, one frame after the other.

use flake_sys::fdpass;
use flake_wire::{
    Closing, Decoder, Exec, Frame, Program, Reply, Request, Source, Stream, StreamDirection, VERSION, encode,
    encode_data,
};
use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// One connection.
#[derive(Debug)]
pub(crate) struct Client {
    stream: UnixStream,
    decoder: Decoder<Reply>,
    passed: VecDeque<OwnedFd>,
}

/// How a command with framed streams ended, and all that it wrote.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) closing: Closing,
    pub(crate) written: BTreeMap<u16, Vec<u8>>,
}

impl Client {
    pub(crate) fn silent(stream: UnixStream) -> Self {
        Self { stream, decoder: Decoder::default(), passed: VecDeque::new() }
    }

    pub(crate) fn greeted(stream: UnixStream) -> Self {
        let mut client = Self::silent(stream);
        client.say(&Request::Hello { version: VERSION });
        match client.next() {
            Some(Reply::Hello { version: VERSION, .. }) => client,
            other => panic!("instead of a greeting: {other:?}"),
        }
    }

    pub(crate) fn say(&mut self, request: &Request) {
        self.say_beside(request, &[]);
    }

    pub(crate) fn say_beside(&mut self, request: &Request, beside: &[BorrowedFd<'_>]) {
        let mut bytes = Vec::new();
        encode(request, &mut bytes).expect("a request");
        // An agent that is done with the operation no longer listens; what it said is still to be read.
        if let Ok(sent) = fdpass::send(&self.stream, &bytes, beside) {
            let _ = self.stream.write_all(&bytes[sent..]);
        }
    }

    pub(crate) fn send(&mut self, stream: u16, data: &[u8]) {
        let mut bytes = Vec::new();
        encode_data(stream, data, &mut bytes).expect("data");
        let _ = self.stream.write_all(&bytes);
    }

    /// Sends bytes that may be no frames, as far as they are taken.
    pub(crate) fn write_raw(&mut self, bytes: &[u8]) {
        let _ = self.stream.set_write_timeout(Some(std::time::Duration::from_secs(2)));
        let _ = self.stream.write_all(bytes);
    }

    /// The next frame; none at the end of the connection.
    pub(crate) fn frame(&mut self) -> Option<Frame<Reply>> {
        loop {
            if let Some(frame) = self.decoder.next_frame().expect("a frame") {
                return Some(frame);
            }
            let mut buffer = [0; 64 << 10];
            let mut passed = Vec::new();
            match fdpass::receive(&self.stream, &mut buffer, &mut passed) {
                Ok(0) => return None,
                Ok(length) => self.decoder.push(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("receiving: {error}"),
            }
            self.passed.extend(passed);
        }
    }

    /// The next message; data on the way is an error of the case.
    pub(crate) fn next(&mut self) -> Option<Reply> {
        match self.frame()? {
            Frame::Message(reply) => Some(reply),
            Frame::Data { .. } => panic!("data instead of a message"),
        }
    }

    /// A descriptor that came beside the frames so far, the last one.
    pub(crate) fn take_passed(&mut self) -> Option<OwnedFd> {
        self.passed.pop_back()
    }

    pub(crate) fn start(&mut self, exec: Exec) -> u32 {
        self.say(&Request::Exec(Box::new(exec)));
        self.expect_started()
    }

    pub(crate) fn start_with(&mut self, exec: Exec, beside: &[impl AsFd]) -> u32 {
        let beside: Vec<_> = beside.iter().map(AsFd::as_fd).collect();
        self.say_beside(&Request::Exec(Box::new(exec)), &beside);
        self.expect_started()
    }

    fn expect_started(&mut self) -> u32 {
        match self.next() {
            Some(Reply::Started { pid }) => pid,
            other => panic!("instead of a start: {other:?}"),
        }
    }

    /// Feeds a command and takes what it writes until it has ended, keeping to the credit.
    pub(crate) fn finish(&mut self, input: &[u8]) -> Finished {
        let mut credit = flake_wire::WINDOW as usize;
        let mut rest = input;
        let mut ended = false;
        let mut written: BTreeMap<u16, Vec<u8>> = BTreeMap::new();
        loop {
            while credit > 0 && !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(credit).min(flake_wire::DATA_MAX));
                self.send(0, now);
                credit -= now.len();
                rest = later;
            }
            if rest.is_empty() && !ended {
                self.say(&Request::Eof { stream: 0 });
                ended = true;
            }
            match self.frame().expect("an end before the command's") {
                Frame::Data { stream, bytes } => {
                    let length = u32::try_from(bytes.len()).expect("a length");
                    written.entry(stream).or_default().extend(bytes);
                    self.say(&Request::Credit { stream, bytes: length });
                }
                Frame::Message(Reply::Credit { stream: 0, bytes }) => credit += bytes as usize,
                Frame::Message(Reply::Exit(closing)) => return Finished { closing, written },
                Frame::Message(_) => {}
            }
        }
    }
}

/// A script's text with framed standard streams.
pub(crate) fn script(text: &[u8]) -> Exec {
    Exec { program: Program::Script(text.to_vec()), args: Vec::new(), ..framed("") }
}

/// A shell command with no streams at all.
pub(crate) fn shell(script: &str) -> Exec {
    Exec {
        program: Program::Path(b"sh".to_vec()),
        args: vec![b"-c".to_vec(), script.as_bytes().to_vec()],
        env: Vec::new(),
        cwd: None,
        cwd_is: None,
        user: None,
        account: None,
        umask: None,
        ignored: 0,
        blocked: 0,
        streams: Vec::new(),
        terminal: None,
        modes: None,
    }
}

/// A shell command with framed standard streams.
pub(crate) fn framed(script: &str) -> Exec {
    let stream = |number, direction| Stream { number, source: Source::Framed(direction) };
    let streams = vec![
        stream(0, StreamDirection::ToCommand),
        stream(1, StreamDirection::FromCommand),
        stream(2, StreamDirection::FromCommand),
    ];
    Exec { streams, ..shell(script) }
}
