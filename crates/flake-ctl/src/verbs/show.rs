//! `show`: the instances that live, as podman has them.

use crate::cli::ShowArgs;
use crate::failure::Failure;
use crate::output::{self, Row};
use crate::report::Exit;
use crate::session::Session;
use flake_core::launch::label::{CONFIG, NAME, USER};
use flake_tools::podman::{Container, ContainerState};
use serde::Serialize;

/// How much of an id people need.
const SHORT: usize = 12;

/// The columns of flake-pilot 3.x, in its order.
#[derive(Debug, Serialize)]
struct Line {
    name: Option<String>,
    user: Option<String>,
    id: String,
    status: &'static str,
    image: String,
    config: Option<String>,
}

impl Row for Line {
    const HEADINGS: &'static [&'static str] = &["NAME", "USER", "ID", "STATUS", "IMAGE", "CONFIG"];

    fn cells(&self) -> Vec<Option<String>> {
        vec![
            self.name.clone(),
            self.user.clone(),
            Some(self.id.clone()),
            Some(self.status.to_owned()),
            Some(self.image.clone()),
            self.config.clone(),
        ]
    }

    fn short_cells(&self) -> Vec<Option<String>> {
        let mut cells = self.cells();
        cells[2] = Some(self.id.chars().take(SHORT).collect());
        cells
    }
}

pub(crate) fn run(args: &ShowArgs) -> Result<Exit, Failure> {
    let session = Session::open()?;
    let mut lines: Vec<Line> =
        session.store.podman()?.containers_with_label(NAME)?.iter().map(line).collect();
    lines.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
    output::rows(&lines, args.format)?;
    Ok(Exit::Done)
}

fn line(container: &Container) -> Line {
    let label = |name| container.label(name).map(str::to_owned);
    Line {
        name: label(NAME),
        user: label(USER).map(user_name),
        id: container.id.clone(),
        status: match container.state() {
            ContainerState::Running => "running",
            ContainerState::Stopped => "stopped",
            ContainerState::Unknown => "unknown",
        },
        image: container.image.clone(),
        config: label(CONFIG),
    }
}

/// The label holds the number.
fn user_name(id: String) -> String {
    let entry = id.parse().ok().and_then(|id| flake_sys::user::by_uid(id).ok()?);
    entry.map_or(id, |entry| entry.name)
}
