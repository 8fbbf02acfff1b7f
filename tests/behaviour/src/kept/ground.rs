//! A flake of one way whose instance is kept, and what podman, the host and the launcher know of it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use flake_testkit::processes::Process;
use flake_testkit::{Call, Image, Outcome, ROOT, ScratchHost, processes, until};

use super::Way;
use crate::plans::remains::Host;

/// A case: its name and what it does.
pub(super) type Case = (&'static str, fn(&Ground<'_>) -> Result<()>);

/// What a case stands on.
pub(super) struct Ground<'a> {
    pub(super) host: &'a ScratchHost,
    pub(super) way: Way,
    pub(super) case: &'static str,
}

/// A flake that one case has for itself.
pub(super) struct Flake<'a> {
    pub(super) host: &'a ScratchHost,
    pub(super) way: Way,
    pub(super) name: String,
    pub(super) app: PathBuf,
    /// The host without an instance of it.
    before: Host,
}

impl<'a> Ground<'a> {
    /// A flake of busybox that has been called once; there is no instance of it.
    pub(super) fn flake(&self) -> Result<Flake<'a>> {
        self.flake_with(&Image::BOX, &[])
    }

    /// The same of another image, and registered with further options.
    pub(super) fn flake_with(&self, image: &Image, options: &[&str]) -> Result<Flake<'a>> {
        let name = format!("kept-{}-{}", self.way.name, self.case.replace('_', "-"));
        let options = [&["--mutable"], self.way.options, options].concat();
        let app = self.host.register(self.way.owner, (&name, image, "/bin/busybox"), &options)?;
        // What comes with the first call of all is no remains: the image, locks, podman's own processes.
        let (host, way) = (self.host, self.way);
        let mut flake = Flake { host, way, name, app, before: Host::look()? };
        flake.works().context("before anything was done to it")?;
        flake.remove()?;
        flake.before = Host::look()?;
        Ok(flake)
    }
}

impl Flake<'_> {
    /// `app WORDS...` by the caller.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.way.caller.command(&self.app);
        command.args(words);
        command
    }

    pub(super) fn call(&self, words: &[&str]) -> Call {
        Call::new(self.command(words))
    }

    /// A call prints this and nothing else.
    pub(super) fn prints(&self, words: &[&str], text: &str) -> Result<()> {
        let outcome = self.call(words).run()?;
        let is_that = outcome.success() && outcome.out() == text && outcome.stderr.is_empty();
        ensure!(is_that, "{words:?}: {outcome}");
        Ok(())
    }

    pub(super) fn works(&self) -> Result<()> {
        self.prints(&["echo", "word"], "word\n")
    }

    /// Makes the instance, with data in it.
    pub(super) fn begin(&self) -> Result<()> {
        self.prints(&["sh", "-c", "echo kept > /data"], "")
    }

    pub(super) fn has_data(&self) -> Result<()> {
        self.prints(&["cat", "/data"], "kept\n")
    }

    /// Removes the instance; the host is what it was before there was one.
    pub(super) fn end(self) -> Result<()> {
        self.remove()?;
        self.nothing_more()
    }

    /// The next call finds its data, in the one instance there is; then that goes.
    pub(super) fn heals(self) -> Result<()> {
        self.has_data()?;
        self.is_one()?;
        self.end()
    }

    /// Half as long again as something takes.
    pub(super) fn span(&self, call: impl FnOnce(&Self) -> Result<()>) -> Result<Duration> {
        let start = Instant::now();
        call(self)?;
        Ok(start.elapsed() * 3 / 2)
    }

    pub(super) fn remove(&self) -> Result<()> {
        self.prints(&["flake", &format!("remove={}", self.name)], "")
    }

    /// There is nothing on the host but what was there without an instance.
    pub(super) fn nothing_more(&self) -> Result<()> {
        ensure!(self.containers()?.is_empty(), "{:?}", self.containers());
        self.before.has_nothing_more()
    }

    /// The instance is up, and there is one of everything.
    pub(super) fn is_one(&self) -> Result<()> {
        let containers = self.containers()?;
        ensure!(containers == [self.container()], "{containers:?}");
        let number = agents().len();
        ensure!(number == 1, "{number} agents: {:#?}", processes::all());
        let noted = self.noted()?;
        ensure!(noted.id == self.podman_says("{{.Id}}")?, "another container is noted");
        let folder = noted.socket.parent().context("no folder")?;
        let one = || fs::read_dir(folder).is_ok_and(|found| found.count() == 1).then_some(());
        let seen = || format!("{:#?}", fs::read_dir(folder).map(Iterator::collect::<Vec<_>>));
        until("one socket", one, seen)?;
        Ok(())
    }

    /// The name of its container.
    pub(super) fn container(&self) -> String {
        format!("flake.{}..{}", self.way.caller.id, self.name)
    }

    /// The names of all containers of the store.
    pub(super) fn containers(&self) -> Result<Vec<String>> {
        let list = self.podman(&["ps", "--all", "--external", "--format", "{{.Names}}"])?;
        Ok(list.lines().map(str::to_owned).collect())
    }

    pub(super) fn podman(&self, words: &[&str]) -> Result<String> {
        Ok(self.host.podman(self.way.store, words).check()?.out())
    }

    pub(super) fn podman_says(&self, format: &str) -> Result<String> {
        let words = ["container", "inspect", "--format", format, &self.container()];
        Ok(self.podman(&words)?.trim().to_owned())
    }

    /// What is noted about the instance.
    pub(super) fn note(&self) -> PathBuf {
        let home = self.way.store.home();
        let state =
            if self.way.store.id == 0 { "/var/lib/flakes".into() } else { home.join(".local/state/flakes") };
        state.join(format!("instances/{}/{1}/{1}", self.way.caller.id, self.name))
    }

    pub(super) fn noted(&self) -> Result<Noted> {
        let text = fs::read_to_string(self.note()).context("no note")?;
        let lines: Vec<_> = text.lines().collect();
        let [id, _, socket] = lines[..] else { bail!("{text:?}") };
        Ok(Noted { id: id.to_owned(), socket: socket.into() })
    }

    /// The launcher's own failure: one line with `named` in it.
    pub(super) fn failed(&self, outcome: &Outcome, named: &str) -> Result<()> {
        ensure!(outcome.code == Some(125) && outcome.stdout.is_empty(), "{outcome}");
        let said = outcome.err();
        ensure!(said.lines().count() == 1 && said.len() < 600, "not one line: {outcome}");
        ensure!(said.contains(named), "no word about {named}: {outcome}");
        Ok(())
    }
}

/// What a note says.
pub(super) struct Noted {
    pub(super) id: String,
    pub(super) socket: PathBuf,
}

/// Agents of kept instances, by process id.
pub(super) fn agents() -> Vec<u32> {
    let all = named(&["podman-init", "init", "sci"]);
    // A command has the agent's name until it is executed.
    all.iter()
        .filter(|agent| all.iter().all(|other| other.pid != agent.parent))
        .map(|agent| agent.pid)
        .collect()
}

/// Podman's monitors.
pub(super) fn monitors() -> Vec<u32> {
    named(&["conmon"]).iter().map(|monitor| monitor.pid).collect()
}

fn named(names: &[&str]) -> Vec<Process> {
    let is_meant = |process: &Process| names.contains(&process.name.as_str()) && process.pid > 1;
    processes::all().into_iter().filter(is_meant).collect()
}

/// A script of root's on the host.
pub(super) fn shell(script: &str) -> Result<()> {
    let mut command = ROOT.command("/bin/sh");
    command.args(["-ec", script]);
    Call::new(command).check().context("prepare the host")?;
    Ok(())
}
