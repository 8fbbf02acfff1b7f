//! Talking to a command through pipes while it runs.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin};
use std::sync::Arc;
use std::thread;

use nix::sys::signal::Signal;

use crate::error::Context as _;
use crate::screen::Screen;
use crate::{Error, Outcome, Result, processes, until};

/// A running command whose three streams are pipes.
#[derive(Debug)]
pub struct Conversation {
    child: Child,
    stdin: Option<ChildStdin>,
    out: Arc<Screen>,
    err: Arc<Screen>,
}

impl Conversation {
    /// Takes over `child`, which [`Call::spawn`](crate::Call::spawn) started.
    #[must_use]
    pub fn new(mut child: Child) -> Self {
        let (out, err) = (Arc::default(), Arc::default());
        collect(child.stdout.take(), &out);
        collect(child.stderr.take(), &err);
        Self { stdin: child.stdin.take(), child, out, err }
    }

    /// The id of the command.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for `text` on standard output, after what was expected before.
    ///
    /// # Errors
    ///
    /// When it does not come before the deadline or the output ends.
    pub fn expect(&self, text: &str) -> Result<()> {
        self.out.expect(text).map_err(|error| match error {
            Error::Late { what, seen } => {
                Error::Late { what, seen: format!("{seen}, standard error: {}", self.err.text()) }
            }
            other => other,
        })
    }

    /// Writes `text` to its standard input.
    ///
    /// # Errors
    ///
    /// When the command does not read any more.
    pub fn say(&mut self, text: &str) -> Result<()> {
        let stdin = self.stdin.as_mut().ok_or_else(|| Error::Setup("standard input is closed".to_owned()))?;
        stdin.write_all(text.as_bytes()).context(|| "write to the command")
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        processes::kill(self.pid(), signal);
    }

    /// Closes its standard input and waits for its end and that of its output.
    ///
    /// # Errors
    ///
    /// When that takes longer than the deadline.
    pub fn end(mut self) -> Result<Outcome> {
        self.stdin = None;
        let seen = || format!("{}, standard error: {}", self.out.text(), self.err.text());
        let child = &mut self.child;
        let status = until("the end of the command", || child.try_wait().ok().flatten(), seen)?;
        let closed = || (self.out.closed() && self.err.closed()).then_some(());
        until("the end of the output of a command that ended", closed, seen)?;
        Ok(Outcome {
            code: status.code(),
            signal: status.signal(),
            stdout: self.out.bytes(),
            stderr: self.err.bytes(),
        })
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn collect(stream: Option<impl std::io::Read + Send + 'static>, screen: &Arc<Screen>) {
    let Some(mut stream) = stream else { return screen.close() };
    let screen = Arc::clone(screen);
    thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(n @ 1..) = stream.read(&mut buffer) {
            screen.add(&buffer[..n]);
        }
        screen.close();
    });
}
