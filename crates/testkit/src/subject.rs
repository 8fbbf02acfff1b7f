//! Something that can be called like a native command: the control, or a flake.

use std::path::PathBuf;
use std::process::Command;

use crate::{Call, Conversation, Image, Result, ScratchHost, Terminal, User};

/// Options of `flake-ctl podman register` with which a flake has to go through podman and the agent.
pub const AGENT_WAY: &[&str] = &["--opt", r"\--personality LINUX"];

/// A program under test, called by one user.
///
/// Its target is busybox, so `subject sh -c ...` on a flake does what `busybox sh -c ...` does on the host.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What trials are named after.
    pub name: &'static str,
    /// Who calls it.
    pub user: &'static User,
    /// The path that is called.
    pub app: PathBuf,
    /// The same with a target that does not exist.
    pub missing: PathBuf,
    /// The same with a target that is not executable.
    pub not_executable: PathBuf,
    /// What is in front of words that are the app's whatever they are: a kept flake has words of its own.
    pub before_words: &'static [&'static str],
}

impl Subject {
    /// The host's own busybox called by `user`.
    #[must_use]
    pub fn control(user: &'static User) -> Self {
        Self {
            name: "host",
            user,
            app: "/bin/busybox".into(),
            missing: "/bin/absent".into(),
            not_executable: "/etc/passwd".into(),
            before_words: &[],
        }
    }

    /// Flakes made of [`Image::BOX`] that `owner` registers with further `options`, called by `user`.
    ///
    /// # Errors
    ///
    /// When the image cannot be made or a registration fails.
    pub fn register(
        host: &ScratchHost,
        name: &'static str,
        (owner, user): (&'static User, &'static User),
        options: &[&str],
    ) -> Result<Self> {
        let flake = |suffix: &str, target: &str| {
            host.register(owner, (&format!("{name}{suffix}"), &Image::BOX, target), options)
        };
        let subject = Self {
            name,
            user,
            app: flake("", "/bin/busybox")?,
            missing: flake("-missing", "/bin/absent")?,
            not_executable: flake("-plain", "/etc/passwd")?,
            before_words: if options.contains(&"--mutable") { &["flake", "args"] } else { &[] },
        };
        // The first call of somebody else's flake sets it up, and says so on a terminal.
        if owner.id != user.id {
            for app in [&subject.app, &subject.missing, &subject.not_executable] {
                let mut command = user.command(app);
                command.arg("true");
                Call::new(command).run()?;
            }
        }
        Ok(subject)
    }

    /// `app` without arguments yet, run by the subject's user.
    #[must_use]
    pub fn command(&self) -> Command {
        self.user.command(&self.app)
    }

    /// The app with `words`.
    #[must_use]
    pub fn call(&self, words: &[&str]) -> Call {
        let mut command = self.command();
        command.args(words);
        Call::new(command)
    }

    /// The app as `sh -c SCRIPT`, running, with pipes to talk to it.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn talk(&self, script: &str) -> Result<Conversation> {
        Ok(Conversation::new(self.call(&["sh", "-c", script]).spawn()?))
    }

    /// `bash -c SCRIPT` with `$APP`, `$MISSING` and `$PLAIN` set to the paths, in a terminal of 24 rows and
    /// 80 columns.
    ///
    /// # Errors
    ///
    /// When there is no terminal or bash cannot be started.
    pub fn terminal(&self, script: &str) -> Result<Terminal> {
        Terminal::start(self.leader(&["-c", script]), self.user.id, 24, 80)
    }

    /// An interactive bash with job control in such a terminal, after its first prompt, `host> `.
    ///
    /// # Errors
    ///
    /// When there is no terminal or bash does not start.
    pub fn shell(&self) -> Result<Terminal> {
        let mut bash = self.leader(&["--noprofile", "--norc", "--noediting", "-i"]);
        bash.env("PS1", "host> ");
        let shell = Terminal::start(bash, self.user.id, 24, 80)?;
        shell.expect("host> ")?;
        Ok(shell)
    }

    /// `bash -c SCRIPT`, with the same variables.
    #[must_use]
    pub fn script(&self, script: &str) -> Command {
        let mut command = self.user.command("/usr/bin/bash");
        command.args(["-c", script]);
        self.export(&mut command);
        command
    }

    /// bash as the leader of a session.
    fn leader(&self, words: &[&str]) -> Command {
        let mut command = self.user.command("/usr/bin/setsid");
        command.args(["--ctty", "/usr/bin/bash"]).args(words);
        self.export(&mut command);
        command
    }

    fn export(&self, command: &mut Command) {
        command.env("APP", &self.app).env("MISSING", &self.missing).env("PLAIN", &self.not_executable);
    }
}
