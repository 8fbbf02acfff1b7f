//! The image under a plan.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, Image};

use super::ground::{Case, Flake, Ground, own_image, refused, works};

pub(super) const CASES: &[Case] = &[
    ("an_image_that_was_removed", removed),
    ("an_image_of_another_name", retagged),
    ("layers_that_are_gone", layers),
];

fn removed(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake_with_image()?;
    let caller = ground.way.caller;
    let remove = || -> Result<()> {
        let id = id(&flake, &tag(&flake))?;
        ground.host.podman(caller, ["rmi", "--force", &id]).check()?;
        Ok(())
    };
    if is_shared(&flake) {
        // Everybody can have it again.
        flake.is_planned_anew("removed", remove)?;
        ensure!(flake.prints("cat /which")?.starts_with("one "));
        return Ok(());
    }
    remove()?;
    for _ in 0..2 {
        refused(&flake.echo()?, &flake.image)?;
    }
    // What it proposes.
    let renewed = ground.host.flake_ctl(caller, ["plan", "--renew", &flake.name]).run()?;
    ensure!(!renewed.success() && renewed.err().contains(&flake.image), "{renewed}");
    ensure!(renewed.err().contains("hint: flake-ctl podman pull --uri"), "{renewed}");
    // Another one of the same name.
    import(&flake, "two")?;
    flake.is_planned_anew("imported again", || Ok(()))?;
    ensure!(flake.prints("cat /which")?.starts_with("two "));
    Ok(())
}

/// What a name leads to meanwhile is nothing to the flake.
fn retagged(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake_with_image()?;
    import(&flake, "two")?;
    flake.keeps_its_plan("another image has the name")?;
    ensure!(flake.prints("cat /which")?.starts_with("one "));
    flake.is_planned_anew("planned by the way", || flake.make_stale())?;
    ensure!(flake.prints("cat /which")?.starts_with("one "));
    flake.is_planned_anew_if_asked(|| {
        ground.host.flake_ctl(ground.way.owner, ["update", &flake.name]).check()?;
        Ok(())
    })?;
    ensure!(flake.prints("cat /which")?.starts_with("two "));
    ground.host.flake_ctl(ground.way.owner, ["update", &flake.name, "--rollback"]).check()?;
    ensure!(flake.prints("cat /which")?.starts_with("one "));
    Ok(())
}

impl Flake<'_> {
    /// After what a verb did the next call works straight; whether the verb has planned already is its own affair.
    fn is_planned_anew_if_asked(&self, act: impl FnOnce() -> Result<()>) -> Result<()> {
        let before = self.written()?;
        act()?;
        works(&self.echo()?)?;
        ensure!(self.written()? != before && self.goes_straight()?);
        self.keeps_its_plan("a second time")
    }
}

/// Podman still believes that it has the image.
fn layers(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake_with_image()?;
    let host = ground.host;
    let caller = ground.way.caller;
    let upper = |tag: &str| -> Result<PathBuf> {
        let format = "{{.GraphDriver.Data.UpperDir}}";
        let found = host.podman(caller, ["image", "inspect", "--format", format, tag]).check()?;
        Ok(found.out().trim().into())
    };
    let layer = upper(&tag(&flake))?;
    ensure!(layer.ends_with("diff") && layer.is_dir(), "{}", layer.display());
    // The content first, then all of it.
    for gone in [layer.as_path(), layer.parent().context("no store")?] {
        fs::remove_dir_all(gone)?;
        for _ in 0..2 {
            refused(&flake.echo()?, &flake.image).with_context(|| gone.display().to_string())?;
        }
    }
    // What it proposes: out with what podman believes, and in with the image.
    let said = flake.echo()?.err();
    let (forget, _) =
        said.split_once("try: ").and_then(|(_, try_)| try_.split_once("; ")).context(said.clone())?;
    let mut shell = caller.command("/bin/sh");
    shell.args(["-ec", forget]);
    Call::new(shell).check()?;
    if !is_shared(&flake) {
        import(&flake, "two")?;
    }
    works(&flake.echo()?).context("after the image came again")?;
    ensure!(flake.goes_straight()?);
    flake.keeps_its_plan("after the image came again")
}

/// The image is the system's, the store another's.
fn is_shared(flake: &Flake<'_>) -> bool {
    flake.way.owner.id != flake.way.caller.id
}

/// The name that the flake has for its image.
fn tag(flake: &Flake<'_>) -> String {
    let own = if flake.way.owner.id == 0 { "" } else { ":own" };
    format!("localhost/flake/{}{own}", flake.name)
}

fn id(flake: &Flake<'_>, reference: &str) -> Result<String> {
    let words = ["image", "inspect", "--format", "{{.Id}}", reference];
    Ok(flake.host.podman(flake.way.caller, words).check()?.out().trim().to_owned())
}

/// Gives the owner's name of the image to another one.
fn import(flake: &Flake<'_>, content: &str) -> Result<()> {
    let other: Image = own_image(&format!("{}-{content}", flake.name), content);
    let reference = flake.host.image(flake.way.owner, &other)?;
    flake.host.podman(flake.way.owner, ["tag", &reference, &flake.image]).check()?;
    Ok(())
}
