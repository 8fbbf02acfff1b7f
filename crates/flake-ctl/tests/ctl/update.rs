//! A newer image, and the one before.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, Conversation, Image, ROOT, ScratchHost, User, processes, until};

use crate::Case;
use crate::registry;
use crate::told::{line, refused, silent, told};

pub(crate) const CASES: &[Case] = &[
    ("an_image_of_a_registry", from_a_registry),
    ("an_image_of_this_host", of_this_host),
    ("a_registry_that_is_not_there", unreachable),
    ("a_system_flakes_image_reaches_its_users", system),
    ("an_instance_keeps_its_image", instance),
    ("a_flake_file_that_names_another_image", edited),
    ("what_cannot_be_updated", refusals),
];

/// An image of which `/v` says which it is.
const fn image(name: &'static str, files: &'static [(&'static str, &'static str)]) -> Image {
    Image { name, files, ..Image::BOX }
}

const ONE: &[(&str, &str)] = &[("/v", "one")];
const TWO: &[(&str, &str)] = &[("/v", "two")];
const THREE: &[(&str, &str)] = &[("/v", "three")];

/// What the command of a flake says of its image.
fn version(user: &User, app: &str) -> Result<String> {
    let mut command = user.command(app);
    command.args(["cat", "/v"]);
    Ok(Call::new(command).check()?.out())
}

/// Names, ids and digests in a store, and what is noted of a flake.
fn everything(host: &ScratchHost, user: &User, state: &str, name: &str) -> Result<String> {
    let format = "{{.Repository}} {{.Tag}} {{.ID}} {{.Digest}}";
    let images = host.podman(user, ["images", "--all", "--no-trunc", "--format", format]).check()?.out();
    // Other trials work in the same store.
    let word = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let images: Vec<&str> = images.lines().filter(|image| image.contains(word)).collect();
    let pin = fs::read_to_string(format!("{state}/pins/{name}"))?;
    let plan = fs::metadata(format!("{state}/plans/{name}"))?;
    Ok(format!("{images:#?}\n{pin}{} {}", plan.ino(), plan.mtime_nsec()))
}

/// The words of the last line of a table.
fn cells(table: &str) -> Vec<String> {
    table.lines().last().unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

fn id(host: &ScratchHost, user: &User, image: &str) -> Result<String> {
    let outcome = host.podman(user, ["image", "inspect", "--format", "{{.Id}}", image]).check()?;
    Ok(outcome.out().trim().to_owned())
}

const STATE: &str = "/home/ada/.local/state/flakes";

fn from_a_registry(host: &ScratchHost) -> Result<()> {
    let reference = format!("{}/pull-l", registry::AT);
    registry::put(host, "pull-l", &image("pull-l1", ONE))?;
    host.podman(&ADA, ["pull", "--quiet", &reference]).check()?;
    let app = "/home/ada/bin/pull-l";
    host.flake_ctl(&ADA, ["register", "--container", &reference, "--target", "/bin/busybox", "--app", app])
        .check()?;
    let update = |words: &str| line(host, &ADA, &format!("update pull-l{words}")).check();
    let same = update(" --dry-run")?.out();
    ensure!(same.starts_with("NAME    IMAGE                  BEFORE "), "{same}");
    ensure!(cells(&same)[3] == "unchanged" && cells(&same)[2].starts_with("sha256:"), "{same}");
    ensure!(update("")?.out() == same, "{same}");

    registry::put(host, "pull-l", &image("pull-l2", TWO))?;
    let before = everything(host, &ADA, STATE, "pull-l")?;
    let seen = update(" --dry-run")?;
    ensure!(everything(host, &ADA, STATE, "pull-l")? == before && version(&ADA, app)? == "one", "{before}");
    let cells_seen = cells(&seen.out());
    ensure!(cells_seen[3].starts_with("sha256:") && cells_seen[2] != cells_seen[3], "{seen}");
    ensure!(seen.stderr.is_empty(), "{seen}");

    let first = id(host, &ADA, &reference)?;
    ensure!(update("")?.out() == seen.out(), "{seen}");
    ensure!(version(&ADA, app)? == "two");
    let (now, kept) = ("localhost/flake/pull-l:own", "localhost/flake/pull-l:own-previous");
    let second = id(host, &ADA, now)?;
    ensure!(second == id(host, &ADA, &reference)? && first == id(host, &ADA, kept)?);
    ensure!(cells(&update("")?.out())[3] == "unchanged");

    let json: serde_json::Value =
        serde_json::from_slice(&update(" --rollback --dry-run --format json")?.stdout)?;
    let row = &json[0];
    ensure!(row["before"]["id"] == second.as_str() && row["after"]["id"] == first.as_str(), "{json}");
    ensure!(row["changed"] == true && row["image"] == reference.as_str(), "{json}");
    for said in ["one", "two", "one"] {
        update(" --rollback")?;
        ensure!(version(&ADA, app)? == said, "{said}");
    }
    // The newest is what it came from, until there is a newer one.
    update("")?;
    ensure!(version(&ADA, app)? == "two");
    registry::put(host, "pull-l", &image("pull-l3", THREE))?;
    update("")?;
    ensure!(version(&ADA, app)? == "three" && id(host, &ADA, kept)? == second);
    ensure!(!host.podman(&ADA, ["image", "exists", &first]).run()?.success(), "only the flake had it");
    silent(line(host, &ADA, "remove --app /home/ada/bin/pull-l"))?;
    ensure!(!host.podman(&ADA, ["image", "exists", &second]).run()?.success(), "only the flake had it");
    host.podman(&ADA, ["rmi", &reference]).check()?;
    Ok(())
}

fn of_this_host(host: &ScratchHost) -> Result<()> {
    let app = "/home/ada/bin/local-l";
    host.image(&ADA, &image("local-l", ONE))?;
    host.image(&ADA, &image("local-l2", TWO))?;
    line(host, &ADA, &format!("register --container local-l --target /bin/busybox --app {app}")).check()?;
    let list = || Ok::<_, anyhow::Error>(line(host, &ADA, "list --user --format csv").check()?.out());
    ensure!(list()?.contains("local-l.yaml,runner,"), "{}", list()?);
    host.podman(&ADA, ["tag", "localhost/local-l2", "localhost/local-l"]).check()?;
    ensure!(version(&ADA, app)? == "one", "an image's name changed what a flake runs");
    let seen = line(host, &ADA, "update local-l --dry-run").check()?.out();
    ensure!(version(&ADA, app)? == "one" && line(host, &ADA, "update local-l").check()?.out() == seen);
    ensure!(version(&ADA, app)? == "two" && list()?.contains("local-l.yaml,runner,"));
    // The image goes by its own names, the flake keeps it.
    host.podman(&ADA, ["rmi", "localhost/local-l", "localhost/local-l2"]).check()?;
    ensure!(version(&ADA, app)? == "two");
    refused(
        line(host, &ADA, "update local-l"),
        "flake-ctl: there is no image local-l here\nhint: flake-ctl podman pull --uri local-l\n",
    )?;
    silent(line(host, &ADA, "remove --app /home/ada/bin/local-l"))
}

fn unreachable(host: &ScratchHost) -> Result<()> {
    let app = "/home/ada/bin/gone-l";
    let reference = "localhost:1/gone-l";
    let local = host.image(&ADA, &image("gone-l", ONE))?;
    host.podman(&ADA, ["tag", &local, reference]).check()?;
    line(host, &ADA, &format!("register --container {reference} --target /bin/busybox --app {app}"))
        .check()?;
    let before = everything(host, &ADA, STATE, "gone-l")?;
    for words in ["update gone-l", "update gone-l --dry-run"] {
        let outcome = line(host, &ADA, words).run()?;
        let said = outcome.err();
        ensure!(outcome.code == Some(1) && outcome.stdout.is_empty(), "{outcome}");
        ensure!(said.starts_with("flake-ctl: ") && said.lines().count() == 1, "{outcome}");
        ensure!(said.contains(reference) && said.contains("connection refused"), "{outcome}");
        ensure!(everything(host, &ADA, STATE, "gone-l")? == before, "{words}");
    }
    ensure!(version(&ADA, app)? == "one");
    // Without skopeo it says what to install.
    let mut command = ADA.command("/usr/bin/flake-ctl");
    fs::create_dir_all("/tmp/bare-l")?;
    std::os::unix::fs::symlink("/usr/bin/podman", "/tmp/bare-l/podman").or_else(|error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
    })?;
    command.args(["update", "gone-l", "--dry-run"]).env("PATH", "/tmp/bare-l");
    refused(Call::new(command), "flake-ctl: skopeo is not installed; try: apt-get install skopeo\n")?;
    silent(line(host, &ADA, "remove --app /home/ada/bin/gone-l"))
}

fn system(host: &ScratchHost) -> Result<()> {
    let app = "/usr/local/bin/sys-l";
    host.image(&ROOT, &image("sys-l", ONE))?;
    host.image(&ROOT, &image("sys-l2", TWO))?;
    silent(line(
        host,
        &ROOT,
        &format!("register --container localhost/sys-l --target /bin/busybox --app {app}"),
    ))?;
    ensure!(version(&ADA, app)? == "one" && version(&ROOT, app)? == "one");
    refused(
        line(host, &ADA, "update sys-l"),
        "flake-ctl: sys-l is the system's, its image too\nhint: sudo flake-ctl update sys-l\n",
    )?;
    let archive = || Ok::<_, anyhow::Error>(fs::metadata("/usr/share/flakes/images/sys-l.oci.tar")?.ino());
    let first = archive()?;
    host.podman(&ROOT, ["tag", "localhost/sys-l2", "localhost/sys-l"]).check()?;
    line(host, &ROOT, "update sys-l").check()?;
    ensure!(archive()? != first, "the archive is the old one");
    ensure!(version(&ADA, app)? == "two" && version(&ROOT, app)? == "two");
    line(host, &ROOT, "update sys-l --rollback").check()?;
    ensure!(version(&ADA, app)? == "one" && version(&ROOT, app)? == "one");
    silent(line(host, &ROOT, "remove --app /usr/local/bin/sys-l"))?;
    host.podman(&ADA, ["rmi", "localhost/flake/sys-l"]).check()?;
    Ok(())
}

/// With a private network it is one of podman's.
fn instance(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &image("live-l", ONE))?;
    host.image(&ROOT, &image("live-l2", TWO))?;
    let words = "register --container localhost/live-l --target /bin/busybox --app /usr/local/bin/live-l \
                 --network private";
    silent(line(host, &ROOT, words))?;
    let mark = host.mark();
    let mut call = ROOT.command("/usr/local/bin/live-l");
    call.args(["sh", "-c", &format!("sleep {mark} & read line; cat /v; kill $!")]);
    let mut running = Conversation::new(Call::new(call).spawn()?);
    let shown = || {
        let shown = line(host, &ROOT, "show --format csv").run().ok()?.out();
        shown.lines().find(|line| line.starts_with("live-l,")).map(str::to_owned)
    };
    let before = until("the instance", shown, String::new)?;
    host.podman(&ROOT, ["tag", "localhost/live-l2", "localhost/live-l"]).check()?;
    line(host, &ROOT, "update live-l").check()?;
    ensure!(shown().as_ref() == Some(&before), "{before}\n{:?}", shown());
    ensure!(version(&ROOT, "/usr/local/bin/live-l")? == "two");
    running.say("go\n")?;
    let ended = running.end()?;
    ensure!(ended.out() == "one", "{ended}");
    processes::until_gone(&mark)?;
    silent(line(host, &ROOT, "remove --app /usr/local/bin/live-l"))
}

/// What was pinned was another image's; the new one is pinned at the first call.
fn edited(host: &ScratchHost) -> Result<()> {
    let app = "/home/ada/bin/edit-l";
    host.image(&ADA, &image("edit-l", ONE))?;
    host.image(&ADA, &image("edit-l2", TWO))?;
    line(host, &ADA, &format!("register --container localhost/edit-l --target /bin/busybox --app {app}"))
        .check()?;
    ensure!(version(&ADA, app)? == "one");
    let file = "/home/ada/.config/flakes/edit-l.yaml";
    let text = fs::read_to_string(file).context(file)?;
    fs::write(file, text.replace("localhost/edit-l\n", "localhost/edit-l2\n"))?;
    ensure!(version(&ADA, app)? == "two");
    ensure!(id(host, &ADA, "localhost/flake/edit-l:own")? == id(host, &ADA, "localhost/edit-l2")?);
    refused(
        line(host, &ADA, "update edit-l --rollback"),
        "flake-ctl: edit-l has no image before this one\nhint: for the newest image: flake-ctl update edit-l\n",
    )?;
    silent(line(host, &ADA, "remove --app /home/ada/bin/edit-l"))
}

fn refusals(host: &ScratchHost) -> Result<()> {
    let app = "/home/ada/bin/parts-l";
    host.image(&ADA, &Image::BOX)?;
    let words =
        format!("register --container localhost/box --base localhost/box --target /bin/busybox --app {app}");
    line(host, &ADA, &words).check()?;
    refused(
        line(host, &ADA, "update parts-l"),
        "flake-ctl: parts-l is not made of one container image, which alone can be taken anew\n",
    )?;
    silent(line(host, &ADA, &format!("remove --app {app}")))?;
    refused(
        line(host, &ADA, "update none-l"),
        "flake-ctl: no flake is registered as none-l; see: flake-ctl list\n",
    )?;
    let outcome = line(host, &ADA, "update").run()?;
    ensure!(outcome.code == Some(2), "{outcome}");
    told(line(host, &ADA, "update x --all"), 2, "", &line(host, &ADA, "update x --all").run()?.err())
}
