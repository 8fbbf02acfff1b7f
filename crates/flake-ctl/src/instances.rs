//! Kept instances, as podman's store and the notes on the host have them, and which one a word means.

mod going;
mod removal;
mod word;

pub(crate) use going::going_with;
pub(crate) use removal::{Removal, remove};

use crate::failure::Failure;
use crate::session::Session;
use flake_core::instance::{Instance, Notes, label};
use flake_core::launch::label::NAME;
use flake_core::registry::{FindError, Registration, Registry};
use flake_schema::{Engine, FlakeName};
use flake_tools::podman::Container;
use flake_tools::users;
use std::ffi::OsStr;

/// A kept instance.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) instance: Instance,
    /// The flake that it was made by, or is asked for by.
    pub(crate) flake: String,
    /// What podman has of it; nothing where it was removed with podman's own words.
    pub(crate) container: Option<Container>,
}

impl Kept {
    /// What a container is of, if it is of a kept instance. Labels alone do not make it one: images have them too.
    pub(crate) fn of(container: &Container) -> Option<Self> {
        let instance = Instance::labelled(|name| container.label(name))?;
        container.is_named(&instance.container_name()).then(|| Self {
            flake: container.label(NAME).unwrap_or(&instance.group).to_owned(),
            instance,
            container: Some(container.clone()),
        })
    }

    /// How it is called: `APP`, or `APP@NAME`.
    pub(crate) fn called(&self) -> String {
        self.instance.called_by(&self.flake)
    }

    /// What is noted about those of its group.
    pub(crate) fn notes(&self, session: &Session) -> Notes {
        notes(session, self.instance.uid, &self.instance.group)
    }

    /// The name of its container, which has to be there.
    pub(crate) fn container_name(&self) -> Result<String, Failure> {
        if self.container.is_some() {
            return Ok(self.instance.container_name());
        }
        let text = format!("podman has no container of {} any more", self.called());
        Err(Failure::new(text).hint(format!("forget it: flake-ctl rm {}", self.called())))
    }
}

/// All kept instances in the session's store, whosever they are.
pub(crate) fn everybodys(session: &Session) -> Result<Vec<Kept>, Failure> {
    let containers = session.store.podman()?.containers_with_label(label::INSTANCE)?;
    let mut kept: Vec<_> = containers.iter().filter_map(Kept::of).collect();
    kept.sort_by(|one, other| one.instance.cmp(&other.instance));
    Ok(kept)
}

fn notes(session: &Session, uid: u32, group: &str) -> Notes {
    Notes::new(&session.places.state_dir, uid, group)
}

/// The kept instances of one user, for a verb.
#[derive(Debug)]
pub(crate) struct Instances<'a> {
    session: &'a Session,
    registry: Registry,
    kept: Vec<Kept>,
    uid: u32,
    /// The words that the verb is asked with.
    verb: String,
}

impl<'a> Instances<'a> {
    /// The caller's own, or with root's rights those of `user` in root's store.
    pub(crate) fn open(session: &'a Session, user: Option<&str>, verb: &str) -> Result<Self, Failure> {
        let mut kept = everybodys(session)?;
        let uid = user.map_or(Ok(session.caller.uid), |user| uid(user, session, &kept, verb))?;
        kept.retain(|one| one.instance.uid == uid);
        let verb = user.map_or_else(|| verb.to_owned(), |user| format!("{verb} --user {user}"));
        Ok(Self { registry: Registry::of(&session.caller)?, session, kept, uid, verb })
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[Kept] {
        &self.kept
    }

    /// The one that `APP` or `APP@NAME` means: without a name the one that has none, else the only one.
    pub(crate) fn find(&self, word: &OsStr) -> Result<Kept, Failure> {
        let (app, name) = word::divide(word, |app| self.is_known(app))?;
        let group = self.group(&app)?;
        let there = self.of_group(&group, &app);
        let called = |kept: &[Kept]| kept.iter().map(Kept::called).collect::<Vec<_>>().join(", ");
        let wanted = Instance::new(self.uid, &group, name.clone());
        if let Some(found) = there.iter().find(|one| one.instance == wanted) {
            return Ok(found.clone());
        }
        let hint = "flake-ctl ps shows those there are";
        if name.is_none() {
            return match there.as_slice() {
                [one] => Ok(one.clone()),
                [] => Err(Failure::new(format!("{app} has no instance")).hint(hint)),
                [first, ..] => Err(Failure::new(format!("{app} has several instances: {}", called(&there)))
                    .hint(format!("name one: flake-ctl {} {}", self.verb, first.called()))),
            };
        }
        let text = format!("there is no instance {}", wanted.called_by(&app));
        Err(match there.is_empty() {
            true => Failure::new(text).hint(hint),
            false => Failure::new(format!("{text}, only {}", called(&there))),
        })
    }

    /// Those of a group, called by `app`; also those of which only a note is left.
    fn of_group(&self, group: &str, app: &str) -> Vec<Kept> {
        let mut found: Vec<Kept> =
            self.kept.iter().filter(|one| one.instance.group == group).cloned().collect();
        for instance in notes(self.session, self.uid, group).instances() {
            if !found.iter().any(|one| one.instance == instance) {
                found.push(Kept { instance, flake: String::new(), container: None });
            }
        }
        for one in &mut found {
            app.clone_into(&mut one.flake);
        }
        found.sort_by(|one, other| one.instance.cmp(&other.instance));
        found
    }

    /// Whether there is a flake of that name, or was one that left instances.
    fn is_known(&self, app: &str) -> bool {
        self.left_group(app).is_some()
            || app
                .parse()
                .is_ok_and(|name| !matches!(self.registration(&name), Err(FindError::Unknown { .. })))
    }

    /// The group of a flake's instances.
    fn group(&self, app: &str) -> Result<String, Failure> {
        let name: FlakeName = app.parse()?;
        let registration = match (self.registration(&name), self.left_group(app)) {
            (Ok(registration), _) => registration,
            // Its file is gone or wrong, and what it has left can still be managed.
            (Err(_), Some(group)) => return Ok(group),
            (Err(error), None) => return Err(error.into()),
        };
        let flake = &registration.loaded.flake;
        if flake.as_root && !self.session.caller.is_root() {
            // A terminal is joined by whoever calls, also through sudo.
            let hint = match self.verb.as_str() {
                "attach" => format!("join it by a call: {}", flake.host_path.display()),
                verb => format!("sudo flake-ctl {verb} --user {} {app}", self.session.caller.name),
            };
            let text = format!("{app} runs as root, and root has its instances");
            return Err(Failure::new(text).hint(hint));
        }
        let group = flake_core::instance::group(flake, &name).to_owned();
        let is_kept = flake.lifetime.is_mutable() && flake.engine == Engine::Podman;
        if !is_kept && !self.kept.iter().any(|one| one.instance.group == group) {
            return Err(Failure::new(format!("{app} keeps no instances"))
                .hint("flake-ctl podman register --mutable makes a flake that does"));
        }
        Ok(group)
    }

    fn registration(&self, name: &FlakeName) -> Result<Registration, FindError> {
        self.registry.find(name, None)
    }

    fn left_group(&self, app: &str) -> Option<String> {
        let own = self.kept.iter().find(|one| one.flake == app);
        let found = own.or_else(|| self.kept.iter().find(|one| one.instance.group == app));
        found.map(|one| one.instance.group.clone())
    }
}

/// The id of a user who has instances in root's store.
fn uid(user: &str, session: &Session, kept: &[Kept], verb: &str) -> Result<u32, Failure> {
    if user == session.caller.name || user == session.caller.uid.to_string() {
        return Ok(session.caller.uid);
    }
    if !session.caller.is_root() {
        let text = format!("only root may act for {user}");
        return Err(Failure::new(text).hint(format!("sudo flake-ctl {verb} --user {user} ...")));
    }
    let mut ids = kept.iter().map(|one| one.instance.uid);
    ids.find(|uid| uid.to_string() == user || name_of(*uid) == user).ok_or_else(|| {
        Failure::new(format!("{user} has no instances here")).hint("flake-ctl ps shows those there are")
    })
}

/// The name of a user; the number where the system knows none.
pub(crate) fn name_of(uid: u32) -> String {
    let entry = users::by_uid(uid).ok().flatten();
    entry.map_or_else(|| uid.to_string(), |entry| entry.name)
}
