//! What went wrong, told from process to process as a few bytes, and to people in a line.

use crate::reason::reason;
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

/// Why a folder is not mounted in a container.
#[derive(Debug, thiserror::Error)]
pub enum GraftError {
    /// The target is no absolute path of folders.
    #[error("{} cannot be mounted in a container: it is no absolute path of a folder below the root", .0.display())]
    Target(PathBuf),
    /// A step failed.
    #[error("{} cannot be mounted in the container: {}", target.display(), words(target, *step, error))]
    Step {
        /// Where it was to be.
        target: PathBuf,
        /// What failed.
        step: Step,
        /// What the kernel said.
        error: io::Error,
    },
}

impl GraftError {
    pub(super) fn new(target: &Path, step: Step, error: io::Error) -> Self {
        Self::Step { target: target.to_owned(), step, error }
    }
}

/// What is done in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Making a process for it.
    Process,
    /// Entering the folder on the host.
    Folder,
    /// Entering the container's user namespace.
    User,
    /// Making a mount namespace that belongs to that.
    Space,
    /// Copying the folder's mount.
    Copy,
    /// Restricting it.
    Confine,
    /// Entering the container's mount namespace.
    Enter,
    /// Finding or making the folder of the target's first so many names.
    Place(u16),
    /// Seeing to it that nothing is mounted on the host with it.
    Propagation,
    /// Attaching it.
    Attach,
}

/// What the steps are called, in the order of their numbers on the way between the processes.
const STEPS: [(Step, &str); 9] = [
    (Step::Process, "run a process for it"),
    (Step::Folder, "enter the folder"),
    (Step::User, "enter the container's user namespace"),
    (Step::Space, "make a mount namespace"),
    (Step::Copy, "copy its mount"),
    (Step::Confine, "restrict its mount"),
    (Step::Enter, "enter the container's mount namespace"),
    (Step::Propagation, "look at the container's mounts"),
    (Step::Attach, "attach it"),
];

fn words(target: &Path, step: Step, error: &io::Error) -> String {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    match (step, errno) {
        (Step::User | Step::Enter, Some(Errno::SRCH)) => return "the container has ended".to_owned(),
        (Step::Propagation, Some(Errno::NOTSUP)) => {
            return "the container passes mounts on to the host: a volume of it is `shared`".to_owned();
        }
        (Step::Place(depth), Some(errno)) => {
            let path: PathBuf = target.components().take(usize::from(depth) + 1).collect();
            return match errno {
                Errno::LOOP => format!("{} is a link inside", path.display()),
                Errno::NOTDIR => format!("{} is no folder inside", path.display()),
                _ => format!("{} inside: {}", path.display(), reason(error)),
            };
        }
        _ => {}
    }
    let hint = match (step, errno) {
        (Step::Enter, Some(Errno::INVAL)) | (Step::Copy | Step::Confine, Some(Errno::NOSYS)) => {
            ", Linux 5.12 is needed: uname -r"
        }
        (Step::User | Step::Enter, Some(Errno::PERM)) => {
            ", it is another user's container, or this host keeps its users out of user namespaces: \
             sysctl kernel.unprivileged_userns_clone kernel.apparmor_restrict_unprivileged_userns"
        }
        (Step::Space, Some(Errno::NOSPC)) => ", there are too many: sysctl user.max_mnt_namespaces",
        (Step::Copy, Some(Errno::INVAL)) => ", it is in another mount namespace, or unmounted",
        _ => "",
    };
    let name = STEPS.iter().find(|(named, _)| *named == step).map_or("", |(_, name)| name);
    format!("{name}: {}{hint}", reason(error))
}

/// A step that failed in the other process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) step: Step,
    pub(super) error: Errno,
}

impl Failure {
    /// The step, how deep, the error number.
    pub(super) const SIZE: usize = 7;
    const PLACE: u8 = u8::MAX;

    pub(super) fn to_bytes(self) -> [u8; Self::SIZE] {
        let (number, depth) = match self.step {
            Step::Place(depth) => (Self::PLACE, depth),
            step => {
                ((0..).zip(STEPS).find(|(_, (named, _))| *named == step).map_or(0, |(number, _)| number), 0)
            }
        };
        let (depth, error) = (depth.to_le_bytes(), self.error.raw_os_error().to_le_bytes());
        [number, depth[0], depth[1], error[0], error[1], error[2], error[3]]
    }

    pub(super) fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        let [number, low, high, error @ ..] = bytes;
        let step = match number {
            Self::PLACE => Step::Place(u16::from_le_bytes([low, high])),
            number => STEPS.get(usize::from(number)).map_or(Step::Process, |(step, _)| *step),
        };
        Self { step, error: Errno::from_raw_os_error(i32::from_le_bytes(error)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_arrive_as_they_were_sent() {
        let steps = STEPS.iter().map(|(step, _)| *step).chain([Step::Place(1), Step::Place(u16::MAX)]);
        for step in steps {
            let failure = Failure { step, error: Errno::NOTDIR };
            assert_eq!(Failure::from_bytes(failure.to_bytes()), failure);
        }
    }

    #[test]
    fn the_line_names_the_path_that_is_wrong() {
        let line = |step, error: Errno| GraftError::new(Path::new("/a/b/c"), step, error.into()).to_string();
        assert_eq!(
            line(Step::Place(2), Errno::LOOP),
            "/a/b/c cannot be mounted in the container: /a/b is a link inside"
        );
        assert_eq!(
            line(Step::Place(1), Errno::ROFS),
            "/a/b/c cannot be mounted in the container: /a inside: read-only file system"
        );
        assert_eq!(
            line(Step::Enter, Errno::INVAL),
            "/a/b/c cannot be mounted in the container: enter the container's mount namespace: invalid argument, \
             Linux 5.12 is needed: uname -r"
        );
    }
}
