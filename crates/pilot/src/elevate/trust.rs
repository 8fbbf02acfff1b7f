//! Which files may decide about a privileged launch: root's, in folders of root's, that nobody else can change.

use crate::ending::Refusal;
use flake_schema::Source;
use std::path::Path;

/// Everything the launch was read from, with the folders above.
pub(super) fn check(sources: &[Source]) -> Result<(), Refusal> {
    sources.iter().try_for_each(|source| {
        check_one(source)?;
        check_folders(&source.path)
    })
}

/// A file that is to be read by somebody else, with the folders above.
pub(super) fn check_path(path: &Path) -> Result<(), Refusal> {
    look_at(path)?;
    check_folders(path)
}

fn check_folders(path: &Path) -> Result<(), Refusal> {
    path.ancestors().skip(1).filter(|folder| folder.is_absolute()).try_for_each(look_at)
}

fn look_at(path: &Path) -> Result<(), Refusal> {
    let source = Source::look_at(path)
        .map_err(|error| Refusal::Other(format!("cannot look at {}: {error}", path.display())))?;
    check_one(&source)
}

fn check_one(source: &Source) -> Result<(), Refusal> {
    match source.identity {
        Some(identity) if identity.uid != 0 || identity.mode & 0o022 != 0 => Err(Refusal::Other(format!(
            "{} can be changed by others than root; try: chown root:root {0} && chmod go-w {0}",
            source.path.display()
        ))),
        _ => Ok(()),
    }
}
