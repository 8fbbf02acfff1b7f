//! `man`: the manual pages.

use crate::cli::ManArgs;
use crate::failure::Failure;
use crate::man;
use crate::report::Exit;
use std::fs;

pub(crate) fn run(args: &ManArgs) -> Result<Exit, Failure> {
    let folder = &args.folder;
    let failed = |error| Failure::system(&format!("cannot write to {}", folder.display()), &error);
    fs::create_dir_all(folder).map_err(failed)?;
    for (name, text) in man::pages()? {
        flake_sys::atomic::write(&folder.join(name), &text, 0o644).map_err(failed)?;
    }
    Ok(Exit::Done)
}
