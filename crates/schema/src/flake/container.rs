//! The `container` section.

use crate::section::section;
use crate::words::{EnvEntry, Network, RunAs, Scratch, Share, User, Workdir};

section! {
    /// An application in a container image.
    pub struct Container {
        /// Reference of the image
        pub name: String,
        /// Program inside, absolute or a bare name; / is the entrypoint of the image; by default the path on the host
        pub target_app_path: String,
        /// Path of the command on the host
        pub host_app_path: String,
        /// Image below the application's own
        pub base_container: String,
        /// Copy the host files that the images list as missing
        pub check_host_dependencies: bool,
        /// Images between base and application, in this order
        pub layers: Vec<String>,
        /// How it is launched
        pub runtime: ContainerRuntime,
    }
}

section! {
    /// How a container is launched.
    pub struct ContainerRuntime {
        /// caller (rootless) or root; any other name means caller
        pub runas: RunAs,
        /// Keep the instance and run further calls in it
        pub resume: bool,
        /// Keep the instance and join its running terminal
        pub attach: bool,
        /// Options of podman, each with its value behind the first blank
        pub podman: Vec<String>,
        /// host, none or private
        pub network: Network,
        /// What of the host is visible: cwd, home or a path, each with :ro for reading only
        pub share: Vec<Share>,
        /// Environment that reaches the application: NAME, PREFIX* or NAME=value
        pub env: Vec<EnvEntry>,
        /// Where it starts: cwd, image or a path inside
        pub workdir: Workdir,
        /// caller: it runs with the uid, HOME and time zone of the caller
        pub user: User,
        /// Where what it writes into its root is kept until it is thrown away: memory (at most half of it) or disk
        pub scratch: Scratch,
    }
}
