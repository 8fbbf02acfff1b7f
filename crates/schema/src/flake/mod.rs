//! The flake file, as written.

mod container;
mod northstar;
mod setup;
mod vm;

pub use self::container::{Container, ContainerRuntime};
pub use self::northstar::{Northstar, NorthstarRuntime};
pub use self::setup::{Include, Probe, Provision};
pub use self::vm::{Firecracker, Vm, VmRuntime};

use crate::section::{Field, KeyDoc, section};
use crate::words::{Engine, FlakeType, InstanceName};
use std::collections::BTreeMap;

section! {
    /// A flake file as written: every key is optional and nothing is filled in. [`Flake`](crate::Flake) is
    /// what it means.
    ///
    /// The keys of flake-pilot 3.x keep their meaning; in every key dashes and underscores are equal.
    pub struct FlakeFile {
        /// What isolates the application: podman, vm or northstar; by default what the section is for
        pub engine: Engine,
        /// immutable (thrown away after the call) or mutable (kept and resumed)
        pub kind("type"): FlakeType,
        /// Name of an environment that several flakes share
        pub instance: InstanceName,
        /// Packages of the host whose files the application sees
        pub hostsystem: Vec<String>,
        /// Files of the host that are put into the image
        pub include: Include,
        /// Variables of the scripts, each named PARAM_NAME there
        pub param: BTreeMap<String, String>,
        /// Scripts that set up an instance (mutable) or the image (immutable)
        pub provision: Vec<Provision>,
        /// Scripts that say whether an instance is ready, or still works
        pub probes: Vec<Probe>,
        /// The application in a container image
        pub container: Container,
        /// The application in a virtual machine
        pub vm: Vm,
        /// The application in a Northstar container
        pub northstar: Northstar,
    }
}

impl FlakeFile {
    /// Lays `over` above this file: sections merge key by key, other values and lists are replaced, what
    /// `over` leaves out stays.
    pub fn merge(&mut self, over: FlakeFile) {
        Field::merge(self, over);
    }

    /// Every key a flake file may have, in the order in which they are written.
    pub fn reference() -> Vec<KeyDoc> {
        let mut keys = Vec::new();
        Self::describe("", &mut keys);
        keys
    }
}
