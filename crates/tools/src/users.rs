//! The user database: the files passwd(5) and group(5), and for whom they do not have, `getent` of the C library,
//! which asks the other name services of the host. The programs that start fastest are static and cannot ask them
//! themselves.

use crate::program::Program;
use crate::run::{ToolError, capture};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Where `getent` is looked for, whoever calls.
const SEARCHED: &str = "/usr/bin:/bin";
const INSTALL: &str = "apt-get install libc-bin";
/// The status with which `getent` says that there is no such entry.
const NOT_FOUND: i32 = 2;

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
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
/// A file cannot be read, or what `getent` says.
pub fn by_uid(uid: u32) -> Result<Option<User>, ToolError> {
    find("/etc/passwd", "passwd", uid, |line| user(line).filter(|user| user.uid == uid))
}

/// The name of a group, if the system knows one.
///
/// # Errors
/// As [`by_uid`].
pub fn group_name(gid: u32) -> Result<Option<String>, ToolError> {
    let has_id = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b':');
        let name = fields.next()?;
        (number(fields.nth(1)?)? == gid).then(|| String::from_utf8_lossy(name).into_owned())
    };
    find("/etc/group", "group", gid, has_id)
}

/// All groups that a user is in, the primary one too.
///
/// # Errors
/// As [`by_uid`].
pub fn groups_of(name: &str, gid: u32) -> Result<Vec<u32>, ToolError> {
    // A line of the name and the numbers.
    let said = getent(&["initgroups", "--", name])?;
    let mut groups = vec![gid];
    groups
        .extend(said.split(u8::is_ascii_whitespace).skip(1).filter_map(number).filter(|group| *group != gid));
    Ok(groups)
}

/// The first line that fits: of the file, else of what `getent` says about an id.
fn find<T>(
    file: &str,
    database: &str,
    id: u32,
    fits: impl Fn(&[u8]) -> Option<T>,
) -> Result<Option<T>, ToolError> {
    let content = match fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        content => content.map_err(|source| ToolError::File { file: file.to_owned(), source })?,
    };
    let of = |lines: &[u8]| lines.split(|byte| *byte == b'\n').find_map(&fits);
    match of(&content) {
        Some(found) => Ok(Some(found)),
        None => Ok(of(&getent(&[database, &id.to_string()])?)),
    }
}

/// A line of passwd(5).
fn user(line: &[u8]) -> Option<User> {
    let mut fields = line.split(|byte| *byte == b':');
    let mut next = || fields.next().map(|field| OsString::from_vec(field.to_vec()));
    let name = next()?.to_string_lossy().into_owned();
    let (_, uid, gid) = (next()?, next()?, next()?);
    let (gecos, home, shell) = (next()?, next()?.into(), next().unwrap_or_default().into());
    let id = |field: &OsStr| number(field.as_encoded_bytes());
    Some(User { name, uid: id(&uid)?, gid: id(&gid)?, gecos, home, shell })
}

fn number(field: &[u8]) -> Option<u32> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// What `getent` prints; nothing where it knows nobody.
fn getent(words: &[&str]) -> Result<Vec<u8>, ToolError> {
    let program = match Program::find_in(OsStr::new(SEARCHED), "getent", INSTALL) {
        // A host without it has the files only.
        Err(ToolError::Missing { .. }) => return Ok(Vec::new()),
        program => program?,
    };
    let mut command = program.command(words);
    command.env_clear();
    match capture(&mut command) {
        Err(ToolError::Failed { status, .. }) if status.code() == Some(NOT_FOUND) => Ok(Vec::new()),
        said => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_file_are_users() {
        let ada = user(b"ada:x:1000:1001:Ada L,,,:/home/ada:/bin/bash").unwrap();
        assert_eq!((ada.name.as_str(), ada.uid, ada.gid), ("ada", 1000, 1001));
        assert_eq!((ada.home, ada.shell), ("/home/ada".into(), "/bin/bash".into()));
        for line in ["", "+::::::", "# comment", "ada:x:1000", "ada:x:-1:0::/:", "ada:x:a:0::/:/bin/sh"] {
            assert!(user(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn the_system_knows_root_and_not_everybody() {
        let root = by_uid(0).unwrap().unwrap();
        assert_eq!((root.uid, root.name.as_str()), (0, "root"));
        assert_eq!(group_name(0).unwrap().as_deref(), Some("root"));
        assert_eq!(by_uid(u32::MAX - 7).unwrap(), None);
        assert_eq!(group_name(u32::MAX - 7).unwrap(), None);
        assert!(groups_of("root", 0).unwrap().contains(&0));
        assert_eq!(groups_of("no such user", 5).unwrap(), [5]);
    }
}
