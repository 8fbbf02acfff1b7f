//! `load`: an archive into the image store.

use crate::cli::LoadArgs;
use crate::failure::Failure;
use crate::report::Exit;
use crate::session::Session;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &LoadArgs) -> Result<Exit, Failure> {
    let file = archive(&args.oci)?;
    let session = Session::open()?;
    Ok(Exit::External(session.store.podman()?.load(&file)?))
}

/// The file itself, or the last one whose name begins so: archives carry their version at the end.
fn archive(file: &Path) -> Result<PathBuf, Failure> {
    if file.exists() {
        return Ok(file.to_owned());
    }
    let missing = || Failure::new(format!("there is no file {0}, and none that begins so", file.display()));
    let name = file.file_name().ok_or_else(missing)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let matching = names.filter(|found| found.as_encoded_bytes().starts_with(name.as_encoded_bytes()));
    let last = matching.map(|found| file.with_file_name(found)).filter(|found| found.is_file()).max();
    last.ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_those_that_begin_so() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["joe-1.tar", "joe-2.tar", "joe", "mary"] {
            fs::write(at(name), "").unwrap();
        }
        fs::create_dir(at("joe-3.tar")).unwrap();
        assert_eq!(archive(&at("joe")).unwrap(), at("joe"));
        assert_eq!(archive(&at("joe-")).unwrap(), at("joe-2.tar"));
        assert!(archive(&at("jim")).is_err() && archive(&at("none/joe")).is_err());
    }
}
