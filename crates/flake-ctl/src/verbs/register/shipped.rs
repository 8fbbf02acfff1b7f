//! The registration that an image brings along: shown, proposed, asked for.

use crate::cli::RegisterArgs;
use crate::failure::Failure;
use crate::podman_store::PodmanStore;
use crate::report::{Exit, note};
use crate::session::Session;
use crate::{ask, output};
use flake_core::store::ImageStore;
use flake_core::{draft, shipped};
use flake_schema::{ContainerRuntime, FlakeFile, FlakeName, ImageRegistration};
use std::path::PathBuf;

/// Keys that every flake file has and that say nothing here.
const EXPECTED: [&str; 3] = ["engine", "container.name", "container.host_app_path"];

/// What an image proposes.
#[derive(Debug)]
pub(super) struct Shipped {
    image: String,
    registration: ImageRegistration,
}

/// `--info`: the file as it is, made fit for a terminal.
pub(super) fn show(image: &str, store: &PodmanStore) -> Result<Exit, Failure> {
    must_exist(image, store)?;
    let Some(content) = shipped::read(store, image)? else { return Err(none(image)) };
    let text = String::from_utf8_lossy(&content);
    output::print(output::harmless_text(&text).as_bytes())?;
    Ok(Exit::Done)
}

fn must_exist(image: &str, store: &PodmanStore) -> Result<(), Failure> {
    match store.find(image)? {
        Some(_) => Ok(()),
        None => Err(Failure::new(format!("there is no image {image} here"))
            .hint(format!("flake-ctl podman pull --uri {image}"))),
    }
}

fn none(image: &str) -> Failure {
    let path = shipped::path_of(image).unwrap_or_else(|| "a registration".to_owned());
    Failure::new(format!("image {image} brings no {path}"))
}

impl Shipped {
    /// Reads and checks the registration of an image; nothing when it brings none.
    pub(super) fn read(image: &str, store: &PodmanStore) -> Result<Option<Self>, Failure> {
        must_exist(image, store)?;
        let without = "--no-shipped registers without it";
        let read = shipped::read(store, image).map_err(|error| Failure::from(error).hint(without))?;
        let Some(content) = read else { return Ok(None) };
        let origin = format!("registration in {image}");
        let registration = ImageRegistration::parse(&content, &origin)
            .map_err(|error| Failure::from(error).hint(without))?;
        Ok(Some(Self { image: image.to_owned(), registration }))
    }

    /// What of it lies below the command line's own words: what is harmless, and what is allowed.
    pub(super) fn granted(mut self, asked: &FlakeFile, yes: bool) -> Result<FlakeFile, Failure> {
        let ignored: Vec<&str> = self.registration.ignored.iter().map(String::as_str).collect();
        let ignored: Vec<&str> = ignored.into_iter().filter(|key| !EXPECTED.contains(key)).collect();
        if !ignored.is_empty() {
            note(&format!("what image {} says of these does not count: {}", self.image, ignored.join(", ")));
        }
        self.yield_to(asked);
        let mut file = self.registration.accepted();
        if let Some(requested) = self.registration.requested()
            && self.is_allowed(yes)?
        {
            file.merge(requested);
        }
        Ok(file)
    }

    /// Drops what the command line decides otherwise, though by another key.
    fn yield_to(&mut self, asked: &FlakeFile) {
        let runtime = asked.container.as_ref().and_then(|container| container.runtime.clone());
        let ContainerRuntime { resume, attach, podman, share, env, .. } = runtime.unwrap_or_default();
        let registration = &mut self.registration;
        if asked.kind.is_some() || resume.is_some() || attach.is_some() {
            (registration.kind, registration.resume, registration.attach) = (None, None, None);
        }
        if draft::chooses_network(&podman.unwrap_or_default()) {
            registration.network = None;
        }
        if share.is_some() {
            registration.share.clear();
        }
        if env.is_some() {
            registration.env.clear();
        }
    }

    fn is_allowed(&self, yes: bool) -> Result<bool, Failure> {
        let wishes = self.wishes();
        if yes {
            return Ok(true);
        }
        if !ask::is_possible() {
            return Err(Failure::new(format!("image {} asks for {wishes}", self.image)).hint(
                "--yes allows it, --share and --env say what is wanted instead, --no-shipped registers without",
            ));
        }
        ask::confirm(&format!("image {} asks for {wishes}. Allow it?", self.image))
    }

    /// What it asks for, in the words of the options.
    fn wishes(&self) -> String {
        let shares = self.registration.share.iter().map(|share| format!("--share {share}"));
        let variables = self.registration.env.iter().map(|entry| format!("--env {entry}"));
        output::harmless(&shares.chain(variables).collect::<Vec<_>>().join(" "))
    }
}

/// Without `--app`: the name that the image proposes, in the folder for commands, if that is wanted.
pub(super) fn proposed_path(
    shipped: Option<&Shipped>,
    args: &RegisterArgs,
    session: &Session,
) -> Result<PathBuf, Failure> {
    let Some(shipped) = shipped else {
        return Err(none(&args.container).hint("name the command: --app PATH"));
    };
    let proposed: Option<FlakeName> =
        shipped.registration.name.clone().or_else(|| shipped::name_of(&args.container));
    let name = proposed.ok_or_else(|| none(&args.container).hint("name the command: --app PATH"))?;
    let path = session.places.bin_dir.join(name.as_str());
    if args.yes {
        return Ok(path);
    }
    let text = path.display().to_string();
    if !ask::is_possible() {
        return Err(Failure::new(format!("image {} proposes {text}", args.container))
            .hint("--yes takes it, --app names another"));
    }
    if ask::confirm(&format!("image {} proposes {text}. Register it there?", args.container))? {
        Ok(path)
    } else {
        Err(Failure::new("nothing was registered").hint("name the command: --app PATH"))
    }
}
