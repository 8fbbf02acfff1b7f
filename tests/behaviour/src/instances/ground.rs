//! A flake whose instances are kept, in one of the ways.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Conversation, Image, Outcome, ScratchHost, Subject, Terminal, User};

use super::way::Way;

/// A trial: its name, which is the flake's, too; options of `flake-ctl register`; and what it does.
pub(super) type Case = (&'static str, &'static [&'static str], fn(&Ground<'_>) -> Result<()>);

/// The flake, who calls it, and where what belongs to it is.
pub(super) struct Ground<'a> {
    pub(super) host: &'a ScratchHost,
    pub(super) way: Way,
    pub(super) name: String,
    /// The flake is its `app`.
    pub(super) subject: Subject,
}

impl<'a> Ground<'a> {
    /// Has a flake of a small system registered.
    pub(super) fn new(host: &'a ScratchHost, way: Way, name: &str, options: &[&str]) -> Result<Self> {
        Self::of(host, way, (name, &Image::BOX, "/bin/busybox"), options)
    }

    /// Has a flake registered. Where its image has to be brought to the caller first, that is done.
    pub(super) fn of(
        host: &'a ScratchHost,
        way: Way,
        (name, image, target): (&str, &Image, &str),
        options: &[&str],
    ) -> Result<Self> {
        let options = [way.options, options].concat();
        let app = host.register(way.owner, (name, image, target), &options)?;
        let subject = Subject { app, ..Subject::control(way.caller) };
        let ground = Self { host, way, name: name.to_owned(), subject };
        ground.set_up()?;
        Ok(ground)
    }

    /// Has the first call done of what was registered, of which nothing is left but the image.
    pub(super) fn set_up(&self) -> Result<()> {
        if self.way.is_set_up() {
            self.terminal("\"$APP\" %remove true")?.end()?;
        }
        Ok(())
    }

    /// Who calls.
    pub(super) fn user(&self) -> &'static User {
        self.subject.user
    }

    pub(super) fn call(&self, words: &[&str]) -> Result<Outcome> {
        Ok(self.subject.call(words).run()?)
    }

    /// Exactly this comes out of a call, and nothing is said.
    pub(super) fn prints(&self, words: &[&str], out: &str) -> Result<()> {
        let outcome = self.call(words)?;
        ensure!(
            outcome.success() && outcome.out() == out && outcome.stderr.is_empty(),
            "{words:?}: {outcome}, expected {out:?}"
        );
        Ok(())
    }

    /// The launcher refuses a call with exactly this, its own name left out.
    pub(super) fn refuses(&self, words: &[&str], err: &str) -> Result<()> {
        let outcome = self.call(words)?;
        let expected = format!("{}: {err}\n", self.name);
        ensure!(
            outcome.code == Some(125) && outcome.stdout.is_empty() && outcome.err() == expected,
            "{words:?}: {outcome}, expected {expected:?}"
        );
        Ok(())
    }

    /// A call that runs until its standard input ends, from when it runs.
    pub(super) fn running(&self, words: &[&str]) -> Result<Conversation> {
        let words: Vec<_> = words.iter().chain(&["sh", "-c", "echo runs; cat"]).copied().collect();
        let running = Conversation::new(self.subject.call(&words).spawn()?);
        running.expect("runs\n")?;
        Ok(running)
    }

    /// A script of bash on a terminal, in which `$APP` is the flake.
    pub(super) fn terminal(&self, script: &str) -> Result<Terminal> {
        Ok(self.subject.terminal(script)?)
    }

    /// Everything that a terminal shows of a script, which has to end with status 0.
    pub(super) fn shown(&self, script: &str) -> Result<String> {
        let ended = self.terminal(script)?.end()?;
        ensure!(ended.code == Some(0), "{script}: {ended:?}");
        Ok(ended.seen)
    }

    /// Adds a layer to the flake file.
    pub(super) fn layer(&self, text: &str) -> Result<()> {
        let folder = self.configuration().join(format!("{}.d", self.name));
        fs::create_dir_all(&folder)?;
        let path = folder.join("50.yaml");
        fs::write(&path, text).with_context(|| path.display().to_string())
    }

    fn configuration(&self) -> PathBuf {
        match self.way.owner.id {
            0 => "/usr/share/flakes".into(),
            _ => self.way.owner.home().join(".config/flakes"),
        }
    }

    /// The folder of what is noted about the instances.
    pub(super) fn notes(&self) -> PathBuf {
        let state = match self.way.keeper.id {
            0 => "/var/lib/flakes".into(),
            _ => self.way.keeper.home().join(".local/state/flakes"),
        };
        state.join("instances").join(self.user().id.to_string()).join(&self.name)
    }

    /// The folder of the agents' sockets.
    pub(super) fn sockets(&self) -> PathBuf {
        self.way.keeper.runtime_dir().map_or("/run/flakes".into(), |runtime| runtime.join("flakes"))
    }

    /// Has an instance be one that was used last so long ago.
    pub(super) fn idle(&self, label: &str, time: Duration) -> Result<()> {
        let note = File::options().write(true).open(self.notes().join(label))?;
        Ok(note.set_modified(SystemTime::now() - time)?)
    }

    /// The name of an instance's container; names in tests have no signs that need care but `_`.
    pub(super) fn container(&self, label: &str) -> String {
        let unnamed = format!("flake.{}..{}", self.user().id, self.name);
        if label == self.name { unnamed } else { format!("{unnamed}..{label}") }
    }

    /// Podman's id of an instance's container.
    pub(super) fn id(&self, label: &str) -> Result<String> {
        let container = self.container(label);
        Ok(self.podman(["container", "inspect", "--format", "{{.Id}}", &container])?.trim().to_owned())
    }

    /// The labels of the instances whose containers are there, in order.
    pub(super) fn labels(&self) -> Result<Vec<String>> {
        let filter = format!("label=flake.group={}", self.name);
        let format = "{{index .Labels \"flake.instance\"}}";
        let list = self.podman(["ps", "--all", "--filter", &filter, "--format", format])?;
        let mut labels: Vec<String> = list.lines().map(str::to_owned).collect();
        labels.sort();
        Ok(labels)
    }

    /// Exactly these instances are there.
    pub(super) fn has(&self, labels: &[&str]) -> Result<()> {
        let found = self.labels()?;
        ensure!(found == labels, "instances: {found:?}, expected {labels:?}");
        Ok(())
    }

    /// Podman of the store that the instances are in.
    pub(super) fn podman<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Result<String> {
        Ok(self.host.podman(self.way.keeper, words).check()?.out())
    }

    /// Podman of the store that the flake's image is in.
    pub(super) fn owners_podman<S: AsRef<OsStr>>(
        &self,
        words: impl IntoIterator<Item = S>,
    ) -> Result<String> {
        Ok(self.host.podman(self.way.owner, words).check()?.out())
    }

    /// `flake-ctl VERB ...` about instances, by whoever has them.
    pub(super) fn manage(&self, verb: &str, words: &[&str]) -> Result<()> {
        let whose: &[&str] = if self.way.is_lent() { &["--user", self.user().name] } else { &[] };
        self.host.flake_ctl(self.way.keeper, [&[verb], whose, words].concat()).check()?;
        Ok(())
    }

    /// How a person removes instances with `flake-ctl`.
    pub(super) fn rm(&self) -> String {
        match self.way.is_lent() {
            true => format!("sudo flake-ctl rm --user {}", self.user().name),
            false => "flake-ctl rm".to_owned(),
        }
    }

    pub(super) fn stop(&self, label: &str) -> Result<()> {
        self.podman(["stop", "--time", "0", &self.container(label)]).map(drop)
    }

    /// Takes the flake away, with all that it has. While another user's flake of that name is there, instances stay
    /// when only this one goes.
    pub(super) fn end(&self) -> Result<()> {
        for label in self.labels()? {
            self.podman(["rm", "--force", "--time", "0", "--volumes", &self.container(&label)])?;
        }
        let app = self.subject.app.as_os_str();
        let words = ["remove", "--force", "--app"].map(OsStr::new).into_iter().chain([app]);
        self.host.flake_ctl(self.way.owner, words).check()?;
        Ok(())
    }
}
