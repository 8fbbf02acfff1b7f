//! The figures that are promised for calls of commands in containers.

mod direct;
mod kept;
mod launches;
mod layers;
mod many;
mod pairs;
mod sizes;
mod streams;
mod table;

use std::process::ExitCode;

use anyhow::Result;
use flake_testkit::{ROOT, ScratchHost, Subject, Suite, run, trial};

fn main() -> ExitCode {
    run(Suite { product: true, trials: vec![trial("figures", figures)], last: Vec::new() })
}

fn figures(host: &'static ScratchHost) -> Result<()> {
    table::heading();
    let rootful = Subject::register(host, "rootful", (&ROOT, &ROOT), &[])?;
    launches::straight(host, &rootful)?;
    layers::each(host)?;
    many::beside(&rootful)?;
    streams::gibibyte("straight", &rootful)?;
    sizes::while_it_runs(host, &rootful)?;
    sizes::of_the_program()?;
    let agents = launches::through_the_agent(host)?;
    streams::gibibyte("agent", &agents)?;
    kept::all(host)
}
