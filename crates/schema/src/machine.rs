//! The virtual machine of a flake, defaults filled in.

use crate::flake::{Firecracker, FlakeFile, VmRuntime};
use crate::words::{Accel, ByteSize, CacheType, Network, Period, PortForward, Snapshot, VmNetwork, Vmm};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A virtual machine to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Monitor; auto unless set.
    pub vmm: Vmm,
    /// Processor; auto unless set.
    pub accel: Accel,
    /// Snapshot templates; auto unless set.
    pub snapshot: Snapshot,
    /// Longest time from start to the first answer; 120 s unless set.
    pub start_timeout: Period,
    /// Network; what the container section says, else private.
    pub network: VmNetwork,
    /// Ports of the guest that appear on the host.
    pub ports: Vec<PortForward>,
    /// Words of the kernel command line, when given.
    pub boot_args: Option<Vec<String>>,
    /// Size of the writable overlay, when there is one.
    pub overlay_size: Option<ByteSize>,
    /// Root file system, when it is not the image's.
    pub rootfs: Option<PathBuf>,
    /// Kernel, when it is not the image's.
    pub kernel: Option<PathBuf>,
    /// Initial RAM disk, when it is not the image's.
    pub initrd: Option<PathBuf>,
    /// Memory in MiB; 4096 unless set.
    pub mem_size_mib: u32,
    /// Processors; 2 unless set.
    pub vcpu_count: u32,
    /// Disk flushes; Writeback unless set.
    pub cache_type: CacheType,
}

impl Machine {
    pub(crate) fn new(file: &FlakeFile) -> Self {
        let runtime = file.vm.as_ref().and_then(|vm| vm.runtime.clone()).unwrap_or_default();
        let VmRuntime { vmm, accel, snapshot, start_timeout, network, ports, firecracker, .. } = runtime;
        let Firecracker {
            boot_args,
            overlay_size,
            rootfs_image_path,
            kernel_image_path,
            initrd_path,
            mem_size_mib,
            vcpu_count,
            cache_type,
        } = firecracker.unwrap_or_default();
        let container = file.container.as_ref().and_then(|c| c.runtime.as_ref()).and_then(|r| r.network);
        let inherited = if container == Some(Network::None) { VmNetwork::None } else { VmNetwork::Private };
        Self {
            vmm: vmm.unwrap_or(Vmm::Auto),
            accel: accel.unwrap_or(Accel::Auto),
            snapshot: snapshot.unwrap_or(Snapshot::Auto),
            start_timeout: start_timeout.unwrap_or(Period::from_secs(120)),
            network: network.unwrap_or(inherited),
            ports: ports.unwrap_or_default(),
            boot_args,
            overlay_size,
            rootfs: rootfs_image_path.map(PathBuf::from),
            kernel: kernel_image_path.map(PathBuf::from),
            initrd: initrd_path.map(PathBuf::from),
            mem_size_mib: mem_size_mib.unwrap_or(4096),
            vcpu_count: vcpu_count.unwrap_or(2),
            cache_type: cache_type.unwrap_or(CacheType::Writeback),
        }
    }
}
