//! The default registration that an image brings along. Images are not trusted: little of it counts.

use crate::document::{Document, place};
use crate::error::{Diagnostic, Diagnostics};
use crate::flake::{Container, ContainerRuntime, FlakeFile};
use crate::name::FlakeName;
use crate::node::Node;
use crate::words::{EnvEntry, FlakeType, Network, Share, Workdir};

/// Largest registration taken from an image, in bytes.
const MOST_BYTES: usize = 64 << 10;
/// Longest name an image may propose, in bytes.
const LONGEST_NAME: usize = 64;

/// What the registration in an image says, sorted by what it may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageRegistration {
    /// Name proposed for the command: the last part of its host path, when it is a plain one. Where the command
    /// lives is never the image's choice.
    pub name: Option<FlakeName>,
    /// Program inside; may be set.
    pub target: Option<String>,
    /// Immutable or mutable; may be set.
    pub kind: Option<FlakeType>,
    /// May be set.
    pub resume: Option<bool>,
    /// May be set.
    pub attach: Option<bool>,
    /// May be set.
    pub workdir: Option<Workdir>,
    /// May be set; none or private.
    pub network: Option<Network>,
    /// Has to be asked for.
    pub share: Vec<Share>,
    /// Has to be asked for.
    pub env: Vec<EnvEntry>,
    /// Paths of the keys that do not count.
    pub ignored: Vec<String>,
}

/// Keys that count, as paths in a flake file.
const KEYS: &[&str] = &[
    "type",
    "container.target_app_path",
    "container.runtime.resume",
    "container.runtime.attach",
    "container.runtime.workdir",
    "container.runtime.share",
    "container.runtime.env",
];
const NETWORK: &str = "container.runtime.network";
const HOST_PATH: &str = "container.host_app_path";

impl ImageRegistration {
    /// Reads a flake file found in an image, strictly and bounded (64 KiB). `origin` stands for the path in
    /// errors, for example `registration in IMAGE`.
    pub fn parse(bytes: &[u8], origin: &str) -> Result<Self, Diagnostics> {
        if bytes.len() > MOST_BYTES {
            let message = format!("larger than {} KiB", MOST_BYTES / 1024);
            return Err(Diagnostic::whole(origin, message, None).into());
        }
        let document = Document::parse(origin, bytes)?;
        let file: FlakeFile = document.read(FlakeFile::reference)?;
        let container = file.container.unwrap_or_default();
        let runtime = container.runtime.unwrap_or_default();
        let name = container.host_app_path.as_deref().and_then(proposed_name);
        let network = runtime.network.filter(|network| *network != Network::Host);
        let counts = |path: &str| {
            KEYS.contains(&path)
                || (path == NETWORK && network.is_some())
                || (path == HOST_PATH && name.is_some())
        };
        let paths = document.root().map(Node::key_paths).unwrap_or_default();
        let ignored = paths.iter().filter(|path| !counts(path)).cloned().collect();
        let registration = Self {
            name,
            target: container.target_app_path,
            kind: file.kind,
            resume: runtime.resume,
            attach: runtime.attach,
            workdir: runtime.workdir,
            network,
            share: runtime.share.unwrap_or_default(),
            env: runtime.env.unwrap_or_default(),
            ignored,
        };
        match registration.problems() {
            problems if problems.is_empty() => Ok(registration),
            problems => Err(place(&[document], &problems)),
        }
    }

    /// What may be set without asking, to lie below what the command line says.
    pub fn accepted(&self) -> FlakeFile {
        let runtime = ContainerRuntime {
            resume: self.resume,
            attach: self.attach,
            workdir: self.workdir.clone(),
            network: self.network,
            ..ContainerRuntime::default()
        };
        self.file(Container { target_app_path: self.target.clone(), ..Container::default() }, runtime)
    }

    /// What has to be asked for; `None` when nothing is wanted.
    pub fn requested(&self) -> Option<FlakeFile> {
        if self.share.is_empty() && self.env.is_empty() {
            return None;
        }
        let runtime = ContainerRuntime {
            share: Some(self.share.clone()).filter(|share| !share.is_empty()),
            env: Some(self.env.clone()).filter(|env| !env.is_empty()),
            ..ContainerRuntime::default()
        };
        let file = self.file(Container::default(), runtime);
        Some(FlakeFile { kind: None, ..file })
    }

    fn file(&self, mut container: Container, runtime: ContainerRuntime) -> FlakeFile {
        if runtime != ContainerRuntime::default() {
            container.runtime = Some(runtime);
        }
        FlakeFile {
            kind: self.kind,
            container: (container != Container::default()).then_some(container),
            ..FlakeFile::default()
        }
    }

    /// Rules broken by what counts, as if the rest of the registration were there.
    fn problems(&self) -> Vec<crate::Problem> {
        let mut file = self.accepted();
        if let Some(requested) = self.requested() {
            file.merge(requested);
        }
        let container = file.container.get_or_insert_default();
        container.name = Some("image".to_owned());
        container.host_app_path = Some("/image".to_owned());
        file.problems()
    }
}

/// Only plain letters: the name is shown and becomes a file.
fn proposed_name(path: &str) -> Option<FlakeName> {
    let name = path.rsplit('/').next().filter(|name| name.len() <= LONGEST_NAME)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'+');
    name.bytes().all(plain).then(|| name.parse().ok())?
}
