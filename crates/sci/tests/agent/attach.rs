//! The terminal that several launchers share.

use crate::Outcome;
use crate::client::{Client, shell};
use crate::world::{World, until};
use flake_wire::{Closing, Exec, Reply, Request, SignalTarget, Source, Stream, Window};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

type Case = (&'static str, fn(&World) -> Outcome);

pub(crate) const CASES: &[Case] = &[
    ("all_see_and_all_type", all_see_and_all_type),
    ("a_newcomer_sees_what_was_shown", a_newcomer_sees_what_was_shown),
    ("the_window_is_that_of_the_smallest", the_window_is_that_of_the_smallest),
    ("who_leaves_is_dropped_and_the_last_ends_it", who_leaves_is_dropped_and_the_last_ends_it),
    ("a_lost_terminal_leaves_the_others", a_lost_terminal_leaves_the_others),
    ("the_last_lost_terminal_hangs_up", the_last_lost_terminal_hangs_up),
    ("stops_reach_all_and_hold_nobody_up", stops_reach_all_and_hold_nobody_up),
    ("the_slowest_sets_the_pace", the_slowest_sets_the_pace),
    ("signals_reach_the_command", signals_reach_the_command),
    ("after_its_end_it_is_started_anew", after_its_end_it_is_started_anew),
    ("nothing_but_the_terminal_is_taken", nothing_but_the_terminal_is_taken),
    ("strays_are_dropped_alone", strays_are_dropped_alone),
];

struct Seat {
    client: Client,
    data: UnixStream,
    _master: std::os::fd::OwnedFd,
    pid: u32,
}

const WINDOW: Window = Window { rows: 33, columns: 77, width: 0, height: 0 };

fn exec(script: &str, window: Window) -> Exec {
    let streams = [0, 1, 2].map(|number| Stream { number, source: Source::Terminal }).to_vec();
    Exec { streams, terminal: Some(window), ..shell(script) }
}

fn join(world: &World, script: &str) -> Seat {
    join_with(world, script, WINDOW)
}

fn join_with(world: &World, script: &str, window: Window) -> Seat {
    let mut client = world.client();
    client.say(&Request::Join(Box::new(exec(script, window))));
    let pid = match client.next() {
        Some(Reply::Started { pid }) => pid,
        other => panic!("instead of a start: {other:?}"),
    };
    let master = client.take_passed().expect("the master");
    assert!(rustix::termios::isatty(&master));
    let data = UnixStream::from(client.take_passed().expect("the socket"));
    data.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    Seat { client, data, _master: master, pid }
}

impl Seat {
    fn expect(&mut self, text: &str) {
        let mut seen = Vec::new();
        let mut byte = [0];
        while !seen.ends_with(text.as_bytes()) {
            let length = self.data.read(&mut byte).unwrap_or(0);
            assert_eq!(length, 1, "no {text:?} after {:?}", String::from_utf8_lossy(&seen));
            seen.push(byte[0]);
        }
    }

    fn rest(&mut self) -> String {
        let mut shown = Vec::new();
        let _ = self.data.read_to_end(&mut shown);
        String::from_utf8_lossy(&shown).into_owned()
    }

    /// What the terminal has set last, as its master tells.
    fn columns(&self) -> u16 {
        rustix::termios::tcgetwinsize(&self._master).expect("a size").ws_col
    }
}

fn all_see_and_all_type(world: &World) -> Outcome {
    let mut one = join(world, "echo ready; while read line; do echo got $line; done; exit 4");
    one.expect("ready\r\n");
    let mut two = join(world, "echo not run");
    assert_eq!(one.pid, two.pid);
    two.expect("ready\r\n");
    two.data.write_all(b"from two\n")?;
    one.data.write_all(b"from one\n")?;
    for seat in [&mut one, &mut two] {
        seat.expect("got from one\r\n");
    }
    one.data.write_all(b"\x04")?;
    for mut seat in [one, two] {
        assert_eq!(seat.client.next(), Some(Reply::Exit(Closing::Exited(4))));
        assert!(!seat.rest().contains("not run"));
    }
    Ok(())
}

fn a_newcomer_sees_what_was_shown(world: &World) -> Outcome {
    let script =
        "trap 'echo drawn at $(stty size)' WINCH; seq 1 20000; echo ready; while :; do sleep 0.02; done";
    let mut one = join(world, script);
    one.expect("ready\r\n");
    let mut two = join(world, "");
    let mut shown = vec![0; 64 << 10];
    two.data.read_exact(&mut shown)?;
    assert!(shown.ends_with(b"20000\r\nready\r\n"), "the last 64 KiB");
    // The application is made to draw anew, and what it has afterwards is the right size.
    two.expect("drawn at 33 76\r\n");
    two.expect("drawn at 33 77\r\n");
    assert_eq!(two.columns(), 77);
    Ok(())
}

fn the_window_is_that_of_the_smallest(world: &World) -> Outcome {
    let window = |rows, columns| Window { rows, columns, width: 0, height: 0 };
    let one = join_with(world, "sleep 1000", window(50, 120));
    assert_eq!(one.columns(), 120);
    let mut two = join_with(world, "", window(60, 90));
    until("the smaller window", || one.columns() == 90);
    two.client.say(&Request::Resize(window(20, 200)));
    until("a larger window", || one.columns() == 120);
    let rows = |seat: &Seat| rustix::termios::tcgetwinsize(&seat._master).map_or(0, |size| size.ws_row);
    until("fewer rows", || rows(&one) == 20);
    drop(two);
    until("all rows", || rows(&one) == 50);
    Ok(())
}

fn who_leaves_is_dropped_and_the_last_ends_it(world: &World) -> Outcome {
    let marker = world.path("ended");
    let script = format!("trap 'touch {}' HUP; echo ready; sleep 86422; sleep 86422", marker.display());
    let mut one = join(world, &script);
    one.expect("ready\r\n");
    let two = join(world, "");
    drop(one);
    let mut three = join(world, "");
    three.expect("ready\r\n");
    assert_eq!(two.pid, three.pid);
    drop(two);
    std::thread::sleep(Duration::from_millis(100));
    assert!(is_running("86422"));
    drop(three);
    until("its end", || !is_running("86422"));
    Ok(())
}

fn is_running(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes()))
}

fn a_lost_terminal_leaves_the_others(world: &World) -> Outcome {
    let mut one = join(world, "trap 'echo hung up' HUP; echo ready; read line; echo got $line");
    one.expect("ready\r\n");
    let mut two = join(world, "");
    two.expect("ready\r\n");
    one.client.say(&Request::HangUp);
    assert_eq!(one.client.next(), Some(Reply::Exit(Closing::Killed(1))));
    two.data.write_all(b"on\n")?;
    two.expect("on\r\ngot on\r\n");
    assert_eq!(two.client.next(), Some(Reply::Exit(Closing::Exited(0))));
    Ok(())
}

fn the_last_lost_terminal_hangs_up(world: &World) -> Outcome {
    let saved = world.path("saved");
    let script = format!("trap 'echo saved >{}; exit 9' HUP; echo ready; read line", saved.display());
    let mut one = join(world, &script);
    one.expect("ready\r\n");
    let Seat { mut client, data, _master, .. } = one;
    client.say(&Request::HangUp);
    drop((data, _master));
    assert_eq!(client.next(), Some(Reply::Exit(Closing::Exited(9))));
    assert_eq!(std::fs::read_to_string(saved)?, "saved\n");
    Ok(())
}

fn stops_reach_all_and_hold_nobody_up(world: &World) -> Outcome {
    let mut one = join(world, "echo ready; cat >&-; read x; seq 1 200000; echo end");
    one.expect("ready\r\n");
    let mut two = join(world, "");
    one.data.write_all(b"\x1a")?;
    for seat in [&mut one, &mut two] {
        assert!(matches!(seat.client.next(), Some(Reply::Stopped { signal: 20 })));
    }
    // Only one goes on; the other one reads nothing, and is not waited for.
    one.client.say(&Request::Continue);
    one.data.write_all(b"\x04\n\n")?;
    one.expect("200000\r\nend\r\n");
    assert_eq!(one.client.next(), Some(Reply::Exit(Closing::Exited(0))));
    // When it goes on too, it sees the end.
    two.client.say(&Request::Continue);
    assert!(two.rest().ends_with("200000\r\nend\r\n"));
    assert_eq!(two.client.next(), Some(Reply::Exit(Closing::Exited(0))));
    Ok(())
}

fn the_slowest_sets_the_pace(world: &World) -> Outcome {
    let mut one = join(world, "echo ready; read x; seq 1 300000; echo end");
    one.expect("ready\r\n");
    let mut two = join(world, "");
    two.expect("ready\r\n");
    two.data.write_all(b"\n")?;
    let mut fast = one.data.try_clone()?;
    let reader = std::thread::spawn(move || {
        let mut shown = Vec::new();
        let _ = fast.read_to_end(&mut shown);
        shown
    });
    std::thread::sleep(Duration::from_millis(300));
    assert!(!reader.is_finished(), "the command went on without the slower one");
    let slow = two.rest();
    let fast = String::from_utf8(reader.join().map_err(|_| "the reader failed")?)?;
    let numbers: String = (1..=300_000).map(|number| format!("{number}\r\n")).collect();
    for shown in [slow, fast] {
        assert!(shown.ends_with(&format!("{numbers}end\r\n")), "{} bytes", shown.len());
    }
    Ok(())
}

fn signals_reach_the_command(world: &World) -> Outcome {
    let mut one = join(world, "echo ready; exec sleep 1000");
    one.expect("ready\r\n");
    let mut two = join(world, "");
    two.client.say(&Request::Signal { number: 15, target: SignalTarget::Process });
    for mut seat in [one, two] {
        assert_eq!(seat.client.next(), Some(Reply::Exit(Closing::Killed(15))));
    }
    Ok(())
}

fn after_its_end_it_is_started_anew(world: &World) -> Outcome {
    for round in 0..20 {
        let mut seat = join(world, &format!("echo round {round}; exit {round}"));
        let mut other = join(world, &format!("echo round {round}; exit {round}"));
        for seat in [&mut seat, &mut other] {
            assert_eq!(seat.client.next(), Some(Reply::Exit(Closing::Exited(round))));
            assert_eq!(seat.rest(), format!("round {round}\r\n"));
        }
    }
    Ok(())
}

fn nothing_but_the_terminal_is_taken(world: &World) -> Outcome {
    let (input, _writer) = std::io::pipe()?;
    let mut passed = exec("true", WINDOW);
    passed.streams[0].source = Source::Passed;
    let without = shell("true");
    for (exec, beside) in [(passed, Some(input)), (without, None)] {
        let mut client = world.client();
        let beside: Vec<_> = beside.iter().map(std::os::fd::AsFd::as_fd).collect();
        client.say_beside(&Request::Join(Box::new(exec)), &beside);
        assert!(
            matches!(client.next(), Some(Reply::Failed(failure)) if failure.message.contains("terminal"))
        );
    }
    let mut client = world.client();
    let missing = Exec { program: flake_wire::Program::Path(b"/no/such".to_vec()), ..exec("", WINDOW) };
    client.say(&Request::Join(Box::new(missing)));
    assert!(matches!(client.next(), Some(Reply::Failed(_))));
    Ok(())
}

fn strays_are_dropped_alone(world: &World) -> Outcome {
    let mut good = join(world, "echo ready; read x; echo got $x");
    good.expect("ready\r\n");
    let mut second = join(world, "");
    second.client.say(&Request::ListenPorts);
    let mut third = join(world, "");
    third.client.send(3, b"data");
    // This one asks on and on and reads no answer.
    let mut fourth = join(world, "");
    let started = Instant::now();
    for token in 0..400_000 {
        fourth.client.say(&Request::Ping { token });
        if started.elapsed() > Duration::from_secs(5) {
            break;
        }
    }
    assert_eq!(second.client.next(), None);
    assert_eq!(third.client.next(), None);
    good.data.write_all(b"on\n")?;
    good.expect("got on\r\n");
    Ok(())
}
