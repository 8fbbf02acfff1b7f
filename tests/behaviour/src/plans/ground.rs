//! A flake of one way, its plan, and what may be said of a call.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, Image, Outcome, ROOT, ScratchHost};

use super::Way;

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
    /// The reference of its image.
    pub(super) image: String,
    pub(super) app: PathBuf,
    /// `NAME.yaml`.
    pub(super) file: PathBuf,
    pub(super) plan: PathBuf,
}

/// What tells one plan from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Written {
    inode: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl<'a> Ground<'a> {
    /// A flake of busybox for this case, called once.
    pub(super) fn flake(&self) -> Result<Flake<'a>> {
        self.flake_of(&Image::BOX)
    }

    /// The same with an image that no other flake has.
    pub(super) fn flake_with_image(&self) -> Result<Flake<'a>> {
        self.flake_of(&own_image(&self.name(), "one"))
    }

    /// Where the caller's plans and pins are.
    pub(super) fn state(&self) -> PathBuf {
        state(self.way)
    }

    fn name(&self) -> String {
        format!("plans-{}-{}", self.way.name, self.case.replace('_', "-"))
    }

    fn flake_of(&self, image: &Image) -> Result<Flake<'a>> {
        self.flake_with(image, &[])
    }

    /// A flake of an image, registered with further options.
    pub(super) fn flake_with(&self, image: &Image, options: &[&str]) -> Result<Flake<'a>> {
        let Way { owner, caller, .. } = self.way;
        let name = self.name();
        let app = self.host.register(owner, (&name, image, "/bin/busybox"), options)?;
        let flakes =
            if owner.id == 0 { "/usr/share/flakes".into() } else { owner.home().join(".config/flakes") };
        let plan = if owner.id == caller.id { name.clone() } else { format!(".system/{name}") };
        let flake = Flake {
            host: self.host,
            way: self.way,
            image: image.reference(),
            app,
            file: flakes.join(format!("{name}.yaml")),
            plan: self.state().join("plans").join(plan),
            name,
        };
        works(&flake.echo()?).context("before anything was done to it")?;
        ensure!(flake.goes_straight()?, "{} has another way", flake.name);
        Ok(flake)
    }
}

/// An image with `/which`, which says `content`; its layer is in no other image.
pub(super) fn own_image(name: &str, content: &str) -> Image {
    let content: &'static str = format!("{content} {name}\n").leak();
    let files: &'static [(&str, &str)] = Box::leak(Box::new([("/which", content)]));
    Image { name: name.to_owned().leak(), files, ..Image::BOX }
}

fn state(way: Way) -> PathBuf {
    if way.caller.id == 0 { "/var/lib/flakes".into() } else { way.caller.home().join(".local/state/flakes") }
}

impl Flake<'_> {
    /// `app WORDS...` by the caller.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.way.caller.command(&self.app);
        command.args(words);
        command
    }

    pub(super) fn call(&self, words: &[&str]) -> Result<Outcome> {
        Ok(Call::new(self.command(words)).run()?)
    }

    pub(super) fn echo(&self) -> Result<Outcome> {
        self.call(&["echo", "word"])
    }

    /// What a script prints inside, which has to end well.
    pub(super) fn prints(&self, script: &str) -> Result<String> {
        let outcome = self.call(&["sh", "-c", script])?;
        ensure!(outcome.success() && outcome.stderr.is_empty(), "{script}: {outcome}");
        Ok(outcome.out().trim_end().to_owned())
    }

    /// `app echo word` in a mount namespace of its own, which a script of root's prepares; the script's words are
    /// `$1` to `$9`, and it may set `enter` to what is put before the call.
    pub(super) fn within<W: AsRef<OsStr>>(&self, script: &str, words: &[W]) -> Command {
        let call = self.command(&["echo", "word"]);
        let mut command = ROOT.command("/usr/bin/unshare");
        let script = format!("set -e; enter=; {script}; shift {}; exec $enter \"$@\"", words.len());
        command.args(["--mount", "/bin/sh", "-c", &script, "sh"]).args(words);
        command.arg(call.get_program()).args(call.get_args()).env_clear();
        command.envs(call.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.way.caller.home());
        command
    }

    pub(super) fn written(&self) -> Result<Written> {
        let plan = fs::symlink_metadata(&self.plan).with_context(|| self.plan.display().to_string())?;
        Ok(Written { inode: plan.ino(), seconds: plan.mtime(), nanoseconds: plan.mtime_nsec() })
    }

    /// Whether the plan says so.
    pub(super) fn goes_straight(&self) -> Result<bool> {
        let list = self.host.flake_ctl(self.way.caller, ["list", "--format", "csv"]).check()?.out();
        Ok(list.contains(&format!("{}.yaml,runner,\r\n", self.name)))
    }

    /// After `disturb` a call works by another plan, which the next call keeps.
    pub(super) fn is_planned_anew(&self, what: &str, disturb: impl FnOnce() -> Result<()>) -> Result<()> {
        self.is_planned_anew_by(what, disturb, |_| {})
    }

    /// The same for calls that have something of their own, such as a variable.
    pub(super) fn is_planned_anew_by(
        &self,
        what: &str,
        disturb: impl FnOnce() -> Result<()>,
        change: impl Fn(&mut Command),
    ) -> Result<()> {
        let before = self.written().with_context(|| format!("before: {what}"))?;
        disturb().with_context(|| format!("cannot make it: {what}"))?;
        let call = || {
            let mut command = self.command(&["echo", "word"]);
            change(&mut command);
            works(&Call::new(command).run()?).context(what.to_owned())
        };
        call()?;
        let after = self.written().with_context(|| format!("after: {what}"))?;
        ensure!(after != before, "{what}: the plan is the old one");
        ensure!(self.goes_straight()?, "{what}: the new plan has another way");
        call()?;
        ensure!(self.written()? == after, "{what}: planned more than once");
        Ok(())
    }

    /// A call works by the plan that is there.
    pub(super) fn keeps_its_plan(&self, what: &str) -> Result<()> {
        let before = self.written()?;
        works(&self.echo()?).context(what.to_owned())?;
        ensure!(self.written()? == before, "{what}: planned anew without need");
        Ok(())
    }

    /// Makes the plan stale without any change of meaning.
    pub(super) fn make_stale(&self) -> Result<()> {
        let text = fs::read_to_string(&self.file)?;
        Ok(fs::write(&self.file, text + "# \n")?)
    }
}

/// That `app echo word` did what it should and nothing else was said.
pub(super) fn works(outcome: &Outcome) -> Result<()> {
    ensure!(outcome.success() && outcome.out() == "word\n" && outcome.stderr.is_empty(), "{outcome}");
    Ok(())
}

/// The launcher's refusal, with a command that helps.
pub(super) fn refused(outcome: &Outcome, named: &str) -> Result<()> {
    failed(outcome, named)?;
    let said = outcome.err();
    ensure!(["try: ", "see: "].iter().any(|hint| said.contains(hint)), "no hint: {outcome}");
    Ok(())
}

/// The launcher's refusal: one line, with `named` in it.
pub(super) fn failed(outcome: &Outcome, named: &str) -> Result<()> {
    ensure!(outcome.code == Some(125) && outcome.stdout.is_empty(), "{outcome}");
    let said = std::str::from_utf8(&outcome.stderr).context("not even text")?;
    ensure!(said.lines().count() == 1 && said.len() < 500, "not one line: {outcome}");
    ensure!(said.contains(named), "no word about {named}: {outcome}");
    Ok(())
}

/// How many of each outcome there are.
pub(super) fn counted(outcomes: &[Outcome]) -> String {
    let mut counts = BTreeMap::<String, usize>::new();
    for outcome in outcomes {
        *counts.entry(outcome.to_string()).or_default() += 1;
    }
    format!("{counts:#?}")
}
