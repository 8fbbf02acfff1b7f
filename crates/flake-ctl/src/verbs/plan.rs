//! `plan`: how a command is launched, and why so.

mod account;
mod everything;

use crate::cli::{PlanArgs, PlanFormat, ScopeWord};
use crate::failure::Failure;
use crate::output;
use crate::planning::{AGENT, Outcome, Planning, RUNNER};
use crate::report::Exit;
use flake_core::caller::Caller;
use flake_core::place::Scope;
use flake_core::registry::Registry;
use flake_plan::{Plan, Way};
use flake_schema::FlakeName;
use serde::Serialize;
use std::path::Path;

/// What is known of a command's launches.
#[derive(Debug, Serialize)]
struct Known<'a> {
    name: &'a str,
    way: &'static str,
    reason: Option<&'a str>,
    /// Where the plan is, when there is one.
    file: Option<&'a Path>,
    plan: Option<&'a Plan>,
}

pub(crate) fn run(args: &PlanArgs) -> Result<Exit, Failure> {
    let caller = Caller::current()?;
    let registry = Registry::of(&caller)?;
    let name = FlakeName::from_os(&args.name)?;
    let registration = match args.scope {
        None => registry.find(&name, None)?,
        Some(ScopeWord::System) => registry.find_in(&name, Scope::System)?,
        Some(ScopeWord::User) => registry.find_in(&name, Scope::User)?,
    };
    let planning = Planning::new(&registration, &registry, &caller);
    if args.renew {
        planning.renew()?;
        return Ok(Exit::Done);
    }
    let file = planning.file();
    let outcome = planning.current()?;
    let known = match &outcome {
        Outcome::Fixed(reason) => {
            Known { name: name.as_str(), way: AGENT, reason: Some(reason), file: None, plan: None }
        }
        Outcome::Planned(plan) => {
            let (way, reason) = match &plan.way {
                Way::Runner(_) => (RUNNER, None),
                Way::Agent { reason } => (AGENT, Some(reason.as_str())),
            };
            Known { name: name.as_str(), way, reason, file: Some(&file), plan: Some(plan) }
        }
    };
    let text = match args.format {
        PlanFormat::Text => output::harmless_text(&account::of(&known)),
        PlanFormat::Json => serde_json::to_string_pretty(&everything::of(&known)?)? + "\n",
        PlanFormat::Yaml => serde_saphyr::to_string(&everything::of(&known)?)?,
    };
    output::print(text.as_bytes())?;
    Ok(Exit::Done)
}
