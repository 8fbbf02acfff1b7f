//! Registering on a folder, with a store in memory.

use super::*;
use crate::remove;
use crate::store::memory::Memory;
use flake_schema::Settings;
use std::os::unix::fs::PermissionsExt;

/// A host with three images: `box` has a command, `new` is another, `mute` says nothing of what it runs.
pub(crate) struct Host {
    root: tempfile::TempDir,
    pub(crate) store: Memory,
    pub(crate) places: Places,
}

impl Host {
    pub(crate) fn new(scope: Scope) -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let places = Places {
            scope,
            flakes_dir: at("flakes"),
            state_dir: at("state"),
            bin_dir: at("bin"),
            settings_file: at("flakes.yml"),
            settings: Settings::default(),
            sources: Vec::new(),
        };
        let store = Memory::with(&[("box", "1"), ("new", "2"), ("mute", "mute")]);
        Self { root, store, places }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub(crate) fn request(&self, image: &str, command: &str, more: &str) -> Request {
        let path = self.at(command);
        let text = format!(
            "container: {{name: {image}, host_app_path: '{}', target_app_path: /bin/x}}\n",
            path.display()
        );
        let mut file = FlakeFile::from_yaml(&text, "test").unwrap();
        file.merge(FlakeFile::from_yaml(more, "test").unwrap());
        crate::draft::complete(&mut file, false);
        let (host_path, name) = host_path::command(&path).unwrap();
        Request {
            file,
            host_path,
            name,
            launcher: "/bin/podman-pilot".into(),
            reserved: &["sudo"],
            replace: false,
        }
    }

    pub(crate) fn register(&self, request: &Request) -> Result<Registered, String> {
        register(request, &self.places, &self.store)
            .map_err(|error| error.to_string().replace(&format!("{}/", self.root.path().display()), ""))
    }

    /// Every path below, sorted.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut folders = vec![self.root.path().to_owned()];
        let mut paths = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                paths.push(path.strip_prefix(self.root.path()).unwrap().display().to_string());
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                }
            }
        }
        paths.sort();
        paths
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_system_flake_is_a_file_a_link_and_an_archive() {
    let host = Host::new(Scope::System);
    let registered = host.register(&host.request("box", "bin/joe", "")).unwrap();
    assert_eq!(
        host.paths(),
        [
            "bin",
            "bin/joe",
            "flakes",
            "flakes/images",
            "flakes/images/joe.oci.tar",
            "flakes/joe.d",
            "flakes/joe.yaml",
            "state",
            "state/pins",
            "state/pins/joe"
        ]
    );
    assert_eq!(fs::read_link(host.at("bin/joe")).unwrap(), Path::new("/bin/podman-pilot"));
    assert_eq!(registered.file, host.at("flakes/joe.yaml"));
    assert_eq!((mode(&registered.file), mode(&host.at("flakes/images/joe.oci.tar"))), (0o644, 0o644));
    assert_eq!((mode(&host.at("flakes")), mode(&host.at("flakes/joe.d"))), (0o755, 0o755));
    assert_eq!(host.store.names.borrow()["localhost/flake/joe"], "1");
}

#[test]
fn only_what_users_import_is_archived() {
    let user = Host::new(Scope::User);
    user.register(&user.request("box", "bin/joe", "")).unwrap();
    assert!(!user.at("flakes/images").exists());
    assert_eq!((mode(&user.at("flakes")), mode(&user.at("state/pins"))), (0o700, 0o700));
    for more in ["container: {runtime: {runas: root}}", "container: {base_container: new}"] {
        let system = Host::new(Scope::System);
        system.register(&system.request("box", "bin/joe", more)).unwrap();
        assert!(!system.at("flakes/images").exists(), "{more}");
    }
}

#[test]
fn what_cannot_be_registered_leaves_nothing() {
    let host = Host::new(Scope::System);
    for (request, error) in [
        (host.request("none", "bin/joe", ""), "there is no image none here"),
        (host.request("box", "bin/joe", "container: {base_container: none}"), "there is no image none here"),
        (
            host.request("mute", "bin/joe", "container: {target_app_path: /}"),
            "image mute has neither an entrypoint nor a command, so `/` runs nothing",
        ),
        (host.request("box", "bin/sudo", ""), "no command can be named sudo, flakes are run by it"),
        (
            host.request("box", "bin/joe", "container: {runtime: {resume: true, attach: true}}"),
            "`resume` and `attach` exclude each other (keep `resume` to run further calls beside the first, \
             `attach` to join its terminal)",
        ),
    ] {
        assert_eq!(host.register(&request).unwrap_err(), error);
        assert!(host.paths().is_empty(), "{error}");
    }
}

#[test]
fn what_is_there_stays() {
    let host = Host::new(Scope::System);
    fs::create_dir_all(host.at("bin/folder")).unwrap();
    fs::write(host.at("bin/file"), "theirs").unwrap();
    fs::create_dir_all(host.at("flakes/odd.yaml")).unwrap();
    fs::write(host.at("flakes/broken.yaml"), "nonsense: [").unwrap();
    let before = host.paths();
    for (command, replace, error) in [
        ("bin/file", false, "bin/file exists already"),
        ("bin/folder", false, "bin/folder is a folder"),
        ("bin/folder", true, "bin/folder is a folder"),
        ("bin/odd", true, "flakes/odd.yaml is a folder"),
        ("bin/broken", false, "broken is registered already"),
        ("bin/file/x", true, "cannot make bin/file: not a directory"),
    ] {
        let request = Request { replace, ..host.request("box", command, "") };
        assert_eq!(host.register(&request).unwrap_err(), error);
        assert_eq!(host.paths(), before, "{command}");
    }
    assert_eq!(fs::read_to_string(host.at("bin/file")).unwrap(), "theirs");
    host.register(&host.request("box", "bin/joe", "")).unwrap();
    let elsewhere = host.request("box", "other/joe", "");
    assert_eq!(host.register(&elsewhere).unwrap_err(), "joe is registered already, as bin/joe");
}

#[test]
fn replacing_takes_the_former_registration_away() {
    let host = Host::new(Scope::System);
    host.register(&host.request("box", "bin/joe", "")).unwrap();
    fs::write(host.at("flakes/joe.d/layer.yaml"), "type: immutable\n").unwrap();
    let request = Request { replace: true, ..host.request("new", "other/joe", "") };
    let registered = host.register(&request).unwrap();
    assert_eq!(registered.dropped, [host.at("flakes/joe.d/layer.yaml")]);
    assert!(!host.at("bin/joe").is_symlink() && host.at("other/joe").is_symlink());
    assert_eq!(fs::read_to_string(host.at("flakes/images/joe.oci.tar")).unwrap(), "2");
    let request =
        Request { replace: true, ..host.request("new", "other/joe", "container: {runtime: {runas: root}}") };
    host.register(&request).unwrap();
    assert!(!host.at("flakes/images/joe.oci.tar").exists());
    assert_eq!(pinned(&host).unwrap().id, "2");
    let request =
        Request { replace: true, ..host.request("new", "other/joe", "container: {base_container: box}") };
    host.register(&request).unwrap();
    assert_eq!(pinned(&host), None);
    assert!(!host.store.names.borrow().contains_key("localhost/flake/joe"));
}

fn pinned(host: &Host) -> Option<pin::Pin> {
    pin::Pin::read(&host.places, &"joe".parse().unwrap())
}

#[test]
fn replacing_takes_the_image_of_that_name_and_forgets_the_former_plan() {
    let host = Host::new(Scope::User);
    let request = host.request("box", "bin/joe", "");
    host.register(&request).unwrap();
    host.store.tag("new", "box").unwrap();
    let plan = host.places.plan_file(&request.name, Scope::User);
    fs::create_dir_all(plan.parent().unwrap()).unwrap();
    fs::write(&plan, "old").unwrap();
    host.register(&Request { replace: true, ..request }).unwrap();
    assert_eq!(host.store.names.borrow()["localhost/flake/joe:own"], "2");
    assert_eq!(
        pinned(&host).unwrap(),
        pin::Pin { reference: "box".into(), id: "2".into(), previous: Some("1".into()) }
    );
    assert!(!plan.exists());
    // Another image has no way back to that one.
    host.register(&Request { replace: true, ..host.request("new", "bin/joe", "") }).unwrap();
    assert_eq!(pinned(&host).unwrap().previous, None);
    assert!(!host.store.names.borrow().contains_key("localhost/flake/joe:own-previous"));
}

#[test]
fn a_failed_replacement_leaves_the_former_registration() {
    let mut host = Host::new(Scope::System);
    host.store.unwritable.push("2".to_owned());
    host.register(&host.request("box", "bin/joe", "")).unwrap();
    fs::write(host.at("flakes/joe.d/layer.yaml"), "type: immutable\n").unwrap();
    let (paths, text) = (host.paths(), fs::read_to_string(host.at("flakes/joe.yaml")).unwrap());
    let request = Request { replace: true, ..host.request("new", "bin/joe", "") };
    assert_eq!(host.register(&request).unwrap_err(), "2 cannot be written");
    assert_eq!(host.paths(), paths);
    assert_eq!(fs::read_to_string(host.at("flakes/joe.yaml")).unwrap(), text);
    assert_eq!(host.store.names.borrow()["localhost/flake/joe"], "1");
}

#[test]
fn layers_that_lie_there_count() {
    let host = Host::new(Scope::User);
    fs::create_dir_all(host.at("flakes/joe.d")).unwrap();
    let layer = host.at("flakes/joe.d/a.yaml");
    fs::write(&layer, "container: {runtime: {network: none}}").unwrap();
    let registered = host.register(&host.request("box", "bin/joe", "")).unwrap();
    assert_eq!(registered.loaded.flake.network, Some(flake_schema::Network::None));
    remove::command(&host.at("bin/joe"), &host.places, &host.store, false).unwrap();

    for (text, error) in [
        ("container: {host_app_path: /else/joe}", "flakes/joe.d changes the path of the command"),
        ("container: {nam: x}", "flakes/joe.d/a.yaml:1:13: unknown key `nam`"),
    ] {
        fs::create_dir_all(host.at("flakes/joe.d")).unwrap();
        fs::write(&layer, text).unwrap();
        let said = host.register(&host.request("box", "bin/joe", "")).unwrap_err();
        assert!(said.starts_with(error), "{said}");
        assert!(!host.at("flakes/joe.yaml").exists() && layer.exists());
    }
}
