//! Output and errors: exact, apart, live, and ending when nobody reads.

use std::fs::{self, File};
use std::io::Read as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::Call;

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[
    Case { name: "ten_mebibytes_both_ways", run: bulk },
    Case { name: "ten_mebibytes_between_files", run: bulk_files },
    Case { name: "stdout_and_stderr_apart", run: apart },
    Case { name: "stdout_and_stderr_in_order_on_one_pipe", run: in_order },
    Case { name: "stdout_closed", run: |scene| closed(scene, r#""$APP" echo word >&-"#) },
    Case { name: "stderr_closed", run: |scene| closed(scene, r#""$APP" sh -c 'echo word >&2' 2>&-"#) },
    Case { name: "stdout_is_full", run: |scene| closed(scene, r#""$APP" echo word >/dev/full"#) },
    Case { name: "stdout_is_appended_to", run: appended },
    Case { name: "first_line_arrives_before_the_app_ends", run: live },
    Case { name: "yes_ends_when_head_does", run: yes_head },
    Case { name: "yes_ends_when_its_reader_closes", run: reader_closes },
];

fn noise() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open("/dev/urandom")?.take(10 << 20).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn bulk(scene: &Scene<'_>) -> Result<()> {
    let bytes = noise()?;
    for subject in [scene.control, scene.subject] {
        let outcome = subject.call(&["cat"]).input(bytes.clone()).run()?;
        ensure!(outcome.success() && outcome.err().is_empty(), "{outcome}");
        ensure!(outcome.stdout == bytes, "{} bytes came back, not the same", outcome.stdout.len());
    }
    Ok(())
}

fn bulk_files(scene: &Scene<'_>) -> Result<()> {
    let bytes = noise()?;
    let input = scene.file(&bytes)?;
    for subject in [scene.control, scene.subject] {
        let path = scene.fresh_path();
        let output = File::create(&path)?;
        let outcome = subject.call(&["cat"]).stdin(File::open(&input)?).stdout(output).run()?;
        ensure!(outcome.success() && outcome.err().is_empty(), "{outcome}");
        let copied = fs::read(&path)?;
        ensure!(copied == bytes, "{} bytes came out, not the same", copied.len());
    }
    Ok(())
}

fn apart(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same_outcome(&["sh", "-c", "echo o1; echo e1 >&2; echo o2; echo e2 >&2; exit 3"])?;
    ensure!(outcome.code == Some(3), "{outcome}");
    ensure!(outcome.out() == "o1\no2\n" && outcome.err() == "e1\ne2\n", "{outcome}");
    Ok(())
}

fn in_order(scene: &Scene<'_>) -> Result<()> {
    let app = r#""$APP" sh -c 'for n in $(seq 200); do echo out $n; echo err $n >&2; done' 2>&1"#;
    let outcome = scene.same_script(app)?;
    let expected: String = (1..=200).map(|n| format!("out {n}\nerr {n}\n")).collect();
    ensure!(outcome.out() == expected, "{outcome}");
    Ok(())
}

/// Whatever the app says and does about a stream that takes nothing, it does the same.
fn closed(scene: &Scene<'_>, script: &str) -> Result<()> {
    let outcome = scene.same_script(script)?;
    ensure!(!outcome.success(), "{outcome}");
    Ok(())
}

fn appended(scene: &Scene<'_>) -> Result<()> {
    scene.same(|subject| {
        let path = scene.file(b"before\n")?;
        let output = File::options().append(true).open(&path)?;
        let outcome = subject.call(&["echo", "after"]).stdout(output).run()?;
        let content = fs::read_to_string(&path)?;
        ensure!(outcome.success() && content == "before\nafter\n", "{outcome} {content:?}");
        Ok(())
    })
}

fn live(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same(|subject| {
        let mut app = subject.talk("echo first; read -r x; echo second $x")?;
        app.expect("first\n")?;
        app.say("word\n")?;
        Ok(app.end()?)
    })?;
    ensure!(outcome.out() == "first\nsecond word\n", "{outcome}");
    Ok(())
}

/// "At once", on a machine that has other things to do.
const AT_ONCE: Duration = Duration::from_secs(5);

fn yes_head(scene: &Scene<'_>) -> Result<()> {
    let outcome = scene.same_script(r#""$APP" yes | head -1; echo "${PIPESTATUS[@]}""#)?;
    ensure!(outcome.out() == "y\n141 0\n" && outcome.err().is_empty(), "{outcome}");
    Ok(())
}

fn reader_closes(scene: &Scene<'_>) -> Result<()> {
    let signal = scene.same(|subject| {
        let (mut reader, writer) = std::io::pipe()?;
        let mut command = subject.command();
        command.args(["yes"]);
        let mut child = Call::new(command).stdout(writer).spawn()?;
        let mut word = [0; 2];
        reader.read_exact(&mut word).context("no output")?;
        drop(reader);
        let start = Instant::now();
        let ended = || child.try_wait().ok().flatten();
        let status = flake_testkit::until("the end of yes", ended, String::new)?;
        ensure!(start.elapsed() < AT_ONCE, "took {:?} to end", start.elapsed());
        Ok(std::os::unix::process::ExitStatusExt::signal(&status))
    })?;
    ensure!(signal == Some(13), "{signal:?}");
    Ok(())
}
