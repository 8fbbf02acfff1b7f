//! Many calls at the same time.

use anyhow::{Result, ensure};
use flake_testkit::{Outcome, Subject};

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[Case { name: "twenty_at_once", run: twenty }];

/// Each has its own words, input, errors and status, and none gets those of another.
fn twenty(scene: &Scene<'_>) -> Result<()> {
    let outcomes = scene.same(|subject| {
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..20).map(|n| scope.spawn(move || one(subject, n))).collect();
            calls.into_iter().map(|call| call.join().unwrap_or_else(|_| anyhow::bail!("panic"))).collect()
        })
    })?;
    let outcomes: Vec<Outcome> = outcomes;
    for (n, outcome) in (100..).zip(&outcomes) {
        ensure!(outcome.code == Some(n), "{outcome}");
        ensure!(outcome.out() == format!("word {n}\ninput {n}\n"), "{outcome}");
        ensure!(outcome.err() == format!("error {n}\n"), "{outcome}");
    }
    Ok(())
}

fn one(subject: &Subject, n: i32) -> Result<Outcome> {
    let number = (100 + n).to_string();
    let script = "echo word $1; cat; echo error $1 >&2; exit $1";
    let input = format!("input {number}\n");
    Ok(subject.call(&["sh", "-c", script, "sh", &number]).input(input).run()?)
}
