//! What a call in an instance costs that is kept.

use std::time::Duration;

use anyhow::{Result, ensure};
use flake_testkit::{ADA, ROOT, ScratchHost, Subject, User};

use crate::direct::{command, time};
use crate::launches::{LAUNCHES, NATIVE};
use crate::pairs::{in_turn, timed};
use crate::sizes::resident;
use crate::streams;
use crate::table::{figure, ratio};

/// Calls of a crowd, and how many of them at once.
const CALLS: usize = 200;
const AT_ONCE: usize = 20;
/// Rounds of a crowd.
const CROWDS: usize = 5;
/// What a crowd may take beside twice the time of the plain command's.
const BESIDE: Duration = Duration::from_millis(300);
/// Of the agent that waits, in MiB.
const MEMORY: f64 = 2.0;

/// All of it.
pub(crate) fn all(host: &ScratchHost) -> Result<()> {
    for (name, owner, user) in
        [("rootful-kept", &ROOT, &ROOT), ("rootless-kept", &ADA, &ADA), ("system-kept", &ROOT, &ADA)]
    {
        let subject = Subject::register(host, name, (owner, user), &["--mutable"])?;
        let call = || time(user, &subject.app, &["true"]);
        call()?;
        let pairs = in_turn(LAUNCHES, call, || time(user, NATIVE, &["true"]))?;
        ratio(&format!("call, {name} / native"), &pairs, 3.0);
        let container = format!("flake.{}..{}", user.id, name);
        let pairs = in_turn(LAUNCHES, call, || podman_exec(user, &container))?;
        ratio(&format!("call, {name} / podman exec"), &pairs, 0.02);
        if user.id == 0 {
            crowd(&subject)?;
            streams::gibibyte("kept", &subject)?;
            let inspect = ["inspect", "--format", "{{.State.Pid}}", &container];
            let agent = host.podman(user, inspect).check()?.out().trim().parse()?;
            figure("memory of the agent after all this, MiB", None, resident(agent)?, MEMORY);
        }
    }
    Ok(())
}

fn podman_exec(user: &User, container: &str) -> Result<Duration> {
    time(user, "/usr/bin/podman", &["exec", container, "/bin/busybox", "true"])
}

/// Many calls, some at once.
fn crowd(subject: &Subject) -> Result<()> {
    let many = |program: &std::path::Path| {
        timed(|| {
            let mut running = std::collections::VecDeque::new();
            for _ in 0..CALLS {
                if running.len() == AT_ONCE
                    && let Some(mut first) = running.pop_front()
                {
                    let status = std::process::Child::wait(&mut first)?;
                    ensure!(status.success(), "{status}");
                }
                running.push_back(command(subject.user, program).arg("true").spawn()?);
            }
            for mut child in running {
                let status = child.wait()?;
                ensure!(status.success(), "{status}");
            }
            Ok(())
        })
    };
    let pairs = in_turn(CROWDS, || many(&subject.app), || Ok(many(NATIVE.as_ref())? + BESIDE / 2))?;
    ratio("200 calls, 20 at once / native + 0.15 s", &pairs, 2.0);
    Ok(())
}
