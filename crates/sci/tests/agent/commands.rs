//! Commands and what they are given.

use crate::Outcome;
use crate::client::{framed, shell};
use crate::world::{World, until};
use flake_wire::{Closing, Exec, FailureKind, Ids, Program, Reply, Request, SignalTarget, Source, Stream};
use std::io::Read;

type Case = (&'static str, fn(&World) -> Outcome);

pub(crate) const CASES: &[Case] = &[
    ("statuses_and_deaths", statuses_and_deaths),
    ("what_cannot_run_says_why", what_cannot_run_says_why),
    ("the_image_command_and_environment", the_image_command_and_environment),
    ("surroundings_arrive", surroundings_arrive),
    ("passed_descriptors_and_no_others", passed_descriptors_and_no_others),
    ("fifty_at_once", fifty_at_once),
    ("stops_and_continues", stops_and_continues),
    ("a_closed_connection_kills_the_group", a_closed_connection_kills_the_group),
    ("orphans_are_reaped", orphans_are_reaped),
];

fn ending(world: &World, script: &str) -> Closing {
    let mut client = world.client();
    client.start(shell(script));
    match client.next() {
        Some(Reply::Exit(closing)) => closing,
        other => panic!("instead of an end: {other:?}"),
    }
}

fn statuses_and_deaths(world: &World) -> Outcome {
    for status in [0, 1, 42, 125, 126, 127, 255] {
        assert_eq!(ending(world, &format!("exit {status}")), Closing::Exited(status));
    }
    for signal in [1, 2, 9, 11, 15, 34, 64] {
        assert_eq!(ending(world, &format!("kill -{signal} $$")), Closing::Killed(signal));
    }
    Ok(())
}

fn what_cannot_run_says_why(world: &World) -> Outcome {
    let script = world.path("bad-interpreter");
    std::fs::write(&script, "#!/no/such/interpreter\n")?;
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let script = script.to_string_lossy().into_owned();
    for (program, kind, words) in [
        ("no-such-program", FailureKind::NotFound, "not found"),
        ("/no/such/program", FailureKind::NotFound, "not found"),
        (script.as_str(), FailureKind::NotFound, "interpreter"),
        ("/etc/passwd", FailureKind::NotExecutable, "permission denied"),
        ("/usr", FailureKind::NotExecutable, "permission denied"),
        ("a\0b", FailureKind::Other, "NUL"),
    ] {
        let mut client = world.client();
        let exec = Exec { program: Program::Path(program.as_bytes().to_vec()), ..shell("") };
        client.say(&Request::Exec(Box::new(exec)));
        match client.next() {
            Some(Reply::Failed(failure)) => {
                assert_eq!(failure.kind, kind, "{program}");
                assert!(failure.message.contains(words), "{program}: {}", failure.message);
            }
            other => panic!("{program}: {other:?}"),
        }
        assert_eq!(client.next(), None, "{program}: the connection is over");
    }
    let mut client = world.client();
    client.say(&Request::Exec(Box::new(Exec { cwd: Some(b"/no/such".to_vec()), ..shell("") })));
    assert!(matches!(client.next(), Some(Reply::Failed(failure)) if failure.message.contains("/no/such")));
    Ok(())
}

fn the_image_command_and_environment(world: &World) -> Outcome {
    let mut client = world.client();
    client.start(Exec { program: Program::Image, args: Vec::new(), ..framed("") });
    assert_eq!(client.finish(b"").written[&1], b"image\n");

    let mut client = world.client();
    let env = vec![(b"CALL".to_vec(), b"a\nb\xff".to_vec())];
    client.start(Exec { env, ..framed("echo $IMAGE; echo \"$CALL\"; echo \"${LISTEN_FDS-unset}\"") });
    assert_eq!(client.finish(b"").written[&1], b"own\na\nb\xff\nunset\n");
    Ok(())
}

fn surroundings_arrive(world: &World) -> Outcome {
    let mut client = world.client();
    client.start(Exec {
        cwd: Some(b"/usr".to_vec()),
        user: Some(Ids { uid: 65534, gid: 65533, groups: vec![65532] }),
        umask: Some(0o027),
        ..framed("pwd; id -u; id -g; id -G; umask")
    });
    let text = String::from_utf8(client.finish(b"").written[&1].clone())?;
    assert_eq!(text, "/usr\n65534\n65533\n65533 65532\n0027\n");

    // Shells change their masks; this program does not.
    let program = Program::Path(b"grep".to_vec());
    let args = ["-E", "SigBlk|SigIgn", "/proc/self/status"].map(|word| word.as_bytes().to_vec()).to_vec();
    let mut client = world.client();
    client.start(Exec { program, args, ignored: 1, blocked: 1 << 9, ..framed("") });
    let text = String::from_utf8(client.finish(b"").written[&1].clone())?;
    let masks: Vec<u64> = text
        .lines()
        .map(|line| u64::from_str_radix(line.split_whitespace().nth(1).unwrap_or_default(), 16))
        .collect::<Result<_, _>>()?;
    // The C library keeps 32 and 33 to itself: they stay as the agent found them.
    let own = 3 << 31;
    assert_eq!((masks[0], masks[1] & !own), (1 << 9, 1), "{text}");
    Ok(())
}

fn passed_descriptors_and_no_others(world: &World) -> Outcome {
    let (mut reader, writer) = std::io::pipe()?;
    let (input, _keep) = std::io::pipe()?;
    let streams = [0, 1, 17].map(|number| Stream { number, source: Source::Passed }).to_vec();
    let mut client = world.client();
    let beside = [std::os::fd::OwnedFd::from(input), writer.try_clone()?.into(), writer.try_clone()?.into()];
    // The folder that is being listed takes the first free number.
    let program = Program::Path(b"ls".to_vec());
    let args = vec![b"/proc/self/fd".to_vec()];
    client.start_with(Exec { program, args, streams, ..shell("") }, &beside);
    drop((writer, beside));
    let mut text = String::new();
    reader.read_to_string(&mut text)?;
    assert_eq!(text, "0\n1\n17\n2\n");
    assert_eq!(client.next(), Some(Reply::Exit(Closing::Exited(0))));
    Ok(())
}

fn fifty_at_once(world: &World) -> Outcome {
    let mut clients: Vec<_> = (0..50_u8)
        .map(|number| {
            let mut client = world.client();
            client.say(&Request::Exec(Box::new(framed(&format!("cat; exit {number}")))));
            client
        })
        .collect();
    for (number, client) in (0..50_u8).zip(&mut clients) {
        let finished = client.finish(&[number; 1000]);
        assert_eq!(finished.closing, Closing::Exited(number));
        assert_eq!(finished.written[&1], [number; 1000]);
    }
    Ok(())
}

fn stops_and_continues(world: &World) -> Outcome {
    let mut client = world.client();
    // A shell that waits for its child to be executed cannot stop before.
    client.start(shell("exec sleep 1000"));
    for signal in [20_u8, 19] {
        client.say(&Request::Signal { number: signal, target: SignalTarget::Group });
        assert_eq!(client.next(), Some(Reply::Stopped { signal }));
        client.say(&Request::Continue);
    }
    client.say(&Request::Signal { number: 15, target: SignalTarget::Process });
    assert_eq!(client.next(), Some(Reply::Exit(Closing::Killed(15))));
    Ok(())
}

/// Processes of the agent's namespace whose command line has a word, as the host sees them.
fn having(word: &str) -> usize {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes())).count()
}

fn a_closed_connection_kills_the_group(world: &World) -> Outcome {
    let mut client = world.client();
    client.start(shell("sleep 86421 & sleep 86421"));
    until("both sleep", || having("86421") == 2);
    drop(client);
    until("both are gone", || having("86421") == 0);
    Ok(())
}

fn orphans_are_reaped(world: &World) -> Outcome {
    assert_eq!(ending(world, "(sleep 0.05 &) ; (sleep 0.05 &) ; exit 0"), Closing::Exited(0));
    let children = || {
        let agent = world.agent();
        std::fs::read_to_string(format!("/proc/{agent}/task/{agent}/children")).unwrap_or_default()
    };
    let is_zombie = |pid: &str| {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
    };
    until("no zombie is left", || !children().split_whitespace().any(is_zombie));
    Ok(())
}
