//! What killed launches have left on disk. The next launch that writes there removes it as well; there may be none.

use crate::podman_store::PodmanStore;
use crate::report::note;
use flake_core::place::Places;
use flake_sys::reason::reason;
use std::path::{Path, PathBuf};

/// How many are removed at once: each has descriptors open.
const MOST: usize = 64;

/// Removes it. A failure is no failure of what is done besides.
pub(crate) fn remove(places: &Places, store: &PodmanStore) {
    let left: Vec<_> = flake_runner::left(&places.scratch_dir()).take(MOST).collect();
    if left.is_empty() {
        return;
    }
    if rustix::process::geteuid().is_root() {
        for left in left {
            let path = left.path().to_owned();
            if let Err(error) = left.remove() {
                note(&format!("cannot remove {}: {}", path.display(), reason(&error)));
            }
        }
        return;
    }
    // A user's may belong to any of the user's ids. The locks are held until they are gone.
    let paths: Vec<PathBuf> = left.iter().map(flake_runner::Left::path).map(Path::to_owned).collect();
    if let Err(error) = store.podman().and_then(|podman| podman.unshare_remove(&paths)) {
        note(&format!("what killed calls have left is still there: {error}"));
    }
}
