//! The launcher's own side of a shared terminal: its session, on a terminal that the case holds the other end of.

use crate::Outcome;
use crate::client::shell;
use crate::world::{World, until};
use flake_engine::session::{End, Files, Session, Streams};
use flake_engine::{Outcome as Up, Started, Starter};
use flake_sys::pty;
use flake_wire::{Exec, Request, VERSION, encode};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitCode};

type Case = (&'static str, fn(&World) -> Outcome);

pub(crate) const CASES: &[Case] = &[
    ("two_at_one_terminal", two_at_one_terminal),
    ("a_closed_window_is_one_launchers_matter", a_closed_window_is_one_launchers_matter),
    ("the_last_closed_window_ends_it", the_last_closed_window_ends_it),
];

/// What a launcher exits with here when the command was killed by a signal.
const KILLED: u8 = 128;

/// Run on a terminal: joins the shared one, as the words say: `--attach=SOCKET SCRIPT`.
pub(crate) fn attach(socket: &str) -> ExitCode {
    let script = std::env::args().nth(2).unwrap_or_default();
    match session(socket, &script) {
        Ok(End::Exited(status)) => ExitCode::from(status),
        Ok(End::Killed(signal)) => ExitCode::from(KILLED + u8::try_from(signal).unwrap_or(0)),
        _ => ExitCode::FAILURE,
    }
}

fn session(socket: &str, script: &str) -> Result<End, Box<dyn std::error::Error>> {
    let signals = Session::signals()?;
    let streams = Streams::gather(&[], Files::Passed)?;
    let exec = Exec {
        streams: streams.table.clone(),
        terminal: streams.window,
        modes: streams.modes.clone(),
        ..shell(script)
    };
    let mut asked = Vec::new();
    encode(&Request::Hello { version: VERSION }, &mut asked)?;
    encode(&Request::Join(Box::new(exec)), &mut asked)?;
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(&asked)?;
    // Nothing brings the agent up: that is done at once.
    let (done, _) = std::io::pipe()?;
    let starter = Starter::other(done.into(), || Ok(Up::Up));
    let started = Started { socket: OwnedFd::from(stream), starter: starter.into(), becomes: false };
    Ok(Session::join(signals, started, &streams)?.run()?)
}

/// A launcher and the person's end of its terminal.
struct Seat {
    launcher: Child,
    screen: File,
}

impl Seat {
    fn new(world: &World, script: &str, columns: u16) -> Self {
        let pty = pty::open().expect("a terminal");
        set_columns(&pty.master, columns);
        let end = || pty.slave.try_clone().expect("a copy");
        let launcher = Command::new("setsid")
            .arg("--ctty")
            .arg(std::env::current_exe().expect("this program"))
            .args([&format!("--attach={}", world.socket().display()), script])
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn();
        Self { launcher: launcher.expect("setsid"), screen: pty.master.into() }
    }

    fn expect(&mut self, text: &str) {
        let mut seen = Vec::new();
        let mut byte = [0];
        while !seen.ends_with(text.as_bytes()) {
            let length = self.screen.read(&mut byte).unwrap_or(0);
            assert_eq!(length, 1, "no {text:?} after {:?}", String::from_utf8_lossy(&seen));
            seen.push(byte[0]);
        }
    }

    fn status(&mut self) -> i32 {
        self.launcher.wait().expect("an end").code().unwrap_or(-1)
    }
}

fn set_columns(terminal: &OwnedFd, columns: u16) {
    let size = Winsize { ws_row: 30, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).expect("a size");
}

fn two_at_one_terminal(world: &World) -> Outcome {
    let script =
        "trap 'stty size' WINCH; echo ready; until read x && test $x = end; do echo got $x; done; exit 4";
    let mut one = Seat::new(world, script, 100);
    one.expect("ready\r\n");
    let mut two = Seat::new(world, "", 90);
    two.expect("ready\r\n");
    // The newcomer's window is the smaller one.
    two.expect("30 90\r\n");
    two.screen.write_all(b"there\n")?;
    one.expect("got there\r\n");
    one.screen.write_all(b"here\n")?;
    two.expect("got here\r\n");

    // What the launcher has changed on its own terminal it changes back.
    let canonical = rustix::termios::LocalModes::ICANON;
    let is_raw = |seat: &Seat| tcgetattr(&seat.screen).is_ok_and(|set| !set.local_modes.contains(canonical));
    assert!(is_raw(&one) && is_raw(&two));
    let screen = OwnedFd::from(two.screen.try_clone()?);
    set_columns(&screen, 80);
    one.expect("30 80\r\n");
    one.screen.write_all(b"end\n")?;
    for seat in [&mut one, &mut two] {
        assert_eq!(seat.status(), 4);
        assert!(!is_raw(seat));
    }
    Ok(())
}

fn a_closed_window_is_one_launchers_matter(world: &World) -> Outcome {
    let mut one = Seat::new(world, "trap 'echo hung up' HUP; echo ready; read x; echo got $x; exit 6", 80);
    one.expect("ready\r\n");
    let mut two = Seat::new(world, "", 80);
    two.expect("ready\r\n");
    let Seat { mut launcher, screen } = one;
    drop(screen);
    assert_eq!(launcher.wait()?.code(), Some(i32::from(KILLED) + 1));
    two.screen.write_all(b"on\n")?;
    two.expect("on\r\ngot on\r\n");
    assert_eq!(two.status(), 6);
    Ok(())
}

fn the_last_closed_window_ends_it(world: &World) -> Outcome {
    let saved = world.path("saved");
    let script = format!("trap 'echo saved >{}; exit 9' HUP; echo ready; read x", saved.display());
    let mut one = Seat::new(world, &script, 80);
    one.expect("ready\r\n");
    let Seat { mut launcher, screen } = one;
    drop(screen);
    until("what the application saves", || saved.exists());
    assert_eq!(launcher.wait()?.code(), Some(9));
    Ok(())
}
