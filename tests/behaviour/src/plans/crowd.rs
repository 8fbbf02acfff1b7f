//! A hundred calls at once.

use std::thread;

use anyhow::{Result, ensure};
use flake_testkit::{Call, Outcome};

use super::ground::{Case, Flake, Ground, counted};
use super::remains::Host;

/// Alone, since what is on the host is counted.
pub(super) const ALONE: &[Case] = &[("a_hundred_at_once", hundred)];

pub(super) const MANY: i32 = 100;

fn hundred(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    let (host, plan) = (Host::look()?, flake.written()?);
    let outcomes = at_once(&flake, |_| vec!["true".to_owned()], |call| call)?;
    let are_silent = |outcome: &Outcome| outcome.stdout.is_empty() && outcome.stderr.is_empty();
    let all = outcomes.iter().all(|outcome| outcome.success() && are_silent(outcome));
    ensure!(all, "{}", counted(&outcomes));
    host.has_nothing_more()?;
    own_words(&at_once(&flake, script, |call| call)?)?;
    host.has_nothing_more()?;
    ensure!(flake.written()? == plan, "planned anew");
    Ok(())
}

/// A script with output, errors and a status of its own.
pub(super) fn script(number: i32) -> Vec<String> {
    let script = "echo out $1; cat; echo error $1 >&2; exit $1";
    ["sh", "-c", script, "sh"].map(str::to_owned).into_iter().chain([number.to_string()]).collect()
}

/// Nobody got anything of another's.
pub(super) fn own_words(outcomes: &[Outcome]) -> Result<()> {
    for (number, outcome) in (0..).zip(outcomes) {
        let is_own = outcome.code == Some(number)
            && outcome.out() == format!("out {number}\ninput {number}\n")
            && outcome.err() == format!("error {number}\n");
        ensure!(is_own, "{number}: {outcome}\nall: {}", counted(outcomes));
    }
    Ok(())
}

/// Many calls, each with words and input of its own.
pub(super) fn at_once(
    flake: &Flake<'_>,
    words: fn(i32) -> Vec<String>,
    change: fn(Call) -> Call,
) -> Result<Vec<Outcome>> {
    thread::scope(|scope| {
        let one = |number| {
            let mut command = flake.command(&[]);
            command.args(words(number));
            change(Call::new(command).input(format!("input {number}\n"))).run()
        };
        let calls: Vec<_> = (0..MANY).map(|number| scope.spawn(move || one(number))).collect();
        let outcome = |call: thread::ScopedJoinHandle<'_, flake_testkit::Result<Outcome>>| {
            Ok(call.join().map_err(|_| anyhow::anyhow!("panic"))??)
        };
        calls.into_iter().map(outcome).collect()
    })
}
