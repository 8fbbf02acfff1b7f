//! Who registers a flake and who calls it, and calling it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{ADA, Call, Outcome, ROOT, ScratchHost, User};

use crate::Tree;

/// A way to own and call flakes.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// What trials are named after.
    pub name: &'static str,
    /// Who registers.
    pub owner: &'static User,
    /// Who calls.
    pub user: &'static User,
}

/// All of them.
pub const WAYS: [Way; 3] = [
    Way { name: "rootful", owner: &ROOT, user: &ROOT },
    Way { name: "rootless", owner: &ADA, user: &ADA },
    Way { name: "system", owner: &ROOT, user: &ADA },
];

impl Way {
    /// Registers a flake of the image with further options of `flake-ctl podman register`, and
    /// calls it once. Once per name; it has to go straight from the layers.
    ///
    /// # Errors
    /// When the image, the registration or the first call fail, or the agent is to run it.
    pub fn flake(&self, host: &ScratchHost, tree: &Tree, name: &str, options: &[&str]) -> Result<PathBuf> {
        let app = self.register(host, tree, name, options)?;
        // The first call of somebody else's flake sets it up, and says so on a terminal.
        self.call(&app, &[])?;
        let mut command = self.user.command("/usr/bin/flake-ctl");
        command.args(["plan", &self.full_name(name)]);
        let plan = Call::new(command).check()?.out();
        ensure!(plan.contains("runner") && !plan.contains("agent"), "not straight from the layers: {plan}");
        Ok(app)
    }

    /// Registers it, once per name, and does not call it.
    ///
    /// # Errors
    /// When the image or the registration fail.
    pub fn register(&self, host: &ScratchHost, tree: &Tree, name: &str, options: &[&str]) -> Result<PathBuf> {
        static MADE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
        let name = self.full_name(name);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(app) = made.get(&name) {
            return Ok(app.clone());
        }
        let image = tree.import(host, self.owner)?;
        let bin =
            if self.owner.id == 0 { PathBuf::from("/usr/local/bin") } else { self.owner.home().join("bin") };
        let app = bin.join(&name);
        let path = app.to_string_lossy().into_owned();
        let fixed = ["podman", "register", "--container", &image, "--target", tree.target, "--app", &path];
        let registered = host.flake_ctl(self.owner, fixed.iter().chain(options));
        registered.check().with_context(|| format!("register {name}"))?;
        made.insert(name, app.clone());
        Ok(app)
    }

    fn full_name(&self, name: &str) -> String {
        format!("{}-{name}", self.name)
    }

    /// A call by the user, in the user's home.
    ///
    /// # Errors
    /// When it does not end.
    pub fn call(&self, app: &Path, words: &[&str]) -> Result<Outcome> {
        Ok(Call::new(self.command(app, words)).run()?)
    }

    /// The same, not yet run.
    #[must_use]
    pub fn command(&self, app: &Path, words: &[&str]) -> Command {
        let mut command = self.user.command(app);
        command.args(words);
        command
    }

    /// The probe's attempt NAME in the flake, as lines by their keys.
    ///
    /// # Errors
    /// When the probe could not be run.
    pub fn attempt(&self, app: &Path, words: &[&str]) -> Result<BTreeMap<String, String>> {
        let words: Vec<&str> = ["/bin/probe", "try"].iter().chain(words).copied().collect();
        let script = ["sh", "-c", "exec \"$@\"", "sh"];
        let all: Vec<&str> = script.iter().chain(&words).copied().collect();
        lines(&self.call(app, &all)?)
    }
}

/// The probe's lines by their keys.
///
/// # Errors
/// When the probe failed.
pub(crate) fn lines(outcome: &Outcome) -> Result<BTreeMap<String, String>> {
    ensure!(outcome.success(), "the probe: {outcome}");
    let text = outcome.out();
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    Ok(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}
