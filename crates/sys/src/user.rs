//! Entries of the user database, through the system's name services.

use nix::unistd::{Gid, Group, Uid, User};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A user, as `getpwuid` knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Login name.
    pub name: String,
    /// User id.
    pub uid: u32,
    /// Primary group id.
    pub gid: u32,
    /// The comment field, usually the full name.
    pub gecos: OsString,
    /// Home directory.
    pub home: PathBuf,
    /// Login shell.
    pub shell: PathBuf,
}

/// The user with this id, if the system knows one.
///
/// # Errors
/// What the name service says.
pub fn by_uid(uid: u32) -> io::Result<Option<Entry>> {
    Ok(User::from_uid(Uid::from_raw(uid))?.map(|user| Entry {
        name: user.name,
        uid: user.uid.as_raw(),
        gid: user.gid.as_raw(),
        gecos: OsString::from_vec(user.gecos.into_bytes()),
        home: user.dir,
        shell: user.shell,
    }))
}

/// The name of a group, if the system knows one.
///
/// # Errors
/// What the name service says.
pub fn group_name(gid: u32) -> io::Result<Option<String>> {
    Ok(Group::from_gid(Gid::from_raw(gid))?.map(|group| group.name))
}
