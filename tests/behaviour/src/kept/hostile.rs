//! What runs in an instance turns on its agent, and an agent that does not answer.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Image, processes};
use nix::sys::signal::Signal;

use super::ground::{Case, Flake, Ground, agents};

pub(super) const CASES: &[Case] = &[
    ("an_agent_that_is_stopped", stopped),
    ("an_agent_that_is_stopped_is_removed", removed),
    ("an_attack_from_inside", inside),
    ("a_flood_of_connections", flood),
    ("a_flood_at_an_agent_that_is_stopped", flood_stopped),
];

/// Each line is one attack by the container's root: none may do anything.
const ATTACK: &str = r"#!/bin/sh
for signal in KILL STOP CHLD PIPE CONT URG WINCH; do kill -$signal 1; done
for file in environ mem maps fd/3 fd/0 exe; do cat /proc/1/$file; done
echo x > /proc/1/mem
readlink /proc/1/fd/* /proc/1/exe /proc/1/cwd
ln -s /proc/1/fd/3 /tmp/fd
cat /tmp/fd
echo -1000 > /proc/1/oom_score_adj
rm -f /run/podman-init /dev/init
mv /run/podman-init /tmp/x
cat /bin/busybox > /run/podman-init
echo end
";

/// What it says is for people who look into it.
const HOSTILE: Image = Image { name: "hostile", files: &[("/attack", ATTACK)], ..Image::BOX };

fn stop(signal: Signal) -> Result<()> {
    let agents = agents();
    ensure!(agents.len() == 1, "{agents:?}");
    processes::kill(agents[0], signal);
    Ok(())
}

fn stopped(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    let id = flake.noted()?.id;
    stop(Signal::SIGSTOP)?;
    let start = Instant::now();
    let outcome = flake.call(&["echo", "word"]).run()?;
    flake.failed(&outcome, "the agent inside does not answer")?;
    ensure!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    stop(Signal::SIGCONT)?;
    flake.has_data()?;
    ensure!(flake.noted()?.id == id);
    flake.is_one()?;
    flake.end()
}

fn removed(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    stop(Signal::SIGSTOP)?;
    flake.end()
}

fn inside(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake_with(&HOSTILE, &[])?;
    flake.begin()?;
    let id = flake.noted()?.id;
    let before = agents();
    for _ in 0..2 {
        let outcome = flake.call(&["sh", "/attack"]).run()?;
        ensure!(outcome.success() && outcome.out() == "end\n", "{outcome}");
    }
    flake.has_data()?;
    ensure!(flake.noted()?.id == id && agents() == before, "another instance, or another agent");
    flake.is_one()?;
    flake.end()
}

/// More connections than the agent takes at once, some of which say something.
fn connections(flake: &Flake<'_>, number: usize) -> Result<Vec<UnixStream>> {
    let socket = flake.noted()?.socket;
    let mut all = Vec::new();
    for number in 0..number {
        let Ok(mut stream) = UnixStream::connect(&socket) else { break };
        stream.set_nonblocking(true)?;
        if number % 3 == 0 {
            let _ = stream.write(&vec![u8::try_from(number % 256)?; 1 << 16]);
        }
        all.push(stream);
    }
    Ok(all)
}

fn flood(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    let id = flake.noted()?.id;
    let before = agents();
    let mut all = Vec::new();
    for round in 0..3 {
        all.push(connections(&flake, 300)?);
        flake.has_data().with_context(|| format!("round {round}"))?;
    }
    drop(all);
    flake.has_data()?;
    ensure!(flake.noted()?.id == id && agents() == before, "another instance, or another agent");
    flake.is_one()?;
    flake.end()
}

/// Nobody accepts, and the queue is full: then it is started again.
fn flood_stopped(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    stop(Signal::SIGSTOP)?;
    let socket = flake.noted()?.socket;
    let all: Vec<_> = (0..8)
        .map(|_| {
            let socket = socket.clone();
            // Some of them wait until the agent is gone.
            std::thread::spawn(move || {
                (0..64).map_while(|_| UnixStream::connect(&socket).ok()).collect::<Vec<_>>()
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    let outcome = flake.call(&["cat", "/data"]).within(Duration::from_secs(60)).run()?;
    ensure!(outcome.out() == "kept\n" || outcome.code == Some(125), "{outcome}");
    for agent in agents() {
        processes::kill(agent, Signal::SIGCONT);
    }
    for connecting in all {
        drop(connecting.join());
    }
    flake.has_data()?;
    flake.is_one()?;
    flake.end()
}
