//! Readiness and liveness, through calls.

use anyhow::{Result, ensure};
use flake_testkit::{Conversation, until};

use super::ground::{Case, Ground};

pub(super) const CASES: &[Case] = &[
    ("i_ready", &["--mutable"], ready),
    ("i_hint", &["--mutable"], hint),
    ("i_unready", &["--mutable"], unready),
    ("i_hangs", &["--mutable"], hangs),
    ("i_restart", &["--mutable"], restart),
    ("i_anew_probe", &["--mutable"], remove),
    ("i_report", &["--mutable"], report),
];

/// Nobody enters before it is ready, also when many come at once.
fn ready(ground: &Ground<'_>) -> Result<()> {
    ground.layer(
        "provision:\n- script: (sleep 1.5; touch /ready) >/dev/null 2>&1 &\n\
         probes:\n- {script: 'echo try >>/tries; test -e /ready', interval: 200ms}\n",
    )?;
    std::thread::scope(|scope| {
        let calls: Vec<_> =
            (0..5).map(|_| scope.spawn(|| ground.prints(&["ls", "/ready"], "/ready\n"))).collect();
        calls.into_iter().try_for_each(|call| call.join().unwrap_or_else(|_| anyhow::bail!("a panic")))
    })?;
    ground.has(&["i_ready"])?;
    let tries = ground.call(&["sh", "-c", "wc -l </tries"])?.out().trim().parse::<u32>()?;
    ensure!(tries > 1, "{tries} tries");
    // What is up is not asked again; what was started is.
    ensure!(ground.call(&["sh", "-c", "wc -l </tries"])?.out().trim().parse::<u32>()? == tries);
    ground.stop("i_ready")?;
    ensure!(ground.call(&["sh", "-c", "wc -l </tries"])?.out().trim().parse::<u32>()? == tries + 1);
    Ok(())
}

/// What is waited for is said at the first try that fails, with the hint.
fn hint(ground: &Ground<'_>) -> Result<()> {
    ground.layer(
        "probes:\n- {description: the file, script: 'test -e /ready', hint: 'look at /ready', interval: 300ms}\n",
    )?;
    let terminal = ground.terminal("\"$APP\" echo word")?;
    terminal.expect("i_hint: probes[0]: waiting for the file (exit status 1)\r\n")?;
    terminal.expect("i_hint: probes[0]: look at /ready\r\n")?;
    let container = ground.container("i_hint");
    ground.podman(["exec", &container, "/bin/touch", "/ready"])?;
    terminal.expect("word\r\n")?;
    terminal.end()?;
    Ok(())
}

fn unready(ground: &Ground<'_>) -> Result<()> {
    ground.layer(
        "probes:\n- script: 'true'\n\
         - {description: what never comes, script: 'echo not there; exit 4', hint: 'try: again', interval: 200ms, \
         deadline: 1s}\n",
    )?;
    ground.refuses(
        &["true"],
        "probes[1] (what never comes) did not pass within 1s: exit status 4; its last lines:\n  not there\nhint: \
         try: again",
    )?;
    ground.has(&[])?;
    if ground.way.is_lent() {
        // Root's side goes on when the caller is gone.
        return Ok(());
    }
    let terminal = ground.terminal("trap : INT; \"$APP\" true; echo \"status $?\"")?;
    terminal.expect("waiting for what never comes (exit status 4)\r\n")?;
    terminal.send("\x03")?;
    terminal.expect("status 130\r\n")?;
    terminal.end()?;
    ground.has(&[])
}

/// A try that hangs is bounded.
fn hangs(ground: &Ground<'_>) -> Result<()> {
    let mark = ground.host.mark();
    ground.layer(&format!(
        "probes:\n- {{script: 'test -e /second || {{ touch /second; sleep {mark}; }}', interval: 100ms, timeout: 1s}}\n"
    ))?;
    ground.prints(&["echo", "word"], "word\n")?;
    flake_testkit::processes::until_gone(&mark)?;
    ground.layer(&format!(
        "probes:\n- {{script: sleep {mark}, interval: 100ms, timeout: 500ms, deadline: 1s}}\n"
    ))?;
    ground.refuses(&["@x", "true"], "probes[0] did not pass within 1s: not done within 500ms")?;
    flake_testkit::processes::until_gone(&mark)?;
    ground.has(&["i_hangs"])
}

fn alive(ground: &Ground<'_>, action: &str) -> Result<()> {
    ground.layer(&format!(
        "probes:\n- {{mode: liveness, description: the file, script: 'test ! -e /broken || {{ echo it is broken; exit \
         5; }}', interval: 100ms, failures: 2, action: {action}}}\n"
    ))
}

fn ended(ground: &Ground<'_>, label: &str, status: &str) -> Result<()> {
    let container = ground.container(label);
    let format = "{{.State.Status}} {{.State.ExitCode}}";
    let state =
        || ground.podman(["container", "inspect", "--format", format, &container]).unwrap_or_default();
    let expected = format!("exited {status}\n");
    Ok(until("the end of what is broken", || (state() == expected).then_some(()), state)?)
}

/// The data stays, and a person is told why it took so long.
fn restart(ground: &Ground<'_>) -> Result<()> {
    alive(ground, "restart")?;
    ground.prints(&["touch", "/data"], "")?;
    let id = ground.id("i_restart")?;
    let running = Conversation::new(ground.subject.call(&["sh", "-c", "echo runs; sleep 1000"]).spawn()?);
    running.expect("runs\n")?;
    ground.prints(&["touch", "/broken"], "")?;
    let outcome = running.end()?;
    ensure!(!outcome.success(), "{outcome}");
    ended(ground, "i_restart", "101")?;
    // The script that breaks it is away when it is started: else it would go again.
    ground.layer("probes: []\n")?;
    let shown = ground.shown("\"$APP\" sh -c 'ls /data; rm /broken'")?;
    ensure!(
        shown.starts_with("i_restart: ")
            && shown.contains("the file (probes[0])")
            && shown.contains("it is broken")
            && shown.ends_with("; started again\\r\\n/data\\r\\n"),
        "{shown}"
    );
    ensure!(ground.id("i_restart")? == id);
    // Only once.
    let shown = ground.shown("\"$APP\" ls /data")?;
    ensure!(shown == "/data\\r\\n", "{shown}");
    Ok(())
}

fn remove(ground: &Ground<'_>) -> Result<()> {
    alive(ground, "remove")?;
    ground.prints(&["touch", "/data"], "")?;
    let id = ground.id("i_anew_probe")?;
    ground.prints(&["touch", "/broken"], "")?;
    ended(ground, "i_anew_probe", "102")?;
    let shown = ground.shown("\"$APP\" sh -c 'ls /data /broken 2>/dev/null || echo new'")?;
    ensure!(
        shown.starts_with("i_anew_probe: ")
            && shown.contains("the file (probes[0])")
            && shown.ends_with("; made anew\\r\\nnew\\r\\n"),
        "{shown}"
    );
    ensure!(ground.id("i_anew_probe")? != id);
    ground.has(&["i_anew_probe"])
}

fn report(ground: &Ground<'_>) -> Result<()> {
    alive(ground, "report")?;
    ground.prints(&["touch", "/broken"], "")?;
    let id = ground.id("i_report")?;
    let mut shown = String::new();
    let told = || {
        shown = ground.shown("\"$APP\" echo word").ok()?;
        shown.contains("it is broken").then(|| shown.clone())
    };
    let told = until("the report", told, String::new)?;
    ensure!(
        told.starts_with("i_report: ")
            && told.contains("the file (probes[0])")
            && told.contains("word\\r\\n"),
        "{told}"
    );
    // Nobody else is told, and all goes on.
    ground.prints(&["sh", "-c", "rm /broken; echo word"], "word\n")?;
    ensure!(ground.id("i_report")? == id);
    std::thread::sleep(std::time::Duration::from_millis(400));
    let shown = ground.shown("\"$APP\" echo word")?;
    ensure!(shown == "word\\r\\n", "{shown}");
    Ok(())
}
