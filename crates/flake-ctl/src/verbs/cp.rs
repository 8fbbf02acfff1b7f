//! `cp`: files into and out of an instance.

use crate::cli::CpArgs;
use crate::failure::Failure;
use crate::instances::{Instances, Kept, name_of};
use crate::report::Exit;
use crate::session::Session;
use flake_core::caller::Caller;
use flake_core::registry::Registry;
use flake_tools::podman::Owner;
use flake_tools::{ToolError, users};
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// One end of a copy.
#[derive(Debug, PartialEq, Eq)]
enum End<'a> {
    /// A path in an instance.
    Inside { instance: &'a OsStr, path: &'a OsStr },
    /// A path on the host.
    Host(&'a OsStr),
    /// An archive on standard input or output.
    Stream,
}

pub(crate) fn run(args: &CpArgs) -> Result<Exit, Failure> {
    let (source, target) = (end(&args.source), end(&args.target));
    let (instance, path) = match (&source, &target) {
        (End::Inside { instance, path }, End::Host(_) | End::Stream)
        | (End::Host(_) | End::Stream, End::Inside { instance, path }) => (*instance, *path),
        (End::Inside { .. }, End::Inside { .. }) => {
            return Err(Failure::new("one of the two has to be on the host").hint("copy it out first"));
        }
        _ => {
            let text = "neither of the two is in an instance";
            return Err(Failure::new(text).hint("write APP:/PATH or APP@NAME:/PATH"));
        }
    };
    if path.is_empty() {
        return Err(Failure::new(format!("{}: has no path after the colon", instance.display())));
    }
    let session = Session::open()?;
    let kept = Instances::open(&session, args.whose.user.as_deref(), "cp")?.find(instance)?;
    let container = kept.container_name()?;
    let podman = session.store.podman()?;
    match (source, target) {
        (End::Inside { .. }, End::Host(to)) => {
            podman
                .copy_out(&container, path, &absolute(to, &session.caller))
                .map_err(|error| explain(&error, &kept))?;
        }
        (End::Inside { .. }, _) => {
            if io::stdout().is_terminal() {
                let text = "an archive is nothing for a terminal";
                return Err(Failure::new(text).hint("send it to a file or a program: ... - | tar --list"));
            }
            return Ok(Exit::External(podman.archive_out(&container, path)?));
        }
        (End::Host(from), _) => {
            let owner = owner(&kept, &session)?;
            let from = absolute(from, &session.caller);
            podman.copy_in(&container, &from, path, owner).map_err(|error| explain(&error, &kept))?;
        }
        (End::Stream, _) => {
            if io::stdin().is_terminal() {
                return Err(Failure::new("no archive comes from a terminal"));
            }
            let owner = owner(&kept, &session)?;
            podman.archive_in(&container, path, owner).map_err(|error| explain(&error, &kept))?;
        }
    }
    Ok(Exit::Done)
}

/// A word with a slash before its first colon is a path on the host.
fn end(word: &OsStr) -> End<'_> {
    let bytes = word.as_bytes();
    if bytes == b"-" {
        return End::Stream;
    }
    match bytes.iter().position(|byte| *byte == b':') {
        Some(at) if at > 0 && !bytes[..at].contains(&b'/') => End::Inside {
            instance: OsStr::from_bytes(&bytes[..at]),
            path: OsStr::from_bytes(&bytes[at + 1..]),
        },
        _ => End::Host(word),
    }
}

/// Podman takes a path that begins with a slash for one of the host.
fn absolute(path: &OsStr, caller: &Caller) -> PathBuf {
    caller.cwd.as_deref().unwrap_or(Path::new("/")).join(path)
}

/// Whose the files are inside, where that is not the user that podman made the container for.
fn owner(kept: &Kept, session: &Session) -> Result<Option<Owner>, Failure> {
    if let Some(user) = kept.notes(session).read(&kept.instance).and_then(|made| made.user) {
        return Ok(Some(Owner { uid: user.uid, gid: user.gid }));
    }
    let registry = Registry::of(&session.caller)?;
    // Of a flake that is gone nobody knows.
    let found = kept.flake.parse().ok().and_then(|name| registry.find(&name, None).ok());
    let Some(found) = found else { return Ok(None) };
    if !found.loaded.flake.as_caller {
        return Ok(None);
    }
    let uid = kept.instance.uid;
    if uid == session.caller.uid {
        return Ok(Some(Owner { uid, gid: session.caller.gid }));
    }
    let user =
        users::by_uid(uid)?.ok_or_else(|| Failure::new(format!("there is no user {}", name_of(uid))))?;
    Ok(Some(Owner { uid, gid: user.gid }))
}

/// Podman's words, with the name that people know.
fn explain(error: &ToolError, kept: &Kept) -> Failure {
    let said = match error {
        ToolError::File { file, source } => return Failure::system(&format!("cannot read {file}"), source),
        ToolError::Input { source, .. } => {
            return Failure::system("cannot read what is to be copied", source);
        }
        ToolError::Failed { reason, .. } => reason.clone(),
        error => error.to_string(),
    };
    Failure::new(said.replace(&kept.instance.container_name(), &kept.called()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_of_the_host_or_inside() {
        let host = |word| end(OsStr::new(word)) == End::Host(OsStr::new(word));
        for word in ["file", "./a:b", "/a:b", "a/b:c", ":x"] {
            assert!(host(word), "{word}");
        }
        for (word, instance, path) in
            [("dev:/x", "dev", "/x"), ("dev@a:/b:c", "dev@a", "/b:c"), ("dev:", "dev", "")]
        {
            let expected = End::Inside { instance: OsStr::new(instance), path: OsStr::new(path) };
            assert_eq!(end(OsStr::new(word)), expected, "{word}");
        }
        assert_eq!(end(OsStr::new("-")), End::Stream);
    }
}
