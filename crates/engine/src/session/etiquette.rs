//! What a shell expects of a job when signals come: before the command runs, while it runs, when it stops.

use super::console::Console;
use super::error::SessionError;
use super::{End, Session};
use flake_sys::inherited;
use flake_sys::signals::{self, Received, is_deadly, is_stop};
use flake_wire::{Request, SignalTarget};
use rustix::process::Signal;

impl Session {
    /// Acts on all signals that have come.
    pub(super) fn receive_signals(&mut self) -> Result<Option<End>, SessionError> {
        while let Some(received) = self.signals.next_signal().map_err(SessionError::Signals)? {
            if self.neighbours.sent(received) {
                continue;
            }
            if let Some(end) = self.receive_signal(received)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    pub(super) fn receive_signal(&mut self, received: Received) -> Result<Option<End>, SessionError> {
        let number = received.number;
        let is = |signal: Signal| number == signal.as_raw();
        if is(Signal::CONT) {
            self.resume();
        } else if is(Signal::WINCH) && self.console.is_some() {
            if let Some(console) = &self.console {
                let window = console.window();
                self.link.say(&Request::Resize(window));
            }
        } else if is(Signal::HUP) && self.console.as_ref().is_some_and(Console::is_shared) {
            // On a shared terminal it is this launcher's matter.
            self.hung_up();
        } else if self.running {
            // Also one that was ignored at the start: the command may have changed its mind.
            let target = if received.by_kernel { SignalTarget::Group } else { SignalTarget::Process };
            self.signal(number, target);
        } else if !inherited::ignored().contains(number) && (is_deadly(number) || is_stop(number)) {
            return self.before_the_command(received);
        }
        Ok(None)
    }

    /// A signal while the environment comes up ends or stops the call at once; but the command may run
    /// already and have been seen to run, though the agent's word of it was not read yet.
    fn before_the_command(&mut self, received: Received) -> Result<Option<End>, SessionError> {
        if let Some(end) = self.read_all()? {
            return Ok(Some(end));
        }
        if self.running {
            return self.receive_signal(received);
        }
        if self.greeted {
            self.early.push(received);
        } else if is_stop(received.number) {
            signals::stop_by(received.number);
        } else {
            return Ok(Some(End::Interrupted(received.number)));
        }
        Ok(None)
    }

    /// Hands a signal on to the command.
    pub(super) fn signal(&mut self, number: i32, target: SignalTarget) {
        let number = u8::try_from(number).unwrap_or_default();
        self.link.say(&Request::Signal { number, target });
    }

    /// The caller's terminal is gone. What that means on a shared one, the agent knows.
    pub(super) fn hung_up(&mut self) {
        match self.console.as_mut().filter(|console| console.is_shared()) {
            Some(console) => console.hang_up(),
            None => self.signal(Signal::HUP.as_raw(), SignalTarget::Group),
        }
        self.link.say(&Request::HangUp);
    }

    /// The command was stopped: so is this process, as the shell expects, until it is continued.
    pub(super) fn stop(&mut self, signal: i32) {
        let mut deadly = None;
        if let Some(console) = &mut self.console {
            deadly = console.flush_all(&self.signals);
            console.restore();
            if signal == Signal::TSTP.as_raw() {
                self.neighbours.signal(signal);
            }
        }
        signals::stop_by(signal);
        // Else the command would be continued once more, perhaps when it has been stopped again.
        signals::discard(Signal::CONT.as_raw());
        self.neighbours.consumed(signal);
        self.resume();
        if let Some(number) = deadly {
            self.signal(number, SignalTarget::Process);
        }
    }

    /// Goes on after a stop, in the foreground or in the background.
    fn resume(&mut self) {
        if let Some(console) = self.console.as_mut().filter(|_| self.running) {
            console.take();
            let window = console.window();
            self.link.say(&Request::Resize(window));
        }
        if self.running {
            self.link.say(&Request::Continue);
        }
    }
}

/// What can have stopped a command. The agent's word is not trusted: this process is going to do the same.
pub(super) fn is_a_stop(number: i32) -> bool {
    is_stop(number) || number == Signal::STOP.as_raw()
}

/// What can have killed a command.
pub(super) fn is_a_death(number: i32) -> bool {
    is_deadly(number) && number != Signal::STOP.as_raw() && (1..=64).contains(&number)
}
