//! A hundred first calls at once: nobody has planned yet.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::crowd::{at_once, own_words, script};
use super::ground::{Case, Ground};
use super::remains::Host;

/// Alone, since all of podman is busy.
pub(super) const ALONE: &[Case] = &[("a_hundred_first_calls_at_once", hundred)];

/// A planning takes about a second, and only one is done at a time.
const LONG: Duration = Duration::from_secs(200);

fn hundred(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let host = Host::look()?;
    let containers = ground.host.containers(ground.way.caller)?;
    fs::remove_file(&flake.plan)?;
    let is_done = AtomicBool::new(false);
    let (outcomes, plans) = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut plans = BTreeSet::new();
            while !is_done.load(Ordering::Relaxed) {
                plans.extend(flake.written().ok());
                thread::sleep(Duration::from_millis(1));
            }
            plans
        });
        let outcomes = at_once(&flake, script, |call| call.within(LONG));
        is_done.store(true, Ordering::Relaxed);
        (outcomes, watcher.join())
    });
    own_words(&outcomes?)?;
    let plans = plans.map_err(|_| anyhow::anyhow!("panic"))?;
    ensure!(plans.len() == 1, "{} plans were made", plans.len());
    ensure!(flake.goes_straight()?);
    flake.keeps_its_plan("afterwards")?;
    host.has_nothing_more()?;
    let left = ground.host.containers(ground.way.caller)?;
    ensure!(left == containers, "{left:?}");
    Ok(())
}
