//! Making plans: what podman makes of a flake for this caller is looked at, and written where the launcher finds it.

use crate::failure::Failure;
use crate::installed;
use crate::left_scratch;
use crate::podman_store::PodmanStore;
use crate::report::{note, say};
use flake_core::caller::Caller;
use flake_core::gap;
use flake_core::launch::{Launch, Rights, resolve};
use flake_core::pin::PinError;
use flake_core::place::{Places, Scope};
use flake_core::registry::{Registration, Registry};
use flake_core::transaction::make_folders;
use flake_core::words::Words;
use flake_core::{pin, straight};
use flake_engine::podman::{Podman as Engine, created};
use flake_plan::{Plan, Way};
use flake_schema::Source;
use flake_sys::interrupt;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// The words for the two ways: through podman and the agent, and straight from the layers.
pub(crate) const AGENT: &str = "agent";
pub(crate) const RUNNER: &str = "runner";

/// The permission bits of a plan and of the folder it is in, the system's too: root alone launches by those.
const PLAN_MODE: u32 = 0o600;
const PLANS_MODE: u32 = 0o700;

/// The way of a flake's launches, as far as it is known.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A plan says it.
    Planned(Box<Plan>),
    /// The flake itself says that it is the agent's, and why.
    Fixed(&'static str),
}

/// A registration as one caller launches it.
#[derive(Debug)]
pub(crate) struct Planning<'a> {
    registration: &'a Registration,
    registry: &'a Registry,
    caller: &'a Caller,
    store: PodmanStore,
}

impl<'a> Planning<'a> {
    pub(crate) fn new(registration: &'a Registration, registry: &'a Registry, caller: &'a Caller) -> Self {
        let own = registry.own();
        // A system flake in a user's own store: their storage configuration may not be made yet.
        let is_own = registration.scope == own.scope;
        let conf = own.settings.podman_storage_conf.clone().filter(|file| is_own || file.exists());
        Self { registration, registry, caller, store: PodmanStore::new(conf) }
    }

    /// The file of the plan.
    pub(crate) fn file(&self) -> PathBuf {
        self.registry.own().plan_file(&self.registration.loaded.name, self.registration.scope)
    }

    /// The plan that is there, if it is still good; else one is made and written.
    pub(crate) fn current(&self) -> Result<Outcome, Failure> {
        let flake = &self.registration.loaded.flake;
        if let (None, Some(reason)) = (gap::missing_part(flake), straight::why_not(flake, self.caller)) {
            return Ok(Outcome::Fixed(reason));
        }
        match self.read() {
            Some(plan) => Ok(Outcome::Planned(Box::new(plan))),
            None => self.renew(),
        }
    }

    /// Makes a plan beforehand. The first call would make it as well, so that failing to is no failure of what was
    /// done before.
    pub(crate) fn prepare(&self) {
        let flake = &self.registration.loaded.flake;
        if gap::missing_part(flake).is_some() || straight::why_not(flake, self.caller).is_some() {
            return;
        }
        let text = match self.renew() {
            Err(failure) if interrupt::pending().is_none() => failure.text,
            Ok(Outcome::Planned(plan)) if plan.basis.until.is_some() => match plan.way {
                Way::Agent { reason } => reason,
                Way::Runner(_) => return,
            },
            _ => return,
        };
        let name = &self.registration.loaded.name;
        note(&format!("how {name} is launched will be seen at its first call: {text}"));
    }

    /// Makes a plan and writes it. Of several processes that want one at once, the first does it for all. An image
    /// that lost its tag has it again afterwards, also where no plan is needed.
    pub(crate) fn renew(&self) -> Result<Outcome, Failure> {
        let flake = &self.registration.loaded.flake;
        if let Some(part) = gap::missing_part(flake) {
            let name = &self.registration.loaded.name;
            let text = format!("calling {name} needs {part}, which this release does not have yet");
            return Err(Failure::new(text));
        }
        if let Some(reason) = straight::why_not(flake, self.caller) {
            if !flake.as_root || self.caller.is_root() {
                self.hold_image()?;
            }
            return Ok(Outcome::Fixed(reason));
        }
        let own = self.registry.own();
        let file = self.file();
        let folder = file.parent().unwrap_or(Path::new("/"));
        let found = identity(&file);
        make_folders(&own.state_dir, own.folder_mode())?;
        // Not even those who could only look: what is in podman's configuration may be nobody else's business, and
        // whoever can open the folder can lock it.
        make_folders(folder, PLANS_MODE)?;
        let lock = File::open(folder).and_then(|folder| lock(&folder).map(|()| folder));
        let _lock =
            lock.map_err(|error| Failure::system(&format!("cannot lock {}", folder.display()), &error))?;
        if identity(&file) != found
            && let Some(plan) = self.read()
        {
            return Ok(Outcome::Planned(Box::new(plan)));
        }
        let plan = self.make()?;
        // What is shared and is gone may come back, and with it the plan that is there.
        if plan.basis.until.is_some() && self.read().is_some() {
            return Ok(Outcome::Planned(Box::new(plan)));
        }
        plan.write(&file, PLAN_MODE)
            .map_err(|error| Failure::system(&format!("cannot write {}", file.display()), &error))?;
        Ok(Outcome::Planned(Box::new(plan)))
    }

    fn make(&self) -> Result<Plan, Failure> {
        self.hold_image()?;
        let launch = self.launch()?;
        let podman = self.store.podman()?;
        left_scratch::remove(self.registry.own(), &self.store);
        Ok(flake_planner::make(
            &launch,
            podman,
            self.sources(&launch),
            (&self.caller.home, &self.registry.own().state_dir),
        )?)
    }

    /// Sees to it that the image is in the store.
    fn hold_image(&self) -> Result<(), Failure> {
        let launch = self.launch()?;
        let loaded = &self.registration.loaded;
        if launch.archive.is_some() {
            let state_dir = &self.registry.own().state_dir;
            let engine = Engine::new(self.store.podman()?.clone(), installed::agent()?);
            let notice = || {
                if io::stderr().is_terminal() {
                    say(&format!("setting up {}", loaded.name));
                }
            };
            engine.import(&launch, state_dir, false, notice)?;
            // What was imported once may have been removed since.
            if !self.store.podman()?.image_exists(&launch.image)? {
                engine.import(&launch, state_dir, true, notice)?;
            }
            return Ok(());
        }
        match (pin::image_of(&loaded.flake), self.pins()) {
            (Some(image), Some(places)) => {
                pin::ensure(places, &loaded.name, image, &self.store).map_err(|error| match error {
                    PinError::NoImage(_) => {
                        Failure::from(error).hint(format!("flake-ctl podman pull --uri {image}"))
                    }
                    PinError::Change(_) => error.into(),
                })
            }
            _ => Ok(()),
        }
    }

    /// A call without words.
    fn launch(&self) -> Result<Launch, Failure> {
        let words = Words::divide([]);
        Ok(resolve(self.registration, self.registry, self.caller, words, Rights::Own)?)
    }

    /// Where it is noted which image the flake has; of a system flake in a user's store nobody does.
    fn pins(&self) -> Option<&Places> {
        let is_others = self.registration.scope == Scope::System && !self.caller.is_root();
        (!is_others).then(|| self.registry.places(self.registration.scope))
    }

    /// The files that the plan stands on, besides podman's own. The folder of all registrations is none of them: it
    /// changes with every other flake.
    fn sources(&self, launch: &Launch) -> Vec<Source> {
        let loaded = &self.registration.loaded;
        let own = self.registry.own();
        let settings = own.sources.iter().filter(|source| source.path != own.flakes_dir);
        let pin = self.pins().map(|places| places.pin_file(&loaded.name));
        // Podman's configuration too, but only here it has this name.
        let store = &own.settings.podman_storage_conf;
        let paths = pin.iter().chain(&launch.archive).chain(store);
        let looked_at = paths.filter_map(|path| Source::look_at(path).ok());
        loaded.sources.iter().chain(settings).cloned().chain(looked_at).collect()
    }

    /// The plan that is there, if it would do for a call now.
    fn read(&self) -> Option<Plan> {
        let uid = rustix::process::geteuid();
        let plan = Plan::read(&self.file(), uid.as_raw()).ok()?;
        let words = created(&self.launch().ok()?, uid.is_root()).ok()?;
        plan.is_good_for(uid.as_raw(), &words).then_some(plan)
    }
}

/// What tells whether a file was written anew.
fn identity(file: &Path) -> Option<flake_schema::Identity> {
    Source::look_at(file).ok().and_then(|source| source.identity)
}

/// Waits for other plans of this folder to be made.
fn lock(folder: &File) -> io::Result<()> {
    loop {
        match folder.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted && interrupt::pending().is_none() => {}
            locked => return locked,
        }
    }
}
