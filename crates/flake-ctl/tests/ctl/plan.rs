//! How a command is launched, as it is told.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Call, Image, ROOT, ScratchHost};

use crate::Case;
use crate::told::{BOX, line, refused, silent, told};

pub(crate) const CASES: &[Case] = &[
    ("a_plan_is_told", told_whole),
    ("a_plan_is_made_anew", renewed),
    ("a_plan_of_the_systems_is_each_users_own", systems),
    ("a_planning_that_fails_is_not_tried_at_each_call", failed),
    ("many_want_a_plan_at_once", many),
    ("an_image_that_lost_its_tag", lost_tag),
];

/// It changes a user's settings, on which all of their plans stand.
pub(crate) const ALONE: &[Case] = &[("a_plan_stands_on_the_store_of_the_settings", store)];

const FILE: &str = "/home/ada/.local/state/flakes/plans/plan-n";

fn told_whole(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    let app = "/home/ada/plan2-n";
    host.flake_ctl(&ADA, BOX.iter().chain(&["--app", app, "--network", "none"])).check()?;
    let file = "/home/ada/.local/state/flakes/plans/plan2-n";
    let text = line(host, &ADA, "plan plan2-n").check()?.out();
    ensure!(text.starts_with(&format!("name: plan2-n\nway: runner\nplan: {file}\nimage: ")), "{text}");
    for said in [
        "namespaces: mount pid ipc uts network user\n",
        "  /proc: proc; nodev,nosuid,noexec\n",
        "  bounding: CHOWN DAC_OVERRIDE ",
        "system call filters:\n",
        "  /home/ada/.config/flakes/plan2-n.yaml\n",
    ] {
        ensure!(text.contains(said), "{said}\n{text}");
    }
    let json = line(host, &ADA, "plan plan2-n --format json").check()?.out();
    let json: serde_json::Value = serde_json::from_str(&json)?;
    ensure!(json["plan"]["uid"] == ADA.id && json["plan"]["words"][0] == "create", "{json:#}");
    ensure!(json["plan"]["way"]["Runner"]["namespaces"]["network"] == true, "{json:#}");
    let yaml = line(host, &ADA, "plan plan2-n --format yaml").check()?.out();
    ensure!(yaml.contains("\nway: runner\n"), "{yaml}");
    silent(line(host, &ADA, "remove --app /home/ada/plan2-n"))?;
    ensure!(!fs::exists(file)?);

    host.flake_ctl(&ADA, BOX.iter().chain(&["--app", app, "--network", "private"])).check()?;
    told(line(host, &ADA, "plan plan2-n"), 0, "name: plan2-n\nway: agent\nreason: a private network\n", "")?;
    silent(line(host, &ADA, "remove --app /home/ada/plan2-n"))?;
    refused(
        line(host, &ADA, "plan plan2-n"),
        "flake-ctl: no flake is registered as plan2-n; see: flake-ctl list\n",
    )
}

fn renewed(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    host.flake_ctl(&ADA, BOX.iter().chain(&["--app", "/home/ada/plan-n"])).check()?;
    let inode = || Ok::<_, anyhow::Error>(fs::metadata(FILE)?.ino());
    let first = fs::metadata(FILE)?;
    ensure!(first.permissions().mode() & 0o7777 == 0o600 && first.uid() == ADA.id);
    ensure!(fs::metadata("/home/ada/.local/state/flakes/plans")?.permissions().mode() & 0o7777 == 0o700);
    line(host, &ADA, "plan plan-n").check()?;
    ensure!(inode()? == first.ino(), "a good plan was made anew");
    silent(line(host, &ADA, "plan --renew --scope user -- plan-n"))?;
    ensure!(inode()? != first.ino());
    // Damaged, stale or gone, it is made again before it is told.
    for change in [
        |file: &str| fs::write(file, "nonsense"),
        |file: &str| fs::remove_file(file),
        |_: &str| fs::write("/home/ada/.config/flakes/plan-n.d/1.yaml", "type: immutable\n"),
    ] {
        change(FILE)?;
        let text = line(host, &ADA, "plan plan-n").check()?.out();
        ensure!(text.contains("way: runner\n") && fs::read(FILE)?.starts_with(b"flake-plan "), "{text}");
    }
    refused(
        line(host, &ADA, "plan --renew --scope system -- plan-n"),
        "flake-ctl: no flake is registered as plan-n; see: flake-ctl list\n",
    )?;
    silent(line(host, &ADA, "remove --app /home/ada/plan-n"))
}

fn systems(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image::BOX)?;
    silent(host.flake_ctl(&ROOT, BOX.iter().chain(&["--app", "/usr/local/bin/both-n"])))?;
    let roots = "/var/lib/flakes/plans/both-n";
    let mode = |path: &str| anyhow::Ok(fs::metadata(path)?.permissions().mode() & 0o7777);
    // What is in root's plans nobody else reads, and their folder nobody else can lock.
    ensure!(
        (mode(roots)?, mode("/var/lib/flakes/plans")?, mode("/var/lib/flakes")?) == (0o600, 0o700, 0o755)
    );
    let list = || line(host, &ADA, "list --format csv").check();
    ensure!(list()?.out().contains("both-n.yaml,,planned at the first call\r\n"));
    let text = line(host, &ADA, "plan both-n").check()?.out();
    let own = "/home/ada/.local/state/flakes/plans/.system/both-n";
    ensure!(text.contains(&format!("way: runner\nplan: {own}\n")) && text.contains(" user\n"), "{text}");
    ensure!(list()?.out().contains("both-n.yaml,runner,\r\n"));
    let text = line(host, &ROOT, "plan both-n").check()?.out();
    ensure!(text.contains(&format!("way: runner\nplan: {roots}\n")), "{text}");
    silent(line(host, &ROOT, "remove --app /usr/local/bin/both-n"))?;
    host.podman(&ADA, ["rmi", "localhost/flake/both-n"]).check()?;

    let words =
        BOX.iter().chain(&["--app", "/usr/local/bin/both-n", "--run-as", "root", "--network", "host"]);
    silent(host.flake_ctl(&ROOT, words))?;
    let told_reason = "name: both-n\nway: agent\nreason: it runs as root, for others through sudo\n";
    told(line(host, &ADA, "plan both-n"), 0, told_reason, "")?;
    let text = line(host, &ROOT, "plan both-n").check()?.out();
    ensure!(text.contains("way: runner\n"), "{text}");
    silent(line(host, &ROOT, "remove --app /usr/local/bin/both-n"))
}

/// The file that says where it is, as long as no variable names another.
fn store(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    let (settings, conf) = ("/home/ada/.config/flakes.yml", "/home/ada/store.conf");
    host.flake_ctl(&ADA, BOX.iter().chain(&["--app", "/home/ada/store-n"])).check()?;
    fs::write(settings, format!("generic:\n  podman_storage_conf: {conf}\n"))?;
    fs::write(conf, "[storage]\ndriver = \"overlay\"\n")?;
    let plan = || anyhow::Ok(line(host, &ADA, "plan store-n").check()?.out());
    let inode = || fs::metadata("/home/ada/.local/state/flakes/plans/store-n").map(|found| found.ino());
    let text = plan()?;
    ensure!(text.contains(&format!("  {conf}\n")), "{text}");
    let first = inode()?;
    plan()?;
    ensure!(inode()? == first, "a good plan was made anew");
    fs::write(conf, "[storage]\ndriver = \"overlay\"\n# moved\n")?;
    plan()?;
    ensure!(inode()? != first, "the plan of another store");
    [settings, conf].into_iter().try_for_each(fs::remove_file)?;
    silent(line(host, &ADA, "remove --app /home/ada/store-n"))
}

/// Each call would take as long as the first.
fn failed(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    // The runtime does not take it.
    let option = ["--app", "/home/ada/failed-n", "--opt=\\--sysctl kernel.msgmax=none"];
    let said = host.flake_ctl(&ADA, BOX.iter().chain(&option)).check()?.err();
    ensure!(said.contains("how failed-n is launched will be seen at its first call"), "{said}");
    let inode = || fs::metadata("/home/ada/.local/state/flakes/plans/failed-n").map(|found| found.ino());
    let first = inode()?;
    for _ in 0..2 {
        let outcome = Call::new(ADA.command("/home/ada/failed-n")).run()?;
        ensure!(outcome.code == Some(125), "{outcome}");
        ensure!(inode()? == first, "planned once more");
    }
    silent(line(host, &ADA, "remove --app /home/ada/failed-n"))
}

/// One of them makes it, the others wait for it.
fn many(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::BOX)?;
    host.flake_ctl(&ADA, BOX.iter().chain(&["--app", "/home/ada/many-n"])).check()?;
    let script = "rm ~/.local/state/flakes/plans/many-n; \
                  for i in 1 2 3 4 5 6 7 8; do flake-ctl plan --renew -- many-n & done; wait";
    let mut command = ADA.command("/bin/bash");
    command.args(["-c", script]);
    silent(Call::new(command))?;
    silent(line(host, &ADA, "remove --app /home/ada/many-n"))
}

/// On both ways, and with the image gone altogether.
fn lost_tag(host: &ScratchHost) -> Result<()> {
    let local = host.image(&ROOT, &Image { name: "lost-n", files: &[("/v", "one")], ..Image::BOX })?;
    for network in ["host", "private"] {
        let app = "/usr/local/bin/lost-n";
        let words = ["register", "--container", &local, "--target", "/bin/busybox", "--app", app];
        silent(host.flake_ctl(&ROOT, words.into_iter().chain(["--network", network])))?;
        let tag = "localhost/flake/lost-n";
        host.podman(&ROOT, ["untag", tag, tag]).check()?;
        let call = || {
            let mut command = ROOT.command(app);
            command.args(["cat", "/v"]);
            Call::new(command)
        };
        if network == "private" {
            let outcome = call().run()?;
            ensure!(outcome.code == Some(125), "{outcome}");
            ensure!(outcome.err().ends_with("try: flake-ctl plan --renew lost-n\n"), "{outcome}");
        } else {
            told(call(), 0, "one", "")?;
        }
        silent(line(host, &ROOT, "plan --renew lost-n"))?;
        told(call(), 0, "one", "")?;
        host.podman(&ROOT, ["image", "exists", tag]).check()?;
        silent(line(host, &ROOT, "remove --app /usr/local/bin/lost-n"))?;
    }
    let app = "/usr/local/bin/lost-n";
    let words = ["register", "--container", &local, "--target", "/bin/busybox", "--app", app];
    silent(host.flake_ctl(&ROOT, words))?;
    host.podman(&ROOT, ["rmi", "--force", &local, "localhost/flake/lost-n"]).check()?;
    refused(
        line(host, &ROOT, "plan --renew lost-n"),
        "flake-ctl: there is no image localhost/lost-n here\nhint: flake-ctl podman pull --uri localhost/lost-n\n",
    )?;
    silent(line(host, &ROOT, "remove --app /usr/local/bin/lost-n"))
}
