//! `ps`: the instances that live, kept or only running, as podman has them.

use crate::cli::PsArgs;
use crate::failure::Failure;
use crate::instances::{Kept, name_of};
use crate::output::{self, Row};
use crate::report::Exit;
use crate::session::Session;
use flake_core::launch::label::{CONFIG, NAME, USER};
use flake_core::pin::Pin;
use flake_core::place::{Places, pinned_tag};
use flake_core::quota::rough;
use flake_core::reference::with_tag;
use flake_schema::FlakeName;
use flake_tools::podman::{Container, ContainerState};
use serde::Serialize;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

/// How much of an id people need.
const SHORT: usize = 12;

/// The columns of flake-pilot 3.x, in its order, and those that came later.
#[derive(Debug, Serialize)]
struct Line {
    name: Option<String>,
    user: Option<String>,
    id: String,
    status: &'static str,
    image: String,
    config: Option<String>,
    /// As the verbs about it take it; absent for one that goes with its call.
    instance: Option<String>,
    created: Option<String>,
    last_use: Option<String>,
    in_use: bool,
    #[serde(skip)]
    idle: Option<Duration>,
}

impl Row for Line {
    const HEADINGS: &'static [&'static str] =
        &["NAME", "USER", "ID", "STATUS", "IMAGE", "CONFIG", "INSTANCE", "CREATED", "LAST USE"];

    fn cells(&self) -> Vec<Option<String>> {
        vec![
            self.name.clone(),
            self.user.clone(),
            Some(self.id.clone()),
            Some(self.status.to_owned()),
            Some(self.image.clone()),
            self.config.clone(),
            self.instance.clone(),
            self.created.clone(),
            self.last_use.clone(),
        ]
    }

    fn short_cells(&self) -> Vec<Option<String>> {
        let mut cells = self.cells();
        cells[2] = Some(self.id.chars().take(SHORT).collect());
        cells[8] = match self.idle {
            _ if self.in_use => Some("now".to_owned()),
            idle => idle.map(|idle| format!("{} ago", rough(idle))),
        };
        cells
    }
}

pub(crate) fn run(args: &PsArgs) -> Result<Exit, Failure> {
    let session = Session::open()?;
    let containers = session.store.podman()?.containers_with_label(NAME)?;
    let mut lines: Vec<Line> = containers.iter().map(|found| line(found, &session)).collect();
    lines.sort_by(|one, other| {
        (&one.name, &one.instance, &one.id).cmp(&(&other.name, &other.instance, &other.id))
    });
    output::rows(&lines, args.format)?;
    Ok(Exit::Done)
}

fn line(container: &Container, session: &Session) -> Line {
    let label = |name| container.label(name).map(str::to_owned);
    let kept = Kept::of(container);
    let notes = kept.as_ref().map(|kept| (kept.notes(session), &kept.instance));
    let last_use = notes.as_ref().and_then(|(notes, instance)| notes.last_use(instance));
    // One that is not kept goes with its call.
    let in_use = notes.as_ref().is_none_or(|(notes, instance)| notes.is_in_use(instance));
    Line {
        name: label(NAME),
        user: label(USER).map(|id| id.parse().map_or(id, name_of)),
        id: container.id.clone(),
        status: match container.state() {
            ContainerState::Running => "running",
            ContainerState::Stopped => "stopped",
            ContainerState::Unknown => "unknown",
        },
        image: image(container, &session.places),
        config: label(CONFIG),
        instance: kept.as_ref().map(Kept::called),
        created: container.created().and_then(written),
        idle: last_use.map(|time| SystemTime::now().duration_since(time).unwrap_or_default()),
        last_use: last_use.and_then(written),
        in_use,
    }
}

/// As RFC 3339 has it, in UTC, which has four digits for a year.
fn written(time: SystemTime) -> Option<String> {
    let mut text = String::new();
    time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    write!(text, "{}", humantime::format_rfc3339_seconds(time)).ok()?;
    Some(text)
}

/// The name that the flake file has for the image, not that of the tag which keeps it.
fn image(container: &Container, places: &Places) -> String {
    let named = || {
        let name: FlakeName = container.label(NAME)?.parse().ok()?;
        let tag = with_tag(&pinned_tag(&name, places.scope));
        Pin::read(places, &name).filter(|_| container.image == tag).map(|pin| with_tag(&pin.reference))
    };
    named().unwrap_or_else(|| container.image.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_or_left_out() {
        let at = |seconds| written(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(1_796_079_285).as_deref(), Some("2026-11-30T22:54:45Z"));
        assert_eq!(at(400_000_000_000), None);
        assert_eq!(written(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), None);
    }
}
