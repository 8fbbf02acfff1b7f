//! The parts of an OCI runtime specification (github.com/opencontainers/runtime-spec, config.md and config-linux.md).

pub(crate) mod devices;
pub(crate) mod known;
pub(crate) mod mounts;
pub(crate) mod namespaces;
pub(crate) mod options;
pub(crate) mod process;
pub(crate) mod resources;
