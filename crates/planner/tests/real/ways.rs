//! Which way a launch goes, and the reason.

use crate::Case;
use crate::maker::{PLAIN, Wish, plan, reason, recipe};
use flake_testkit::{ADA, Image, ROOT, ScratchHost};

pub(crate) const CASES: &[Case] = &[("root's plain flake", root_plain), ("a user's plain flake", user_plain)];
pub(crate) const ALONE: &[Case] = &[("no container is left", nothing_left)];

fn root_plain(host: &ScratchHost) -> anyhow::Result<()> {
    let plan = plan(host, &ROOT, PLAIN)?;
    println!("{:?}", plan.image_id);
    let recipe = recipe(plan)?;
    println!("{:#?}", Wish { ..PLAIN });
    println!("{recipe:?}");
    Ok(())
}

fn user_plain(host: &ScratchHost) -> anyhow::Result<()> {
    let recipe = recipe(plan(host, &ADA, Wish { as_caller: true, image: &Image::ENTRY, ..PLAIN })?)?;
    println!("{recipe:?}");
    let _ = reason;
    Ok(())
}

fn nothing_left(host: &ScratchHost) -> anyhow::Result<()> {
    for user in [&ROOT, &ADA] {
        anyhow::ensure!(host.containers(user)?.is_empty(), "{} has containers", user.name);
    }
    Ok(())
}
