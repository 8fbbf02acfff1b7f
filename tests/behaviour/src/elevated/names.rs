//! Names and sockets that are not the caller's to give.

use std::os::unix::net::UnixListener;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, BOB, Image, ROOT};

use super::forge::{LAUNCHER, Rendezvous, handoff, privileged};
use super::{Case, Ground, call, forge, refused};

pub(super) const CASES: &[Case] = &[
    ("a_socket_of_somebody_else", |ground| {
        let rendezvous = Rendezvous::of(ground.host, &BOB)?;
        refused_socket(ground, &rendezvous.path, "not the caller's")
    }),
    ("a_socket_of_root", |ground| {
        let path = ground.directory()?.join("socket");
        let _listener = UnixListener::bind(&path).context("make a socket")?;
        refused_socket(ground, &path, "not the caller's")
    }),
    ("a_socket_that_is_not_there", |ground| {
        refused_socket(ground, Path::new("/tmp/no-such-socket"), "cannot reach the caller")
    }),
    ("a_socket_that_is_a_file", |ground| {
        refused_socket(ground, Path::new("/etc/passwd"), "cannot reach the caller")
    }),
    ("a_socket_with_a_relative_path", |ground| refused_socket(ground, Path::new("socket"), "flake-ctl list")),
    ("a_socket_with_a_very_long_path", |ground| {
        let path = Path::new("/tmp").join("x".repeat(200));
        refused_socket(ground, &path, "cannot reach the caller")
    }),
    ("the_launcher_with_a_name_and_no_sudo", |ground| {
        ground.flake(ATTACKED, &[])?;
        let rendezvous = Rendezvous::of(ground.host, &ADA)?;
        let words = [ATTACKED, &rendezvous.path.to_string_lossy(), "true"];
        refused(&call(&ADA, Path::new(LAUNCHER), &words)?, "for sudo to call")?;
        ground.nothing_ran(ATTACKED)
    }),
    ("a_flake_that_runs_as_its_caller", |ground| {
        let name = "as-caller";
        ground.host.register(&ROOT, (name, &Image::BOX, "/bin/busybox"), &["--network", "host"])?;
        named(ground, name, "needs no sudo")?;
        ground.nothing_ran(name)
    }),
    ("a_name_that_leads_out_of_the_directory", |ground| {
        for name in ["../attacked", "../../../home/ada/.config/flakes/attacked", "..", ".", "/etc/passwd", ""]
        {
            named(ground, name, "cannot be the name of a flake").with_context(|| format!("{name:?}"))?;
        }
        Ok(())
    }),
    ("a_name_that_is_an_option", |ground| named(ground, "-attacked", "cannot be the name of a flake")),
    ("a_name_that_nobody_has_registered", |ground| named(ground, "nobody-has-it", "no flake is registered")),
    ("a_flake_that_only_the_caller_has", own),
];

const ATTACKED: &str = "attacked";

fn refused_socket(ground: &Ground<'_>, path: &Path, why: &str) -> Result<()> {
    ground.flake(ATTACKED, &[])?;
    refused(&privileged(ATTACKED, path, &["true"]).run()?, why)?;
    ground.nothing_ran(ATTACKED)
}

fn named(ground: &Ground<'_>, name: &str, why: &str) -> Result<()> {
    forge::call(ground.host, name, &["true"], &handoff(0), &[])?.refused(why)
}

/// Registrations below the caller's home mean nothing to the privileged launcher.
fn own(ground: &Ground<'_>) -> Result<()> {
    let name = "of-ada";
    ground.host.register(&ADA, (name, &Image::BOX, "/bin/busybox"), &["--network", "host"])?;
    let file = ADA.home().join(".config/flakes/of-ada.yaml");
    let text = std::fs::read_to_string(&file)?;
    let changed = text.replace("  runtime:", "  runtime:\n    runas: root");
    let changed = if changed == text { format!("{text}  runtime:\n    runas: root\n") } else { changed };
    std::fs::write(&file, changed.replace("    runas: caller\n", ""))?;
    named(ground, name, "no flake is registered")?;
    let outcome = call(&ADA, &ADA.home().join("bin").join(name), &["echo", "word"])?;
    refused(&outcome, "only root can register it")?;
    ensure!(ground.made(name)? == 0, "a container of root was made");
    Ok(())
}
