//! Images that are made to run something, that have nothing but one program, or that name a user.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, Image, ROOT, ScratchHost, User, trial};
use libtest_mimic::Trial;

/// Who registers and who calls.
const WAYS: [(&str, &User, &User); 3] =
    [("rootful", &ROOT, &ROOT), ("rootless", &ADA, &ADA), ("system", &ROOT, &ADA)];

type Check = fn(&App<'_>) -> Result<()>;

const CHECKS: [(&str, &Image, &str, Check); 5] = [
    ("entrypoint", &Image::ENTRY, "/", entrypoint),
    ("one_program_only", &Image::SCRATCHY, "/busybox", one_program_only),
    ("another_user", &Image::USERIMG, "/bin/busybox", another_user),
    ("somebody_elses_number", &Image::TAKEN, "/bin/busybox", somebody_elses_number),
    ("a_name_to_look_up", &Image::BOX, "busybox", looked_up),
];

/// All of them, for each way; and what is installed.
#[must_use]
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![trial("installed::small_and_static", |_| small_and_static())];
    for (way, owner, caller) in WAYS {
        for (name, image, target, check) in CHECKS {
            trials.push(trial(format!("{way}::{name}"), move |host| {
                let name = format!("{way}-{name}");
                check(&App { path: &register(host, owner, (&name, image, target))?, caller })
            }));
        }
    }
    trials
}

/// What changes the store for everybody.
#[must_use]
pub fn alone() -> Vec<Trial> {
    vec![trial("a_parent_that_is_just_written", just_written)]
}

/// Podman looks at images with the same layers, and fails at one that somebody is about to write.
fn just_written(host: &ScratchHost) -> Result<()> {
    let podman =
        |words: &[&str]| -> Result<String> { Ok(host.podman(&ROOT, words).check()?.out().trim().to_owned()) };
    let base = host.image(&ROOT, &Image { name: "parent", files: &[("/parent", "")], ..Image::BOX })?;
    let container = podman(&["create", &base, "/bin/true"])?;
    podman(&["commit", "--quiet", &container, "localhost/child"])?;
    podman(&["rm", &container])?;
    let id = podman(&["image", "inspect", "--format", "{{.Id}}", &base])?;
    let format = "{{.Store.GraphRoot}}/{{.Store.GraphDriverName}}-images";
    let folder = Path::new(&podman(&["info", "--format", format])?).join(id);
    // Under its name, and under one with its digest in base64.
    let is_manifest = |name: &str| name == "manifest" || name.starts_with("=bWFuaWZlc3Qt");
    let names = fs::read_dir(&folder)?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let names: Vec<_> = names.filter(|name| is_manifest(name)).collect();
    let aside = |name: &str| folder.join(format!("aside-{}", name.trim_start_matches('=')));
    for name in &names {
        fs::rename(folder.join(name), aside(name))?;
    }
    let broken = host.podman(&ROOT, ["image", "inspect", "localhost/child"]).run()?;
    let words = ["podman", "register", "--container", "localhost/child", "--target", "/bin/busybox"];
    let words = words.iter().chain(&["--app", "/usr/local/bin/child"]);
    let outcome = thread::scope(|scope| {
        let registered = scope.spawn(|| host.flake_ctl(&ROOT, words).run());
        thread::sleep(Duration::from_millis(700));
        for name in &names {
            fs::rename(aside(name), folder.join(name))?;
        }
        Ok::<_, anyhow::Error>(registered.join().map_err(|_| anyhow::anyhow!("a panic"))??)
    })?;
    // Another podman may not mind.
    ensure!(broken.success() || broken.err().contains("locating item"), "{broken}");
    ensure!(outcome.success(), "{outcome}");
    podman(&["image", "rm", "localhost/child"]).map(drop)
}

/// A name to look up has no place on the command line: it is what 3.x files may hold.
fn register(host: &ScratchHost, owner: &User, flake: (&str, &Image, &str)) -> Result<std::path::PathBuf> {
    let (name, image, target) = flake;
    if target.starts_with('/') {
        let options: &[&str] = if image.name == Image::TAKEN.name { &["--as-caller"] } else { &[] };
        return Ok(host.register(owner, flake, options)?);
    }
    let app = host.register(owner, (name, image, "/written/below"), &[])?;
    let folder = if owner.id == 0 { "/usr/share/flakes".into() } else { owner.home().join(".config/flakes") };
    let file = folder.join(format!("{name}.yaml"));
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    fs::write(&file, text.replace("/written/below", target))?;
    Ok(app)
}

struct App<'a> {
    path: &'a Path,
    caller: &'static User,
}

impl App<'_> {
    fn call(&self, words: &[&[u8]]) -> Call {
        let mut command = self.caller.command(self.path);
        command.args(words.iter().map(|word| OsStr::from_bytes(word)));
        Call::new(command)
    }

    fn prints(&self, words: &[&[u8]], expected: &[u8]) -> Result<()> {
        let outcome = self.call(words).run()?;
        ensure!(outcome.stdout == expected && outcome.success(), "{words:?}: {outcome:?}");
        Ok(())
    }
}

fn entrypoint(app: &App<'_>) -> Result<()> {
    app.prints(&[], b"<default>\n")?;
    app.prints(&[b"a b", b"", b"\xff\xfe", b"-c"], b"<a b>\n<>\n<\xff\xfe>\n<-c>\n")?;
    app.prints(&[b"@flake-entrypoint-ends"], b"<@flake-entrypoint-ends>\n")
}

fn one_program_only(app: &App<'_>) -> Result<()> {
    app.prints(&[b"echo", b"alone"], b"alone\n")?;
    let outcome = app.call(&[b"sh", b"-c", b"exit 7"]).run()?;
    ensure!(outcome.code == Some(7), "{outcome:?}");
    app.prints(&[b"pwd"], b"/\n")
}

/// Its own standard streams can be opened by name, as scripts of many images do.
fn another_user(app: &App<'_>) -> Result<()> {
    app.prints(&[b"id", b"-u"], b"1000\n")?;
    app.prints(&[b"pwd"], b"/place\n")?;
    // The pipes are the caller's own, as a shell makes them.
    let script =
        "echo typed | \"$APP\" sh -c 'cat /dev/stdin; echo e >/dev/stderr; echo o >/dev/stdout' 2>&1 | cat";
    let mut shell = app.caller.command("/usr/bin/bash");
    shell.args(["-c", script]).env("APP", app.path);
    let outcome = Call::new(shell).run()?;
    ensure!(outcome.stdout == b"typed\ne\no\n", "{outcome:?}");
    Ok(())
}

/// The caller is who the caller is, whoever has the number in the image.
fn somebody_elses_number(app: &App<'_>) -> Result<()> {
    let name = app.caller.name;
    let script = b"whoami; id -gn; cd; pwd; touch mine; stat -c '%U %a' . mine";
    let home = app.caller.home();
    let (home, mode) = (home.display(), if app.caller.id == 0 { "" } else { "700" });
    let outcome = app.call(&[b"sh", b"-c", script]).run()?;
    let text = outcome.out();
    let lines: Vec<&str> = text.lines().collect();
    ensure!(lines.len() == 5 && lines[..3] == [name, name, &home.to_string()], "{outcome:?}");
    ensure!(lines[3].starts_with(&format!("{name} {mode}")) && lines[4].starts_with(name), "{outcome:?}");
    Ok(())
}

fn looked_up(app: &App<'_>) -> Result<()> {
    app.prints(&[b"echo", b"found"], b"found\n")
}

/// The agent runs in images without a loader, and a launcher starts at every call.
fn small_and_static() -> Result<()> {
    for (path, most) in [("/usr/libexec/flake-pilot/sci", 2 << 20), ("/usr/bin/flake-pilot", 3 << 20)] {
        let length = fs::metadata(path)?.len();
        ensure!(length <= most, "{path} has {length} bytes, more than {most}");
        ensure!(!has_interpreter(&fs::read(path)?)?, "{path} is not static");
    }
    // Started by hand it says what it lacks.
    let by_hand =
        Call::new(std::process::Command::new("/usr/libexec/flake-pilot/sci")).stdin(Stdio::null()).run()?;
    ensure!(!by_hand.success() && by_hand.err().contains("descriptor 3"), "{by_hand:?}");
    Ok(())
}

/// Whether a 64-bit little-endian ELF file names a loader (`PT_INTERP`; elf(5)).
fn has_interpreter(program: &[u8]) -> Result<bool> {
    let number = |offset: usize, length: usize| -> Result<usize> {
        let bytes = program.get(offset..offset + length).context("a short file")?;
        let mut wide = [0; 8];
        wide[..length].copy_from_slice(bytes);
        Ok(usize::try_from(u64::from_le_bytes(wide))?)
    };
    ensure!(program.starts_with(b"\x7fELF\x02\x01"), "no 64-bit little-endian ELF file");
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let kinds: Vec<usize> = (0..count).map(|index| number(table + index * size, 4)).collect::<Result<_>>()?;
    Ok(kinds.contains(&3))
}
