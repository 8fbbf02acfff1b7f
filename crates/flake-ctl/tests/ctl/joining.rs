//! What a kept instance has said, and joining its terminal.

use anyhow::{Result, ensure};
use flake_testkit::{ADA, Conversation, ScratchHost, Subject};

use crate::Case;
use crate::instances::{gone, keeping};
use crate::kept::Made;
use crate::told::{line, refused, told};

pub(crate) const CASES: &[Case] =
    &[("an_instance_tells_what_it_said", logs), ("a_terminal_is_joined_where_there_is_one", attach)];

fn logs(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "log-i", &[])?;
    let made = Made::own(&ADA, "log-i", "log-i");
    made.start(host)?;
    told(line(host, &ADA, "logs log-i"), 0, "hello\n", "oops\n")?;
    let last = line(host, &ADA, "logs -n 1 log-i").check()?;
    ensure!(last.out().len() + last.err().len() == 5 + usize::from(last.out().starts_with('h')), "{last}");
    let following = Conversation::new(line(host, &ADA, "logs --follow log-i").spawn()?);
    following.expect("hello")?;
    line(host, &ADA, "stop --time 1 log-i").check()?;
    ensure!(following.end()?.success());
    host.podman(&ADA, ["start", &made.container()]).check()?;
    let terminal = Subject::control(&ADA).terminal("trap : INT; flake-ctl logs -f log-i; echo status $?")?;
    terminal.expect("hello")?;
    terminal.send("\u{3}")?;
    terminal.expect("status 130\r\n")?;
    terminal.end()?;
    gone(host, &ADA, "log-i")
}

fn attach(host: &ScratchHost) -> Result<()> {
    keeping(host, &ADA, "bes-i", &[])?;
    keeping(host, &ADA, "att-i", &["--attach"])?;
    Made::own(&ADA, "bes-i", "x").start(host)?;
    Made::own(&ADA, "att-i", "x").start(host)?;
    refused(
        line(host, &ADA, "attach bes-i"),
        "flake-ctl: bes-i has no terminal to join, a call runs beside the others\nhint: /home/ada/bin/bes-i @x\n",
    )?;
    line(host, &ADA, "stop --time 1 att-i").check()?;
    refused(
        line(host, &ADA, "attach att-i@x"),
        "flake-ctl: att-i@x does not run\nhint: start it: /home/ada/bin/att-i @x\n",
    )?;
    gone(host, &ADA, "bes-i")?;
    gone(host, &ADA, "att-i")
}
