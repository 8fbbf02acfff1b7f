//! Keys whose value is one of a few fixed words.

use super::{WordError, as_text};
use std::fmt;
use std::str::FromStr;

macro_rules! unit_words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[$variant_meta:meta])+ $variant:ident = $word:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $( $(#[$variant_meta])+ $variant, )+ }

        impl $name {
            /// All words, as written in a file.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word as written in a file.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = WordError;

            fn from_str(word: &str) -> Result<Self, WordError> {
                match word {
                    $( $word => Ok(Self::$variant), )+
                    _ => Err(WordError::unknown(word, Self::WORDS)),
                }
            }
        }

        as_text!($name);
    };
}

pub(super) use unit_words;

unit_words! {
    /// What isolates the application.
    pub enum Engine {
        /// A container.
        Podman = "podman",
        /// A microVM, Firecracker or QEMU.
        Vm = "vm",
        /// A Northstar container.
        Northstar = "northstar",
    }
}

unit_words! {
    /// Whether an instance outlives its call.
    pub enum FlakeType {
        /// Thrown away after the call.
        Immutable = "immutable",
        /// Kept and resumed.
        Mutable = "mutable",
    }
}

unit_words! {
    /// Whose identity the application has inside.
    pub enum User {
        /// The caller's uid, passwd entry, HOME and time zone; files belong to the caller.
        Caller = "caller",
    }
}

unit_words! {
    /// Where what an application writes into its root is, until it is thrown away.
    pub enum Scratch {
        /// In memory, at most half of it.
        Memory = "memory",
        /// In a folder of the caller's state.
        Disk = "disk",
    }
}

unit_words! {
    /// As whom a provisioning script runs.
    pub enum ProvisionMode {
        /// As root of the instance.
        System = "system",
        /// As the user of the application.
        User = "user",
    }
}

unit_words! {
    /// When a provisioning script runs.
    pub enum ProvisionRun {
        /// When the instance is made.
        Once = "once",
        /// At every start of the instance.
        Start = "start",
        /// When the script differs from the one that ran last.
        Change = "change",
    }
}

unit_words! {
    /// What a probe decides.
    pub enum ProbeMode {
        /// Whether the first call may begin.
        Readiness = "readiness",
        /// Whether the instance still works.
        Liveness = "liveness",
    }
}

unit_words! {
    /// What follows when a liveness probe failed often enough.
    pub enum ProbeAction {
        /// The instance ends; the next call starts it and says why.
        Restart = "restart",
        /// The instance is removed.
        Remove = "remove",
        /// The next call says so, nothing else happens.
        Report = "report",
    }
}

unit_words! {
    /// Which virtual machine monitor runs a VM.
    pub enum Vmm {
        /// Firecracker when it is installed and KVM works, else QEMU.
        Auto = "auto",
        /// Firecracker.
        Firecracker = "firecracker",
        /// QEMU.
        Qemu = "qemu",
    }
}

unit_words! {
    /// How the processor of a VM is provided.
    pub enum Accel {
        /// KVM when it works, else TCG.
        Auto = "auto",
        /// The processor's virtualisation.
        Kvm = "kvm",
        /// Emulation.
        Tcg = "tcg",
    }
}

unit_words! {
    /// Whether a VM starts from a snapshot template.
    pub enum Snapshot {
        /// When it is possible.
        Auto = "auto",
        /// Never: always a cold boot.
        Never = "never",
    }
}

unit_words! {
    /// What a VM's disk does with a flush of the guest.
    pub enum CacheType {
        /// A flush reaches the host's disk.
        Writeback = "Writeback",
        /// A flush is ignored.
        Unsafe = "Unsafe",
    }
}
