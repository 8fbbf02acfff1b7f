//! Why a command was not run.

use flake_sys::reason::reason;
use flake_wire::Failure;
use std::io;
use std::path::{Path, PathBuf};

/// Why a command was not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A layer of the image is not there any more. Nothing has happened yet: another plan can be tried.
    #[error("layer {} of the image is gone", .0.display())]
    LayerMissing(PathBuf),
    /// A path that is shared is not there any more, such as that of a volume, or is not what it was. As above.
    #[error("{}, which is shared, is gone or another", .0.display())]
    ShareMissing(PathBuf),
    /// The AppArmor profile is not loaded, as after a start of the host, before podman has loaded it. As above.
    #[error("the apparmor profile {0} is not loaded")]
    ProfileMissing(String),
    /// The kernel lets this user make no user namespace.
    #[error(
        "this user may make no user namespaces: {}; see: sysctl user.max_user_namespaces \
         kernel.unprivileged_userns_clone kernel.apparmor_restrict_unprivileged_userns",
        reason(.0)
    )]
    NoUserNamespace(io::Error),
    /// The ids of a user namespace could not be mapped.
    #[error("cannot map the ids of this user: {said}")]
    Map {
        /// Why.
        said: String,
    },
    /// Others have a say in the folder for what launches write.
    #[error(
        "cannot keep what is written in {path}, which others can change; see: ls -ld {path}",
        path = .0.display()
    )]
    NotOwn(PathBuf),
    /// The folder for what launches write is on a file system that no overlay can write to.
    #[error("cannot keep what is written in {path}, whose file system takes no overlay; see: df -T {path}",
        path = .0.display()
    )]
    NoOverlay(PathBuf),
    /// Something could not be done on a path.
    #[error("cannot {what} {}: {}", path.display(), reason(source))]
    Path {
        /// What.
        what: &'static str,
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something could not be done.
    #[error("cannot {what}: {}", reason(source))]
    System {
        /// What.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The root could not be put together.
    #[error("{0}")]
    Root(String),
    /// The program could not be run.
    #[error("{}", .0.message)]
    Program(Failure),
}

impl RunError {
    /// Whether nothing has happened yet, and another plan can be tried.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        matches!(self, Self::LayerMissing(_) | Self::ShareMissing(_) | Self::ProfileMissing(_))
    }
}

/// For `map_err`: names what was tried.
pub(crate) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> RunError {
    move |source| RunError::System { what, source: source.into() }
}

/// For `map_err`: names what was tried, and on what.
pub(crate) fn on<E: Into<io::Error>>(what: &'static str, path: &Path) -> impl FnOnce(E) -> RunError {
    move |source| RunError::Path { what, path: path.to_owned(), source: source.into() }
}
