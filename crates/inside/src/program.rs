//! Finding a command's program, and saying why it did not run.

use flake_sys::reason::reason;
use flake_sys::spawn::{SpawnError, Stage};
use flake_wire::{Failure, FailureKind};
use std::ffi::{CString, NulError, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Where programs are looked for when the environment does not say.
const DEFAULT_PATH: &[u8] = b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The paths to try for a program: itself when it has a slash, else each folder of `PATH`.
///
/// # Errors
/// One of them would have a NUL byte in it.
pub fn candidates(program: &[u8], path: Option<&[u8]>) -> Result<Vec<CString>, NulError> {
    if program.contains(&b'/') {
        return Ok(vec![CString::new(program)?]);
    }
    path.unwrap_or(DEFAULT_PATH)
        .split(|byte| *byte == b':')
        .map(|folder| {
            // An empty entry means the working directory.
            let folder = if folder.is_empty() { b"." } else { folder };
            CString::new([folder, b"/", program].concat())
        })
        .collect()
}

/// What a failed start means for the caller.
#[must_use]
pub fn failure(program: &[u8], cwd: Option<&[u8]>, error: &SpawnError) -> Failure {
    let name = String::from_utf8_lossy(program);
    let why = reason(&error.source);
    let (kind, message) = match error.stage {
        Stage::Execute if is_missing(&error.source) => {
            let there = program.contains(&b'/') && Path::new(OsStr::from_bytes(program)).exists();
            let what = if there { "its interpreter or loader is not in the image" } else { "not found" };
            (FailureKind::NotFound, format!("{name}: {what}"))
        }
        Stage::Execute => (FailureKind::NotExecutable, format!("{name}: {why}")),
        Stage::Directory => {
            let folder = String::from_utf8_lossy(cwd.unwrap_or_default());
            (FailureKind::Other, format!("cannot change to the working directory {folder}: {why}"))
        }
        Stage::Process => (FailureKind::Other, format!("cannot start {name}: {why}")),
        Stage::Terminal => (FailureKind::Other, format!("cannot give {name} a terminal: {why}")),
        Stage::Confine => (FailureKind::Other, format!("cannot confine {name}: {why}")),
        Stage::User => (FailureKind::Other, format!("cannot change user for {name}: {why}")),
        Stage::Descriptors => (FailureKind::Other, format!("cannot pass files to {name}: {why}")),
    };
    Failure { kind, message }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_and_a_path_is_not() {
        let found = candidates(b"ls", Some(b"/bin::/usr/bin")).unwrap();
        let found: Vec<&str> = found.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(found, ["/bin/ls", "./ls", "/usr/bin/ls"]);
        assert_eq!(candidates(b"./ls", Some(b"/bin")).unwrap(), [c"./ls".to_owned()]);
        assert!(candidates(b"l\0s", None).is_err());
    }
}
