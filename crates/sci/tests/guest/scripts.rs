//! Scripts: what they may be, as whom they run, what is heard of them.

use crate::world::{World, having, launch, run, script, until, written};
use crate::{Case, Outcome};
use flake_core::guest::{Script, ScriptEnd};
use flake_schema::ProvisionMode;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) const CASES: &[Case] = &[
    ("any_text_and_any_interpreter", any_text_and_any_interpreter),
    ("a_long_text_is_whole", a_long_text_is_whole),
    ("output_is_in_order_and_input_empty", output_is_in_order_and_input_empty),
    ("as_root_and_as_the_user", as_root_and_as_the_user),
    ("ends_are_told_apart", ends_are_told_apart),
    ("what_takes_too_long_is_killed_with_its_group", what_takes_too_long_is_killed_with_its_group),
    ("what_writes_without_end_is_stopped_too", what_writes_without_end_is_stopped_too),
    ("what_is_left_running_holds_nobody_up", what_is_left_running_holds_nobody_up),
];

fn any_text_and_any_interpreter(world: &World) -> Outcome {
    let launch = launch(None);
    let mut guest = world.guest(&launch);
    for (text, expected) in [
        ("echo hello", "hello\n"),
        ("#!/bin/sh\necho \"$0 has $# words\" | sed 's,.* has,it has,'\n", "it has 0 words\n"),
        ("#!/bin/bash\nset -o pipefail; false | true || echo \"pipes fail\"", "pipes fail\n"),
        ("#! /usr/bin/env  bash\necho ${BASH_VERSION:+bash}\n", "bash\n"),
        (
            r#"printf '%s %%d {{.User}} \n' "a'b" '#' '$HOME' `echo x` # no more"#,
            "a'b %d {{.User}} \n# %d {{.User}} \n$HOME %d {{.User}} \nx %d {{.User}} \n",
        ),
        ("cat <<'E'\n\u{f6}\t\\ \"' <>&|;*?[~\nE\n", "\u{f6}\t\\ \"' <>&|;*?[~\n"),
        ("#!/bin/cat\nitself", "#!/bin/cat\nitself"),
    ] {
        assert_eq!(written(&mut guest, text)?, expected, "{text}");
    }
    for (interpreter, text) in [
        (
            "/usr/bin/python3",
            "#!/usr/bin/python3\nimport sys\nprint('%s # \"%d\"' % (sys.stdin.read(), 7))\n",
        ),
        ("/usr/bin/perl", "#!/usr/bin/perl -w\nprintf(qq{%s # \"%d\"\\n}, '', 7);\n"),
    ] {
        if Path::new(interpreter).exists() {
            assert_eq!(written(&mut guest, text)?, " # \"7\"\n");
        }
    }
    Ok(())
}

fn a_long_text_is_whole(world: &World) -> Outcome {
    let launch = launch(None);
    let text = format!("{}echo end\n", "# a comment with 'quotes\" and % signs\n".repeat(6000));
    assert!(text.len() > 200 << 10);
    assert_eq!(written(&mut world.guest(&launch), &text)?, "end\n");
    let text = format!("{}echo end\n", "#".repeat(9 << 20));
    let error = run(&mut world.guest(&launch), &script(&text)).expect_err("a refusal");
    assert!(error.to_string().contains("too long"), "{error}");
    Ok(())
}

fn output_is_in_order_and_input_empty(world: &World) -> Outcome {
    let launch = launch(None);
    let mut guest = world.guest(&launch);
    let text = "cat; for n in 1 2 3; do echo $n; echo -$n >&2; done; printf '\\377'";
    let (end, written) = run(&mut guest, &script(text))?;
    assert_eq!((end, written), (ScriptEnd::Exited(0), b"1\n-1\n2\n-2\n3\n-3\n\xff".to_vec()));
    let (_, written) = run(&mut guest, &script("head -c 3000000 /dev/zero; exit 7"))?;
    assert_eq!(written.len(), 3_000_000);
    Ok(())
}

fn as_root_and_as_the_user(world: &World) -> Outcome {
    let show = "id -u; id -g; id -G; echo $HOME $USER $KEY $PARAM_A; umask; pwd";
    let env = [("PARAM_A".to_owned(), "a b".to_owned())];
    let launch = launch(Some(4242));
    let mut guest = world.guest(&launch);
    let root = Script { env: &env, ..script(show) };
    let (_, written) = run(&mut guest, &root)?;
    assert_eq!(String::from_utf8(written)?, "0\n0\n0\n/root root value a b\n0022\n/\n");
    let (_, written) = run(&mut guest, &Script { mode: ProvisionMode::User, ..root })?;
    assert_eq!(String::from_utf8(written)?, "4242\n4242\n4242\n/nowhere ada value a b\n0077\n/\n");
    Ok(())
}

fn ends_are_told_apart(world: &World) -> Outcome {
    let launch = launch(None);
    let mut guest = world.guest(&launch);
    for (text, end) in [
        ("exit 3", ScriptEnd::Exited(3)),
        ("kill -9 $$", ScriptEnd::Killed(9)),
        ("exec no-such-program", ScriptEnd::Exited(127)),
    ] {
        assert_eq!(run(&mut guest, &script(text))?.0, end, "{text}");
    }
    for (text, words) in [
        ("#!/no/such/program\n", "/no/such/program: not found"),
        ("#!/etc/passwd\n", "permission denied"),
        ("#!/bin/sh\r\necho\r\n", "carriage return"),
    ] {
        match run(&mut guest, &script(text))?.0 {
            ScriptEnd::NotRun(why) => assert!(why.contains(words), "{why}"),
            end => panic!("{text}: {end}"),
        }
    }
    Ok(())
}

fn what_takes_too_long_is_killed_with_its_group(world: &World) -> Outcome {
    let launch = launch(None);
    let limit = Duration::from_secs(1);
    let text = "echo begun; sleep 97531 & sleep 97531";
    let (end, written) = run(&mut world.guest(&launch), &Script { timeout: Some(limit), ..script(text) })?;
    assert_eq!((end, written), (ScriptEnd::TimedOut(limit), b"begun\n".to_vec()));
    until("nothing of it runs", || having("97531") == 0);
    Ok(())
}

fn what_writes_without_end_is_stopped_too(world: &World) -> Outcome {
    let launch = launch(None);
    let limit = Duration::from_secs(1);
    let flood = Script { timeout: Some(limit), ..script("exec yes 97532") };
    assert_eq!(run(&mut world.guest(&launch), &flood)?.0, ScriptEnd::TimedOut(limit));
    until("nothing of it runs", || having("97532") == 0);
    Ok(())
}

fn what_is_left_running_holds_nobody_up(world: &World) -> Outcome {
    let launch = launch(None);
    let mut guest = world.guest(&launch);
    let unbounded = |text| Script { timeout: None, ..script(text) };
    let begun = Instant::now();
    let (end, written) = run(&mut guest, &unbounded("sleep 20 & echo done"))?;
    assert_eq!((end, written), (ScriptEnd::Exited(0), b"done\n".to_vec()));
    assert_eq!(run(&mut guest, &unbounded("yes 97533 & exit 4"))?.0, ScriptEnd::Exited(4));
    assert!(begun.elapsed() < Duration::from_secs(15));
    until("what writes to nobody is gone", || having("97533") == 0);
    Ok(())
}
