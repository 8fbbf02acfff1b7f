//! Who is at the other end of a Unix socket.

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use std::io;
use std::os::fd::AsFd;

/// A peer, as this process' namespaces see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Process id; 0 for a process outside this pid namespace.
    pub pid: i32,
    /// User id at the time of the connect.
    pub uid: u32,
}

/// The peer of a connected Unix socket.
///
/// # Errors
/// What the kernel says; not a Unix socket, most likely.
pub fn of(socket: &impl AsFd) -> io::Result<Peer> {
    let credentials = getsockopt(socket, PeerCredentials)?;
    Ok(Peer { pid: credentials.pid(), uid: credentials.uid() })
}
