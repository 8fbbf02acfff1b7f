//! Makes one image out of base, layers, application, includes and host files, once, so that a launch copies nothing.
//!
//! The parts stay what they are in the engine's store: an OCI image layout names their layers without holding them, and
//! has layers of its own only for what comes from the host. Written after the OCI image specification, version 1.1.

pub mod entry;
pub mod ids;
pub mod layer;
pub mod view;
