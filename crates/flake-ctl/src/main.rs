//! `flake-ctl`: registers, lists and removes commands that live in isolated environments.

mod ask;
mod cli;
mod failure;
mod installed;
mod instances;
mod left_scratch;
mod man;
mod output;
mod planning;
mod podman_store;
mod report;
mod session;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A request to stop comes between two steps, so that what was begun can be undone.
    flake_sys::interrupt::watch();
    let cli = match cli::parse(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(error) => {
            // Help on a closed pipe is no failure.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    report::end(verbs::run(cli.command))
}
