//! Every report as a trial, for a flake that a normal user registered.

use std::process::ExitCode;
use std::sync::OnceLock;

use anyhow::anyhow;
use flake_regress::{ALONE, Ground, ROWS, Row};
use flake_testkit::{ADA, ScratchHost, Subject, Suite, run, trial};

fn main() -> ExitCode {
    let of_row = |&(name, body): &Row| trial(name, move |host| look(host, body));
    run(Suite {
        product: true,
        trials: ROWS.iter().map(of_row).collect(),
        last: ALONE.iter().map(of_row).collect(),
    })
}

fn look(host: &ScratchHost, body: fn(&Ground<'_>) -> anyhow::Result<()>) -> anyhow::Result<()> {
    static APP: OnceLock<Result<Subject, String>> = OnceLock::new();
    let register = || Subject::register(host, "app", (&ADA, &ADA), &[]).map_err(|error| error.to_string());
    let app = APP.get_or_init(register).as_ref().map_err(|error| anyhow!("no app: {error}"))?;
    body(&Ground { host, app, control: &Subject::control(&ADA) })
}
