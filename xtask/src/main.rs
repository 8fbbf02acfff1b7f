//! Building, staging and measuring Flake Pilot: what the words of the Makefile mean.

mod bench;
mod build;
mod demo;
mod odd_host;
mod stage;
mod test;

use anyhow::{Result, bail};
use std::path::Path;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["stage", dir] => stage::stage(Path::new(dir)),
        ["demo"] => demo::demo(),
        ["test"] => test::test(),
        ["bench"] => bench::bench(),
        ["torture"] => test::torture(),
        _ => bail!("usage: cargo xtask stage DIR | demo | test | bench | torture"),
    }
}
