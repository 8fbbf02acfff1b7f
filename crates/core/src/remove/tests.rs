//! Removing from a folder, with a store in memory.

use super::*;
use crate::place::Scope;
use crate::register::tests::Host;

/// The folders that stay.
const LEFT: [&str; 4] = ["bin", "flakes", "state", "state/pins"];

fn removed(host: &Host, path: &str, force: bool) -> Result<Removed, String> {
    let root = format!("{}/", host.at("").display()).replace("//", "/");
    command(&host.at(path), &host.places, &host.store, force)
        .map_err(|error| error.to_string().replace(&root, ""))
}

#[test]
fn nothing_is_left_but_folders() {
    for scope in [Scope::System, Scope::User] {
        let host = Host::new(scope);
        host.register(&host.request("box", "bin/joe", "")).unwrap();
        let gone = removed(&host, "bin/joe", false).unwrap();
        assert_eq!((gone.host_path, gone.foreign), (Some(host.at("bin/joe")), false));
        assert!(host.paths().iter().all(|path| host.at(path).is_dir()), "{:?}", host.paths());
        assert_eq!(host.store.names.borrow().keys().collect::<Vec<_>>(), ["box", "mute", "new"]);
        assert_eq!(removed(&host, "bin/joe", true).unwrap_err(), "bin/joe is not a registered command");
    }
}

#[test]
fn a_name_with_a_dot_is_one_name() {
    let host = Host::new(Scope::User);
    for command in ["bin/python3.11", "bin/python3"] {
        host.register(&host.request("box", command, "")).unwrap();
    }
    removed(&host, "bin/python3", false).unwrap();
    assert!(host.at("flakes/python3.11.yaml").exists() && host.at("bin/python3.11").is_symlink());
}

#[test]
fn what_is_not_ours_is_refused_and_never_removed() {
    let host = Host::new(Scope::User);
    host.register(&host.request("box", "bin/joe", "")).unwrap();
    fs::write(host.at("bin/file"), "theirs").unwrap();
    assert_eq!(removed(&host, "bin/file", false).unwrap_err(), "bin/file is not a registered command");
    assert_eq!(removed(&host, "bin/file", true).unwrap_err(), "bin/file is not a registered command");
    let said = removed(&host, "other/joe", true).unwrap_err();
    assert_eq!(said, "joe is registered as bin/joe, not as other/joe");

    fs::remove_file(host.at("bin/joe")).unwrap();
    fs::write(host.at("bin/joe"), "theirs").unwrap();
    assert_eq!(removed(&host, "bin/joe", false).unwrap_err(), "bin/joe is not a link to the launcher");
    assert!(removed(&host, "bin/joe", true).unwrap().foreign);
    assert_eq!(fs::read_to_string(host.at("bin/joe")).unwrap(), "theirs");
    assert!(!host.at("flakes/joe.yaml").exists());
}

#[test]
fn an_unreadable_registration_takes_force() {
    let host = Host::new(Scope::User);
    host.register(&host.request("box", "bin/joe", "")).unwrap();
    fs::write(host.at("flakes/joe.yaml"), "nonsense: [").unwrap();
    assert!(removed(&host, "bin/joe", false).unwrap_err().starts_with("flakes/joe.yaml:1:"));
    removed(&host, "bin/joe", true).unwrap();
    assert_eq!(host.paths(), LEFT);
}

#[test]
fn a_link_without_a_registration_takes_force() {
    let host = Host::new(Scope::User);
    host.register(&host.request("box", "bin/joe", "")).unwrap();
    fs::remove_file(host.at("flakes/joe.yaml")).unwrap();
    assert_eq!(removed(&host, "bin/joe", false).unwrap_err(), "bin/joe is not a registered command");
    removed(&host, "bin/joe", true).unwrap();
    assert_eq!(host.paths(), LEFT);
}

#[test]
fn an_image_goes_with_all_of_its_commands() {
    let mut host = Host::new(Scope::System);
    host.store.names.borrow_mut().insert("alias".to_owned(), "1".to_owned());
    for (image, command) in [("box", "bin/joe"), ("alias", "bin/mary"), ("new", "bin/other")] {
        host.register(&host.request(image, command, "")).unwrap();
    }
    fs::write(host.at("flakes/broken.yaml"), "nonsense: [").unwrap();
    host.store.used.push("1".to_owned());
    let paths = host.paths();
    let refused = image("box", &host.places, &host.store, false).unwrap_err();
    assert_eq!(refused.to_string(), "image box is in use by 1");
    assert_eq!(host.paths(), paths);

    let gone = image("box", &host.places, &host.store, true).unwrap();
    let names: Vec<&str> = gone.registrations.iter().map(|removed| removed.name.as_str()).collect();
    assert_eq!((names, gone.unreadable.len()), (vec!["joe", "mary"], 1));
    assert!(host.at("bin/other").is_symlink());
    let left: Vec<String> = host.store.names.borrow().keys().cloned().collect();
    assert_eq!(left, ["localhost/flake/other", "mute", "new"]);
}

#[test]
fn registrations_of_an_image_that_is_gone_can_be_removed() {
    let host = Host::new(Scope::User);
    host.register(&host.request("box", "bin/joe", "")).unwrap();
    host.store.names.borrow_mut().remove("box");
    let gone = image("box", &host.places, &host.store, false).unwrap();
    assert_eq!((gone.registrations.len(), gone.image), (1, false));
    assert_eq!(host.paths(), LEFT);
}
