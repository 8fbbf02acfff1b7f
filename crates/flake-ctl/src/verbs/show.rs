//! `show`: the instances that live, as podman has them.

use crate::cli::ShowArgs;
use crate::failure::Failure;
use crate::output::{self, Row};
use crate::report::Exit;
use crate::session::Session;
use flake_core::launch::label::{CONFIG, NAME, USER};
use flake_core::pin::Pin;
use flake_core::place::{Places, pinned_tag};
use flake_core::reference::with_tag;
use flake_schema::FlakeName;
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
    let mut lines: Vec<Line> = session
        .store
        .podman()?
        .containers_with_label(NAME)?
        .iter()
        .map(|found| line(found, &session.places))
        .collect();
    lines.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
    output::rows(&lines, args.format)?;
    Ok(Exit::Done)
}

fn line(container: &Container, places: &Places) -> Line {
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
        image: image(container, places),
        config: label(CONFIG),
    }
}

/// The label holds the number.
fn user_name(id: String) -> String {
    let entry = id.parse().ok().and_then(|id| flake_tools::users::by_uid(id).ok()?);
    entry.map_or(id, |entry| entry.name)
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
