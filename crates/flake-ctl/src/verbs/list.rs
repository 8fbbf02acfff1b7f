//! `list`: what is registered.

use crate::cli::ListArgs;
use crate::failure::Failure;
use crate::output::{self, Row};
use crate::report::{Exit, say};
use flake_core::caller::Caller;
use flake_core::list::{Listed, list};
use flake_core::place::Scope;
use flake_core::registry::Registry;
use flake_schema::Target;
use serde::Serialize;
use std::path::Path;

/// The columns of flake-pilot 3.x, in its order.
#[derive(Debug, Serialize)]
struct Line {
    name: String,
    engine: Option<&'static str>,
    target: Option<String>,
    host_app_path: Option<String>,
    config: Option<String>,
}

impl Row for Line {
    const HEADINGS: &'static [&'static str] =
        &["NAME", "ENGINE", "TARGET APP PATH", "HOST APP PATH", "CONFIG"];

    fn cells(&self) -> Vec<Option<String>> {
        vec![
            Some(self.name.clone()),
            self.engine.map(str::to_owned),
            self.target.clone(),
            self.host_app_path.clone(),
            self.config.clone(),
        ]
    }
}

pub(crate) fn run(args: &ListArgs) -> Result<Exit, Failure> {
    let caller = Caller::current()?;
    let mut listed = list(&Registry::of(&caller)?)?;
    if args.user && !caller.is_root() {
        listed.retain(|one| one.scope == Scope::User);
    }
    let lines: Vec<Line> = listed.iter().map(line).collect();
    output::rows(&lines, args.format)?;
    let broken: Vec<_> = listed.iter().filter_map(|one| one.loaded.as_ref().err()).collect();
    for error in &broken {
        say(&error.to_string());
    }
    Ok(if broken.is_empty() { Exit::Done } else { Exit::Incomplete })
}

fn line(listed: &Listed) -> Line {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let flake = listed.loaded.as_ref().ok().map(|loaded| &loaded.flake);
    Line {
        name: listed.name.clone(),
        engine: flake.map(|flake| flake.engine.as_str()),
        target: flake.map(|flake| match &flake.target {
            Target::Entrypoint => "/".to_owned(),
            Target::Program(program) => program.clone(),
        }),
        host_app_path: flake.map(|flake| text(&flake.host_path)),
        config: Some(text(&listed.file)),
    }
}
