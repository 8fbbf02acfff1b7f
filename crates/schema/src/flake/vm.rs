//! The `vm` section.

use crate::section::section;
use crate::words::{
    Accel, ByteSize, CacheType, EnvEntry, Period, PortForward, RunAs, Share, Snapshot, User, VmNetwork, Vmm,
    Workdir,
};

section! {
    /// An application in a virtual machine.
    pub struct Vm {
        /// Name of the VM image
        pub name: String,
        /// Program inside, absolute or a bare name; by default the path on the host
        pub target_app_path: String,
        /// Path of the command on the host
        pub host_app_path: String,
        /// VM image below the application's own
        pub base_vm: String,
        /// Images between base and application, in this order
        pub layers: Vec<String>,
        /// How it is launched
        pub runtime: VmRuntime,
    }
}

section! {
    /// How a virtual machine is launched.
    pub struct VmRuntime {
        /// caller or root; any other name means caller
        pub runas: RunAs,
        /// Keep the VM and run further calls in it
        pub resume: bool,
        /// Kept for files of flake-pilot 3.x; commands always use vsock
        pub force_vsock: bool,
        /// Which virtual machine monitor: auto, firecracker or qemu
        pub vmm: Vmm,
        /// How the processor is provided: auto, kvm or tcg
        pub accel: Accel,
        /// Start from a snapshot template: auto or never
        pub snapshot: Snapshot,
        /// Longest time from start to the first answer
        pub start_timeout: Period,
        /// none, private or {tap: NAME}
        pub network: VmNetwork,
        /// Ports of the guest that appear on the host, HOST:GUEST
        pub ports: Vec<PortForward>,
        /// What of the host is visible: cwd, home or a path, each with :ro for reading only
        pub share: Vec<Share>,
        /// Environment that reaches the application: NAME, PREFIX* or NAME=value
        pub env: Vec<EnvEntry>,
        /// Where it starts: cwd, image or a path inside
        pub workdir: Workdir,
        /// caller: it runs with the uid, HOME and time zone of the caller
        pub user: User,
        /// The machine itself
        pub firecracker: Firecracker,
    }
}

section! {
    /// The machine itself; the section's name is the one of flake-pilot 3.x, whatever runs the VM.
    pub struct Firecracker {
        /// Words of the kernel command line
        pub boot_args: Vec<String>,
        /// Size of the writable overlay: 20GiB, 20GB or bytes
        pub overlay_size: ByteSize,
        /// Root file system, when it is not the image's
        pub rootfs_image_path: String,
        /// Kernel, when it is not the image's
        pub kernel_image_path: String,
        /// Initial RAM disk, when it is not the image's
        pub initrd_path: String,
        /// Memory in MiB
        pub mem_size_mib: u32,
        /// Number of processors
        pub vcpu_count: u32,
        /// Writeback or Unsafe
        pub cache_type: CacheType,
    }
}
