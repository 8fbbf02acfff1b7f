//! Every file in `fixtures`: the valid ones load and read back, the errors of the others are compared with the
//! `.txt` beside them. `SCHEMA_BLESS=1` writes those anew, to be read before they are kept.

#![allow(clippy::unwrap_used)] // helpers of tests

use flake_schema::{Engine, FlakeFile, Lifetime, Network, RunAs, load_flake};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn fixtures(kind: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kind);
    let mut files: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn compare(expected: &Path, got: &str) {
    if std::env::var_os("SCHEMA_BLESS").is_some() {
        fs::write(expected, got).unwrap();
    }
    let wanted = fs::read_to_string(expected).unwrap_or_default();
    assert_eq!(got, wanted, "{}", expected.display());
}

/// The error of a file, its directory left out; a text in memory has the same.
fn error_of(path: &Path) -> String {
    if let (Ok(text), false) = (fs::read_to_string(path), path.with_extension("d").exists()) {
        let error = FlakeFile::check_yaml(&text, &path.display().to_string()).expect_err("from memory");
        assert_eq!(error.to_string(), load_flake(path).expect_err("from disk").to_string());
    }
    let error = load_flake(path).expect_err(&path.display().to_string()).to_string();
    format!("{error}\n").replace(&format!("{}/", path.parent().unwrap().display()), "")
}

#[test]
fn invalid_files_show_the_place() {
    for path in fixtures("invalid").iter().filter(|path| path.extension().is_some_and(|e| e == "yaml")) {
        compare(&path.with_extension("txt"), &error_of(path));
    }
}

#[test]
fn errors_name_the_layer() {
    for name in ["broken", "combined"] {
        let dir = &fixtures("layered").into_iter().find(|dir| dir.ends_with(name)).unwrap();
        compare(&dir.join("expected.txt"), &error_of(&dir.join(format!("{name}.yaml"))));
    }
}

fn add_paths(prefix: &str, value: &serde_json::Value, paths: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => map.iter().for_each(|(key, value)| {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            paths.insert(path.clone());
            add_paths(&path, value, paths);
        }),
        serde_json::Value::Array(items) => {
            items.iter().for_each(|item| add_paths(&format!("{prefix}[]"), item, paths));
        }
        _ => {}
    }
}

#[test]
fn valid_files_load_read_back_and_have_every_key() {
    let mut used = BTreeSet::new();
    for path in fixtures("valid") {
        let loaded = load_flake(&path).unwrap_or_else(|error| panic!("{error}"));
        let text = loaded.file.to_yaml().unwrap();
        assert_eq!(FlakeFile::from_yaml(&text, "written").unwrap(), loaded.file, "{text}");
        assert_eq!(FlakeFile::from_yaml(&text, "written").unwrap().to_yaml().unwrap(), text);
        add_paths("", &serde_json::to_value(&loaded.file).unwrap(), &mut used);
    }
    let unused: Vec<String> =
        FlakeFile::reference().into_iter().map(|key| key.path).filter(|path| !used.contains(path)).collect();
    assert_eq!(unused, [""; 0], "keys in no valid fixture");
}

#[test]
fn layers_merge_deeply_in_the_order_of_their_names() {
    let dir = fixtures("layered").into_iter().find(|dir| dir.ends_with("wins")).unwrap();
    let loaded = load_flake(&dir.join("wins.yaml")).unwrap_or_else(|error| panic!("{error}"));
    let container = loaded.file.container.unwrap();
    let runtime = container.runtime.unwrap();
    assert_eq!(container.name.as_deref(), Some("a"));
    assert_eq!(runtime.runas, Some(RunAs::Root));
    assert_eq!(runtime.env.unwrap().len(), 1);
    assert_eq!(runtime.network, Some(Network::Private));
    assert_eq!(loaded.flake.lifetime, Lifetime::Resume);
    let param: Vec<(String, String)> = loaded.file.param.unwrap().into_iter().collect();
    assert_eq!(param.iter().map(|(k, v)| format!("{k}{v}")).collect::<Vec<_>>(), ["A1", "B3", "C4"]);
    let names: Vec<_> =
        loaded.sources.iter().map(|s| s.path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["wins.yaml", "wins.d", "10-first.yaml", "20-second.yml", "30-comment.yaml"]);
    assert!(loaded.sources.iter().all(|source| source.is_unchanged().unwrap()));
}

#[test]
fn what_is_left_out_has_its_default() {
    let load = |name: &str| {
        let path = fixtures("valid").into_iter().find(|path| path.ends_with(name)).unwrap();
        load_flake(&path).unwrap_or_else(|error| panic!("{error}")).flake
    };
    let old = load("podman-3x.yaml");
    assert_eq!((old.engine, old.network, old.as_root), (Engine::Podman, None, true));
    assert_eq!(old.podman, ["--volume /etc/hosts:/etc/hosts", "--volume /srv:/srv", "--env A=\"b c\""]);
    let delta = load("delta-3x.yaml");
    assert_eq!((delta.lifetime, delta.as_root), (Lifetime::Attach, false));
    assert_eq!(delta.target, flake_schema::Target::Program("/usr/bin/aws".into()));
    let vm = load("vm-on-container.yaml");
    assert!(matches!(vm.image, flake_schema::Image::Container { .. }));
    let machine = vm.machine.unwrap();
    assert_eq!((machine.mem_size_mib, machine.vcpu_count), (512, 2));
    assert_eq!(machine.overlay_size.unwrap().bytes(), 20_000_000_000);
}

#[test]
fn a_resolved_flake_survives_postcard_and_json() {
    for path in fixtures("valid") {
        let flake = load_flake(&path).unwrap_or_else(|error| panic!("{error}")).flake;
        let bytes = postcard::to_stdvec(&flake).unwrap();
        assert_eq!(postcard::from_bytes::<flake_schema::Flake>(&bytes).unwrap(), flake);
        let json = serde_json::to_string(&flake).unwrap();
        assert_eq!(serde_json::from_str::<flake_schema::Flake>(&json).unwrap(), flake);
    }
}
