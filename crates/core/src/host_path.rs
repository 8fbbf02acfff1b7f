//! The path of a command on the host: what it may be, and what may stand there.

use flake_schema::{FlakeName, WordError};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The launcher, under the name of an engine's or its own.
const LAUNCHERS: [&str; 2] = ["podman-pilot", "flake-pilot"];

/// Why a path cannot be a command's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostPathError {
    /// It depends on the working directory.
    #[error("{} is not an absolute path", .0.display())]
    Relative(PathBuf),
    /// It has `..` in it.
    #[error("{} has `..` in it, write the path it means", .0.display())]
    Parent(PathBuf),
    /// A flake file is text.
    #[error("{} is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    /// Its last part is no name that a flake can have.
    #[error("{}: {}", path.display(), source)]
    Name {
        /// The path.
        path: PathBuf,
        /// Why.
        source: WordError,
    },
}

/// The command's path without what means nothing in it, and the name of the flake behind it.
///
/// # Errors
/// [`HostPathError`].
pub fn command(path: &Path) -> Result<(PathBuf, FlakeName), HostPathError> {
    let plain = absolute(path)?;
    let ends_in_name = !path.as_os_str().as_encoded_bytes().ends_with(b"/");
    let name = plain.file_name().filter(|_| ends_in_name).unwrap_or_default();
    let name = FlakeName::from_os(name);
    let name = name.map_err(|source| HostPathError::Name { path: path.to_owned(), source })?;
    Ok((plain, name))
}

/// A path that means the same wherever it is read: absolute, text, without `..`.
///
/// # Errors
/// [`HostPathError`].
pub fn absolute(path: &Path) -> Result<PathBuf, HostPathError> {
    if !path.is_absolute() {
        return Err(HostPathError::Relative(path.to_owned()));
    }
    if path.to_str().is_none() {
        return Err(HostPathError::NotText(path.to_owned()));
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(HostPathError::Parent(path.to_owned()));
    }
    Ok(path.components().collect())
}

/// What stands at the path of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Nothing,
    /// A link to the launcher: a registered command.
    Command,
    /// A folder.
    Folder,
    /// Something that registration did not make.
    Foreign,
}

/// Looks at the path of a command.
///
/// # Errors
/// It cannot be looked at.
pub fn standing(path: &Path) -> io::Result<Standing> {
    Ok(match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Standing::Nothing,
        Err(error) => return Err(error),
        Ok(found) if found.is_dir() => Standing::Folder,
        Ok(found) if found.is_symlink() && leads_to_launcher(path) => Standing::Command,
        Ok(_) => Standing::Foreign,
    })
}

/// Whether a link's own target is the launcher, which need not be installed any more. A link to a registered
/// command is none.
fn leads_to_launcher(link: &Path) -> bool {
    let target = fs::read_link(link).unwrap_or_default();
    LAUNCHERS.iter().any(|name| target.file_name() == Some(name.as_ref()))
}

/// Whether two paths lead to the same place: the same name in the same folder.
#[must_use]
pub fn is_same(one: &Path, other: &Path) -> bool {
    let folder = |path: &Path| path.parent().and_then(|parent| parent.canonicalize().ok());
    one == other
        || one.file_name() == other.file_name() && folder(one).is_some() && folder(one) == folder(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn named(path: &str) -> Result<(String, String), String> {
        command(Path::new(path))
            .map(|(path, name)| (path.display().to_string(), name.to_string()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_command_has_an_absolute_path_and_a_name() {
        assert_eq!(named("/usr//bin/./joe"), Ok(("/usr/bin/joe".into(), "joe".into())));
        assert_eq!(named("bin/joe"), Err("bin/joe is not an absolute path".into()));
        assert_eq!(named("~/bin/joe"), Err("~/bin/joe is not an absolute path".into()));
        assert_eq!(named("/usr/../joe"), Err("/usr/../joe has `..` in it, write the path it means".into()));
        for bad in ["/", "/usr/bin/", "/usr/bin/.joe", "/usr/bin/-x"] {
            assert!(named(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_a_direct_link_to_the_launcher_is_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("/nowhere/podman-pilot", at("joe")).unwrap();
        symlink(at("joe"), at("alias")).unwrap();
        fs::write(at("file"), "").unwrap();
        fs::create_dir(at("folder")).unwrap();
        let found = |name: &str| standing(&at(name)).unwrap();
        assert_eq!(found("joe"), Standing::Command);
        assert_eq!((found("alias"), found("file")), (Standing::Foreign, Standing::Foreign));
        assert_eq!((found("folder"), found("none")), (Standing::Folder, Standing::Nothing));
    }
}
