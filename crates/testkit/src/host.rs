//! A host of its own for a test binary, made of namespaces.
//!
//! It looks like the machine below it: the same programs and files. But /etc, /root, /usr and /var/lib are
//! overlays whose changes go to a scratch directory, /home, /run, /tmp and /dev/shm are private, and so are
//! the processes, the network (there is only the loopback), the host name and the mounts. So tests may add
//! users, sudo rules, podman configuration and programs in their real places, and what they break is gone
//! with the namespaces.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use nix::sched::{CloneFlags, unshare};

use crate::error::Context as _;
use crate::{Call, Image, Result, User, mounts, podman_conf, product, user};

const NAME: &str = "scratch";
/// Things of the testkit itself; closed to normal users.
const PRIVATE: &str = "/run/flake-testkit";

/// The host that the tests of this binary run on.
#[derive(Debug)]
pub struct ScratchHost {
    /// The images made so far: reference and uid of the store's owner.
    images: Mutex<BTreeSet<(String, u32)>>,
    marks: AtomicU32,
}

impl ScratchHost {
    /// Turns this process, the only one of its pid namespace, into the first one of a scratch host.
    pub(crate) fn build(scratch: &Path) -> Result<()> {
        use CloneFlags as Ns;
        unshare(Ns::CLONE_NEWNS | Ns::CLONE_NEWNET | Ns::CLONE_NEWUTS | Ns::CLONE_NEWIPC)
            .context(|| "make namespaces")?;
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
        mounts::detach()?;
        // On a host with systemd-resolved this is a link into /run, which is hidden soon.
        let resolver = fs::read("/etc/resolv.conf").unwrap_or_default();
        for dir in ["/etc", "/opt", "/root", "/srv", "/usr", "/var/lib"] {
            if Path::new(dir).is_dir() {
                mounts::overlay(dir, &scratch.join(dir.replace('/', "-")))?;
            }
        }
        mounts::bind(&directory(scratch, "containers", 0o700)?, Path::new("/var/lib/containers"), false)?;
        mounts::tmpfs("/run", 0o755)?;
        directory(Path::new("/run"), "lock", 0o1777)?;
        directory(Path::new("/run"), "user", 0o755)?;
        let private = directory(Path::new("/run"), "flake-testkit", 0o700)?;
        mounts::extend("/home", &private.join("home"))?;
        mounts::tmpfs("/dev/shm", 0o1777)?;
        mounts::bind(&directory(scratch, "tmp", 0o1777)?, Path::new("/tmp"), false)?;
        mounts::proc()?;
        mounts::bind(Path::new("/"), &real(""), false)?;
        mounts::read_only(&real(""))?;
        forget()?;
        let _ = fs::remove_file("/etc/resolv.conf");
        fs::write("/etc/resolv.conf", resolver).context(|| "write /etc/resolv.conf")?;
        name()?;
        loopback()?;
        podman_conf::write()?;
        user::add_all(scratch)?;
        let staged = scratch.join("stage");
        if staged.exists() { product::install(&staged, Path::new("/usr")) } else { Ok(()) }
    }

    /// A handle for the process that runs the tests.
    pub(crate) fn entered() -> Self {
        Self { images: Mutex::default(), marks: AtomicU32::new(0) }
    }

    /// Where the machine's own `path` can be looked at, read-only.
    #[must_use]
    pub fn real(&self, path: &str) -> PathBuf {
        real(path)
    }

    /// A number that is on no other command line: as the seconds of a `sleep` it finds the process again.
    #[must_use]
    pub fn mark(&self) -> String {
        (100_000_000 + self.marks.fetch_add(1, Ordering::Relaxed)).to_string()
    }

    /// `podman ARGS...` run by `user`.
    pub fn podman<S: AsRef<OsStr>>(&self, user: &User, args: impl IntoIterator<Item = S>) -> Call {
        let mut command = user.command("/usr/bin/podman");
        command.args(args);
        Call::new(command)
    }

    /// `flake-ctl ARGS...` run by `user`.
    pub fn flake_ctl<S: AsRef<OsStr>>(&self, user: &User, args: impl IntoIterator<Item = S>) -> Call {
        let mut command = user.command("/usr/bin/flake-ctl");
        command.args(args);
        Call::new(command)
    }

    /// Has `owner` register `target` of `image` as NAME in the owner's directory of programs, with further
    /// `options` of `flake-ctl podman register`, and gives the path that is then called.
    ///
    /// # Errors
    ///
    /// When the image cannot be made or the registration fails.
    pub fn register(
        &self,
        owner: &User,
        (name, image, target): (&str, &Image, &str),
        options: &[&str],
    ) -> Result<PathBuf> {
        let image = self.image(owner, image)?;
        let bin = if owner.id == 0 { PathBuf::from("/usr/local/bin") } else { owner.home().join("bin") };
        let app = bin.join(name);
        let fixed = ["podman", "register", "--container", &image, "--target", target, "--app"];
        let words = fixed.map(OsStr::new).into_iter().chain([app.as_os_str()]);
        self.flake_ctl(owner, words.chain(options.iter().map(OsStr::new))).check()?;
        Ok(app)
    }

    /// Makes sure that the store of `user` holds `image`, and gives its reference.
    ///
    /// # Errors
    ///
    /// When podman refuses it.
    pub fn image(&self, user: &User, image: &Image) -> Result<String> {
        let reference = image.reference();
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        if images.insert((reference.clone(), user.id)) {
            image.import(user, &directory(Path::new(PRIVATE), "images", 0o700)?)?;
        }
        Ok(reference)
    }

    /// The ids of all containers in the store of `user`, running or not, podman's own or not.
    ///
    /// # Errors
    ///
    /// When podman does not answer.
    pub fn containers(&self, user: &User) -> Result<Vec<String>> {
        let outcome = self.podman(user, ["ps", "--all", "--external", "--quiet"]).check()?;
        Ok(outcome.out().lines().map(str::to_owned).collect())
    }
}

/// Hides what is registered on the machine.
fn forget() -> Result<()> {
    for path in ["/etc/flakes.yml", "/etc/flakes", "/usr/share/flakes", "/var/lib/flakes"] {
        let removed = if Path::new(path).is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        match removed {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            removed => removed.context(|| format!("hide {path}"))?,
        }
    }
    Ok(())
}

fn real(path: &str) -> PathBuf {
    Path::new(PRIVATE).join("real").join(path.trim_start_matches('/'))
}

/// Makes `parent/name` with `mode`, or sets it when it is there.
fn directory(parent: &Path, name: &str, mode: u32) -> Result<PathBuf> {
    let dir = parent.join(name);
    fs::create_dir_all(&dir).context(|| format!("make {}", dir.display()))?;
    let mode = Permissions::from_mode(mode);
    fs::set_permissions(&dir, mode).context(|| format!("set the mode of {}", dir.display()))?;
    Ok(dir)
}

/// Makes a directory that belongs to a user and is closed to others.
pub(crate) fn own_directory(parent: &Path, name: &str, id: u32) -> Result<PathBuf> {
    let dir = directory(parent, name, 0o700)?;
    chown(&dir, Some(id), Some(id)).context(|| format!("give {} away", dir.display()))?;
    Ok(dir)
}

/// Names the host, and lets the name resolve: sudo warns otherwise.
fn name() -> Result<()> {
    nix::unistd::sethostname(NAME).context(|| "set the host name")?;
    fs::write("/etc/hostname", format!("{NAME}\n")).context(|| "write /etc/hostname")?;
    fs::write("/etc/hosts", format!("127.0.0.1 localhost\n127.0.1.1 {NAME}\n")).context(|| "write /etc/hosts")
}

fn loopback() -> Result<()> {
    let mut command = Command::new("/bin/busybox");
    command.args(["ip", "link", "set", "lo", "up"]);
    Call::new(command).check().map(drop)
}
