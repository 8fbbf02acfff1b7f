//! Options of a mount: flags as of mount(8), and those of the file system.

use crate::error::Reason;
use flake_plan::MountFlags;

/// The options of one mount.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// The flags.
    pub(crate) flags: MountFlags,
    /// A path of the host.
    pub(crate) is_bind: bool,
    /// With what is mounted below.
    pub(crate) is_recursive: bool,
    /// Device files work.
    pub(crate) has_devices: bool,
    /// Somebody said that they do.
    pub(crate) wants_devices: bool,
    /// What the host mounts there later is there too.
    pub(crate) takes_later: bool,
    /// It begins with what the image has there.
    pub(crate) is_copied_up: bool,
    /// The others, which are the file system's.
    pub(crate) own: Vec<(String, Option<String>)>,
}

impl Options {
    /// Reads the words.
    pub(crate) fn read(words: &[String], at: &str) -> Result<Self, Reason> {
        let mut options = Self { has_devices: true, ..Self::default() };
        for word in words {
            options.take(word, at)?;
        }
        Ok(options)
    }

    fn take(&mut self, word: &str, at: &str) -> Result<(), Reason> {
        let flags = &mut self.flags;
        match word {
            "ro" => flags.read_only = true,
            "rw" => flags.read_only = false,
            "nosuid" => flags.no_suid = true,
            "suid" => flags.no_suid = false,
            "noexec" => flags.no_exec = true,
            "exec" => flags.no_exec = false,
            "noatime" => flags.no_atime = true,
            "strictatime" => flags.strict_atime = true,
            "nodiratime" => flags.no_dir_atime = true,
            "nodev" => self.has_devices = false,
            "dev" => (self.has_devices, self.wants_devices) = (true, true),
            "bind" => self.is_bind = true,
            "rbind" => (self.is_bind, self.is_recursive) = (true, true),
            "tmpcopyup" => self.is_copied_up = true,
            // Podman's own, when it makes a volume.
            "copy" | "nocopy" => {}
            // What is so anyway.
            "relatime" | "atime" | "diratime" | "defaults" | "async" | "newinstance" | "private"
            | "rprivate" | "notmpcopyup" => {}
            "rro" => (flags.read_only, flags.recursive) = (true, true),
            "rnosuid" => (flags.no_suid, flags.recursive) = (true, true),
            "rnoexec" => (flags.no_exec, flags.recursive) = (true, true),
            "rnoatime" => (flags.no_atime, flags.recursive) = (true, true),
            "slave" | "rslave" => self.takes_later = true,
            "shared" | "rshared" | "unbindable" | "runbindable" => {
                return Err(format!("the mount option {word} of {at}").into());
            }
            _ => {
                let (name, value) = match word.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (word, None),
                };
                self.own.push((name.to_owned(), value));
            }
        }
        Ok(())
    }

    /// The file system's own options, if they are among `names`.
    pub(crate) fn own_of(
        &mut self,
        names: &[&str],
        at: &str,
    ) -> Result<Vec<(String, Option<String>)>, Reason> {
        match self.own.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            Some((name, _)) => Err(Reason::unknown(format_args!("the mount option {name} of {at}"))),
            None => Ok(std::mem::take(&mut self.own)),
        }
    }
}
