//! The keys of the section that an engine uses, each with its path: what both checking and resolving see.

use crate::flake::FlakeFile;
use crate::words::{Engine, EnvEntry, RunAs, Share, User, Workdir};

/// A value and the path of its key.
#[derive(Clone, Debug)]
pub(crate) struct Pick<'a, T> {
    pub(crate) value: Option<&'a T>,
    pub(crate) path: &'static str,
}

impl<'a, T> Pick<'a, T> {
    fn of(value: Option<&'a T>, path: &'static str) -> Self {
        Self { value, path }
    }

    /// This value, else the other one.
    fn or(self, other: Self) -> Self {
        if self.value.is_some() || other.value.is_none() { self } else { other }
    }
}

/// What every engine's section has.
#[derive(Clone, Debug)]
pub(crate) struct View<'a> {
    pub(crate) target: Pick<'a, String>,
    pub(crate) host_path: Pick<'a, String>,
    pub(crate) runas: Pick<'a, RunAs>,
    pub(crate) resume: Pick<'a, bool>,
    pub(crate) attach: Pick<'a, bool>,
    pub(crate) share: Pick<'a, Vec<Share>>,
    pub(crate) env: Pick<'a, Vec<EnvEntry>>,
    pub(crate) workdir: Pick<'a, Workdir>,
    pub(crate) user: Pick<'a, User>,
}

macro_rules! view {
    ($section:expr, $name:literal, $attach:expr) => {{
        let section = $section;
        let runtime = section.and_then(|s| s.runtime.as_ref());
        View {
            target: Pick::of(
                section.and_then(|s| s.target_app_path.as_ref()),
                concat!($name, ".target_app_path"),
            ),
            host_path: Pick::of(
                section.and_then(|s| s.host_app_path.as_ref()),
                concat!($name, ".host_app_path"),
            ),
            runas: Pick::of(runtime.and_then(|r| r.runas.as_ref()), concat!($name, ".runtime.runas")),
            resume: Pick::of(runtime.and_then(|r| r.resume.as_ref()), concat!($name, ".runtime.resume")),
            attach: Pick::of(runtime.and_then($attach), concat!($name, ".runtime.attach")),
            share: Pick::of(runtime.and_then(|r| r.share.as_ref()), concat!($name, ".runtime.share")),
            env: Pick::of(runtime.and_then(|r| r.env.as_ref()), concat!($name, ".runtime.env")),
            workdir: Pick::of(runtime.and_then(|r| r.workdir.as_ref()), concat!($name, ".runtime.workdir")),
            user: Pick::of(runtime.and_then(|r| r.user.as_ref()), concat!($name, ".runtime.user")),
        }
    }};
}

impl<'a> View<'a> {
    /// The view of an engine: its own section, and below it the container whose image it uses.
    pub(crate) fn new(file: &'a FlakeFile, engine: Engine) -> Self {
        let container = view!(file.container.as_ref(), "container", |r| r.attach.as_ref());
        match engine {
            Engine::Podman => container,
            Engine::Vm => view!(file.vm.as_ref(), "vm", |_| None).above(container, file.vm.is_none()),
            Engine::Northstar => view!(file.northstar.as_ref(), "northstar", |_| None)
                .above(container, file.northstar.is_none()),
        }
    }

    /// This view, and where it says nothing the one below; `absent`: there is no such section.
    fn above(self, below: Self, absent: bool) -> Self {
        if absent {
            return below;
        }
        Self {
            target: self.target.or(below.target),
            host_path: self.host_path.or(below.host_path),
            runas: self.runas.or(below.runas),
            resume: self.resume.or(below.resume),
            attach: self.attach.or(below.attach),
            share: self.share.or(below.share),
            env: self.env.or(below.env),
            workdir: self.workdir.or(below.workdir),
            user: self.user.or(below.user),
        }
    }

    pub(crate) fn resumes(&self) -> bool {
        self.resume.value == Some(&true)
    }

    pub(crate) fn attaches(&self) -> bool {
        self.attach.value == Some(&true)
    }
}
