//! One script that tells whether the instance is well, on the agent's own timer.

use crate::command;
use crate::script::{self, Script};
use flake_inside::program;
use flake_sys::reap::Change;
use flake_sys::signals::{self, SignalSet};
use flake_sys::spawn::{self, Command, Ids};
use flake_wire::{Failure, Liveness, NOTE_MAX};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Shorter pauses and times are not kept: a script that is always running is no way to watch.
const SHORTEST: Duration = Duration::from_millis(100);
/// As much of its last line is kept, in bytes.
const LINE: usize = 256;

/// A watched script.
#[derive(Debug)]
pub(crate) struct Probe {
    pub(crate) liveness: Liveness,
    /// When it is run next, or killed when it runs.
    due: Instant,
    running: Option<Running>,
    /// In a row.
    failures: u32,
    /// The last try was a good one.
    pub(crate) is_well: bool,
}

/// One try.
#[derive(Debug)]
struct Running {
    pid: i32,
    output: Option<OwnedFd>,
    last: LastLine,
    is_late: bool,
}

/// The last line that is not empty, cut.
#[derive(Debug, Default)]
struct LastLine {
    complete: Vec<u8>,
    begun: Vec<u8>,
}

impl Probe {
    pub(crate) fn new(liveness: Liveness, now: Instant) -> Self {
        let mut probe = Self { liveness, due: now, running: None, failures: 0, is_well: false };
        probe.rest(now);
        probe
    }

    /// When it has to be looked at.
    pub(crate) fn due(&self) -> Option<Instant> {
        let is_being_killed = self.running.as_ref().is_some_and(|running| running.is_late);
        (!is_being_killed).then_some(self.due)
    }

    /// What it writes.
    pub(crate) fn output(&self) -> Option<&OwnedFd> {
        self.running.as_ref()?.output.as_ref()
    }

    fn rest(&mut self, now: Instant) {
        self.due = now + duration(self.liveness.interval_ms);
    }

    /// Starts it, or kills it, when it is time. What is wrong is returned when it is enough.
    pub(crate) fn advance(&mut self, now: Instant) -> Option<String> {
        if self.due()? > now {
            return None;
        }
        if let Some(running) = &mut self.running {
            running.is_late = true;
            let _ = signals::send(running.pid, Signal::KILL.as_raw(), true);
            return None;
        }
        match start(&self.liveness) {
            Ok(running) => {
                self.running = Some(running);
                self.due = now + duration(self.liveness.timeout_ms);
                None
            }
            Err(failure) => {
                self.rest(now);
                self.failed(&failure.message)
            }
        }
    }

    /// Takes what it writes.
    pub(crate) fn read(&mut self) {
        if let Some(running) = &mut self.running {
            running.read();
        }
    }

    /// A child of the agent's changed; perhaps it was this. What is wrong is returned when it is enough.
    pub(crate) fn child_changed(&mut self, pid: i32, change: Change, now: Instant) -> Option<String> {
        if matches!(change, Change::Stopped(_)) {
            return None;
        }
        let mut running = self.running.take_if(|running| running.pid == pid)?;
        self.rest(now);
        running.read();
        let why = match change {
            _ if running.is_late => {
                format!("no answer within {} s", duration(self.liveness.timeout_ms).as_secs_f32())
            }
            Change::Exited(0) | Change::Stopped(_) => {
                self.failures = 0;
                self.is_well = true;
                return None;
            }
            Change::Exited(status) => format!("exit status {status}"),
            Change::Killed(signal) => format!("killed by signal {signal}"),
        };
        let line = running.last.text();
        self.failed(&if line.is_empty() { why } else { format!("{why}: {line}") })
    }

    /// Ends it.
    pub(crate) fn end(&mut self) {
        if let Some(running) = self.running.take() {
            let _ = signals::send(running.pid, Signal::KILL.as_raw(), true);
        }
    }

    fn failed(&mut self, why: &str) -> Option<String> {
        self.failures += 1;
        self.is_well = false;
        if self.failures < self.liveness.failures.max(1) {
            return None;
        }
        let times = match std::mem::take(&mut self.failures) {
            1 => "failed".to_owned(),
            times => format!("failed {times} times in a row"),
        };
        Some(line(&format!("liveness probe {} {times}: {why}", self.liveness.description)))
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.end();
    }
}

fn duration(milliseconds: u32) -> Duration {
    Duration::from_millis(u64::from(milliseconds)).max(SHORTEST)
}

fn start(liveness: &Liveness) -> Result<Running, Failure> {
    let system = |error: rustix::io::Errno| command::other(&error.into());
    let script = Script::new(&liveness.script, &[])?;
    let env = command::environment(&liveness.env);
    let candidates = program::candidates(&script.words[0], None);
    // The other end is closed at once: nothing is there to read.
    let (nothing, _) = pipe_with(PipeFlags::CLOEXEC).map_err(system)?;
    let (output, written) = pipe_with(PipeFlags::CLOEXEC).map_err(system)?;
    rustix::io::ioctl_fionbio(&output, true).map_err(system)?;
    let error = written.try_clone().map_err(|error| command::other(&error))?;
    let running = spawn::spawn(Command {
        candidates: candidates.map_err(|_| command::nul("the script's first line"))?,
        argv: command::strings(&script.words).map_err(|()| command::nul("the script's first line"))?,
        env: command::strings(&command::pairs(&env)).map_err(|()| command::nul("a variable"))?,
        cwd: None,
        ids: liveness.user.clone().map(|ids| Ids { uid: ids.uid, gid: ids.gid, groups: ids.groups }),
        umask: None,
        ignored: SignalSet::default(),
        blocked: SignalSet::default(),
        descriptors: vec![(0, nothing), (1, written), (2, error), (script.number, script.text)],
        terminal: None,
    });
    let running = running.map_err(|error| script::failure(&script.words, None, &error))?;
    Ok(Running { pid: running.pid, output: Some(output), last: LastLine::default(), is_late: false })
}

impl Running {
    /// Takes some of what is there; a script that writes without end is not followed to it.
    fn read(&mut self) {
        let mut buffer = [0; 4096];
        for _ in 0..16 {
            let Some(output) = &self.output else { return };
            match rustix::io::read(output, &mut buffer) {
                Ok(length @ 1..) => self.last.push(&buffer[..length]),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return,
                Ok(_) | Err(_) => self.output = None,
            }
        }
    }
}

impl LastLine {
    fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                if !self.begun.is_empty() {
                    self.complete = std::mem::take(&mut self.begun);
                }
            } else if self.begun.len() < LINE {
                self.begun.push(*byte);
            }
        }
    }

    fn text(&self) -> String {
        let bytes = if self.begun.is_empty() { &self.complete } else { &self.begun };
        String::from_utf8_lossy(bytes).trim().to_owned()
    }
}

/// A text as one line for a terminal, not longer than a note may be.
fn line(text: &str) -> String {
    let mut line = String::new();
    for sign in text.chars().filter(|sign| !sign.is_control()) {
        if line.len() + sign.len_utf8() > NOTE_MAX {
            break;
        }
        line.push(sign);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_with_something_in_it_counts() {
        let mut last = LastLine::default();
        for part in ["first\nsec", "ond\n\n", "\n"] {
            last.push(part.as_bytes());
        }
        assert_eq!(last.text(), "second");
        last.push(&[b'x'; 5000]);
        assert_eq!(last.text(), "x".repeat(LINE));
    }

    #[test]
    fn a_note_is_one_short_line() {
        assert_eq!(line("a\x1b[31m\nb"), "a[31mb");
        assert!(line(&"ä".repeat(2000)).len() <= NOTE_MAX);
    }
}
