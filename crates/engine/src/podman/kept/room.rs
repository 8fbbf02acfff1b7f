//! Room for one more instance: those that nobody has used for long go, and there are only so many.

use super::Keeper;
use crate::start::EngineError;
use flake_core::instance::{Instance, Notes, label};
use flake_core::launch::label::{NAME, USER};
use flake_core::quota::{Counted, Quota};
use flake_tools::podman::Container;
use std::time::SystemTime;

impl Keeper<'_> {
    /// Removes what is outdated, and refuses where there are too many.
    pub(super) fn make_room(&self) -> Result<(), EngineError> {
        let lent_to = (self.launch.as_root && self.launch.uid != 0)
            .then(|| flake_tools::users::by_uid(self.launch.uid).ok().flatten())
            .flatten();
        let quota = Quota::new(self.settings, lent_to.as_ref().map(|entry| entry.name.as_str()));
        let mut there = self.counted()?;
        let now = SystemTime::now();
        let outdated: Vec<Instance> =
            quota.outdated(&there, now).into_iter().map(|one| one.instance.clone()).collect();
        for instance in outdated {
            let notes = Notes::new(self.state_dir, instance.uid, &instance.group);
            let other = Keeper { notes: &notes, instance: &instance, ..*self };
            // Another call may be about to enter it.
            let Some(_closed) = notes.close(&instance) else { continue };
            (self.notice)(&format!("{instance} was not used for long and is removed"));
            other.remove()?;
            there.retain(|one| one.instance != instance);
        }
        Ok(quota.admit(&there, now)?)
    }

    /// The user's instances.
    fn counted(&self) -> Result<Vec<Counted>, EngineError> {
        let all = self.engine.tool.containers_with_label(label::INSTANCE)?;
        Ok(all.iter().filter_map(|container| self.count(container)).collect())
    }

    fn count(&self, container: &Container) -> Option<Counted> {
        if container.label(USER)? != self.launch.uid.to_string() {
            return None;
        }
        let instance = Instance::labelled(|name| container.label(name))?;
        if !container.is_named(&instance.container_name()) {
            return None;
        }
        let notes = Notes::new(self.state_dir, instance.uid, &instance.group);
        Some(Counted {
            flake: container.label(NAME)?.to_owned(),
            created: container.created().unwrap_or(SystemTime::UNIX_EPOCH),
            last_use: notes.last_use(&instance),
            in_use: notes.is_in_use(&instance),
            instance,
        })
    }
}
