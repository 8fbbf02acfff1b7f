//! The users of a scratch host.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Context as _;
use crate::{Result, host, mounts};

/// A user of a scratch host.
#[derive(Debug, PartialEq, Eq)]
pub struct User {
    /// The login name; the group has the same.
    pub name: &'static str,
    /// Both uid and gid.
    pub id: u32,
    /// The first subordinate id of the 65536 the user owns.
    pub(crate) subordinate: Option<u32>,
    /// The one program that sudo lets the user run as root, without a password.
    pub(crate) sudo: Option<&'static str>,
}

/// Root.
pub const ROOT: User = User { name: "root", id: 0, subordinate: None, sudo: None };
/// A normal user with subordinate ids who may call the launcher through sudo.
pub const ADA: User =
    User { name: "ada", id: 4242, subordinate: Some(10_000_000), sudo: Some("/usr/bin/podman-pilot") };
/// A normal user with subordinate ids and no sudo rule.
pub const BOB: User = User { name: "bob", id: 4243, subordinate: Some(20_000_000), sudo: None };
/// A user who has no subordinate ids, so podman cannot work rootless.
pub const NOSUB: User = User { name: "nosub", id: 4244, subordinate: None, sudo: None };

/// Everybody a scratch host knows beside the real users.
pub(crate) const ALL: [&User; 4] = [&ROOT, &ADA, &BOB, &NOSUB];

impl User {
    /// The home directory.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        if self.id == 0 { "/root".into() } else { PathBuf::from("/home").join(self.name) }
    }

    /// `XDG_RUNTIME_DIR`; root has none, as after `su` or in a service.
    #[must_use]
    pub fn runtime_dir(&self) -> Option<PathBuf> {
        (self.id != 0).then(|| PathBuf::from(format!("/run/user/{}", self.id)))
    }

    /// A command run as this user, at home, with the environment and groups of a fresh login and nothing
    /// else.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("/usr/bin/setpriv");
        let id = self.id.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--init-groups"]).arg(program);
        command.env_clear().envs([
            ("LANG", "C.UTF-8"),
            ("LOGNAME", self.name),
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
            ("SHELL", "/bin/bash"),
            ("TERM", "xterm"),
            ("USER", self.name),
        ]);
        command.env("HOME", self.home()).current_dir(self.home());
        if let Some(dir) = self.runtime_dir() {
            command.env("XDG_RUNTIME_DIR", dir);
        }
        command
    }
}

/// Adds everybody to the private /etc, makes their homes in `scratch`, and leaves sudo with the rules given
/// here.
pub(crate) fn add_all(scratch: &Path) -> Result<()> {
    rewrite("passwd", |user| {
        format!("{0}:x:{1}:{1}:{0}:{2}:/bin/bash", user.name, user.id, user.home().display())
    })?;
    rewrite("group", |user| format!("{}:x:{}:", user.name, user.id))?;
    rewrite("shadow", |user| format!("{}:*:19000:0:99999:7:::", user.name))?;
    rewrite("gshadow", |user| format!("{}:*::", user.name))?;
    let ranges: String =
        ALL.iter().filter_map(|user| Some(format!("{}:{}:65536\n", user.name, user.subordinate?))).collect();
    for name in ["subuid", "subgid"] {
        save(name, &ranges)?;
    }
    let homes = scratch.join("home");
    for user in ALL.iter().filter(|user| user.id != 0) {
        let home = host::own_directory(&homes, user.name, user.id)?;
        mounts::bind(&home, &user.home(), false)?;
        host::own_directory(Path::new("/run/user"), &user.id.to_string(), user.id)?;
    }
    sudo_rules()
}

/// Puts everybody's line into /etc/NAME, instead of lines with the same name or id.
fn rewrite(name: &str, line: impl Fn(&User) -> String) -> Result<()> {
    let old = fs::read_to_string(Path::new("/etc").join(name)).unwrap_or_default();
    let by_id = matches!(name, "passwd" | "group");
    let taken = |line: &&str| {
        let mut fields = line.split(':');
        let (name, id) = (fields.next(), fields.nth(1));
        ALL.iter()
            .any(|user| name == Some(user.name) || by_id && id.is_some_and(|id| id == user.id.to_string()))
    };
    let ours = ALL.iter().map(|user| line(user));
    let kept = old.lines().filter(|line| !taken(line)).map(str::to_owned);
    let text: String = ours.chain(kept).map(|line| line + "\n").collect();
    save(name, &text)
}

fn sudo_rules() -> Result<()> {
    let dir = Path::new("/etc/sudoers.d");
    for entry in fs::read_dir(dir).context(|| "list /etc/sudoers.d")?.flatten() {
        fs::remove_file(entry.path()).context(|| "empty the private /etc/sudoers.d")?;
    }
    let rules: String = ALL
        .iter()
        .filter_map(|user| Some(format!("{} ALL=(root) NOPASSWD: {}\n", user.name, user.sudo?)))
        .collect();
    save("sudoers.d/flake-testkit", &rules)?;
    fs::set_permissions(dir.join("flake-testkit"), Permissions::from_mode(0o440))
        .context(|| "close the sudo rules")
}

fn save(name: &str, text: &str) -> Result<()> {
    fs::write(Path::new("/etc").join(name), text).context(|| format!("write the private /etc/{name}"))
}
