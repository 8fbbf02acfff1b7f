//! Whether what runs straight from an image's layers is as confined as under podman, and whether it stays inside.
//!
//! * [`table`]: a probe looks around under `podman run` and under the launcher, and what it finds is compared row by row
//! * [`escapes`]: a hostile program inside tries to get out
//! * [`alone`]: nothing but the launcher runs in a call
//!
//! Each of them for every [`Way`]: root's own flake, a user's own, and root's called by a user.

mod image;
mod way;

pub mod alone;
pub mod escapes;
pub mod table;

pub use image::{Entry, PROBE, Tree};
pub use way::{WAYS, Way};
