//! The flakes that the identity cases call, registered once for all of them.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, ensure};
use flake_testkit::{Call, Image, Outcome, ScratchHost, User};

/// A zone that no test machine is in, with an offset nobody else has.
const ZONE: &str = "/usr/share/zoneinfo/Asia/Kathmandu";

/// A directory of the host for `share: /data`-like entries.
pub(super) const DATA: &str = "/srv/data";
/// The same for an entry that ends in `:ro`.
pub(super) const DATA_READ_ONLY: &str = "/srv/data-ro";

/// Where the flakes of one way are.
#[derive(Debug)]
pub(super) struct Paths {
    /// Nothing is shared, the image's user.
    plain: PathBuf,
    /// `share: [cwd]`, `user: caller`.
    here: PathBuf,
    /// The same from an image that says `USER 1000`.
    other_user: PathBuf,
    /// `share: [home]`, and the one with `:ro`.
    home: PathBuf,
    home_read_only: PathBuf,
    /// `share: [DATA, DATA_READ_ONLY:ro]`.
    data: PathBuf,
    /// `env: [LANG, AWS_*, KEY=value]`.
    environment: PathBuf,
}

impl Paths {
    pub(super) fn make(host: &ScratchHost, way: &str, owner: &User) -> Result<Self> {
        static PREPARED: OnceLock<Result<(), String>> = OnceLock::new();
        let prepared = PREPARED.get_or_init(|| prepare().map_err(|error| format!("{error:#}")));
        prepared.clone().map_err(anyhow::Error::msg)?;
        let flake = |name: &str, image: &Image, options: &[&str]| {
            host.register(owner, (&format!("{way}-{name}"), image, "/bin/busybox"), options)
                .with_context(|| format!("register {name}"))
        };
        let read_only = format!("{DATA_READ_ONLY}:ro");
        Ok(Self {
            plain: flake("plain", &Image::BOX, &[])?,
            here: flake("here", &Image::BOX, &["--share", "cwd", "--as-caller"])?,
            other_user: flake("other", &Image::USERIMG, &["--share", "cwd", "--as-caller"])?,
            home: flake("home", &Image::BOX, &["--share", "home", "--share", "cwd"])?,
            home_read_only: flake("home-ro", &Image::BOX, &["--share", "home:ro"])?,
            data: flake("data", &Image::BOX, &["--share", DATA, "--share", &read_only])?,
            environment: flake(
                "env",
                &Image::BOX,
                &["--env", "LANG", "--env", "AWS_*", "--env", "KEY=value"],
            )?,
        })
    }
}

/// What all ways need of the host: a time zone of its own and directories to share.
fn prepare() -> Result<()> {
    ensure!(Path::new(ZONE).exists(), "needs {ZONE}: apt-get install tzdata");
    fs::remove_file("/etc/localtime").context("replace the private /etc/localtime")?;
    symlink(ZONE, "/etc/localtime")?;
    for dir in [DATA, DATA_READ_ONLY] {
        fs::create_dir_all(dir)?;
        fs::write(Path::new(dir).join("file"), "shared\n")?;
        fs::set_permissions(dir, std::os::unix::fs::PermissionsExt::from_mode(0o777))?;
    }
    Ok(())
}

/// The flakes of one way and who calls them.
pub(crate) struct Apps<'a> {
    pub(super) host: &'a ScratchHost,
    pub(super) user: &'static User,
    pub(super) paths: &'a Paths,
}

impl Apps<'_> {
    pub(super) fn plain(&self, dir: &Path, words: &[&str]) -> Result<Outcome> {
        self.call(&self.paths.plain, dir, words)
    }

    pub(super) fn here(&self, dir: &Path, words: &[&str]) -> Result<Outcome> {
        self.call(&self.paths.here, dir, words)
    }

    pub(super) fn other_user(&self, dir: &Path, words: &[&str]) -> Result<Outcome> {
        self.call(&self.paths.other_user, dir, words)
    }

    pub(super) fn home(&self, dir: &Path, words: &[&str]) -> Result<Outcome> {
        self.call(&self.paths.home, dir, words)
    }

    pub(super) fn home_read_only(&self, dir: &Path, words: &[&str]) -> Result<Outcome> {
        self.call(&self.paths.home_read_only, dir, words)
    }

    pub(super) fn data(&self, dir: &Path, words: &[&str]) -> Result<Outcome> {
        self.call(&self.paths.data, dir, words)
    }

    /// The command of the flake with an allow-list, for more variables.
    pub(super) fn environment(&self) -> std::process::Command {
        self.user.command(&self.paths.environment)
    }

    /// The path of the flake that shares the directory.
    pub(super) fn here_path(&self) -> &Path {
        &self.paths.here
    }

    /// The host's own busybox.
    pub(super) fn control(&self, dir: &Path, words: &[&str]) -> Result<Outcome> {
        self.call(Path::new("/bin/busybox"), dir, words)
    }

    /// What `words` print in `dir` with the directory shared is what they print on the host.
    pub(super) fn same_here(&self, dir: &Path, words: &[&str]) -> Result<String> {
        let (expected, found) = (self.control(dir, words)?, self.here(dir, words)?);
        ensure!(found == expected, "{words:?}: the host command gave {expected}\nthis gave {found}");
        Ok(found.out())
    }

    /// A new directory of the caller, below the caller's home.
    pub(super) fn directory(&self) -> Result<PathBuf> {
        let dir = self.user.home().join(format!("work {}", self.host.mark()));
        fs::create_dir(&dir)?;
        chown(&dir, Some(self.user.id), Some(self.user.id))?;
        Ok(dir)
    }

    fn call(&self, app: &Path, dir: &Path, words: &[&str]) -> Result<Outcome> {
        let mut command = self.user.command(app);
        command.args(words).current_dir(dir);
        Ok(Call::new(command).run()?)
    }
}
