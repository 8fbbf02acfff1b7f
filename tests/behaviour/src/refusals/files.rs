//! Registrations that are no registrations.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::{Case, Flake, Flakes, file_name, refused};

pub(super) const CASES: &[Case] = &[
    ("unknown_key", |flakes| altered(flakes, "unknown-key", |text| text + "colour: red\n", "colour")),
    ("unknown_key_deep_inside", |flakes| {
        altered(
            flakes,
            "unknown-deep",
            |text| text.replace("  runtime:", "  runtime:\n    netwrok: host"),
            "netwrok",
        )
    }),
    ("wrong_type", |flakes| {
        altered(flakes, "wrong-type", |text| text.replace("  runtime:", "  layers: 5\n  runtime:"), "layers")
    }),
    ("duplicate_key", |flakes| {
        altered(
            flakes,
            "duplicate-key",
            |text| text.replace("  name:", "  name: localhost/box\n  name:"),
            "name",
        )
    }),
    ("not_yaml", |flakes| {
        altered(flakes, "not-yaml", |_| "container: [}\n\t- x".to_owned(), "not-yaml.yaml")
    }),
    ("empty_file", |flakes| altered(flakes, "empty-file", |_| String::new(), "empty-file.yaml")),
    ("only_a_comment", |flakes| altered(flakes, "comment", |_| "# nothing\n".to_owned(), "comment.yaml")),
    ("a_list_at_the_top", |flakes| altered(flakes, "list", |_| "- a\n- b\n".to_owned(), "list.yaml")),
    ("two_documents", |flakes| altered(flakes, "two", |text| format!("{text}---\n{text}"), "two.yaml")),
    ("ten_mebibytes", |flakes| {
        altered(flakes, "huge", |text| format!("{text}# {}\n", "x".repeat(10 << 20)), "huge.yaml")
    }),
    ("deep_nesting", |flakes| {
        altered(
            flakes,
            "deep",
            |text| format!("{text}x: {}{}\n", "[".repeat(100_000), "]".repeat(100_000)),
            "deep.yaml",
        )
    }),
    ("alias_bomb", |flakes| altered(flakes, "bomb", |text| text + &bomb(), "bomb.yaml")),
    ("nul_bytes", |flakes| altered(flakes, "nul", |text| text.replace("busybox", "busy\0box"), "nul.yaml")),
    ("not_utf8", not_utf8),
    ("a_directory_as_file", directory),
    ("a_dangling_link_as_file", dangling),
    ("an_unreadable_file", unreadable),
    ("a_broken_file_in_the_directory_of_overrides", overrides),
];

/// Nobody waits longer than this for the news that a file is wrong.
const SOON: Duration = Duration::from_secs(10);

fn altered(flakes: &Flakes<'_>, name: &str, change: fn(String) -> String, named: &str) -> Result<()> {
    let flake = flakes.register(name)?;
    let before = fs::read_to_string(&flake.file)?;
    let after = change(before.clone());
    ensure!(before != after, "nothing was changed in {before}");
    fs::write(&flake.file, after)?;
    check(flakes, &flake, named)
}

fn check(flakes: &Flakes<'_>, flake: &Flake, named: &str) -> Result<()> {
    let start = Instant::now();
    let outcome = flake.call()?;
    refused(&outcome, named)?;
    ensure!(start.elapsed() < SOON, "took {:?}", start.elapsed());
    ensure!(outcome.err().contains(&file_name(&flake.file)), "no word about the file: {outcome}");
    flakes.nothing_started(&file_name(&flake.app))
}

fn bomb() -> String {
    let first = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    let line = |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", "));
    first + &(1..12).map(line).collect::<String>()
}

fn not_utf8(flakes: &Flakes<'_>) -> Result<()> {
    let flake = flakes.register("not-utf8")?;
    fs::write(&flake.file, b"container:\n  name: caf\xe9\n")?;
    check(flakes, &flake, "not-utf8.yaml")
}

fn directory(flakes: &Flakes<'_>) -> Result<()> {
    let flake = flakes.register("directory")?;
    fs::remove_file(&flake.file)?;
    fs::create_dir(&flake.file)?;
    check(flakes, &flake, "directory.yaml")
}

fn dangling(flakes: &Flakes<'_>) -> Result<()> {
    let flake = flakes.register("dangling")?;
    fs::remove_file(&flake.file)?;
    symlink("/nowhere/at/all.yaml", &flake.file)?;
    check(flakes, &flake, "dangling.yaml")
}

fn unreadable(flakes: &Flakes<'_>) -> Result<()> {
    let flake = flakes.register("unreadable")?;
    fs::set_permissions(&flake.file, Permissions::from_mode(0o0))?;
    check(flakes, &flake, "unreadable.yaml")
}

fn overrides(flakes: &Flakes<'_>) -> Result<()> {
    let flake = flakes.register("override")?;
    let dir = flake.file.with_extension("d");
    fs::create_dir_all(&dir)?;
    fs::write(dir.join("50-mine.yaml"), "container:\n  runtime:\n    netwrok: none\n")?;
    let outcome = flake.call()?;
    refused(&outcome, "50-mine.yaml")?;
    refused(&outcome, "netwrok")?;
    flakes.nothing_started("override")
}
