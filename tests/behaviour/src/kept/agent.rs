//! Something hostile in the agent's place: a call ends soon, and with one clear line.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use flake_link::Link;
use flake_sys::peer;
use flake_testkit::{Outcome, ROOT, Subject};
use flake_wire::{Closing, Failure, FailureKind, Frame, Reply, Request, VERSION};

use super::ground::{Case, Flake, Ground};

pub(super) const CASES: &[Case] =
    &[("an_agent_that_is_none", impostors), ("words_of_a_hostile_agent", words)];

/// A call may wait that long for an agent, and some more for podman.
const SOON: Duration = Duration::from_secs(60);

type Play = fn(UnixStream, &AtomicBool) -> Result<()>;

/// What it does on a connection, and what the launcher may end with.
const PLAYS: [(&str, Play, Expected); 12] = [
    ("is silent", |_stream, over| wait(over), Expected::Refusal("does not answer")),
    ("sends garbage", garbage, Expected::Refusal("cannot talk to the")),
    (
        "says that much follows",
        |stream, over| raw(stream, &[0xff; 8], over),
        Expected::Refusal("cannot talk to the"),
    ),
    (
        "says that nothing follows",
        |stream, over| raw(stream, &[0; 8], over),
        Expected::Refusal("cannot talk to the"),
    ),
    (
        "greets by half",
        |stream, over| raw(stream, &[9, 0, 0, 0, 0], over),
        Expected::Refusal("does not answer"),
    ),
    ("speaks another version", |stream, over| says(stream, &[hello(9)], over), Expected::Refusal("release")),
    (
        "greets and is silent",
        |stream, over| says(stream, &[hello(VERSION)], over),
        Expected::Refusal("not answer"),
    ),
    ("greets and talks on", talks, Expected::Refusal("not answer")),
    ("was killed by nothing", |stream, _| ends(stream, Closing::Killed(0)), Expected::Lost),
    ("was killed by what does not kill", |stream, _| ends(stream, Closing::Killed(17)), Expected::Lost),
    ("was killed by no signal", |stream, _| ends(stream, Closing::Killed(255)), Expected::Lost),
    ("exits with a status", |stream, _| ends(stream, Closing::Exited(255)), Expected::Status(255)),
];

#[derive(Debug, Clone, Copy)]
enum Expected {
    /// The launcher refuses, with this in its line.
    Refusal(&'static str),
    /// As if the container was ended.
    Lost,
    Status(i32),
}

/// Listens in the agent's place while this lives.
struct Impostor<'a> {
    over: Arc<AtomicBool>,
    path: &'a Path,
}

impl<'a> Impostor<'a> {
    fn begin(path: &'a Path, play: Play) -> Result<Self> {
        fs::remove_file(path)?;
        let listener = UnixListener::bind(path)?;
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let is_over = Arc::clone(&is_over);
                thread::spawn(move || play(stream, &is_over));
            }
        });
        Ok(Self { over, path })
    }
}

impl Drop for Impostor<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = UnixStream::connect(self.path);
        let _ = fs::remove_file(self.path);
    }
}

fn impostors(ground: &Ground<'_>) -> Result<()> {
    if ground.way.store.id != ROOT.id {
        // Root's listening is nobody's who calls as a user: it is not connected to.
        return not_ones_own(ground);
    }
    let flake = ground.flake()?;
    flake.begin()?;
    for (what, play, expected) in PLAYS {
        let socket = flake.noted()?.socket;
        let impostor = Impostor::begin(&socket, play)?;
        let start = Instant::now();
        let outcome = outcome(&flake).with_context(|| format!("{what}, {:?}", start.elapsed()))?;
        drop(impostor);
        is_expected(&outcome, expected).with_context(|| format!("{what}, {:?}", start.elapsed()))?;
        flake.has_data().with_context(|| format!("after one that {what}"))?;
        flake.is_one().with_context(|| format!("after one that {what}"))?;
    }
    flake.end()
}

/// What a call comes to. Into files, since whoever has its descriptors keeps pipes open.
fn outcome(flake: &Flake<'_>) -> Result<Outcome> {
    let paths = ["out", "err"].map(|kind| PathBuf::from(format!("/tmp/{kind}-{}", flake.host.mark())));
    let mut command = flake.command(&["echo", "word"]);
    command.stdin(Stdio::null()).stdout(File::create(&paths[0])?).stderr(File::create(&paths[1])?);
    let mut child = command.spawn()?;
    let by = Instant::now() + SOON;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > by {
            child.kill()?;
            child.wait()?;
            bail!("no end within {SOON:?}");
        }
        thread::sleep(Duration::from_millis(10));
    };
    let [stdout, stderr] = [fs::read(&paths[0])?, fs::read(&paths[1])?];
    for path in &paths {
        fs::remove_file(path)?;
    }
    Ok(Outcome { code: status.code(), signal: status.signal(), stdout, stderr })
}

fn not_ones_own(ground: &Ground<'_>) -> Result<()> {
    let flake = ground.flake()?;
    flake.begin()?;
    let socket = flake.noted()?.socket;
    let impostor = Impostor::begin(&socket, garbage)?;
    flake.has_data()?;
    drop(impostor);
    flake.has_data()?;
    flake.is_one()?;
    flake.end()
}

fn is_expected(outcome: &Outcome, expected: Expected) -> Result<()> {
    ensure!(outcome.stdout.is_empty() && outcome.err().lines().count() <= 1, "{outcome}");
    let is_that = match expected {
        Expected::Refusal(text) => outcome.code == Some(125) && outcome.err().contains(text),
        Expected::Lost => outcome.signal == Some(9) && outcome.err().contains("ended from outside"),
        Expected::Status(status) => outcome.code == Some(status) && outcome.stderr.is_empty(),
    };
    ensure!(is_that, "{expected:?} expected: {outcome}");
    Ok(())
}

/// A terminal shows no control sequences of it.
fn words(ground: &Ground<'_>) -> Result<()> {
    if ground.way.store.id != ROOT.id {
        return Ok(());
    }
    let flake = ground.flake()?;
    flake.begin()?;
    let socket = flake.noted()?.socket;
    let impostor = Impostor::begin(&socket, |stream, over| {
        let text = "\u{1b}]0;title\u{7}\u{9b}31mred\r".to_owned();
        let failed = Failure { kind: FailureKind::Other, message: text.clone() };
        says(stream, &[hello(VERSION), Reply::Note { text }, Reply::Failed(failed)], over)
    })?;
    let subject = Subject { app: flake.app.clone(), ..Subject::control(flake.way.caller) };
    let terminal = subject.terminal("\"$APP\" echo word; echo status $?")?;
    terminal.expect("status 125")?;
    let shown = terminal.seen();
    ensure!(shown.contains("]0;title") && !shown.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{shown:?}");
    terminal.end()?;
    drop(impostor);
    flake.has_data()?;
    flake.end()
}

fn hello(version: u16) -> Reply {
    Reply::Hello { version, agent: "0.0.0".to_owned(), watch: true }
}

/// Says this, with a descriptor beside each greeting: a pidfd is never readable before the end, as this one.
fn says(stream: UnixStream, replies: &[Reply], over: &AtomicBool) -> Result<()> {
    let mut link: Link<Request, Reply> = Link::new(OwnedFd::from(stream))?;
    let (quiet, _other) = UnixStream::pair()?;
    for reply in replies {
        let beside = matches!(reply, Reply::Hello { .. }).then(|| quiet.try_clone()).transpose()?;
        link.say_beside(reply, beside.map(OwnedFd::from));
    }
    link.flush();
    wait(over)
}

/// Says so when it is asked for a command, and goes, with the descriptors that it was passed.
fn ends(stream: UnixStream, closing: Closing) -> Result<()> {
    let mut link: Link<Request, Reply> = Link::new(OwnedFd::from(stream))?;
    let (quiet, _other) = UnixStream::pair()?;
    link.say_beside(&hello(VERSION), Some(quiet.try_clone()?.into()));
    link.flush();
    while !link.ended() {
        link.wait(Duration::from_millis(100))?;
        link.fill();
        while let Some(frame) = link.next_frame()? {
            if matches!(frame, Frame::Message(Request::Exec(_))) {
                link.say(&Reply::Started { pid: 1 });
                link.say(&Reply::Exit(closing));
                link.flush();
                return Ok(());
            }
        }
    }
    Ok(())
}

fn talks(stream: UnixStream, over: &AtomicBool) -> Result<()> {
    let mut link: Link<Request, Reply> = Link::new(OwnedFd::from(stream))?;
    let (quiet, _other) = UnixStream::pair()?;
    link.say_beside(&hello(VERSION), Some(quiet.try_clone()?.into()));
    while !over.load(Ordering::Relaxed) && !link.ended() {
        link.say(&Reply::Pong { token: 7 });
        link.flush();
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn garbage(mut stream: UnixStream, over: &AtomicBool) -> Result<()> {
    let _ = peer::of(&stream)?;
    let bytes: Vec<u8> = (0..100_000_u32).map(|number| (number * 31 % 251) as u8).collect();
    stream.write_all(&bytes)?;
    wait(over)
}

fn raw(mut stream: UnixStream, bytes: &[u8], over: &AtomicBool) -> Result<()> {
    stream.write_all(bytes)?;
    wait(over)
}

fn wait(over: &AtomicBool) -> Result<()> {
    while !over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
