//! What the agent is to check by itself.

use crate::guest::variables;
use flake_schema::{Decides, ProbeAction, ProbeStep};
use std::collections::BTreeMap;
use std::time::Duration;

/// A liveness probe, as the agent runs it: as the application's user, on its own timer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it looks at and its place, for messages.
    pub description: String,
    /// The script; exit status 0 is a pass.
    pub script: String,
    /// Its variables.
    pub env: Vec<(String, String)>,
    /// The time that one try may take.
    pub timeout: Duration,
    /// The time between two tries, and before the first.
    pub interval: Duration,
    /// Failures in a row before the action.
    pub failures: u32,
    /// What then follows.
    pub action: ProbeAction,
}

/// The liveness probes among a flake's, for [`Guest::watch`](crate::guest::Guest::watch).
#[must_use]
pub fn liveness(probes: &[ProbeStep], params: &BTreeMap<String, String>) -> Vec<Check> {
    let checks = probes.iter().enumerate().filter_map(|(index, probe)| match probe.decides {
        Decides::Alive(failures, action) => Some(Check {
            description: match &probe.description {
                Some(description) => format!("{description} (probes[{index}])"),
                None => format!("probes[{index}]"),
            },
            script: probe.script.clone(),
            env: variables(params),
            timeout: probe.timeout.get(),
            interval: probe.interval.get(),
            failures,
            action,
        }),
        Decides::Ready(_) => None,
    });
    checks.collect()
}
