//! `validate`: everything that is wrong with a file, or that nothing is.

use crate::cli::ValidateArgs;
use crate::failure::Failure;
use crate::output;
use crate::report::{Exit, note, say};
use flake_core::caller::Caller;
use flake_core::gap;
use flake_core::registry::{FindError, Registry};
use flake_schema::{FlakeName, LoadError, load_flake, load_settings};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

const SETTINGS: &str = "flakes.yml";

pub(crate) fn run(args: &ValidateArgs) -> Result<Exit, Failure> {
    let checked = match path(&args.what) {
        Some(file) if file.file_name() == Some(OsStr::new(SETTINGS)) => settings(&file),
        Some(file) => load_flake(&file).map(|loaded| (file, gap::missing_part(&loaded.flake))),
        None => match registered(&args.what)? {
            Ok((file, part)) => Ok((file, part)),
            Err(error) => Err(error),
        },
    };
    match checked {
        Ok((file, part)) => {
            output::print(format!("{}: valid\n", file.display()).as_bytes())?;
            if let Some(part) = part {
                note(&format!("calling it needs {part}, which this release does not have yet"));
            }
            Ok(Exit::Done)
        }
        Err(error) => {
            say(&error.to_string());
            Ok(Exit::Incomplete)
        }
    }
}

/// A word with a slash or the ending of a file is a path, any other the name of a flake.
fn path(word: &OsStr) -> Option<PathBuf> {
    let path = Path::new(word);
    let ending = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    (ending || word.as_encoded_bytes().contains(&b'/')).then(|| path.to_owned())
}

fn settings(file: &Path) -> Result<(PathBuf, Option<String>), LoadError> {
    let loaded = load_settings(&[file])?;
    match loaded.sources.first().and_then(|source| source.identity) {
        Some(_) => Ok((file.to_owned(), None)),
        // Settings may be absent where they are used; here their file was asked for.
        None => Err(LoadError::Unreadable {
            path: file.to_owned(),
            reason: "there is no such file".to_owned(),
            kind: std::io::ErrorKind::NotFound,
        }),
    }
}

type Checked = Result<(PathBuf, Option<String>), LoadError>;

fn registered(name: &OsStr) -> Result<Checked, Failure> {
    let name = FlakeName::from_os(name)?;
    match Registry::of(&Caller::current()?)?.find(&name, None) {
        Ok(found) => Ok(Ok((found.file, gap::missing_part(&found.loaded.flake)))),
        Err(FindError::Load(error)) => Ok(Err(*error)),
        Err(error) => Err(error.into()),
    }
}
