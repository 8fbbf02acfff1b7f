//! Updating with a store in memory.

use super::*;
use crate::place::Scope;
use crate::register::Request;
use crate::register::tests::Host;
use std::fs;

const REMOTE: &str = "registry.example:5000/tool:latest";

struct Scene {
    host: Host,
    loaded: Loaded,
}

impl Scene {
    /// A registered flake of a registry's image `1`, of which the registry has `2` by now.
    fn new(scope: Scope, more: &str) -> Self {
        let mut host = Host::new(scope);
        host.store.names.borrow_mut().insert(REMOTE.to_owned(), "1".to_owned());
        host.store.registry.insert(REMOTE.to_owned(), "2".to_owned());
        let loaded = host.register(&host.request(REMOTE, "bin/joe", more)).unwrap().loaded;
        Self { host, loaded }
    }

    fn update(&self) -> Result<(String, String), String> {
        Self::ids(to_newest(&self.loaded, true, &self.host.places, &self.host.store))
    }

    fn roll_back(&self) -> Result<(String, String), String> {
        Self::ids(to_previous(&self.loaded, &self.host.places, &self.host.store))
    }

    fn ids(change: Result<Change, UpdateError>) -> Result<(String, String), String> {
        let change = change.map_err(|error| error.to_string())?;
        Ok((change.before.unwrap().id, change.after.id))
    }

    /// The ids behind the flake's two tags.
    fn tags(&self) -> (Option<String>, Option<String>) {
        let names = self.host.store.names.borrow();
        let id = |tag| names.get(&tag).cloned();
        let (name, scope) = (&self.loaded.name, self.host.places.scope);
        (id(pinned_tag(name, scope)), id(previous_tag(name, scope)))
    }

    fn archived(&self) -> String {
        fs::read_to_string(self.host.at("flakes/images/joe.oci.tar")).unwrap()
    }
}

fn some(pinned: &str, previous: &str) -> (Option<String>, Option<String>) {
    let id = |id: &str| Some(id.to_owned()).filter(|id| !id.is_empty());
    (id(pinned), id(previous))
}

fn ids(before: &str, after: &str) -> Result<(String, String), String> {
    Ok((before.to_owned(), after.to_owned()))
}

#[test]
fn there_and_back_and_there_again() {
    for scope in [Scope::System, Scope::User] {
        let scene = Scene::new(scope, "");
        assert_eq!(scene.tags(), some("1", ""));
        assert_eq!(scene.roll_back().unwrap_err(), "joe has no image before this one");
        let plan = scene.host.places.plan_file(&scene.loaded.name, scope);
        fs::create_dir_all(plan.parent().unwrap()).unwrap();
        fs::write(&plan, "old").unwrap();
        assert_eq!((scene.update(), scene.tags()), (ids("1", "2"), some("2", "1")));
        assert!(!plan.exists());
        assert_eq!((scene.update(), scene.tags()), (ids("2", "2"), some("2", "1")));
        assert_eq!((scene.roll_back(), scene.tags()), (ids("2", "1"), some("1", "2")));
        assert_eq!((scene.roll_back(), scene.tags()), (ids("1", "2"), some("2", "1")));
        assert_eq!((scene.roll_back(), scene.tags()), (ids("2", "1"), some("1", "2")));
        assert_eq!((scene.update(), scene.tags()), (ids("1", "2"), some("2", "1")));
        if scope == Scope::System {
            assert_eq!(scene.archived(), "2");
        }
    }
}

#[test]
fn registering_anew_leaves_the_way_back() {
    let mut scene = Scene::new(Scope::User, "");
    scene.update().unwrap();
    let request = Request { replace: true, ..scene.host.request(REMOTE, "bin/joe", "") };
    scene.loaded = scene.host.register(&request).unwrap().loaded;
    assert_eq!(scene.tags(), some("2", "1"));
    assert_eq!((scene.roll_back(), scene.tags()), (ids("2", "1"), some("1", "2")));
    // The name leads to the newer one still, and what it had until now is the one before.
    scene.loaded = scene.host.register(&request).unwrap().loaded;
    assert_eq!(scene.tags(), some("2", "1"));
    scene.host.store.remove("1").unwrap();
    scene.loaded = scene.host.register(&request).unwrap().loaded;
    assert_eq!(scene.roll_back().unwrap_err(), "joe has no image before this one");
}

#[test]
fn of_images_that_only_flakes_had_the_last_two_stay() {
    let mut scene = Scene::new(Scope::User, "");
    for id in ["2", "3", "4"] {
        scene.host.store.registry.insert(REMOTE.to_owned(), id.to_owned());
        scene.update().unwrap();
    }
    assert_eq!(scene.tags(), some("4", "3"));
    let nameless = scene.host.store.nameless.borrow();
    assert!(!nameless.contains(&"1".to_owned()) && !nameless.contains(&"2".to_owned()), "{nameless:?}");
}

#[test]
fn a_failure_leaves_everything() {
    let mut scene = Scene::new(Scope::System, "");
    let before = (scene.tags(), scene.host.paths(), scene.host.store.names.borrow().clone());
    scene.host.store.unwritable.push("2".to_owned());
    assert_eq!(scene.update().unwrap_err(), "2 cannot be written");
    scene.host.store.registry.clear();
    assert_eq!(scene.update().unwrap_err(), format!("cannot fetch {REMOTE}: no registry has {REMOTE}"));
    let after = (scene.tags(), scene.host.paths(), scene.host.store.names.borrow().clone());
    assert_eq!((after, scene.archived().as_str()), (before, "1"));
    assert!(!scene.host.store.nameless.borrow().contains(&"2".to_owned()));

    let mut scene = Scene::new(Scope::User, "container: {target_app_path: /}");
    scene.host.store.registry.insert(REMOTE.to_owned(), "mute".to_owned());
    let said = scene.update().unwrap_err();
    assert!(said.starts_with(&format!("the newer image {REMOTE} has neither")), "{said}");
    assert_eq!((scene.tags(), scene.host.store.names.borrow()[REMOTE].as_str()), (some("1", ""), "1"));
}

#[test]
fn an_image_of_this_host_is_the_one_that_has_the_name() {
    let host = Host::new(Scope::User);
    host.store.names.borrow_mut().insert("localhost/box:latest".to_owned(), "1".to_owned());
    let loaded = host.register(&host.request("box", "bin/joe", "")).unwrap().loaded;
    let scene = Scene { host, loaded };
    assert_eq!(scene.update(), ids("1", "1"));
    scene.host.store.tag("new", "box").unwrap();
    assert_eq!((scene.update(), scene.tags()), (ids("1", "2"), some("2", "1")));
    scene.host.store.names.borrow_mut().remove("localhost/flake/joe:own-previous");
    let said = scene.roll_back().unwrap_err();
    assert_eq!(said, "the image that joe had before is gone: localhost/flake/joe:own-previous");
}

#[test]
fn a_composed_image_is_not_taken_anew() {
    let host = Host::new(Scope::User);
    let request = host.request("box", "bin/joe", "container: {base_container: new}");
    let loaded = host.register(&request).unwrap().loaded;
    let scene = Scene { host, loaded };
    assert!(scene.update().unwrap_err().starts_with("joe is not made of one container image"));
}
