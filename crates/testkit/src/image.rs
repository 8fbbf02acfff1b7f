//! Small images, made without a registry out of Debian's static busybox.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Context as _;
use crate::{Call, Result, User};

const BUSYBOX: &str = "/bin/busybox";

/// A recipe of an image; [`ScratchHost::image`](crate::ScratchHost::image) makes it.
#[derive(Debug, Clone)]
pub struct Image {
    /// The repository, without `localhost/` in front.
    pub name: &'static str,
    /// Whether there is a system around the program: applet links, /etc/passwd, /tmp. Otherwise the one file.
    pub system: bool,
    /// Files beside that: path in the image and content.
    pub files: &'static [(&'static str, &'static str)],
    /// The uid and gid these belong to, with the directories above them.
    pub files_owner: u32,
    /// Symbolic links: path in the image and target.
    pub links: &'static [(&'static str, &'static str)],
    /// Changes of the configuration, as for `podman import --change`.
    pub changes: &'static [&'static str],
}

impl Image {
    /// A small system without an entrypoint.
    pub const BOX: Image =
        Image { name: "box", system: true, files: &[], files_owner: 0, links: &[], changes: &[] };
    /// A small system that prints its words in angle brackets, or `<default>`.
    pub const ENTRY: Image = Image {
        name: "entry",
        changes: &[r#"ENTRYPOINT ["/bin/busybox", "printf", "<%s>\\n"]"#, r#"CMD ["default"]"#],
        ..Image::BOX
    };
    /// One static program, `/busybox`, and nothing else: no shell, no /etc, no /tmp.
    pub const SCRATCHY: Image = Image { name: "scratchy", system: false, ..Image::BOX };
    /// A small system that runs as uid 1000 in /place.
    pub const USERIMG: Image = Image {
        name: "userimg",
        files: &[("/place/file", "from the image\n")],
        files_owner: 1000,
        changes: &["USER 1000", "WORKDIR /place"],
        ..Image::BOX
    };
    /// A small system in which somebody else has the numbers of [`ADA`](crate::ADA).
    pub const TAKEN: Image = Image {
        name: "taken",
        files: &[
            ("/etc/passwd", "root:x:0:0::/root:/bin/sh\nsomeone:x:4242:4242::/home/someone:/bin/sh\n"),
            ("/etc/group", "root:x:0:\nsomeone:x:4242:\n"),
        ],
        ..Image::BOX
    };
    /// A small system with a registration in its root.
    pub const SHIPPED: Image =
        Image { name: "shipped", files: &[("/shipped.yaml", SHIPPED_YAML)], ..Image::BOX };

    /// The name podman knows it by.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("localhost/{}", self.name)
    }

    /// Builds the image in the store of `user`, with the tree kept below `work` for the next user.
    pub(crate) fn import(&self, user: &User, work: &Path) -> Result<()> {
        let tar = work.join(format!("{}.tar", self.name));
        if !tar.exists() {
            self.pack(&work.join(self.name), &tar)?;
        }
        let changes = self.changes.iter().flat_map(|change| ["--change", change]);
        let mut import = user.command("podman");
        import.args(["import", "--quiet"]).args(changes).arg("-").arg(self.reference());
        let tar = File::open(&tar).context(|| format!("open {}", tar.display()))?;
        Call::new(import).stdin(tar).check().map(drop)
    }

    fn pack(&self, root: &Path, tar: &Path) -> Result<()> {
        let home = if self.system { "bin" } else { "" };
        let program = root.join(home).join("busybox");
        make_parent(&program)?;
        fs::copy(BUSYBOX, &program).context(|| format!("copy {BUSYBOX}"))?;
        if self.system {
            system(root)?;
        }
        for (path, content) in self.files {
            let file = write(root, path, content)?;
            let inside = |path: &&Path| path.starts_with(root) && *path != root;
            for path in file.ancestors().take_while(inside) {
                chown(path, Some(self.files_owner), Some(self.files_owner))
                    .context(|| format!("give {} away", path.display()))?;
            }
        }
        for (path, target) in self.links {
            let link = root.join(path.trim_start_matches('/'));
            make_parent(&link)?;
            symlink(target, &link).context(|| format!("link {}", link.display()))?;
        }
        let out = File::create(tar).context(|| format!("make {}", tar.display()))?;
        let mut pack = Command::new("tar");
        pack.arg("-C").arg(root).args(["-c", "--numeric-owner", "."]);
        Call::new(pack).stdin(Stdio::null()).stdout(out).check().map(drop)
    }
}

const SHIPPED_YAML: &str = "\
container:
  name: localhost/shipped
  target_app_path: /bin/busybox
  host_app_path: /usr/local/bin/shipped
  runtime:
    network: none
";

fn system(root: &Path) -> Result<()> {
    let mut list = Command::new(BUSYBOX);
    list.arg("--list");
    for applet in Call::new(list).check()?.out().lines().filter(|applet| *applet != "busybox") {
        symlink("busybox", root.join("bin").join(applet)).context(|| format!("link {applet}"))?;
    }
    write(root, "/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")?;
    write(root, "/etc/group", "root:x:0:\n")?;
    for (dir, mode) in [("root", 0o700), ("tmp", 0o1777)] {
        let dir = root.join(dir);
        fs::create_dir(&dir).context(|| format!("make {}", dir.display()))?;
        fs::set_permissions(&dir, Permissions::from_mode(mode))
            .context(|| format!("set the mode of {}", dir.display()))?;
    }
    Ok(())
}

fn write(root: &Path, path: &str, content: &str) -> Result<PathBuf> {
    let file: PathBuf = root.join(path.trim_start_matches('/'));
    make_parent(&file)?;
    fs::write(&file, content).context(|| format!("write {}", file.display()))?;
    Ok(file)
}

fn make_parent(file: &Path) -> Result<()> {
    let parent = file.parent().unwrap_or(file);
    fs::create_dir_all(parent).context(|| format!("make {}", parent.display()))
}
