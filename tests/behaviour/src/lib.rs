//! The behaviour suite: what "as if it were installed" means, as cases.
//!
//! A case is written once, for any [`Subject`](flake_testkit::Subject) whose target is busybox. It does
//! something with the subject and with the plain host command as control, and insists on the same result. A
//! new engine or way of launching is one more subject; no case knows which one it runs for, and none is left
//! out for one.

mod argv;
mod crowd;
mod descriptors;
mod inherited;
mod jobs;
mod keys;
mod remains;
mod root_disk;
mod scene;
mod signals;
mod status;
mod stdin;
mod streams;
mod terminal;
mod torture;
mod ways;

pub mod elevated;
pub mod identity;
pub mod images;
pub mod instances;
pub mod interactive;
pub mod kept;
pub mod plans;
pub mod refusals;
pub mod written;

pub use remains::nothing_is_left;
pub use root_disk::RootDisk;
pub use scene::{Case, Scene};
pub use ways::subject_trials;

/// Every case.
#[must_use]
pub fn cases() -> Vec<Case> {
    [
        status::CASES,
        argv::CASES,
        stdin::CASES,
        streams::CASES,
        signals::CASES,
        descriptors::CASES,
        inherited::CASES,
        terminal::CASES,
        keys::CASES,
        jobs::CASES,
        crowd::CASES,
        torture::CASES,
    ]
    .concat()
}
