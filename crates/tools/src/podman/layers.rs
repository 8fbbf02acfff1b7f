//! The folders of an image's layers in podman's store, as the overlay driver lays them out.

use super::ImageFile;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, open, openat, statat};
use rustix::io::Errno;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Where the layers are, as `podman image inspect` says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GraphDriver {
    /// The driver; only `overlay` has its layers as folders.
    #[serde(default)]
    pub name: String,
    /// Its folders.
    #[serde(default)]
    pub data: Option<Folders>,
}

/// The folders of the overlay driver.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Folders {
    /// The topmost layer.
    #[serde(default)]
    pub upper_dir: String,
    /// The others, joined by colons, the topmost first.
    #[serde(default)]
    pub lower_dir: String,
}

impl GraphDriver {
    /// The layers, the topmost first; none when the driver keeps no folders.
    pub fn layers(&self) -> impl Iterator<Item = &Path> {
        let data = self.data.as_ref().filter(|_| self.name == "overlay");
        data.into_iter()
            .flat_map(|data| std::iter::once(data.upper_dir.as_str()).chain(data.lower_dir.split(':')))
            .filter(|folder| !folder.is_empty())
            .map(Path::new)
    }

    /// A file in the root of the image, at most `most` bytes of it; nothing where the layers do not tell, as when
    /// this process may not look into them.
    pub(super) fn read(&self, name: &str, most: u64) -> Option<ImageFile> {
        let mut known = false;
        for layer in self.layers() {
            known = true;
            match look(layer, name, most) {
                Ok(Some(found)) => return Some(found),
                Ok(None) => {}
                Err(_) => return None,
            }
        }
        known.then_some(ImageFile::Missing)
    }
}

/// What one layer says of a name: a file, that it was removed, or nothing.
fn look(layer: &Path, name: &str, most: u64) -> io::Result<Option<ImageFile>> {
    let folder = open(layer, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    // A removed file is a device 0:0, or a mark beside where devices cannot be made.
    let mark = statat(&folder, format!(".wh.{name}"), AtFlags::SYMLINK_NOFOLLOW);
    match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(mark.is_ok().then_some(ImageFile::Missing)),
        Err(error) => return Err(error.into()),
        Ok(found) => match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => {}
            FileType::CharacterDevice if found.st_rdev == 0 => return Ok(Some(ImageFile::Missing)),
            _ => return Ok(Some(ImageFile::NotAFile)),
        },
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(&folder, name, flags, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Ok(Some(ImageFile::NotAFile));
    }
    let mut content = Vec::new();
    File::from(file).take(most.saturating_add(1)).read_to_end(&mut content)?;
    let fits = u64::try_from(content.len()).is_ok_and(|length| length <= most);
    Ok(Some(if fits { ImageFile::Content(content) } else { ImageFile::TooLarge }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_topmost_layer_that_knows_the_name_decides() {
        let store = tempfile::tempdir().unwrap();
        let at = |path: &str| store.path().join(path);
        for layer in ["top", "middle", "bottom"] {
            fs::create_dir(at(layer)).unwrap();
        }
        fs::write(at("top/a"), "top").unwrap();
        fs::write(at("middle/.wh.b"), "").unwrap();
        for name in ["a", "b", "c"] {
            fs::write(at("bottom").join(name), "bottom").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", at("top/link")).unwrap();
        let path = |layer: &str| at(layer).display().to_string();
        let driver = GraphDriver {
            name: "overlay".into(),
            data: Some(Folders {
                upper_dir: path("top"),
                lower_dir: format!("{}:{}", path("middle"), path("bottom")),
            }),
        };
        assert_eq!(driver.read("a", 10), Some(ImageFile::Content(b"top".to_vec())));
        assert_eq!(driver.read("a", 2), Some(ImageFile::TooLarge));
        assert_eq!(driver.read("b", 10), Some(ImageFile::Missing));
        assert_eq!(driver.read("c", 10), Some(ImageFile::Content(b"bottom".to_vec())));
        assert_eq!(driver.read("link", 10), Some(ImageFile::NotAFile));
        assert_eq!(driver.read("none", 10), Some(ImageFile::Missing));
        let vfs = GraphDriver { name: "vfs".into(), ..driver };
        assert_eq!(vfs.read("a", 10), None);
    }
}
