//! `list`: what is registered.

use crate::cli::ListArgs;
use crate::failure::Failure;
use crate::output::{self, Row};
use crate::planning::{AGENT, RUNNER};
use crate::report::{Exit, say};
use flake_core::caller::Caller;
use flake_core::list::{Listed, list};
use flake_core::place::{Places, Scope};
use flake_core::registry::Registry;
use flake_core::{gap, straight};
use flake_plan::{Plan, Summary};
use flake_schema::{Loaded, Target};
use serde::Serialize;
use std::path::Path;

/// What is said of a flake of which there is no plan.
const UNPLANNED: &str = "planned at the first call";

/// The columns of flake-pilot 3.x, in its order, and those that came later.
#[derive(Debug, Serialize)]
struct Line {
    name: String,
    engine: Option<&'static str>,
    target: Option<String>,
    host_app_path: Option<String>,
    config: Option<String>,
    way: Option<&'static str>,
    reason: Option<String>,
}

impl Row for Line {
    const HEADINGS: &'static [&'static str] =
        &["NAME", "ENGINE", "TARGET APP PATH", "HOST APP PATH", "CONFIG", "WAY", "REASON"];

    fn cells(&self) -> Vec<Option<String>> {
        vec![
            Some(self.name.clone()),
            self.engine.map(str::to_owned),
            self.target.clone(),
            self.host_app_path.clone(),
            self.config.clone(),
            self.way.map(str::to_owned),
            self.reason.clone(),
        ]
    }
}

pub(crate) fn run(args: &ListArgs) -> Result<Exit, Failure> {
    let caller = Caller::current()?;
    let registry = Registry::of(&caller)?;
    let mut listed = list(&registry)?;
    if args.user && !caller.is_root() {
        listed.retain(|one| one.scope == Scope::User);
    }
    let lines: Vec<Line> = listed.iter().map(|one| line(one, registry.own(), &caller)).collect();
    output::rows(&lines, args.format)?;
    let broken: Vec<_> = listed.iter().filter_map(|one| one.loaded.as_ref().err()).collect();
    for error in &broken {
        say(&error.to_string());
    }
    Ok(if broken.is_empty() { Exit::Done } else { Exit::Incomplete })
}

fn line(listed: &Listed, own: &Places, caller: &Caller) -> Line {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let flake = listed.loaded.as_ref().ok().map(|loaded| &loaded.flake);
    let (way, reason) = match &listed.loaded {
        Ok(loaded) => way(loaded, listed.scope, own, caller),
        Err(_) => (None, None),
    };
    Line {
        way,
        reason,
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

/// Which way the caller's launches go, and why, as far as it is known without asking podman.
fn way(
    loaded: &Loaded,
    scope: Scope,
    own: &Places,
    caller: &Caller,
) -> (Option<&'static str>, Option<String>) {
    if let Some(part) = gap::missing_part(&loaded.flake) {
        return (None, Some(format!("needs {part}, which this release does not have yet")));
    }
    if let Some(reason) = straight::why_not(&loaded.flake, caller) {
        return (Some(AGENT), Some(reason.to_owned()));
    }
    match Plan::summary(&own.plan_file(&loaded.name, scope), caller.uid) {
        Ok(Summary { uid, reason: None }) if uid == caller.uid => (Some(RUNNER), None),
        Ok(Summary { uid, reason }) if uid == caller.uid => (Some(AGENT), reason),
        _ => (None, Some(UNPLANNED.to_owned())),
    }
}
