//! The file of a plan.

use crate::basis::Basis;
use crate::recipe::Recipe;
use flake_sys::atomic;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The release that made a plan; another one makes its own. The number counts the changes of the format within a
/// release.
const VERSION: &str = concat!("flake-plan ", env!("CARGO_PKG_VERSION"), " 7\n");
/// More than any plan has, in bytes.
const MOST: u64 = 4 << 20;
/// The length of the sum at the end, in bytes.
const SUM: usize = size_of::<u32>();
const DAMAGED: PlanError = PlanError::Unfit("damaged");

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Whose store the layers are in.
    pub uid: u32,
    /// The words that podman was given for it. A call that comes to other words needs another plan.
    pub words: Vec<OsString>,
    /// What it was made from.
    pub basis: Basis,
    /// The id of the image.
    pub image_id: String,
    /// The way.
    pub way: Way,
}

/// How a launch goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// Straight from the layers.
    Runner(Box<Recipe>),
    /// Through podman and the agent.
    Agent {
        /// Why not straight.
        reason: String,
    },
}

/// What a list says of a plan: the way alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Whose store the layers are in.
    pub uid: u32,
    /// Why a launch does not go straight; absent when it does.
    pub reason: Option<String>,
}

/// The fields of a [`Plan`] in their order, but of the recipe, which is the last and by far the largest, only that
/// there is one.
#[derive(Deserialize)]
struct Head {
    uid: u32,
    _words: Vec<OsString>,
    _basis: Basis,
    _image_id: String,
    way: WayHead,
}

#[derive(Deserialize)]
enum WayHead {
    Runner,
    Agent { reason: String },
}

/// A plan could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// There is none.
    #[error("there is no plan")]
    Missing,
    /// It is another release's, damaged, or somebody else's.
    #[error("the plan is {0}")]
    Unfit(&'static str),
    /// The system's failure.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Plan {
    /// Reads a plan. One that others than root or `uid` could have written does not count.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn read(file: &Path, uid: u32) -> Result<Self, PlanError> {
        Self::from_bytes(&bytes_of(file, uid)?)
    }

    /// Reads what a list says of a plan, in a fraction of the time.
    ///
    /// # Errors
    /// [`PlanError`], as for [`Self::read`].
    pub fn summary(file: &Path, uid: u32) -> Result<Summary, PlanError> {
        let bytes = bytes_of(file, uid)?;
        let head: Head = postcard::from_bytes(body_of(&bytes)?).map_err(|_| DAMAGED)?;
        let reason = match head.way {
            WayHead::Runner => None,
            WayHead::Agent { reason } => Some(reason),
        };
        Ok(Summary { uid: head.uid, reason })
    }

    /// Whether it is good for a call of this user that comes to these words, now.
    #[must_use]
    pub fn is_good_for(&self, uid: u32, words: &[OsString]) -> bool {
        self.uid == uid && self.words == words && self.basis.is_unchanged()
    }

    /// Writes a plan in place of the one that is there.
    ///
    /// # Errors
    /// The system's; then what was there still is.
    pub fn write(&self, file: &Path, mode: u32) -> io::Result<()> {
        atomic::write(file, &self.to_bytes()?, mode)
    }

    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let body = postcard::to_stdvec(self).map_err(io::Error::other)?;
        let mut bytes = [VERSION.as_bytes(), &body].concat();
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        Ok(bytes)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, PlanError> {
        postcard::from_bytes(body_of(bytes)?).map_err(|_| DAMAGED)
    }
}

/// The bytes of a file that nobody but root and `uid` can have written.
fn bytes_of(file: &Path, uid: u32) -> Result<Vec<u8>, PlanError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = match open(file, flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Err(PlanError::Missing),
        Err(error) => return Err(PlanError::Io(error.into())),
    };
    let stat = fstat(&opened).map_err(io::Error::from)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(PlanError::Unfit("not a file"));
    }
    if stat.st_uid != 0 && stat.st_uid != uid || stat.st_mode & 0o022 != 0 {
        return Err(PlanError::Unfit("somebody else's to write"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or(0).min(64 << 10) + 1);
    File::from(opened).take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What is between the release and the sum of a whole file.
fn body_of(bytes: &[u8]) -> Result<&[u8], PlanError> {
    let body = bytes.strip_prefix(VERSION.as_bytes()).ok_or(PlanError::Unfit("of another release"))?;
    let (body, sum) = body.split_last_chunk::<SUM>().ok_or(DAMAGED)?;
    let summed = &bytes[..bytes.len() - SUM];
    if crc32fast::hash(summed) != u32::from_le_bytes(*sum) {
        return Err(DAMAGED);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn plan() -> Plan {
        Plan {
            uid: rustix::process::getuid().as_raw(),
            words: vec!["create".into()],
            basis: Basis::now([], Path::new("/")),
            image_id: "abc".into(),
            way: Way::Agent { reason: "a private network".into() },
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan");
        plan().write(&file, 0o600).unwrap();
        assert_eq!(Plan::read(&file, plan().uid).unwrap(), plan());
        assert!(plan().basis.is_unchanged());
        let summary = Summary { uid: plan().uid, reason: Some("a private network".into()) };
        assert_eq!(Plan::summary(&file, plan().uid).unwrap(), summary);
    }

    #[test]
    fn any_damage_is_noticed() {
        let bytes = plan().to_bytes().unwrap();
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 0x10;
            assert!(matches!(Plan::from_bytes(&damaged), Err(PlanError::Unfit(_))), "byte {index}");
            assert!(matches!(Plan::from_bytes(&bytes[..index]), Err(PlanError::Unfit(_))), "cut at {index}");
        }
    }

    #[test]
    fn what_others_can_write_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan");
        plan().write(&file, 0o600).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o620)).unwrap();
        assert!(matches!(Plan::read(&file, plan().uid), Err(PlanError::Unfit(_))));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        assert!(Plan::read(&link, 0).is_err());
        assert!(matches!(Plan::read(&folder.path().join("none"), 0), Err(PlanError::Missing)));
    }
}
