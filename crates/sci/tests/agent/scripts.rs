//! Scripts that come as text, and working directories that have to be the caller's.

use crate::Outcome;
use crate::client::{framed, script};
use crate::world::World;
use flake_wire::{Closing, Exec, Failure, FailureKind, Reply, Request, Source, Stream};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

type Case = (&'static str, fn(&World) -> Outcome);

pub(crate) const CASES: &[Case] = &[
    ("the_interpreter_is_its_own", the_interpreter_is_its_own),
    ("any_text_and_length", any_text_and_length),
    ("every_user_can_run_one", every_user_can_run_one),
    ("its_descriptor_is_out_of_the_way", its_descriptor_is_out_of_the_way),
    ("it_cannot_be_changed", it_cannot_be_changed),
    ("a_missing_interpreter_is_named", a_missing_interpreter_is_named),
    ("another_folder_is_told_apart", another_folder_is_told_apart),
];

/// What a script writes, and how it ends.
fn run(world: &World, exec: Exec) -> (Closing, String) {
    let mut client = world.client();
    client.start(exec);
    let mut finished = client.finish(b"");
    let output = finished.written.remove(&1).unwrap_or_default();
    (finished.closing, String::from_utf8_lossy(&output).into_owned())
}

fn refused(world: &World, exec: Exec) -> Failure {
    let mut client = world.client();
    client.say(&Request::Exec(Box::new(exec)));
    match client.next() {
        Some(Reply::Failed(failure)) => failure,
        other => panic!("instead of a failure: {other:?}"),
    }
}

fn the_interpreter_is_its_own(world: &World) -> Outcome {
    for (text, output) in [
        ("#!/bin/sh\necho plain", "plain\n"),
        ("echo none; exit 0", "none\n"),
        ("#! /bin/sh  -u  \necho $-", "u\n"),
        ("#!/usr/bin/env bash\necho ${BASH_VERSION:+bash}", "bash\n"),
        ("#!/usr/bin/awk -f\nBEGIN { print 6 * 7 }", "42\n"),
        ("#!/bin/cat\nitself", "#!/bin/cat\nitself"),
        ("", ""),
    ] {
        assert_eq!(run(world, script(text.as_bytes())), (Closing::Exited(0), output.to_owned()), "{text}");
    }
    if std::path::Path::new("/usr/bin/python3").exists() {
        let text = b"#!/usr/bin/env python3\nimport sys\nprint(sys.argv[1:])\nsys.exit(7)";
        let exec = Exec { args: vec![b"a b".to_vec(), b"%".to_vec()], ..script(text) };
        assert_eq!(run(world, exec), (Closing::Exited(7), "['a b', '%']\n".to_owned()));
    }
    Ok(())
}

fn any_text_and_length(world: &World) -> Outcome {
    let quoted = "'\"'\"'$`\\\u{e9}\u{1f600}%s\t";
    let (closing, output) = run(world, script(format!("printf %s '{quoted}'").as_bytes()));
    assert_eq!((closing, output.as_str()), (Closing::Exited(0), "'$`\\\u{e9}\u{1f600}%s\t"));

    // Bytes that are no text at all, behind the end of what is run.
    let mut text = b"#!/bin/sh\nwc -c <\"$0\"\nexit 3\n".to_vec();
    text.extend((0..=255_u8).cycle().take(5 << 20));
    let (closing, output) = run(world, script(&text));
    assert_eq!((closing, output.trim()), (Closing::Exited(3), text.len().to_string().as_str()));
    Ok(())
}

fn every_user_can_run_one(world: &World) -> Outcome {
    let user = Some(flake_wire::Ids { uid: 65534, gid: 65534, groups: vec![65534] });
    for text in ["#!/bin/sh\nid -u", "#!/usr/bin/env bash\nid -u", "id -u"] {
        let exec = Exec { user: user.clone(), ..script(text.as_bytes()) };
        assert_eq!(run(world, exec).1, "65534\n", "{text}");
    }
    Ok(())
}

fn its_descriptor_is_out_of_the_way(world: &World) -> Outcome {
    // A script that uses all the numbers a shell has for scripts, and one that was given the next ones.
    let text = "exec 3>&1 4>&1 5>&1 6>&1 7>&1 8>&1 9>&1; echo all >&9";
    assert_eq!(run(world, script(text.as_bytes())).1, "all\n");

    let (mut reader, writer) = std::io::pipe()?;
    let streams = [1, 10, 11].map(|number| Stream { number, source: Source::Passed }).to_vec();
    let beside = [writer.try_clone()?, writer.try_clone()?, writer];
    let mut client = world.client();
    let text = b"#!/bin/bash\necho one; echo ten >&10; echo eleven >&11";
    client.start_with(Exec { streams, ..script(text) }, &beside);
    drop(beside);
    let mut output = String::new();
    reader.read_to_string(&mut output)?;
    assert_eq!(output, "one\nten\neleven\n");
    Ok(())
}

fn it_cannot_be_changed(world: &World) -> Outcome {
    let text = b"#!/bin/bash\nfor way in '>>' '1<>' '>'; do (eval \"echo echo changed $way$0\") 2>&-; done; cat $0 | wc -l";
    let (_, output) = run(world, script(text));
    assert_eq!(output.trim(), "1");
    Ok(())
}

fn a_missing_interpreter_is_named(world: &World) -> Outcome {
    let failure = refused(world, script(b"#!/opt/no/perl -w\n"));
    assert_eq!(failure.kind, FailureKind::NotFound);
    assert!(failure.message.contains("interpreter /opt/no/perl"), "{}", failure.message);

    let failure = refused(world, script(b"#!/etc/passwd\n"));
    assert_eq!(failure.kind, FailureKind::NotExecutable);

    let failure = refused(world, script(b"#!/bin/sh\r\ntrue\r\n"));
    assert!(failure.message.contains("carriage return"), "{}", failure.message);
    Ok(())
}

fn another_folder_is_told_apart(world: &World) -> Outcome {
    let folder = world.path("folder");
    let other = world.path("other");
    std::fs::create_dir_all(&folder)?;
    std::fs::create_dir_all(&other)?;
    let cwd = Some(folder.as_os_str().as_bytes().to_vec());
    let is = |path: &std::path::Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino()));

    let (_, output) = run(world, Exec { cwd: cwd.clone(), cwd_is: Some(is(&folder)?), ..framed("pwd") });
    assert_eq!(output.trim(), folder.to_str().ok_or("a path")?);

    let failure = refused(world, Exec { cwd: cwd.clone(), cwd_is: Some(is(&other)?), ..framed("pwd") });
    assert_eq!(failure.kind, FailureKind::NotShared);
    let nowhere = Some(b"/no/such/folder".to_vec());
    let failure = refused(world, Exec { cwd: nowhere, cwd_is: Some(is(&folder)?), ..framed("pwd") });
    assert_eq!(failure.kind, FailureKind::NotShared);

    // Without a directory there is nothing to compare.
    let (closing, _) = run(world, Exec { cwd_is: Some((1, 1)), ..framed("pwd") });
    assert_eq!(closing, Closing::Exited(0));
    Ok(())
}
