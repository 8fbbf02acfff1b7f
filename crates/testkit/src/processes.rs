//! Looking at the processes of a scratch host, inside and outside of containers.

use std::fs;

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::{Result, until};

/// A process that was there at the time of looking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id as the scratch host sees it.
    pub pid: u32,
    /// Its parent.
    pub parent: u32,
    /// The state letter of proc(5): R, S, T ...
    pub state: char,
    /// The short name.
    pub name: String,
    /// The command line, words joined by blanks; empty for a zombie.
    pub line: String,
}

/// All processes.
#[must_use]
pub fn all() -> Vec<Process> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    names.filter_map(|entry| look(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// The processes with `mark` on their command line: tests put a number there that nobody else uses.
#[must_use]
pub fn marked(mark: &str) -> Vec<Process> {
    all().into_iter().filter(|process| process.line.contains(mark)).collect()
}

/// Waits until no process has `mark` on its command line.
///
/// # Errors
///
/// When one is still there at the deadline.
pub fn until_gone(mark: &str) -> Result<()> {
    let none = || marked(mark).is_empty().then_some(());
    until(&format!("the end of all processes with {mark}"), none, || format!("{:#?}", marked(mark)))
}

/// Waits until there are processes with `mark` and all of them are in `state`.
///
/// # Errors
///
/// When it is otherwise at the deadline.
pub fn until_state(mark: &str, state: char) -> Result<()> {
    let check = || {
        let found = marked(mark);
        (!found.is_empty() && found.iter().all(|process| process.state == state)).then_some(())
    };
    until(&format!("state {state} of {mark}"), check, || format!("{:#?}", marked(mark)))
}

/// Sends `signal` to process `pid`; one that is gone is fine.
pub fn kill(pid: u32, signal: Signal) {
    if let Ok(pid) = i32::try_from(pid) {
        let _ = nix::sys::signal::kill(Pid::from_raw(pid), signal);
    }
}

fn look(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    // The name is in parentheses and may hold anything, so the fields are counted from the last one.
    let (start, rest) = stat.rsplit_once(')')?;
    let name = start.split_once('(')?.1.to_owned();
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    Some(Process { pid, parent, state, name, line: words.join(" ").trim_end().to_owned() })
}
