//! Images with anything in them, made entry by entry.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flake_testkit::{Call, ScratchHost, User};
use tar::{Builder, EntryType, Header};

/// The probe, one static program.
pub const PROBE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe"));

const BUSYBOX: &str = "/bin/busybox";

/// What an image has at a path.
#[derive(Debug, Clone, Copy)]
pub enum Entry {
    /// A folder and its mode.
    Folder(u32),
    /// A file: mode, owner and content.
    File(u32, u64, &'static [u8]),
    /// The probe, with a mode of its own.
    Probe(u32),
    /// A symbolic link.
    Link(&'static str),
    /// A block device.
    Disk(u32, u32),
}

/// An image: the host's busybox with links for what scripts need, the probe, and further entries.
#[derive(Debug, Clone, Copy)]
pub struct Tree {
    /// The repository, without `localhost/` in front.
    pub name: &'static str,
    /// Entries beside those; a later one replaces an earlier one.
    pub entries: &'static [(&'static str, Entry)],
    /// Changes of the configuration, as for `podman import --change`.
    pub changes: &'static [&'static str],
    /// The target of its flakes.
    pub target: &'static str,
}

/// What is in each: a program that is its own shell.
const SYSTEM: [(&str, Entry); 5] = [
    ("bin", Entry::Folder(0o755)),
    ("etc", Entry::Folder(0o755)),
    ("etc/passwd", Entry::File(0o644, 0, b"root:x:0:0:root:/root:/bin/sh\n")),
    ("etc/group", Entry::File(0o644, 0, b"root:x:0:\n")),
    ("tmp", Entry::Folder(0o1777)),
];
const APPLETS: [&str; 10] = ["sh", "cat", "ls", "id", "touch", "stat", "env", "sleep", "readlink", "mount"];

impl Tree {
    /// The probe and nothing unusual.
    pub const PLAIN: Tree = Tree { name: "plain", entries: &[], changes: &[], target: "/bin/busybox" };
    /// The same, whose flakes are the probe itself.
    pub const PROBE: Tree = Tree { name: "probe", target: "/bin/probe", ..Tree::PLAIN };

    /// Imports it into the store of `user`, and gives its reference.
    ///
    /// # Errors
    /// When podman refuses it.
    pub fn import(&self, host: &ScratchHost, user: &User) -> Result<String> {
        let tar = PathBuf::from("/run").join(format!("{}-{}.tar", self.name, host.mark()));
        fs::write(&tar, self.pack()?).with_context(|| format!("write {}", tar.display()))?;
        let reference = format!("localhost/{}", self.name);
        let changes = self.changes.iter().flat_map(|change| ["--change", change]);
        let words = ["import", "--quiet"].into_iter().chain(changes);
        let mut command = user.command("/usr/bin/podman");
        command.args(words).arg("-").arg(&reference);
        let imported = Call::new(command).stdin(fs::File::open(&tar)?).check();
        fs::remove_file(&tar)?;
        imported?;
        Ok(reference)
    }

    fn pack(&self) -> Result<Vec<u8>> {
        let mut tar = Builder::new(Vec::new());
        let is_replaced = |path: &str| self.entries.iter().any(|(other, _)| *other == path);
        for (path, entry) in SYSTEM.into_iter().filter(|(path, _)| !is_replaced(path)) {
            append(&mut tar, path, entry)?;
        }
        file(&mut tar, "bin/busybox", (0o755, 0), &fs::read(BUSYBOX).context("read the host's busybox")?)?;
        file(&mut tar, "bin/probe", (0o755, 0), PROBE)?;
        for path in APPLETS.map(|applet| format!("bin/{applet}")).iter().filter(|path| !is_replaced(path)) {
            append(&mut tar, path, Entry::Link("busybox"))?;
        }
        for (path, entry) in self.entries {
            append(&mut tar, path, *entry)?;
        }
        Ok(tar.into_inner()?)
    }
}

fn append(tar: &mut Builder<Vec<u8>>, path: &str, entry: Entry) -> Result<()> {
    match entry {
        Entry::File(mode, owner, content) => return file(tar, path, (mode, owner), content),
        Entry::Probe(mode) => return file(tar, path, (mode, 0), PROBE),
        Entry::Folder(mode) => {
            let mut header = header(EntryType::Directory, mode);
            tar.append_data(&mut header, Path::new(path), std::io::empty())?;
        }
        Entry::Link(target) => {
            let mut header = header(EntryType::Symlink, 0o777);
            tar.append_link(&mut header, path, target)?;
        }
        Entry::Disk(major, minor) => {
            let mut header = header(EntryType::Block, 0o666);
            header.set_device_major(major)?;
            header.set_device_minor(minor)?;
            tar.append_data(&mut header, path, std::io::empty())?;
        }
    }
    Ok(())
}

fn file(tar: &mut Builder<Vec<u8>>, path: &str, (mode, owner): (u32, u64), content: &[u8]) -> Result<()> {
    let mut header = header(EntryType::Regular, mode);
    header.set_uid(owner);
    header.set_gid(owner);
    header.set_size(u64::try_from(content.len())?);
    tar.append_data(&mut header, path, content)?;
    Ok(())
}

fn header(kind: EntryType, mode: u32) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(0);
    header
}
