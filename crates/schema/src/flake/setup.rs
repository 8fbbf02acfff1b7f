//! What is put into an instance and how it is watched; the same for every engine.

use crate::section::section;
use crate::words::{Period, ProbeAction, ProbeMode, ProvisionMode, ProvisionRun};

section! {
    /// Files of the host that become part of the image.
    pub struct Include {
        /// Tar archives, unpacked at the root, in this order
        pub tar: Vec<String>,
        /// Files and directories, copied to the same path inside
        pub path: Vec<String>,
    }
}

section! {
    /// One provisioning script.
    pub struct Provision {
        /// system (as root of the instance, the default) or user
        pub mode: ProvisionMode,
        /// The script; its first line may name an interpreter
        pub script: String,
        /// When it runs: once (the default), start or change
        pub run: ProvisionRun,
        /// Longest time it may take
        pub timeout: Period,
    }
}

section! {
    /// One probe.
    pub struct Probe {
        /// readiness (gates the first call, the default) or liveness
        pub mode: ProbeMode,
        /// What is waited for, as shown to the user
        pub description: String,
        /// The script; exit status 0 is a pass
        pub script: String,
        /// What to look at when it does not pass
        pub hint: String,
        /// Longest time of one try
        pub timeout: Period,
        /// Time between two tries
        pub interval: Period,
        /// Longest time of all tries of a readiness probe together
        pub deadline: Period,
        /// Failures in a row before the action of a liveness probe
        pub failures: u32,
        /// What follows when a liveness probe failed: restart, remove or report
        pub action: ProbeAction,
    }
}
