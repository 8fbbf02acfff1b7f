//! Where what a launch writes is.

use crate::captured::Captured;
use crate::error::Reason;
use flake_plan::Recipe;
use flake_schema::Scratch;
use rustix::fs::statfs;
use std::path::Path;

/// Chooses disk where the flake says so, or memory cannot hold it. `state` is the folder of the user's state.
pub(crate) fn choose(
    mut recipe: Recipe,
    asked: Scratch,
    captured: &Captured,
    state: &Path,
) -> Result<Recipe, Reason> {
    let is_memory_enough = flake_runner::is_memory_enough(captured.maps.is_none());
    let podmans = captured.container.graph_driver.data.as_ref().map_or("/", |data| &data.upper_dir);
    recipe.writes_to_disk = is_on_disk(asked, is_memory_enough, || is_alike(Path::new(podmans), state))?;
    Ok(recipe)
}

fn is_on_disk(
    asked: Scratch,
    is_memory_enough: bool,
    is_disk_fit: impl FnOnce() -> bool,
) -> Result<bool, Reason> {
    if asked == Scratch::Disk {
        // Where it is not fit, the launch says so.
        Ok(true)
    } else if is_memory_enough {
        Ok(false)
    } else if is_disk_fit() {
        Ok(true)
    } else {
        Err("a kernel older than Linux 6.6, whose memory keeps no attributes for an overlay of a normal user, and a \
             state folder on another kind of file system than podman's store"
            .into())
    }
}

/// What an overlay writes is held where podman has it, and so on every file system of the same type. Podman's folder
/// went with its container.
fn is_alike(podmans: &Path, state: &Path) -> bool {
    let podmans = podmans.ancestors().find_map(|folder| statfs(folder).ok());
    podmans.zip(statfs(state).ok()).is_some_and(|(podmans, state)| podmans.f_type == state.f_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_kernel_takes_the_disk_where_that_is_fit() {
        let chosen = |asked, is_memory_enough, is_disk_fit| {
            is_on_disk(asked, is_memory_enough, || is_disk_fit).map_err(|reason| reason.0)
        };
        assert_eq!(chosen(Scratch::Memory, true, true), Ok(false));
        assert_eq!(chosen(Scratch::Memory, false, true), Ok(true));
        assert!(chosen(Scratch::Memory, false, false).unwrap_err().contains("6.6"));
        for (is_memory_enough, is_disk_fit) in [(true, false), (false, false), (true, true)] {
            assert_eq!(chosen(Scratch::Disk, is_memory_enough, is_disk_fit), Ok(true));
        }
    }

    #[test]
    fn the_kernels_own_file_systems_are_not_alike() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_alike(&folder.path().join("gone/too"), folder.path()));
        assert!(!is_alike(folder.path(), Path::new("/proc")));
        assert!(!is_alike(folder.path(), &folder.path().join("absent")));
    }
}
