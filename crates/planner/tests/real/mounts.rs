//! What a recipe says.

use crate::Case;
use crate::maker::{PLAIN, Wish, plan, recipe};
use anyhow::{Context, ensure};
use flake_plan::{EntryKind, IdMap, Layers, Mount, MountKind, Recipe, UserSpace};
use flake_testkit::{ADA, Image, ROOT, ScratchHost};
use std::path::Path;

pub(crate) const CASES: &[Case] = &[
    ("root's plain flake", root_plain),
    ("a user's plain flake", user_plain),
    ("a user's flake in which the application is the caller", caller),
    ("no network", no_network),
    ("volumes", volumes),
    ("devices", devices),
    ("a root that cannot be written to", read_only),
    ("files in an image that podman mounts over", of_image),
    ("the process", process),
    ("the words of the image", words),
    ("a user whom the image does not know", stranger),
];

fn mount<'a>(recipe: &'a Recipe, place: &str) -> anyhow::Result<&'a Mount> {
    let found = recipe.mounts.iter().find(|mount| mount.destination == Path::new(place));
    found.with_context(|| format!("no mount at {place}: {:?}", recipe.mounts))
}

/// A file that podman made, mounted or not.
fn file<'a>(recipe: &'a Recipe, place: &str) -> anyhow::Result<&'a [u8]> {
    let mount = recipe.mounts.iter().find(|mount| mount.destination == Path::new(place));
    match mount.map(|mount| &mount.kind) {
        Some(MountKind::File { content, .. }) => Ok(content),
        Some(other) => anyhow::bail!("{place} is {other:?}"),
        None => written(recipe, place),
    }
}

fn written<'a>(recipe: &'a Recipe, place: &str) -> anyhow::Result<&'a [u8]> {
    let found = recipe.upper.iter().find(|entry| Path::new("/").join(&entry.path) == Path::new(place));
    match found.map(|entry| &entry.kind) {
        Some(EntryKind::File { content }) => Ok(content),
        other => anyhow::bail!("{place} is {other:?}"),
    }
}

/// They are folders that stay, and not the links to them.
fn check_layers(layers: &Layers) -> anyhow::Result<()> {
    ensure!(!layers.folders.is_empty());
    ensure!(
        layers.folders.iter().all(|folder| folder.canonicalize().is_ok_and(|behind| behind == *folder)),
        "{layers:?}"
    );
    for folder in &layers.folders {
        ensure!(folder.is_dir() && folder.join("bin").exists() | (layers.folders.len() > 1), "{folder:?}");
    }
    Ok(())
}

fn root_plain(host: &ScratchHost) -> anyhow::Result<()> {
    let plan = plan(host, &ROOT, PLAIN)?;
    let words: Vec<_> = plan.words.iter().filter_map(|word| word.to_str()).collect();
    ensure!(words.first() == Some(&"create") && words.contains(&"--label=flake.scratch"), "{words:?}");
    ensure!(words.ends_with(&["localhost/box", "@flake-entrypoint-ends"]), "{words:?}");
    ensure!(!words.contains(&"--rm") && !words.contains(&"--detach"), "{words:?}");
    let recipe = recipe(plan)?;
    check_layers(&recipe.layers)?;
    ensure!(recipe.user == UserSpace::Host && !recipe.is_read_only);
    ensure!(recipe.hostname.as_deref() == Some("scratch"), "{:?}", recipe.hostname);
    ensure!(recipe.namespaces.ipc && recipe.namespaces.uts && !recipe.namespaces.network);
    ensure!(mount(&recipe, "/sys")?.kind == MountKind::Sys);
    ensure!(written(&recipe, "/etc/hostname")? == b"scratch");
    ensure!(written(&recipe, "/etc/hosts")?.starts_with(b"127.0.0.1"));
    let root = recipe.upper.first().context("nothing is written")?;
    ensure!(root.path.as_os_str().is_empty() && root.mode == 0o555, "{root:?}");
    ensure!(recipe.upper.iter().all(|entry| !entry.path.ends_with("podman-init")), "{:?}", recipe.upper);
    let shm = mount(&recipe, "/dev/shm")?;
    ensure!(
        matches!(&shm.kind, MountKind::Tmpfs { options, .. }
        if options.contains(&("size".into(), Some("65536000".into())))),
        "{shm:?}"
    );
    ensure!(recipe.mounts.iter().all(|mount| !mount.destination.to_string_lossy().contains("init")));
    ensure!(recipe.seccomp.len() == 1 && recipe.devices.len() == 6);
    let depth = |mount: &Mount| mount.destination.components().count();
    ensure!(recipe.mounts.is_sorted_by_key(depth));
    Ok(())
}

fn user_plain(host: &ScratchHost) -> anyhow::Result<()> {
    let recipe = recipe(plan(host, &ADA, PLAIN)?)?;
    check_layers(&recipe.layers)?;
    ensure!(recipe.layers.options.iter().any(|(name, _)| name == "userxattr"), "{:?}", recipe.layers);
    let map = vec![
        IdMap { inside: 0, outside: 4242, count: 1 },
        IdMap { inside: 1, outside: 10_000_000, count: 65536 },
    ];
    ensure!(recipe.user == UserSpace::Own { outer: (map.clone(), map), inner: None }, "{:?}", recipe.user);
    let sys = mount(&recipe, "/sys")?;
    ensure!(sys.kind == MountKind::Bind { source: "/sys".into(), is_recursive: true } && sys.flags.read_only);
    ensure!(written(&recipe, "/etc/hosts")?.starts_with(b"127.0.0.1"));
    ensure!(recipe.upper.iter().all(|entry| (entry.uid, entry.gid) == (0, 0)), "{:?}", recipe.upper);
    Ok(())
}

fn caller(host: &ScratchHost) -> anyhow::Result<()> {
    let recipe = recipe(plan(host, &ADA, Wish { as_caller: true, ..PLAIN })?)?;
    let UserSpace::Own { outer, inner: Some((users, _)) } = &recipe.user else {
        anyhow::bail!("{:?}", recipe.user)
    };
    ensure!(outer.0.len() == 2 && outer.0[0].outside == 4242, "{outer:?}");
    ensure!(users.contains(&IdMap { inside: 4242, outside: 0, count: 1 }), "{users:?}");
    let home = mount(&recipe, "/home/ada")?;
    ensure!(
        matches!(home.kind, MountKind::Tmpfs { is_copied_up: true, .. }) && home.flags.no_suid,
        "{home:?}"
    );
    ensure!(file(&recipe, "/etc/localtime")?.starts_with(b"TZif"));
    ensure!(recipe.process.uid == 0, "podman starts it as root");
    ensure!(file(&recipe, "/etc/passwd").is_err(), "the launch adds the caller");
    // Podman starts it as the caller.
    let options = &["--cap-drop=all"];
    let recipe = crate::maker::recipe(plan(host, &ADA, Wish { as_caller: true, options, ..PLAIN })?)?;
    ensure!(recipe.process.uid == 4242, "{:?}", recipe.process);
    ensure!(String::from_utf8_lossy(file(&recipe, "/etc/passwd")?).contains("ada:*:4242:4242:"));
    Ok(())
}

fn no_network(host: &ScratchHost) -> anyhow::Result<()> {
    for (user, options) in [(&ROOT, &[][..]), (&ADA, &[]), (&ADA, &["--userns=keep-id"])] {
        let recipe = recipe(plan(host, user, Wish { network: "none", options, ..PLAIN })?)?;
        ensure!(recipe.namespaces.network);
        ensure!(recipe.sysctls.iter().any(|sysctl| sysctl.path.ends_with("ping_group_range")));
    }
    Ok(())
}

fn volumes(host: &ScratchHost) -> anyhow::Result<()> {
    let options = &["-v", "/srv:/a/b:ro", "--volume=named:/n", "--tmpfs=/t:size=1m", "--shm-size=1m"];
    for user in [&ROOT, &ADA] {
        let recipe = recipe(plan(host, user, Wish { options, ..PLAIN })?)?;
        let bind = mount(&recipe, "/a/b")?;
        ensure!(bind.kind == MountKind::Bind { source: "/srv".into(), is_recursive: true }, "{bind:?}");
        ensure!(bind.flags.read_only && !bind.flags.no_exec);
        let named = mount(&recipe, "/n")?;
        ensure!(
            matches!(&named.kind, MountKind::Bind { source, .. } if source.ends_with("volumes/named/_data"))
        );
        let size = |place: &str, size: &str| -> anyhow::Result<bool> {
            let MountKind::Tmpfs { options, .. } = &mount(&recipe, place)?.kind else { return Ok(false) };
            Ok(options.contains(&("size".into(), Some(size.into()))))
        };
        ensure!(size("/t", "1m")? && size("/dev/shm", "1048576")?, "{:?}", recipe.mounts);
    }
    Ok(())
}

fn devices(host: &ScratchHost) -> anyhow::Result<()> {
    for user in [&ROOT, &ADA] {
        let recipe = recipe(plan(host, user, Wish { options: &["--device=/dev/fuse"], ..PLAIN })?)?;
        let fuse = recipe.devices.iter().find(|device| device.path == Path::new("/dev/fuse"));
        ensure!(fuse.is_some_and(|fuse| fuse.source == fuse.path), "{:?}", recipe.devices);
        ensure!(mount(&recipe, "/dev/fuse").is_err());
    }
    let options = &["--device=/dev/fuse:/dev/other"];
    let recipe = recipe(plan(host, &ADA, Wish { options, ..PLAIN })?)?;
    ensure!(recipe.devices.iter().any(|device| device.path == Path::new("/dev/other")));
    Ok(())
}

fn read_only(host: &ScratchHost) -> anyhow::Result<()> {
    for user in [&ROOT, &ADA] {
        let recipe = recipe(plan(host, user, Wish { options: &["--read-only"], ..PLAIN })?)?;
        ensure!(recipe.is_read_only);
        ensure!(matches!(mount(&recipe, "/tmp")?.kind, MountKind::Tmpfs { is_copied_up: true, .. }));
        ensure!(mount(&recipe, "/etc/hosts")?.flags.read_only && written(&recipe, "/etc/hosts")?.is_empty());
    }
    Ok(())
}

/// Their places are the image's own, or where its links lead.
fn of_image(host: &ScratchHost) -> anyhow::Result<()> {
    let image = &Image {
        name: "resolved",
        files: &[("/etc/hosts", "of the image\n")],
        links: &[("/etc/resolv.conf", "../run/resolved/stub.conf"), ("/var/run", "../run")],
        ..Image::BOX
    };
    for (user, options) in [(&ROOT, &[][..]), (&ADA, &[]), (&ADA, &["--userns=keep-id"])] {
        let recipe = recipe(plan(host, user, Wish { image, options, ..PLAIN })?)?;
        let hosts = mount(&recipe, "/etc/hosts")?;
        ensure!(matches!(&hosts.kind, MountKind::File { content, .. } if content.starts_with(b"127.")));
        ensure!(written(&recipe, "/etc/hosts").is_err(), "{:?}", recipe.upper);
        ensure!(mount(&recipe, "/etc/resolv.conf").is_err(), "{:?}", recipe.mounts);
        ensure!(!written(&recipe, "/run/resolved/stub.conf")?.is_empty(), "{:?}", recipe.upper);
    }
    Ok(())
}

fn process(host: &ScratchHost) -> anyhow::Result<()> {
    let options = &[
        "--cap-drop=all",
        "--security-opt=no-new-privileges",
        "--security-opt=seccomp=unconfined",
        "--oom-score-adj=100",
        "--group-add=77",
        "--env=A=b",
        "--workdir=/tmp",
        "--ulimit=nofile=512:512",
        "--ulimit=nproc=512:512",
    ];
    for user in [&ROOT, &ADA] {
        let recipe = recipe(plan(host, user, Wish { options, ..PLAIN })?)?;
        let process = &recipe.process;
        ensure!(process.capabilities.bounding == 0 && process.no_new_privileges, "{process:?}");
        ensure!(process.oom_score_adj == Some(100) && process.groups.contains(&77), "{process:?}");
        ensure!(
            process.env.iter().any(|pair| pair == "A=b") && process.cwd == Path::new("/tmp"),
            "{process:?}"
        );
        // RLIMIT_NOFILE
        ensure!(process.rlimits.iter().any(|limit| (limit.resource, limit.soft) == (7, 512)), "{process:?}");
        ensure!(recipe.seccomp.len() == 1, "the terminal's filter is always there");
    }
    Ok(())
}

fn words(host: &ScratchHost) -> anyhow::Result<()> {
    let image = &Image::ENTRY;
    let of_image = recipe(plan(host, &ROOT, Wish { image, ..PLAIN })?)?.process;
    ensure!(of_image.entrypoint == ["/bin/busybox", "printf", "<%s>\\n"], "{of_image:?}");
    ensure!(of_image.command == ["default"], "{of_image:?}");
    let own =
        recipe(plan(host, &ROOT, Wish { image, options: &["--entrypoint=/bin/ls"], ..PLAIN })?)?.process;
    ensure!(own.entrypoint == ["/bin/ls"] && own.command.is_empty(), "{own:?}");
    Ok(())
}

fn stranger(host: &ScratchHost) -> anyhow::Result<()> {
    for user in [&ROOT, &ADA] {
        for options in [&["--user=1234:1234"][..], &["--user=1234:1234", "--read-only"]] {
            let recipe = recipe(plan(host, user, Wish { options, ..PLAIN })?)?;
            let passwd = String::from_utf8_lossy(file(&recipe, "/etc/passwd")?).into_owned();
            ensure!(passwd.contains(":1234:1234:"), "{passwd}");
        }
        let image = &Image::USERIMG;
        let recipe = recipe(plan(host, user, Wish { image, ..PLAIN })?)?;
        ensure!(recipe.process.env.iter().any(|pair| pair == "HOME=/place"), "{:?}", recipe.process.env);
    }
    Ok(())
}
