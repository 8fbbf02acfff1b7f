//! The `northstar` section.

use crate::section::section;
use crate::words::{EnvEntry, Network, RunAs, Share, User, Workdir};

section! {
    /// An application in a Northstar container.
    pub struct Northstar {
        /// Name of the Northstar container
        pub name: String,
        /// Program inside, absolute or a bare name; by default the path on the host
        pub target_app_path: String,
        /// Path of the command on the host
        pub host_app_path: String,
        /// How it is launched
        pub runtime: NorthstarRuntime,
    }
}

section! {
    /// How a Northstar container is launched.
    pub struct NorthstarRuntime {
        /// caller or root
        pub runas: RunAs,
        /// Keep the instance and run further calls in it
        pub resume: bool,
        /// host or none
        pub network: Network,
        /// What of the host is visible: cwd, home or a path, each with :ro for reading only
        pub share: Vec<Share>,
        /// Environment that reaches the application: NAME, PREFIX* or NAME=value
        pub env: Vec<EnvEntry>,
        /// Where it starts: cwd, image or a path inside
        pub workdir: Workdir,
        /// caller: it runs with the uid, HOME and time zone of the caller
        pub user: User,
    }
}
