//! The terminal that all launchers of an attached application share: one command, its output to all of them, input
//! from all, the window that of the smallest. It ends with the last of them.

use crate::command::{self, Command};
use crate::connection::Link;
use crate::history::{self, History};
use crate::image::Image;
use crate::member::{Member, Wish};
use crate::seat::Seat;
use crate::window;
use flake_sys::reap::Change;
use flake_wire::{Closing, Exec, Failure, Reply, SignalTarget, Window};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::process::Signal;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// What was typed and waits for the command, in bytes.
const TYPED: usize = 64 << 10;
/// An application notices a window that is smaller for so long, and draws anew.
const REDRAW: Duration = Duration::from_millis(100);
/// After the command has ended not more than this is taken of what others on its terminal go on writing.
const LEFT: usize = 4 * history::MOST;

/// A shared terminal.
#[derive(Debug)]
pub(crate) struct Shared {
    command: Command,
    history: History,
    typed: Vec<u8>,
    pub(crate) members: Vec<Member>,
    /// The window's size as it was set.
    window: Window,
    /// When the window is as large as it should be again.
    redrawn: Option<Instant>,
    is_hung_up: bool,
    /// What may still be taken of the output after the command has ended.
    left: usize,
    /// How the command ended; what it has shown was read.
    closing: Option<Closing>,
}

/// What of it is polled.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Leader,
    Master,
    Link(usize),
    Data(usize),
}

impl Shared {
    /// Starts the command for its first member.
    pub(crate) fn start(exec: Exec, image: &Image, link: &mut Link) -> Result<Self, Failure> {
        let window = exec.terminal.unwrap_or_default();
        let (command, master) = Command::begin(exec, image, link)?;
        drop(master);
        if let Some(master) = command.terminal() {
            rustix::io::ioctl_fionbio(master, true).map_err(|error| command::other(&error.into()))?;
        }
        Ok(Self {
            command,
            history: History::default(),
            typed: Vec::new(),
            members: Vec::new(),
            window,
            redrawn: None,
            is_hung_up: false,
            left: LEFT,
            closing: None,
        })
    }

    /// Whether somebody can still join.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_hung_up && self.command.ended().is_none() && self.command.terminal().is_some()
    }

    /// The terminal's master once more, for a new member.
    pub(crate) fn master(&self) -> Result<OwnedFd, Failure> {
        let master = self.command.terminal().ok_or_else(|| command::refused("the terminal is gone"))?;
        master.try_clone().map_err(|error| command::other(&error))
    }

    /// Takes a new member, who sees what was shown last and an application that draws anew.
    pub(crate) fn join(&mut self, seat: Seat, master: OwnedFd, mut link: Link) {
        link.say_beside(&Reply::Started { pid: self.command.shown_pid() }, [seat.theirs, master]);
        let is_first = self.members.is_empty();
        self.members.push(Member::new(link, seat.ours, self.history.start(), seat.window));
        if !is_first {
            // It may have been stopped under somebody who has not come back.
            self.command.go_on();
            self.redraw();
        }
        self.hear(self.members.len() - 1);
    }

    pub(crate) fn command(&self) -> &Command {
        &self.command
    }

    /// Whether nobody is left.
    pub(crate) fn is_over(&self) -> bool {
        self.members.is_empty()
    }

    /// What to poll for.
    pub(crate) fn interest(&self) -> Vec<(Part, BorrowedFd<'_>, PollFlags)> {
        let mut interest = Vec::new();
        if let Some(leader) = self.command.leader() {
            interest.push((Part::Leader, leader.as_fd(), PollFlags::IN));
        }
        let takes_output = self.room() > 0;
        if let Some(master) = self.command.terminal().filter(|_| takes_output) {
            let out = if self.typed.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
            interest.push((Part::Master, master.as_fd(), PollFlags::IN | out));
        }
        for (index, member) in self.members.iter().enumerate() {
            let out = if member.link.is_sending() { PollFlags::OUT } else { PollFlags::empty() };
            interest.push((Part::Link(index), member.link.as_fd(), PollFlags::IN | out));
            if let Some(data) = member.data() {
                let typed = if self.typed.len() < TYPED { PollFlags::IN } else { PollFlags::empty() };
                let shown =
                    if member.behind(&self.history) > 0 { PollFlags::OUT } else { PollFlags::empty() };
                interest.push((Part::Data(index), data.as_fd(), typed | shown));
            }
        }
        interest
    }

    /// When it wants to be looked at again.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.redrawn
    }

    /// Acts on a part that is ready.
    pub(crate) fn serve(&mut self, part: Part) {
        match part {
            Part::Leader => {
                if let Some(change) = self.command.follow_leader() {
                    self.changed(change);
                }
            }
            Part::Master => {
                self.read_master(self.room());
            }
            Part::Link(index) => {
                self.members[index].link.fill();
                self.hear(index);
            }
            Part::Data(index) => {
                let room = TYPED.saturating_sub(self.typed.len());
                let member = &mut self.members[index];
                if room > 0 {
                    member.read(&mut self.typed, room);
                }
            }
        }
    }

    /// A child of the agent's changed; perhaps it was this command, whose leader is gone.
    pub(crate) fn child_changed(&mut self, pid: i32, change: Change) {
        if self.command.pid() == pid {
            self.changed(change);
        }
    }

    fn changed(&mut self, change: Change) {
        if let Some(signal) = self.command.changed(change) {
            for member in self.members.iter_mut().filter(|member| member.is_there()) {
                member.show(&self.history);
                member.link.say(&Reply::Stopped { signal });
                member.is_stopped = true;
            }
        }
    }

    /// Does what a member's frames ask for.
    fn hear(&mut self, index: usize) {
        while let Some(wish) = self.members[index].next_wish() {
            match wish {
                Wish::Signal(number, target) => self.command.signal(number, target),
                Wish::GoOn => {
                    let member = &mut self.members[index];
                    member.is_stopped = false;
                    let missed = std::mem::take(&mut member.has_gap);
                    self.command.go_on();
                    if missed {
                        self.redraw();
                    }
                }
                Wish::Window => {}
                Wish::Leave => self.leave(index),
            }
        }
    }

    /// A member's terminal is gone. For the last one that is the command's end, as far as it takes it so.
    fn leave(&mut self, index: usize) {
        if self.is_hung_up {
            return;
        }
        let others =
            self.members.iter().enumerate().any(|(other, member)| other != index && member.is_there());
        if others {
            return self.members[index].leave(Closing::Killed(command::narrow(Signal::HUP.as_raw())));
        }
        self.command.signal(Signal::HUP.as_raw(), SignalTarget::Group);
        self.command.hang_up();
        self.is_hung_up = true;
    }

    /// Has the application draw anew: its window is smaller for a moment.
    fn redraw(&mut self) {
        let mut window = self.smallest();
        let side = if window.columns > 1 { &mut window.columns } else { &mut window.rows };
        if *side > 1 {
            *side -= 1;
            self.set_window(window);
            self.redrawn = Some(Instant::now() + REDRAW);
        }
    }

    fn set_window(&mut self, window: Window) {
        if window != self.window {
            self.command.resize(window);
            self.window = window;
        }
    }

    /// The window that all members can show.
    fn smallest(&self) -> Window {
        let windows = self.members.iter().filter(|member| member.is_active()).map(|member| member.window);
        window::smallest(windows).unwrap_or(self.window)
    }

    /// How much output can be taken: the slowest decides.
    fn room(&self) -> usize {
        let active = self.members.iter().filter(|member| member.is_active());
        let behind = active.map(|member| member.behind(&self.history)).max().unwrap_or(0);
        history::MOST.saturating_sub(behind)
    }

    /// Takes what is shown, once; says how much that was.
    fn read_master(&mut self, room: usize) -> usize {
        let Some(master) = self.command.terminal() else { return 0 };
        let mut buffer = vec![0; room.min(16 << 10)];
        match rustix::io::read(master, &mut buffer) {
            Ok(length @ 1..) => {
                self.history.push(&buffer[..length]);
                return length;
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Nobody has the other end open any more.
            Ok(_) | Err(_) => self.command.hang_up(),
        }
        0
    }

    /// Moves everything on as far as it goes now.
    pub(crate) fn advance(&mut self, now: Instant) {
        self.redrawn = self.redrawn.filter(|limit| *limit > now);
        if self.redrawn.is_none() {
            self.set_window(self.smallest());
        }
        self.write_master();
        if self.closing.is_none() && self.command.ended().is_some() && self.drain() {
            self.closing = self.command.ended();
        }
        for member in &mut self.members {
            member.show(&self.history);
            if let Some(closing) = self.closing {
                member.finish(closing, &self.history);
            }
            member.link.flush();
        }
        self.members.retain(|member| !member.is_over());
    }

    fn write_master(&mut self) {
        let Some(master) = self.command.terminal() else { return self.typed.clear() };
        while !self.typed.is_empty() {
            match rustix::io::write(master, &self.typed) {
                Ok(length @ 1..) => {
                    self.typed.drain(..length);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Ok(_) | Err(_) => self.typed.clear(),
            }
        }
    }

    /// Takes the rest of what an ended command has shown; says whether that was all.
    fn drain(&mut self) -> bool {
        loop {
            for member in &mut self.members {
                member.show(&self.history);
            }
            let room = self.room().min(self.left);
            if room == 0 && self.left > 0 {
                return false;
            }
            let length = self.read_master(room);
            self.left -= length;
            if length == 0 {
                self.command.hang_up();
                return true;
            }
        }
    }
}
