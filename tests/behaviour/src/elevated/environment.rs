//! The caller's variables: which reach the app, and that none reaches root's podman.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call};

use super::forge::{self, handoff};
use super::{Case, Ground, works};

pub(super) const CASES: &[Case] = &[
    ("listed_variables_reach_the_app", listed),
    ("bytes_of_variables_are_exact", exact),
    ("variables_of_the_dynamic_linker_reach_nobody", |ground| {
        harmless(ground, |evil| vec![("LD_PRELOAD", evil.into()), ("LD_LIBRARY_PATH", parent(evil))])
    }),
    ("the_path_of_the_caller_finds_no_podman", |ground| {
        harmless(ground, |evil| vec![("PATH", format!("{}:/usr/bin:/bin", parent(evil)))])
    }),
    ("podman_variables_of_the_caller_reach_nobody", |ground| {
        harmless(ground, |evil| {
            let file = |name: &str| format!("{}/{name}", parent(evil));
            vec![
                ("CONTAINERS_CONF", file("containers.conf")),
                ("CONTAINERS_STORAGE_CONF", file("storage.conf")),
                ("CONTAINERS_REGISTRIES_CONF", file("none.conf")),
                ("CONTAINER_HOST", "unix:///nowhere".into()),
                ("STORAGE_DRIVER", "vfs".into()),
                ("STORAGE_OPTS", "mount_program=/nowhere".into()),
                ("XDG_CONFIG_HOME", parent(evil)),
                ("XDG_DATA_HOME", parent(evil)),
                ("_CONTAINERS_USERNS_CONFIGURED", "done".into()),
                ("NOTIFY_SOCKET", "/nowhere".into()),
                ("LISTEN_FDS", "5".into()),
            ]
        })
    }),
    ("the_home_of_the_caller_s_environment_means_nothing", |ground| {
        harmless(ground, |evil| vec![("HOME", parent(evil))])
    }),
    ("options_expand_to_the_passwd_entry", options),
    ("forged_variables_are_filtered_too", forged),
];

const LIST: [&str; 6] = ["--env", "LANG", "--env", "AWS_*", "--env", "KEY=value"];

fn variables(outcome: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(outcome);
    let split = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    text.lines().filter_map(split).collect()
}

fn listed(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("elevated-env", &LIST)?;
    let mut command = ADA.command(app);
    command.envs([("SECRET", "1"), ("AWS_REGION", "eu"), ("KEY", "of the caller"), ("MY_AWS_KEY", "1")]);
    command.envs([("LD_PRELOAD", ""), ("PATH", "/opt:/usr/bin:/bin"), ("http_proxy", "proxy")]);
    command.arg("env");
    let found = variables(&Call::new(command).check()?.stdout);
    let expected = [("AWS_REGION", "eu"), ("KEY", "value"), ("LANG", "C.UTF-8"), ("TERM", "xterm")];
    for (name, value) in expected.into_iter().chain([("http_proxy", "proxy")]) {
        ensure!(found.get(name).is_some_and(|found| found == value), "{name}: {found:?}");
    }
    // What a program cannot do without is not the caller's.
    let own = ["PATH", "HOME", "HOSTNAME", "container", "PWD", "SHLVL"];
    let is_known = |name: &str| {
        own.contains(&name) || name == "http_proxy" || expected.iter().any(|(known, _)| *known == name)
    };
    let others: Vec<_> = found.keys().filter(|name| !is_known(name)).collect();
    ensure!(others.is_empty(), "{others:?}");
    ensure!(found.get("PATH").is_some_and(|path| !path.contains("/opt")), "{found:?}");
    ensure!(found.get("HOME").is_some_and(|home| home == "/root"), "{found:?}");
    Ok(())
}

fn exact(ground: &Ground<'_>) -> Result<()> {
    let mut command = ADA.command(ground.flake("elevated-env", &LIST)?);
    let value = OsStr::from_bytes(b" a\nb=\xff'\"$HOME ");
    command.env("AWS_X", value).args(["sh", "-c", r#"printf '%s\n' "$AWS_X""#]);
    let outcome = Call::new(command).check()?;
    ensure!(outcome.stdout == [value.as_bytes(), b"\n"].concat(), "{outcome}");
    Ok(())
}

fn parent(path: &str) -> String {
    Path::new(path).parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned()
}

/// A call with variables that name files of the caller in `EVIL`'s directory works as without them, and none
/// of the programs there has run with root's rights.
fn harmless(ground: &Ground<'_>, variables: fn(&str) -> Vec<(&'static str, String)>) -> Result<()> {
    let trap = Trap::set(ground)?;
    let mut command = ADA.command(ground.flake("elevated-env", &LIST)?);
    command.args(["echo", "word"]).envs(variables(&trap.program.to_string_lossy()));
    works(&Call::new(command).run()?)?;
    trap.untouched()
}

/// Programs and configuration of ada that would leave a trace.
pub(super) struct Trap {
    pub(super) program: PathBuf,
    trace: PathBuf,
}

impl Trap {
    pub(super) fn set(ground: &Ground<'_>) -> Result<Self> {
        let dir = ground.directory()?;
        let (program, trace) = (dir.join("podman"), dir.join("trace"));
        let here = dir.display();
        let script = format!("#!/bin/sh\nid -u >>{}\nexit 1\n", trace.display());
        for name in ["podman", "conmon", "crun", "runc", "newuidmap", "iptables", "mount", "fuse-overlayfs"] {
            fs::write(dir.join(name), &script)?;
            fs::set_permissions(dir.join(name), Permissions::from_mode(0o755))?;
        }
        let containers = format!(
            "[engine]\nruntime = \"evil\"\nconmon_path = [\"{here}/conmon\"]\nhelper_binaries_dir = \
             [\"{here}\"]\n[engine.runtimes]\nevil = [\"{here}/runc\"]\n"
        );
        let storage = format!(
            "[storage]\ndriver = \"overlay\"\ngraphroot = \"{here}/graph\"\nrunroot = \"{here}/run\"\n\
             [storage.options.overlay]\nmount_program = \"{here}/fuse-overlayfs\"\n"
        );
        fs::create_dir(dir.join("containers"))?;
        for folder in [dir.clone(), dir.join("containers")] {
            fs::write(folder.join("containers.conf"), &containers)?;
            fs::write(folder.join("storage.conf"), &storage)?;
        }
        Ok(Self { program, trace })
    }

    pub(super) fn untouched(&self) -> Result<()> {
        let trace = fs::read_to_string(&self.trace).unwrap_or_default();
        ensure!(trace.is_empty(), "a program of the caller ran as {trace}");
        let graph = self.program.with_file_name("graph");
        ensure!(!graph.exists(), "root's podman made {}", graph.display());
        Ok(())
    }
}

const OPTIONS: [&str; 4] =
    ["--opt", r"\--env WHERE=%HOME:%USER:%LOGNAME:%SHELL", "--opt", r"\--env OTHER=%SECRET:%PATH"];

fn options(ground: &Ground<'_>) -> Result<()> {
    let app = ground.flake("elevated-options", &OPTIONS)?;
    let mut command = ADA.command(app);
    command.args(["sh", "-c", "echo $WHERE; echo $OTHER"]);
    command.envs([("HOME", "/etc"), ("USER", "root"), ("LOGNAME", "root"), ("SHELL", "/x"), ("SECRET", "s")]);
    expanded(&Call::new(command).check()?.out())
}

fn expanded(said: &str) -> Result<()> {
    ensure!(said == "/home/ada:ada:ada:/bin/bash\n$SECRET:$PATH\n", "{said}");
    Ok(())
}

/// The same from a caller's side that sends what it likes, not its own environment.
fn forged(ground: &Ground<'_>) -> Result<()> {
    ground.flake("elevated-options", &OPTIONS)?;
    let (mut reader, writer) = std::io::pipe()?;
    let mut handoff = handoff(2);
    let pairs =
        [("HOME", "/etc"), ("USER", "root"), ("SECRET", "s"), ("PATH", "/evil"), ("LD_PRELOAD", "/x")];
    handoff.env = pairs.map(|(name, value)| (name.into(), value.into())).to_vec();
    let null = fs::File::open("/dev/null")?;
    let words = ["sh", "-c", "echo $WHERE; echo $OTHER; env | grep -E '^(SECRET|LD_|USER)|evil' >&1"];
    forge::call(ground.host, "elevated-options", &words, &handoff, &[null.into(), writer.into()])?
        .session()?;
    let mut said = String::new();
    std::io::Read::read_to_string(&mut reader, &mut said)?;
    expanded(&said)
}
