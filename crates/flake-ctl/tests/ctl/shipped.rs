//! The registration that an image brings along: shown, taken, bounded.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, Image, ROOT, ScratchHost, User};

use crate::Case;
use crate::told::{absent, line, refused, silent, told};

pub(crate) const CASES: &[Case] = &[
    ("info_shows_the_file", info),
    ("info_is_harmless", harmless),
    ("the_image_gives_what_is_left_out", left_out),
    ("the_command_line_comes_first", command_line),
    ("without_app_the_image_names_the_command", named),
    ("a_broken_one_is_refused", broken),
    ("links_and_large_files_are_refused", hostile),
    ("a_store_without_layers_is_read_as_well", vfs),
];

const GIVEN: &str = "\
type: mutable
container:
  name: somewhere/else
  target_app_path: /bin/sh
  host_app_path: /usr/bin/sudo/given
  runtime:
    resume: true
    workdir: /etc
    network: none
    podman: [--privileged]
    runas: root
";
const ODD: &str = "\u{1b}[31mred\u{7}\n\u{202e}tfel\n";

fn info(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::SHIPPED)?;
    let text = Image::SHIPPED.files[0].1;
    told(line(host, &ADA, "podman register --container localhost/shipped --info"), 0, text, "")?;
    host.image(&ADA, &Image::BOX)?;
    refused(
        line(host, &ADA, "podman register --container localhost/box --info"),
        "flake-ctl: image localhost/box brings no /box.yaml\n",
    )?;
    refused(
        line(host, &ADA, "register --container localhost/none-e --info"),
        "flake-ctl: there is no image localhost/none-e here\nhint: flake-ctl podman pull --uri localhost/none-e\n",
    )
}

fn harmless(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image { name: "odd", files: &[("/odd.yaml", ODD)], ..Image::BOX })?;
    told(
        line(host, &ADA, "register --container localhost/odd --info"),
        0,
        "\u{fffd}[31mred\u{fffd}\n\u{fffd}tfel\n",
        "",
    )
}

const NOTES: &str = "\
note: what image localhost/given says of these does not count: container.runtime.podman, container.runtime.runas
note: /home/ada is not on your PATH
";

fn left_out(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image { name: "given", files: &[("/given.yaml", GIVEN)], ..Image::BOX })?;
    told(line(host, &ADA, "register --container localhost/given --app /home/ada/given-e"), 0, "", NOTES)?;
    crate::told::holds(
        "/home/ada/.config/flakes/given-e.yaml",
        "type: mutable\n\
         container:\n  name: localhost/given\n  target_app_path: /bin/sh\n  host_app_path: /home/ada/given-e\n  \
         runtime:\n    runas: caller\n    resume: true\n    network: none\n    workdir: /etc\n",
    )?;
    silent(line(host, &ADA, "remove --app /home/ada/given-e"))
}

fn command_line(host: &ScratchHost) -> Result<()> {
    host.image(&ROOT, &Image { name: "given", files: &[("/given.yaml", GIVEN)], ..Image::BOX })?;
    let words = "register --container localhost/given --app /usr/local/bin/given-f";
    let more = "--target /bin/busybox --attach --workdir image --network host --force";
    let outcome = line(host, &ROOT, &format!("{words} {more}")).check()?;
    ensure!(outcome.err().starts_with("note: what image localhost/given says"), "{outcome}");
    let text = fs::read_to_string("/usr/share/flakes/given-f.yaml")?;
    ensure!(
        text.ends_with("    runas: caller\n    attach: true\n    network: host\n    workdir: image\n"),
        "{text}"
    );
    let outcome = line(host, &ROOT, &format!("{words} --target /bin/busybox --no-shipped --force")).run()?;
    ensure!(outcome.success() && outcome.err().is_empty(), "{outcome}");
    let text = fs::read_to_string("/usr/share/flakes/given-f.yaml")?;
    ensure!(text.starts_with("type: immutable\n") && !text.contains("workdir"), "{text}");
    silent(line(host, &ROOT, "remove --app /usr/local/bin/given-f"))
}

fn named(host: &ScratchHost) -> Result<()> {
    host.image(&ADA, &Image::SHIPPED)?;
    host.image(&ADA, &Image::BOX)?;
    refused(
        line(host, &ADA, "register --container localhost/shipped"),
        "flake-ctl: image localhost/shipped proposes /home/ada/.local/bin/shipped\n\
         hint: --yes takes it, --app names another\n",
    )?;
    absent("/home/ada/.config/flakes/shipped.yaml")?;
    told(
        line(host, &ADA, "register --container localhost/shipped --yes"),
        0,
        "/home/ada/.local/bin/shipped\n",
        "note: /home/ada/.local/bin is not on your PATH\n",
    )?;
    let mut call = ADA.command("/home/ada/.local/bin/shipped");
    call.args(["echo", "it runs"]);
    told(Call::new(call), 0, "it runs\n", "")?;
    silent(line(host, &ADA, "remove --app /home/ada/.local/bin/shipped"))?;
    host.image(&ROOT, &Image::SHIPPED)?;
    told(
        line(host, &ROOT, "register --container localhost/shipped --yes"),
        0,
        "/usr/local/bin/shipped\n",
        "",
    )?;
    silent(line(host, &ROOT, "remove --app /usr/local/bin/shipped"))?;
    refused(
        line(host, &ADA, "register --container localhost/box --yes"),
        "flake-ctl: image localhost/box brings no /box.yaml\nhint: name the command: --app PATH\n",
    )
}

fn broken(host: &ScratchHost) -> Result<()> {
    let files = &[("/broken.yaml", "container: {target: /bin/sh}\n")];
    host.image(&ADA, &Image { name: "broken", files, ..Image::BOX })?;
    let outcome =
        line(host, &ADA, "register --container localhost/broken --app /home/ada/broken-e --target /bin/sh")
            .run()?;
    let said = outcome.err();
    let begin = "flake-ctl: registration in localhost/broken:1:13: unknown key `target` in `container`\n";
    ensure!(outcome.code == Some(1) && said.starts_with(begin), "{outcome}");
    ensure!(said.ends_with("hint: --no-shipped registers without it\n"), "{outcome}");
    absent("/home/ada/broken-e")
}

/// Makes an image whose root holds what `script` puts there, in the store of `user`.
fn import(user: &User, name: &str, script: &str) -> Result<()> {
    let mut command = user.command("/bin/bash");
    let whole = format!(
        "set -e; d=$(mktemp -d); cd $d; mkdir bin; cp /bin/busybox bin; {script}; \
         tar c . | podman import --quiet - localhost/{name}; rm -r $d"
    );
    command.args(["-c", &whole]);
    Call::new(command).check().with_context(|| format!("make {name}")).map(drop)
}

fn hostile(host: &ScratchHost) -> Result<()> {
    import(&ADA, "link", "ln -s /etc/passwd link.yaml")?;
    import(&ADA, "fifo", "mkfifo fifo.yaml")?;
    import(&ADA, "large", "head -c 100000 /dev/zero | tr '\\0' '#' > large.yaml")?;
    for (name, why) in [
        ("link", "/link.yaml of image localhost/link is not a plain file"),
        ("fifo", "/fifo.yaml of image localhost/fifo is not a plain file"),
        ("large", "/large.yaml of image localhost/large is larger than 64 KiB"),
    ] {
        let words = format!("register --container localhost/{name}");
        refused(line(host, &ADA, &format!("{words} --info")), &format!("flake-ctl: {why}\n"))?;
        refused(
            line(host, &ADA, &format!("{words} --app /home/ada/{name}-e")),
            &format!("flake-ctl: {why}\nhint: --no-shipped registers without it\n"),
        )?;
        absent(format!("/home/ada/{name}-e"))?;
        line(host, &ADA, &format!("{words} --app /home/ada/{name}-e --target /bin/busybox --no-shipped"))
            .check()?;
        silent(line(host, &ADA, &format!("remove --app /home/ada/{name}-e")))?;
    }
    Ok(())
}

/// The driver of last resort keeps no layers, so the file is copied out of a container.
fn vfs(host: &ScratchHost) -> Result<()> {
    let folder = Path::new("/tmp/vfs-e");
    fs::create_dir(folder)?;
    let conf = folder.join("storage.conf");
    fs::write(
        &conf,
        "[storage]\ndriver = \"vfs\"\ngraphroot = \"/tmp/vfs-e/store\"\nrunroot = \"/tmp/vfs-e/run\"\n",
    )?;
    host.image(&ROOT, &Image::SHIPPED)?;
    let archive = "/tmp/vfs-e/shipped.tar";
    host.podman(&ROOT, ["save", "--quiet", "--output", archive, "localhost/shipped"]).check()?;
    let with_store = |program: &str, words: &str| {
        let mut command = ROOT.command(program);
        command.args(words.split(' ')).env("CONTAINERS_STORAGE_CONF", &conf);
        Call::new(command)
    };
    with_store("/usr/bin/podman", &format!("load --quiet --input {archive}")).check()?;
    let text = Image::SHIPPED.files[0].1;
    told(with_store("/usr/bin/flake-ctl", "register --container localhost/shipped --info"), 0, text, "")?;
    let left = with_store("/usr/bin/podman", "ps --all --quiet").check()?;
    ensure!(left.stdout.is_empty(), "{left}");
    Ok(())
}
