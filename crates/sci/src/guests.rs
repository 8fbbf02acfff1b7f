//! The connections there are, and what keeps a bad one from being everybody's.

use crate::connection::{Connection, Work};
use crate::image::Image;
use crate::watch::Watch;
use flake_sys::peer;
use flake_wire::SignalTarget;
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};
use rustix::process::Signal;
use std::os::fd::OwnedFd;

/// Connections at once. For one more, the oldest on which nothing was asked for goes.
const MOST: usize = 1024;
/// What all peers together may have the agent hold of unfinished frames and unread answers, in bytes. Who holds the
/// most goes first.
const HELD: usize = 64 << 20;

/// All connections.
#[derive(Debug, Default)]
pub(crate) struct Guests {
    /// The oldest first.
    pub(crate) connections: Vec<Connection>,
    /// No descriptor is left for another connection until one ends.
    pub(crate) is_full: bool,
}

impl Guests {
    /// Takes a new connection from outside of the container; anybody inside is turned away.
    pub(crate) fn accept(&mut self, listener: &OwnedFd) {
        let socket = match accept_with(listener, SocketFlags::CLOEXEC) {
            Ok(socket) => socket,
            Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => {
                self.is_full = !self.turn_out() && !self.connections.is_empty();
                return;
            }
            Err(_) => return,
        };
        if is_from_outside(&socket, listener) && (self.connections.len() < MOST || self.turn_out()) {
            self.connections.extend(Connection::open(socket));
        }
    }

    /// Ends the oldest connection on which nothing was asked for, if there is one.
    fn turn_out(&mut self) -> bool {
        let idle = self.connections.iter_mut().find(|connection| connection.is_idle());
        idle.map(|connection| connection.link.give_up()).is_some()
    }

    /// Reads what came on one and acts on it.
    pub(crate) fn receive(&mut self, index: usize, image: &Image, watch: &mut Watch) {
        self.connections[index].receive(image, watch);
        let held = |connection: &Connection| connection.link.held();
        if held(&self.connections[index]) > HELD / MOST
            && self.connections.iter().map(held).sum::<usize>() > HELD
            && let Some(greedy) = self.connections.iter_mut().max_by_key(|connection| held(connection))
        {
            greedy.link.give_up();
        }
    }

    /// Takes out the connections whose requests only the agent can do.
    pub(crate) fn requests(&mut self) -> Vec<(Work, Connection)> {
        let mut requests = Vec::new();
        let mut index = 0;
        while index < self.connections.len() {
            match self.connections[index].take_request() {
                Some(work) => requests.push((work, self.connections.remove(index))),
                None => index += 1,
            }
        }
        requests
    }

    /// Moves all on as far as they go now, and drops those that are over. A command whose launcher is gone is killed;
    /// at the agent's end nobody waits for one that has asked for nothing.
    pub(crate) fn advance(&mut self, is_ending: bool) {
        let before = self.connections.len();
        for connection in &mut self.connections {
            connection.advance();
        }
        self.connections.retain(|connection| {
            let over = connection.is_over() || is_ending && connection.is_idle();
            if let Some(command) = connection.command().filter(|_| over) {
                command.signal(Signal::KILL.as_raw(), SignalTarget::Group);
            }
            !over
        });
        self.is_full &= self.connections.len() == before;
    }
}

/// Whether it is root or the user who listens, in a process outside.
fn is_from_outside(socket: &OwnedFd, listener: &OwnedFd) -> bool {
    let Ok(peer) = peer::of(socket) else { return false };
    let owner = peer::of(listener).map(|owner| owner.uid);
    peer.pid == 0 && (peer.uid == 0 || owner.is_ok_and(|owner| owner == peer.uid))
}
