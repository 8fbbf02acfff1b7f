//! Which way a launch goes, and the reason.

use crate::Case;
use crate::maker::{PLAIN, PROGRAM, Wish, command, plan, reason, recipe};
use anyhow::{Context, ensure};
use flake_plan::Plan;
use flake_testkit::{ADA, Call, Image, ROOT, ScratchHost, User};

pub(crate) const CASES: &[Case] = &[
    ("root's options that the runner can do", root_runner),
    ("root's options that it cannot", root_agent),
    ("a user's options that the runner can do", user_runner),
    ("a user's options that it cannot", user_agent),
    ("a private network", private),
    ("volumes that are no folders", odd_volumes),
    ("another storage driver", vfs),
    ("what podman refuses", impossible),
    ("several at once", at_once),
    ("in a folder that is gone", nowhere),
];

fn all_straight(host: &ScratchHost, user: &User, all: &[&[&str]]) -> anyhow::Result<()> {
    for options in all {
        let plan = plan(host, user, Wish { options, ..PLAIN })?;
        recipe(plan).with_context(|| format!("{} {options:?}", user.name))?;
    }
    Ok(())
}

fn all_by_agent(host: &ScratchHost, user: &User, all: &[(&[&str], &str)]) -> anyhow::Result<()> {
    for (options, words) in all {
        let plan = plan(host, user, Wish { options, ..PLAIN })?;
        let reason = reason(&plan).with_context(|| format!("{} {options:?}", user.name))?;
        ensure!(reason.contains(words), "{} {options:?}: {reason:?}", user.name);
    }
    Ok(())
}

fn root_runner(host: &ScratchHost) -> anyhow::Result<()> {
    all_straight(
        host,
        &ROOT,
        &[
            &["--cap-add=MKNOD", "--uts=host", "--ipc=host"],
            &["--cgroupns=private", "--pids-limit=-1", "--userns=host"],
            &["--add-host=x:1.2.3.4", "--init-path=/bin/true"],
            &["-v", "named:/v:nocopy", "--stop-signal=9", "--umask=077"],
        ],
    )
}

fn root_agent(host: &ScratchHost) -> anyhow::Result<()> {
    all_by_agent(
        host,
        &ROOT,
        &[
            (&["--privileged"], "--privileged"),
            (&["--memory=64m"], "a limit of resources (memory.limit)"),
            (&["--pids-limit=100"], "pids.limit 100"),
            (&["--cpus=1"], "a limit of resources (cpu."),
            (&["--cap-add=SYS_PTRACE"], "adds CAP_SYS_PTRACE"),
            (&["--uidmap=0:0:1000"], "a user namespace of root's"),
            (&["--device=/dev/fuse:/dev/other"], "the device /dev/other"),
            (&["--device=/dev/fuse:/dev/fuse:r"], "a rule about devices"),
            (&["--device-cgroup-rule=c 10:229 rwm"], "a rule about devices"),
            (&["-v", "/dev/null:/x"], "a device at /x"),
            (&["-v", "/dev:/dev"], "another /dev"),
            (&["-v", "/srv:/v:O"], "overlay at /v"),
            (&["-v", "/v"], "a volume without a name at /v"),
            (&["-v", "/srv:/v:dev"], "devices at /v"),
            (&["-v", "/srv:/v:shared"], "shared"),
            (&["-v", "/srv:/v:slave"], "mounts that come later (slave) at /v"),
            (
                &["--mount=type=bind,src=/srv,dst=/v,bind-propagation=rslave"],
                "mounts that come later (slave) at /v",
            ),
            (&["--rmi"], "--rmi"),
            (&["--unknown-option"], "what podman create said: unknown flag: --unknown-option"),
            (&["--personality=LINUX32"], "linux.personality.domain is not known to the runner"),
            (&["--security-opt=proc-opts=hidepid=2"], "hidepid of /proc"),
            (&["--group-add=keep-groups"], "run.oci.keep_original_groups"),
            (&["--env", "LANG"], "--env LANG"),
        ],
    )
}

fn user_runner(host: &ScratchHost) -> anyhow::Result<()> {
    all_straight(
        host,
        &ADA,
        &[
            // Without root there is no control group that could be limited here, so podman limits nothing.
            &["--cap-add=SYS_PTRACE", "--pids-limit=100"],
            &["--uidmap=0:0:1000", "-v", "named:/v"],
            &["--security-opt=unmask=ALL", "--security-opt=mask=/bin"],
        ],
    )
}

/// Not a folder: podman mounts it for a container.
fn odd_volumes(host: &ScratchHost) -> anyhow::Result<()> {
    for user in [&ROOT, &ADA] {
        let words = ["volume", "create", "--opt=type=tmpfs", "--opt=device=tmpfs", "odd"];
        host.podman(user, words).check()?;
        all_by_agent(host, user, &[(&["-v", "odd:/v"], "the volume odd at /v, which podman mounts")])?;
        host.podman(user, ["volume", "rm", "odd"]).check()?;
    }
    Ok(())
}

/// The folder that the caller was in is gone.
fn nowhere(host: &ScratchHost) -> anyhow::Result<()> {
    for user in [&ROOT, &ADA] {
        let (gone, out) = (user.home().join("gone"), user.home().join("plan-nowhere"));
        let make = command(host, user, PLAIN, &out)?;
        let mut shell = user.command("sh");
        // It is this user's already.
        let words = make.get_args().skip_while(|word| *word != PROGRAM);
        shell.args(["-c", "mkdir $0; cd $0; rmdir $0; exec \"$@\""]).arg(&gone).args(words);
        shell.envs(make.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Call::new(shell).check()?;
        recipe(Plan::read(&out, user.id)?)?;
    }
    Ok(())
}

/// What podman says when nothing can be planned.
fn impossible(host: &ScratchHost) -> anyhow::Result<()> {
    let said = |user, options: &[&str]| -> anyhow::Result<String> {
        let mut make = command(host, user, Wish { options, ..PLAIN }, &user.home().join("none"))?;
        Ok(String::from_utf8(make.output()?.stderr)?)
    };
    let missing = said(&ROOT, &["-v", "/none:/v"])?;
    ensure!(missing.contains("podman create failed"), "{missing:?}");
    let refused = said(&ADA, &["--pid=host"])?;
    ensure!(refused.contains("option --pid=host cannot be used"), "{refused:?}");
    Ok(())
}

fn user_agent(host: &ScratchHost) -> anyhow::Result<()> {
    all_by_agent(
        host,
        &ADA,
        &[
            (&["--privileged"], "--privileged"),
            (&["--uidmap=0:1:1000"], "a user namespace in which the caller is not"),
            (&["-v", "/srv:/v:shared"], "shared"),
            (&["-v", "/v"], "a volume without a name at /v"),
            (&["-v", "./x:/v"], "./x"),
            (&["--group-add=keep-groups"], "run.oci.keep_original_groups"),
            (&["--mount=type=image,src=localhost/box,dst=/i"], "overlay at /i"),
        ],
    )
}

/// Neither sees what the others make.
fn at_once(host: &ScratchHost) -> anyhow::Result<()> {
    let all: Vec<_> = (0..4)
        .map(|number| {
            command(host, &ADA, PLAIN, &ADA.home().join(format!("at-once-{number}")))?.spawn().context("run")
        })
        .collect::<Result<_, _>>()?;
    for (number, mut child) in all.into_iter().enumerate() {
        ensure!(child.wait()?.success(), "number {number}");
        recipe(Plan::read(&ADA.home().join(format!("at-once-{number}")), ADA.id)?)?;
    }
    Ok(())
}

fn private(host: &ScratchHost) -> anyhow::Result<()> {
    for network in ["private", ""] {
        let plan = plan(host, &ROOT, Wish { network, ..PLAIN })?;
        ensure!(reason(&plan)? == "a private network", "{network:?}: {:?}", plan.way);
    }
    // The options of a 3.x file.
    for options in [&["--network=slirp4netns"][..], &["--network=slirp4netns", "--userns=keep-id"]] {
        let wish = Wish { network: "", options, ..PLAIN };
        // A scratch host need not have the device that such a network takes.
        match plan(host, &ADA, wish) {
            Ok(plan) => {
                let said = reason(&plan)?;
                ensure!(said == "a private network" || said.contains("slirp4netns"), "{options:?}: {said}");
            }
            Err(error) => ensure!(format!("{error:#}").contains("slirp4netns"), "{options:?}: {error:#}"),
        }
    }
    Ok(())
}

fn vfs(host: &ScratchHost) -> anyhow::Result<()> {
    let store = "/root/vfs.conf";
    std::fs::write(
        store,
        "[storage]\ndriver = \"vfs\"\nrunroot = \"/run/vfs\"\ngraphroot = \"/root/vfs\"\n",
    )?;
    let mut save = ROOT.command("sh");
    let copy = format!("podman save localhost/box | CONTAINERS_STORAGE_CONF={store} podman load -q");
    host.image(&ROOT, &Image::BOX)?;
    Call::new({
        save.args(["-c", &copy]);
        save
    })
    .check()?;
    let out = ROOT.home().join("plan-vfs");
    let mut make = command(host, &ROOT, PLAIN, &out)?;
    make.env("CONTAINERS_STORAGE_CONF", store);
    Call::new(make).check()?;
    let plan = Plan::read(&out, 0)?;
    ensure!(reason(&plan)?.contains("storage driver vfs"), "{:?}", plan.way);
    Ok(())
}
