//! Putting the root together, and making it this process' own.

use crate::bind;
use crate::call::Call;
use crate::devices::{self, Devices};
use crate::error::{RunError, on, system};
use crate::filesystem;
use crate::layers::{self, Mounted};
use crate::mask;
use crate::mountpoint::{Kind, Links, find, find_or_make};
use crate::mounts::{self, Files};
use crate::scratch::Scratch;
use crate::terminal::Terminal;
use flake_plan::{MountFlags, Recipe};
use rustix::fs::{CWD, Mode, OFlags, open, openat};
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::process::{chdir, fchdir, pivot_root};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

/// Makes the root and changes to it. This process has a mount namespace of its own already.
pub(crate) fn enter(
    recipe: &Recipe,
    call: &Call,
    scratch: Option<&Scratch>,
    terminal: Option<&Terminal>,
) -> Result<(), RunError> {
    let old = open("/", OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY, Mode::empty())
        .map_err(system("open the root folder"))?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(system("keep mounts to the namespace"))?;
    // While the working directory still is the caller's.
    let mut binds = bind::make(&call.binds)?.into_iter().peekable();
    // And while nothing of the root to be is in the host's tree, which a share may be of.
    let shares: Vec<_> = recipe.mounts.iter().map(mounts::share).collect::<Result<_, _>>()?;
    let Mounted { root, files } =
        layers::mount_root(&recipe.layers, &recipe.upper, (scratch, &call.workshop))?;
    let mut own_devices = Devices::new(files.as_fd(), &recipe.user)?;
    let mut files = Files::new(files);
    for (mount, share) in recipe.mounts.iter().zip(shares) {
        let depth = mount.destination.components().count();
        while let Some(bind) = binds.next_if(|bind| bind.destination.components().count() < depth) {
            bind.attach(root.as_fd())?;
        }
        let ready = match share {
            Some(share) => share,
            None => mounts::make(mount, root.as_fd(), &mut files)?,
        };
        ready.attach(root.as_fd())?;
    }
    for bind in binds {
        bind.attach(root.as_fd())?;
    }
    devices::add(root.as_fd(), &recipe.devices, &mut own_devices)?;
    if let Some(terminal) = terminal {
        terminal.show(root.as_fd());
    }
    find_or_make(root.as_fd(), &recipe.process.cwd, Kind::Folder, Links::Followed)
        .map_err(on("make the working directory", &recipe.process.cwd))?;
    set_sysctls(recipe, root.as_fd())?;
    mask::cover(root.as_fd(), &recipe.masked, &mut own_devices)?;
    mask::protect(root.as_fd(), &recipe.read_only)?;
    if recipe.is_read_only {
        let flags = MountFlags { read_only: true, ..MountFlags::default() };
        filesystem::restrict(&root, flags).map_err(system("make the root read-only"))?;
    }
    fchdir(&root).map_err(system("enter the root"))?;
    pivot_root(".", ".").map_err(system("change the root"))?;
    fchdir(&old).map_err(system("enter the old root"))?;
    unmount(".", UnmountFlags::DETACH).map_err(system("leave the old root"))?;
    chdir("/").map_err(system("enter the root"))
}

/// Kernel settings, before the folder they are in cannot be written to.
fn set_sysctls(recipe: &Recipe, root: BorrowedFd<'_>) -> Result<(), RunError> {
    for sysctl in &recipe.sysctls {
        let path = Path::new("/proc/sys").join(&sysctl.path);
        let place = find(root, &path, Links::Refused).map_err(on("find", &path))?;
        let by_number = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&place));
        openat(CWD, by_number, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
            .map_err(std::io::Error::from)
            .and_then(|file| File::from(file).write_all(sysctl.value.as_bytes()))
            .map_err(on("set", &path))?;
    }
    Ok(())
}
