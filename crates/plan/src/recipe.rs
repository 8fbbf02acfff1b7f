//! A root and a process in it, as podman would have made them: the fields of the OCI runtime specification
//! (github.com/opencontainers/runtime-spec, config.md and config-linux.md), with nothing left to interpret.

use crate::upper::Entry;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Everything about a launch that is the same for each call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// Where the root's content comes from.
    pub layers: Layers,
    /// What is written over them already: the root itself first, each folder before what is in it.
    pub upper: Vec<Entry>,
    /// What is written goes to a folder on disk, which is made for each launch, instead of memory.
    pub writes_to_disk: bool,
    /// The root cannot be written to.
    pub is_read_only: bool,
    /// Whose ids are inside.
    pub user: UserSpace,
    /// What is apart from the host, besides the mounts and the processes.
    pub namespaces: Namespaces,
    /// The host name inside; absent: left as it is.
    pub hostname: Option<String>,
    /// The mounts, in the order in which they are made.
    pub mounts: Vec<Mount>,
    /// Device files in `/dev`.
    pub devices: Vec<Device>,
    /// Paths of which nothing is seen: an empty folder or `/dev/null` is over them. Those that are not there are
    /// passed over.
    pub masked: Vec<PathBuf>,
    /// Paths that cannot be written to. Those that are not there are passed over.
    pub read_only: Vec<PathBuf>,
    /// Kernel settings of the namespaces.
    pub sysctls: Vec<Sysctl>,
    /// The process.
    pub process: Process,
    /// Only programs beneath the root can be executed; nothing inside can then mount anything either.
    pub confines_programs: bool,
    /// Filters of the system calls that it may make, one where that is possible; all of them have to let a call
    /// pass.
    pub seccomp: Vec<Seccomp>,
}

/// The layers of an image and how overlayfs puts them together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// Their folders, topmost first.
    pub folders: Vec<PathBuf>,
    /// Options of overlayfs beside the folders, such as `userxattr` or `metacopy=on`, as podman's mount has them.
    pub options: Vec<(String, Option<String>)>,
}

/// The user namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserSpace {
    /// The host's: the launcher runs as root.
    Host,
    /// One of the user's own.
    Own {
        /// The maps of podman's namespace for this user, in the host's ids, with the user as root.
        outer: (Vec<IdMap>, Vec<IdMap>),
        /// The maps of a namespace within that one, in its ids.
        inner: Option<(Vec<IdMap>, Vec<IdMap>)>,
    },
}

/// A range of ids, as a line of `/proc/PID/uid_map`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdMap {
    /// The first id inside.
    pub inside: u32,
    /// The first id outside.
    pub outside: u32,
    /// How many.
    pub count: u32,
}

/// Namespaces that are made. Those of mounts and processes always are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces {
    /// System V IPC and POSIX message queues.
    pub ipc: bool,
    /// The host name.
    pub uts: bool,
    /// Control groups.
    pub cgroup: bool,
    /// A network with nothing but the loopback device, which is up.
    pub network: bool,
}

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Where, absolute inside.
    pub destination: PathBuf,
    /// What.
    pub kind: MountKind,
    /// Its flags.
    pub flags: MountFlags,
}

/// What is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MountKind {
    /// The processes inside.
    Proc,
    /// The kernel's objects.
    Sys,
    /// A file system in memory; its options, such as `size` and `mode`.
    Tmpfs {
        /// Options of tmpfs.
        options: Vec<(String, Option<String>)>,
        /// It begins with what the image has there.
        is_copied_up: bool,
    },
    /// Terminals, an instance of its own; its options.
    Devpts(Vec<(String, Option<String>)>),
    /// POSIX message queues.
    Mqueue,
    /// The control groups.
    Cgroup,
    /// A path of the host.
    Bind {
        /// The path.
        source: PathBuf,
        /// With what is mounted below it.
        is_recursive: bool,
    },
    /// A file with content that podman made.
    File {
        /// The content.
        #[serde(with = "serde_bytes")]
        content: Vec<u8>,
        /// Its permission bits.
        mode: u32,
    },
}

/// Flags of one mount, each as a word of mount(8). A device file on one works only where it is itself a mount:
/// `nodev` is always set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountFlags {
    /// `ro`.
    pub read_only: bool,
    /// `nosuid`.
    pub no_suid: bool,
    /// `noexec`.
    pub no_exec: bool,
    /// `noatime`.
    pub no_atime: bool,
    /// `strictatime`.
    pub strict_atime: bool,
    /// `nodiratime`.
    pub no_dir_atime: bool,
    /// The flags hold for what is mounted below as well, as for `rro` and its like.
    pub recursive: bool,
}

/// A device file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Where inside.
    pub path: PathBuf,
    /// The host's file.
    pub source: PathBuf,
}

/// A kernel setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sysctl {
    /// Its path below `/proc/sys`, with slashes.
    pub path: PathBuf,
    /// The value.
    pub value: String,
}

/// The process inside, as far as it is the same for each call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Supplementary groups.
    pub groups: Vec<u32>,
    /// The image's words before the command.
    pub entrypoint: Vec<String>,
    /// The image's words that a call's own replace.
    pub command: Vec<String>,
    /// The environment, `NAME=value` each.
    pub env: Vec<String>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Capabilities.
    pub capabilities: Capabilities,
    /// Resource limits.
    pub rlimits: Vec<Rlimit>,
    /// It can gain nothing by executing a program.
    pub no_new_privileges: bool,
    /// Its rank when memory is short; absent: the launcher's.
    pub oom_score_adj: Option<i32>,
    /// The AppArmor profile.
    pub apparmor: Option<String>,
}

/// The five sets, bit N for capability N (capabilities(7)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// What can be gained at all.
    pub bounding: u64,
    /// What is in force.
    pub effective: u64,
    /// What can be put in force.
    pub permitted: u64,
    /// What a program with file capabilities keeps.
    pub inheritable: u64,
    /// What every program keeps.
    pub ambient: u64,
}

/// A resource limit (getrlimit(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rlimit {
    /// The kernel's number of the resource.
    pub resource: u32,
    /// What is in force.
    pub soft: u64,
    /// How far that can be raised.
    pub hard: u64,
}

/// A filter of system calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seccomp {
    /// The program: structures `sock_filter` of this machine, one after the other.
    #[serde(with = "serde_bytes")]
    pub program: Vec<u8>,
    /// Flags of seccomp(2).
    pub flags: u32,
}
