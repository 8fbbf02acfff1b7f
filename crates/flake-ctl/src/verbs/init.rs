//! `init`: a user's folders and settings.

use crate::cli::InitArgs;
use crate::failure::Failure;
use crate::output;
use crate::report::{Exit, say};
use flake_core::caller::Caller;
use flake_core::init::{Became, init};

pub(crate) fn run(args: &InitArgs) -> Result<Exit, Failure> {
    let caller = Caller::current()?;
    if caller.is_root() {
        return Err(Failure::new("root has no user's folders, the system's are there without setting up")
            .hint("call it as a normal user: flake-ctl init --user"));
    }
    if !args.user {
        return Err(Failure::new("only a user's folders can be set up").hint("flake-ctl init --user"));
    }
    let setup = init(&caller, args.force)?;
    for (path, became) in &setup.paths {
        let became = match became {
            Became::Made => "made",
            Became::Kept => "kept",
            Became::Replaced => "written anew",
        };
        say(&format!("{became}: {}", path.display()));
    }
    let line = format!("export CONTAINERS_STORAGE_CONF={}\n", quoted(&setup.storage_conf.to_string_lossy()));
    output::print(line.as_bytes())?;
    Ok(Exit::Done)
}

/// For a shell that reads the line.
fn quoted(path: &str) -> String {
    let plain = |sign: char| sign.is_alphanumeric() || "/._-+@%,:=".contains(sign);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_path_back() {
        assert_eq!(quoted("/home/ada/.config/x"), "/home/ada/.config/x");
        assert_eq!(quoted("/home/a b"), "'/home/a b'");
        assert_eq!(quoted("/home/it's"), "'/home/it'\\''s'");
    }
}
