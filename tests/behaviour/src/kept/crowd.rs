//! A hundred first calls at once.

use std::thread;

use anyhow::{Result, ensure};
use flake_testkit::Outcome;

use super::ground::{Case, Flake, Ground};

pub(super) const CASES: &[Case] = &[
    ("a_hundred_first_calls", |ground| hundred(ground, |_| Ok(()))),
    ("a_hundred_calls_start_it", |ground| {
        hundred(ground, |flake| {
            flake.begin()?;
            flake.podman(&["kill", &flake.container()])?;
            Ok(())
        })
    }),
];

const MANY: usize = 100;

fn hundred(ground: &Ground<'_>, prepare: fn(&Flake<'_>) -> Result<()>) -> Result<()> {
    let flake = ground.flake()?;
    prepare(&flake)?;
    let made = made(&flake)?;
    let had_one = flake.note().exists();
    let outcomes = thread::scope(|scope| {
        let one = |number: usize| {
            let script = format!("echo out {number}; cat; echo err {number} >&2; exit {number}");
            flake.call(&["sh", "-c", &script]).input(format!("in {number}\n")).run()
        };
        let calls: Vec<_> = (0..MANY).map(|number| scope.spawn(move || one(number))).collect();
        let outcome =
            |call: thread::ScopedJoinHandle<'_, flake_testkit::Result<Outcome>>| -> Result<Outcome> {
                Ok(call.join().map_err(|_| anyhow::anyhow!("panic"))??)
            };
        calls.into_iter().map(outcome).collect::<Result<Vec<_>>>()
    })?;
    for (number, outcome) in outcomes.iter().enumerate() {
        let is_own = outcome.code == i32::try_from(number).ok()
            && outcome.out() == format!("out {number}\nin {number}\n")
            && outcome.err() == format!("err {number}\n");
        ensure!(is_own, "{number}: {outcome}");
    }
    ensure!(self::made(&flake)? == made + usize::from(!had_one), "more than one was made");
    flake.is_one()?;
    flake.end()
}

/// How many containers of the flake were ever made.
fn made(flake: &Flake<'_>) -> Result<usize> {
    let label = format!("label=flake.name={}", flake.name);
    let words = ["events", "--stream=false", "--filter", "event=create", "--filter", &label];
    Ok(flake.podman(&words)?.lines().filter(|line| !line.is_empty()).count())
}
