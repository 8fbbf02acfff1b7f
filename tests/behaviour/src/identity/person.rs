//! Who the app is.

use anyhow::{Result, ensure};
use flake_testkit::Call;

use super::Case;
use super::apps::Apps;

pub(super) const CASES: &[Case] = &[
    ("whoami", |apps| person(apps, &["whoami"])),
    ("id", |apps| person(apps, &["id"])),
    ("id_in_numbers", |apps| person(apps, &["sh", "-c", "id -u; id -g; id -G"])),
    ("id_in_names", |apps| person(apps, &["sh", "-c", "id -un; id -gn"])),
    ("id_with_an_image_that_names_a_user", image_user),
    ("home_variable", |apps| person(apps, &["sh", "-c", "echo $HOME; echo ~"])),
    ("user_variables", |apps| person(apps, &["sh", "-c", "echo $USER $LOGNAME"])),
    ("home_in_passwd", |apps| person(apps, &["sh", "-c", "eval echo ~$(whoami)"])),
    ("zone_of_the_host", zone),
    ("zone_of_the_caller", zone_variable),
    ("groups", |apps| person(apps, &["grep", "Groups", "/proc/self/status"])),
    ("cannot_become_root", not_root),
];

fn person(apps: &Apps<'_>, words: &[&str]) -> Result<()> {
    let said = apps.same_here(&apps.directory()?, words)?;
    ensure!(!said.is_empty(), "nothing was said");
    Ok(())
}

fn image_user(apps: &Apps<'_>) -> Result<()> {
    let dir = apps.directory()?;
    let words = ["sh", "-c", "id; whoami; echo $HOME"];
    let (expected, found) = (apps.control(&dir, &words)?, apps.other_user(&dir, &words)?);
    ensure!(found == expected, "the host command gave {expected}\nthis gave {found}");
    Ok(())
}

fn zone(apps: &Apps<'_>) -> Result<()> {
    let said = apps.same_here(&apps.directory()?, &["date", "-d", "@0", "+%z %H:%M"])?;
    ensure!(said == "+0530 05:30\n", "{said}");
    Ok(())
}

/// `TZ` is one of the ways a caller has a time zone.
fn zone_variable(apps: &Apps<'_>) -> Result<()> {
    let dir = apps.directory()?;
    let mut command = apps.user.command(apps.here_path());
    command.env("TZ", "XYZ-3").args(["date", "-d", "@0", "+%Z %H"]).current_dir(dir);
    let outcome = Call::new(command).run()?;
    ensure!(outcome.out() == "XYZ 03\n", "{outcome}");
    Ok(())
}

/// An app that is a normal user has no capabilities, as on the host.
fn not_root(apps: &Apps<'_>) -> Result<()> {
    let outcome = apps.here(&apps.directory()?, &["sh", "-c", "id -u; grep CapEff /proc/self/status"])?;
    let expected = format!("{}\nCapEff:\t0000000000000000\n", apps.user.id);
    ensure!(apps.user.id == 0 || outcome.out() == expected, "{outcome}");
    Ok(())
}
