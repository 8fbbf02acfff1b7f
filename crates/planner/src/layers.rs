//! The layers of a container's root, as podman mounted them.

use crate::error::Reason;
use crate::mountinfo::root;
use flake_plan::Layers;
use flake_sys::kernel::is_at_least;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The most lower layers that the kernel's overlayfs takes (`OVL_MAX_STACK`).
const MOST: usize = 500;
/// Since this release overlayfs takes the layers one by one; before, their names had to fit one page together.
const BY_FOLDER: (u32, u32) = (6, 5);
/// Options that say how the layers are read, so that they have to be the same again.
const KEPT: [&str; 6] = ["index", "metacopy", "nfs_export", "redirect_dir", "userxattr", "xino"];
/// Options that are about the writable layer, or come by themselves.
const DROPPED: [&str; 8] = ["rw", "ro", "seclabel", "upperdir", "uuid", "volatile", "workdir", "fsync"];

/// The layers. `store` is the folder that paths are relative to where podman had too many for one call.
pub(crate) fn layers(mounts: &[u8], driver: &str, store: &Path) -> Result<Layers, Reason> {
    let root = root(mounts).ok_or("a root that is not mounted")?;
    if driver != "overlay" || !root.is_overlay() {
        return Err(other_store(driver, root.kind));
    }
    let mut layers = Layers { folders: Vec::new(), options: Vec::new() };
    for (name, value) in root.options() {
        match (name.as_str(), value) {
            ("lowerdir", Some(value)) => layers.folders.extend(folders(&value, store)),
            ("lowerdir+", Some(value)) => layers.folders.push(store.join(OsString::from_vec(value))),
            (name, value) if KEPT.contains(&name) => {
                let value = value.map(|value| String::from_utf8_lossy(&value).into_owned());
                layers.options.push((name.to_owned(), value));
            }
            (name, _) if DROPPED.contains(&name) => {}
            _ => return Err(Reason::unknown(format_args!("the overlay option {name}"))),
        }
    }
    if is_at_least(BY_FOLDER) {
        // What is behind podman's short links spares each launch the way through them.
        for folder in &mut layers.folders {
            if let Ok(behind) = folder.canonicalize() {
                *folder = behind;
            }
        }
    }
    match layers.folders.len() {
        0 => Err("a root without layers".into()),
        1..=MOST => Ok(layers),
        _ => Err(format!("more layers than the kernel's overlayfs takes ({MOST})").into()),
    }
}

fn other_store(driver: &str, kind: &[u8]) -> Reason {
    if driver == "vfs" {
        return "podman's storage driver vfs, which copies the whole image for each container; \
                try: driver = \"overlay\" in storage.conf, then podman system reset"
            .into();
    }
    format!("a root on {} instead of the kernel's overlayfs", String::from_utf8_lossy(kind)).into()
}

/// The folders of a list that is joined by colons; a colon in a name has a backslash before it
/// (kernel.org, Documentation/filesystems/overlayfs.rst).
fn folders(list: &[u8], store: &Path) -> Vec<PathBuf> {
    let mut folders = vec![Vec::new()];
    let mut bytes = list.iter();
    while let Some(&byte) = bytes.next() {
        match (byte, folders.last_mut()) {
            (b':', _) => folders.push(Vec::new()),
            (b'\\', Some(folder)) => folder.extend(bytes.next()),
            (_, Some(folder)) => folder.push(byte),
            (_, None) => {}
        }
    }
    folders
        .into_iter()
        .filter(|folder| !folder.is_empty())
        .map(|folder| store.join(OsString::from_vec(folder)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(options: &str) -> Result<Layers, Reason> {
        let line = format!("9 8 0:57 / / rw,relatime master:3 - overlay overlay {options}\n");
        layers(line.as_bytes(), "overlay", Path::new("/store"))
    }

    #[test]
    fn folders_are_as_podman_has_them() {
        let found =
            of("rw,lowerdir=/a/l/X:/a/l/X/../diff1:l/Y,upperdir=/u,workdir=/w,uuid=on,userxattr").unwrap();
        assert_eq!(found.folders, ["/a/l/X", "/a/l/X/../diff1", "/store/l/Y"].map(PathBuf::from));
        assert_eq!(found.options, [("userxattr".to_owned(), None)]);
        let found = of("rw,lowerdir+=/a,lowerdir+=/b:c,redirect_dir=nofollow").unwrap();
        assert_eq!(found.folders, ["/a", "/b:c"].map(PathBuf::from));
        assert_eq!(found.options, [("redirect_dir".to_owned(), Some("nofollow".to_owned()))]);
    }

    #[test]
    fn odd_names_are_read_right() {
        let found = of(r"rw,lowerdir=/a\040b\134:c\054d\012:/e").unwrap();
        assert_eq!(found.folders, ["/a b:c,d\n", "/e"].map(PathBuf::from));
    }

    #[test]
    fn what_cannot_be_mounted_again_has_a_reason() {
        assert_eq!(of("rw,lowerdir=/a,datadir+=/b"), Err(Reason::unknown("the overlay option datadir+")));
        let many: Vec<_> = (0..=MOST).map(|number| format!("/{number}")).collect();
        let reason = of(&format!("rw,lowerdir={}", many.join(":"))).unwrap_err();
        assert!(reason.0.contains("(500)"), "{}", reason.0);
        let vfs = layers(b"9 8 8:1 /x / rw - ext4 /dev/vda rw\n", "vfs", Path::new("/")).unwrap_err();
        assert!(vfs.0.contains("storage.conf"), "{}", vfs.0);
        let part = b"9 8 0:57 /vfs/dir/x / rw - overlay overlay rw,lowerdir=/,upperdir=/u,workdir=/w\n";
        assert!(layers(part, "vfs", Path::new("/")).is_err());
        let fuse =
            layers(b"9 8 0:9 / / rw - fuse.fuse-overlayfs x rw\n", "overlay", Path::new("/")).unwrap_err();
        assert_eq!(fuse.0, "a root on fuse.fuse-overlayfs instead of the kernel's overlayfs");
    }
}
