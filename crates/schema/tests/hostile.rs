//! Files that are no flake files, or mean harm: one readable error, in bounded time and memory.

use flake_schema::{FlakeFile, LoadError, load_flake, load_settings};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

const GOOD: &str = "container: {name: a, host_app_path: /usr/bin/a}\n";

fn refused(path: &Path) -> LoadError {
    let start = Instant::now();
    let error = load_flake(path).expect_err("refused");
    assert!(start.elapsed() < Duration::from_secs(5), "{error}");
    error
}

fn reason(path: &Path) -> String {
    let text = refused(path).to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    text.strip_prefix(&format!("{}: ", path.display())).expect(&text).to_owned()
}

#[test]
fn what_is_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);

    fs::create_dir(path("dir.yaml")).unwrap();
    assert_eq!(reason(&path("dir.yaml")), "a directory, not a file");

    symlink("nowhere", path("link.yaml")).unwrap();
    assert_eq!(reason(&path("link.yaml")), "a link that leads nowhere");
    assert!(!refused(&path("link.yaml")).is_missing());

    symlink("loop.yaml", path("loop.yaml")).unwrap();
    assert!(reason(&path("loop.yaml")).contains("symbolic links"));

    let fifo = rustix::fs::CWD;
    rustix::fs::mknodat(fifo, path("fifo.yaml"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert_eq!(reason(&path("fifo.yaml")), "not a regular file");

    let _socket = std::os::unix::net::UnixListener::bind(path("sock.yaml")).unwrap();
    assert!(!reason(&path("sock.yaml")).is_empty());

    assert_eq!(reason(&path("none.yaml")), "there is no such file");
    assert!(refused(&path("none.yaml")).is_missing());
    assert!(refused(&path("none/none.yaml")).is_missing());

    fs::write(path("plain"), GOOD).unwrap();
    assert_eq!(reason(&path("plain")), "the name of a flake file ends in .yaml");
    fs::write(path(".yaml"), GOOD).unwrap();
    assert!(reason(&path(".yaml")).starts_with("`` cannot be the name"));
}

#[test]
fn what_is_too_large_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("large.yaml");
    fs::write(&path, GOOD).unwrap();
    fs::OpenOptions::new().append(true).open(&path).unwrap().set_len(10 << 20).unwrap();
    assert_eq!(reason(&path), "larger than 1024 KiB, this is no configuration file");
    // endless, and without a size
    symlink("/dev/zero", dir.path().join("zero.yaml")).unwrap();
    assert_eq!(reason(&dir.path().join("zero.yaml")), "not a regular file");
    symlink("/proc/self/mem", dir.path().join("proc.yaml")).unwrap();
    assert!(refused(&dir.path().join("proc.yaml")).diagnostics().is_none());
}

#[test]
fn layers_are_held_to_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let main = dir.path().join("a.yaml");
    fs::write(&main, GOOD).unwrap();
    fs::write(dir.path().join("a.d"), "").unwrap();
    assert!(refused(&main).to_string().ends_with("a.d: not a directory"));
    fs::remove_file(dir.path().join("a.d")).unwrap();
    symlink("nowhere", dir.path().join("a.d")).unwrap();
    assert!(refused(&main).to_string().ends_with("a.d: a link that leads nowhere"));
    fs::remove_file(dir.path().join("a.d")).unwrap();

    fs::create_dir(dir.path().join("a.d")).unwrap();
    fs::create_dir(dir.path().join("a.d/10-dir.yaml")).unwrap();
    assert_eq!(load_flake(&main).unwrap().sources.len(), 2);
    symlink("nowhere", dir.path().join("a.d/20-link.yaml")).unwrap();
    assert!(refused(&main).to_string().ends_with("20-link.yaml: a link that leads nowhere"));
    fs::remove_file(dir.path().join("a.d/20-link.yaml")).unwrap();
    for index in 0..257 {
        fs::write(dir.path().join(format!("a.d/{index:03}.yaml")), "").unwrap();
    }
    assert!(refused(&main).to_string().ends_with("a.d: more than 256 files in it"));
}

#[test]
fn every_change_shows_in_the_sources() {
    let dir = tempfile::tempdir().unwrap();
    let main = dir.path().join("a.yaml");
    fs::write(&main, GOOD).unwrap();
    let changed = |sources: &[flake_schema::Source]| sources.iter().any(|s| !s.is_unchanged().unwrap());
    let loaded = load_flake(&main).unwrap();
    assert!(!changed(&loaded.sources));
    fs::create_dir(dir.path().join("a.d")).unwrap();
    assert!(changed(&loaded.sources), "a directory with layers came");
    let loaded = load_flake(&main).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    fs::write(dir.path().join("a.d/1.yaml"), "type: mutable").unwrap();
    assert!(changed(&loaded.sources), "a layer came");
    let loaded = load_flake(&main).unwrap();
    fs::write(dir.path().join("a.d/1.yaml"), "type: immutable").unwrap();
    assert!(changed(&loaded.sources), "a layer changed");
    let loaded = load_flake(&main).unwrap();
    fs::write(dir.path().join("new"), GOOD).unwrap();
    fs::rename(dir.path().join("new"), &main).unwrap();
    assert!(changed(&loaded.sources), "the file was replaced");
}

#[test]
fn settings_may_be_absent_but_not_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let (system, user) = (dir.path().join("flakes.yml"), dir.path().join("user.yml"));
    let loaded = load_settings(&[&system, &user]).unwrap();
    assert_eq!(loaded.settings, flake_schema::Settings::default());
    assert_eq!(loaded.sources.len(), 2);
    fs::write(&system, "generic:\n  flakes_dir: /usr/share/flakes\n  podman_ids_dir: /tmp/flakes\n").unwrap();
    fs::write(&user, "instances_per_user: 3\ninstances-timeout: 60 d\ngeneric: {flakes_dir: /home/f}\n")
        .unwrap();
    assert!(!loaded.sources[0].is_unchanged().unwrap());
    let settings = load_settings(&[&system, &user]).unwrap().settings;
    assert_eq!(settings.instances_per_user, 3);
    assert_eq!(settings.instances_timeout.to_string(), "60d");
    assert_eq!(settings.flakes_dir.as_deref(), Some(Path::new("/home/f")));
    assert_eq!(settings.podman_ids_dir.as_deref(), Some(Path::new("/tmp/flakes")));
    fs::write(&user, "instances-per-usr: 3\n").unwrap();
    let error = load_settings(&[&system, &user]).unwrap_err().to_string();
    assert!(error.ends_with("user.yml:1:1: unknown key `instances-per-usr`\n  1 | instances-per-usr: 3\n    | ^^^^^^^^^^^^^^^^^\nhint: did you mean `instances-per-user`?"), "{error}");
    fs::remove_file(&user).unwrap();
    fs::create_dir(&user).unwrap();
    assert!(load_settings(&[&system, &user]).is_err());
}

/// Texts of up to one MiB that are slow or large for a careless reader.
fn bombs() -> Vec<(&'static str, String)> {
    let size = (1 << 20) - 64;
    let fill = |piece: &str| piece.repeat(size / piece.len());
    let mut laughs = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..30 {
        let refs = vec![format!("*a{}", level - 1); 9].join(", ");
        laughs.push_str(&format!("a{level}: &a{level} [{refs}]\n"));
    }
    let mut long = format!("a: &a {}\nb: [", "x".repeat(500_000));
    long.push_str(&"*a, ".repeat(10_000));
    long.push(']');
    let deep: String = (0..400).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    let keys: String = (0..80_000).map(|index| format!("k{index}: x\n")).collect();
    let anchors: String = (0..60_000).map(|index| format!("- &a{index} x\n")).collect();
    vec![
        ("laughs", laughs),
        ("long aliases", long),
        ("deep blocks", deep),
        ("deep sequences", fill("- ")),
        ("deep brackets", fill("[")),
        ("deep braces", fill("{a: ")),
        ("explicit keys", fill("? ")),
        ("colons", fill(": ")),
        ("many keys", keys),
        ("many anchors", anchors),
        ("one line", fill("a")),
        ("one quoted line", format!("a: \"{}", fill("\\x41"))),
        ("open quotes", fill("\"\n")),
        ("blank lines", fill("\n")),
        ("tabs", fill("\t")),
        ("comments", fill("#\n")),
        ("documents", fill("---\n")),
        ("directives", fill("%A\n")),
        ("tags", fill("!a ")),
        ("anchors in a row", fill("&a ")),
        ("folded", format!("a: >\n{}", fill(" b\n"))),
        ("plain lines", format!("a: b\n{}", fill(" b\n"))),
        ("flow keys", format!("{{{}", fill("a,"))),
        ("question marks", fill("?\n")),
        ("carriage returns", fill("a\r")),
        ("many colons in one line", fill("a:b")),
        ("one unknown key", format!("{}: 1", "k".repeat(1000))),
    ]
}

#[test]
fn bombs_are_refused_in_bounded_time() {
    for (name, text) in bombs() {
        let start = Instant::now();
        let result = FlakeFile::from_yaml(&text, "bomb");
        println!("{name}: {:?}", start.elapsed());
        assert!(start.elapsed() < Duration::from_secs(5), "{name} took {:?}", start.elapsed());
        match result {
            Err(error) => {
                let error = error.to_string();
                assert!(error.len() < 1000 && error.lines().count() <= 4, "{name}: {error}");
            }
            Ok(file) => {
                assert_eq!(file, FlakeFile::default(), "{name}");
                assert!(text.trim_matches(['#', '\n', '\t']).is_empty(), "{name} says something");
            }
        }
    }
}

#[test]
fn a_typical_file_loads_fast() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/valid/new-keys.yaml");
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        load_flake(&path).unwrap();
        best = best.min(start.elapsed());
    }
    println!("load_flake: {best:?}");
    assert!(best < Duration::from_millis(20), "{best:?}");
}
