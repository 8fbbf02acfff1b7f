//! Elektrobit/flake-pilot 114: random names of what a call needs may collide.

use anyhow::{Result, ensure};

use crate::Ground;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    std::thread::scope(|scope| {
        let one = |n: usize| {
            let number = n.to_string();
            let outcome =
                ground.app.call(&["sh", "-c", "cat; echo $1", "sh", &number]).input(&*number).run()?;
            ensure!(outcome.out() == format!("{n}{n}\n") && outcome.success(), "{outcome}");
            Ok(())
        };
        let calls: Vec<_> = (0..50).map(|n| scope.spawn(move || one(n))).collect();
        calls.into_iter().try_for_each(|call| call.join().unwrap_or_else(|_| anyhow::bail!("panic")))
    })
}
