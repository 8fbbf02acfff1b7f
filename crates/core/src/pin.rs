//! Which image a flake has: the one its tag holds, which only `update` moves.
//!
//! What a registry or somebody else gives a name to meanwhile does not change what a command runs. The record of it,
//! `pins/NAME` in the state folder, has up to three lines: the image's reference as the flake file has it, the id of the
//! image, and the id of the one before the last update.

use crate::place::{Places, pinned_tag, previous_tag};
use crate::store::{ImageStore, StoreError};
use crate::transaction::{ChangeError, Transaction, make_folders};
use flake_schema::{Flake, FlakeName, Image};
use flake_sys::atomic;
use rustix::fs::{Mode, OFlags, open};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// More than any record has, in bytes.
const MOST: u64 = 16 << 10;

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The image's reference, as the flake file had it.
    pub reference: String,
    /// The id of the image.
    pub id: String,
    /// The id of the image before the last update.
    pub previous: Option<String>,
}

/// Why an image was not pinned.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// It is not in the store.
    #[error("there is no image {0} here")]
    NoImage(String),
    /// The store or the system refuses.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl From<StoreError> for PinError {
    fn from(error: StoreError) -> Self {
        Self::Change(error.into())
    }
}

impl Pin {
    /// The record of a flake; none when there is none or it is damaged.
    #[must_use]
    pub fn read(places: &Places, name: &FlakeName) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = open(places.pin_file(name), flags, Mode::empty()).ok()?;
        let mut text = String::new();
        File::from(file).take(MOST).read_to_string(&mut text).ok()?;
        // The last line's end is the mark of a whole record.
        let mut lines = text.strip_suffix('\n')?.split('\n').map(str::to_owned);
        let (reference, id) = (lines.next()?, lines.next()?);
        let previous = lines.next();
        (!id.is_empty() && lines.next().is_none()).then_some(Self { reference, id, previous })
    }

    fn text(&self) -> String {
        let lines = [Some(&self.reference), Some(&self.id), self.previous.as_ref()];
        lines.into_iter().flatten().map(|line| format!("{line}\n")).collect()
    }
}

/// The image of a flake that launches it as it is; a composed one is another.
#[must_use]
pub fn image_of(flake: &Flake) -> Option<&str> {
    let Image::Container { name, base: None, layers, host_files: false } = &flake.image else { return None };
    let alone = layers.is_empty()
        && flake.include_tar.is_empty()
        && flake.include_path.is_empty()
        && flake.hostsystem.is_empty();
    alone.then_some(name)
}

/// The name by which a launch finds its image in the store: the flake's tag, or the reference itself where that was
/// never pinned, as when the flake file was edited since. With it the image's id, where that is known.
#[must_use]
pub fn image(places: &Places, name: &FlakeName, reference: &str) -> (String, String) {
    match Pin::read(places, name) {
        Some(pin) if pin.reference == reference => (pinned_tag(name, places.scope), pin.id),
        _ => (reference.to_owned(), String::new()),
    }
}

/// Sees to it that the image is there under its tag: one that lost the tag gets it again, one that was never pinned or is
/// gone is pinned as it is named now.
///
/// # Errors
/// [`PinError`].
pub fn ensure(
    places: &Places,
    name: &FlakeName,
    reference: &str,
    store: &dyn ImageStore,
) -> Result<(), PinError> {
    if let Some(pin) = Pin::read(places, name).filter(|pin| pin.reference == reference) {
        let tag = pinned_tag(name, places.scope);
        if store.find(&tag)?.is_some() {
            return Ok(());
        }
        if store.find(&pin.id)?.is_some() {
            return Ok(store.tag(&pin.id, &tag)?);
        }
    }
    set(places, name, reference, store).map(drop)
}

/// Pins the image that has the reference now.
///
/// # Errors
/// [`PinError`].
pub fn set(
    places: &Places,
    name: &FlakeName,
    reference: &str,
    store: &dyn ImageStore,
) -> Result<Pin, PinError> {
    let found = store.find(reference)?.ok_or_else(|| PinError::NoImage(reference.to_owned()))?;
    store.tag(&found.id, &pinned_tag(name, places.scope))?;
    let former = Pin::read(places, name).filter(|former| former.reference == reference);
    let previous = former.and_then(|former| former.previous);
    let pin = Pin { reference: reference.to_owned(), id: found.id, previous };
    let file = places.pin_file(name);
    let folder = file.parent().unwrap_or(Path::new("/"));
    make_folders(folder, places.folder_mode())?;
    atomic::write(&file, pin.text().as_bytes(), places.note_mode())
        .map_err(|source| ChangeError::io("write", &file, source))?;
    Ok(pin)
}

/// Pins the image that has the reference now, as a step of a transaction. The one that it had before is the one to go
/// back to, as after an update.
pub(crate) fn hold(
    reference: &str,
    name: &FlakeName,
    places: &Places,
    changes: &mut Transaction<'_>,
) -> Result<(), ChangeError> {
    let store = changes.store();
    let Some(found) = store.find(reference)? else {
        return Err(StoreError::Failed(Box::new(PinError::NoImage(reference.to_owned()))).into());
    };
    let former = Pin::read(places, name).filter(|former| former.reference == reference);
    let previous =
        former.and_then(|Pin { id, previous, .. }| if id == found.id { previous } else { Some(id) });
    // Somebody may have removed it.
    let previous = match previous {
        Some(id) => store.find(&id)?.map(|found| found.id),
        None => None,
    };
    put(&Pin { reference: reference.to_owned(), id: found.id, previous }, name, places, changes)
}

/// Pins as a record says, and writes it, as steps of a transaction.
pub(crate) fn put(
    pin: &Pin,
    name: &FlakeName,
    places: &Places,
    changes: &mut Transaction<'_>,
) -> Result<(), ChangeError> {
    let tag = previous_tag(name, places.scope);
    // First, so that an image never is without a tag on the way from the one to the other.
    match &pin.previous {
        Some(previous) => changes.tag(previous, &tag)?,
        None if Pin::read(places, name).is_some_and(|former| former.previous.is_some()) => {
            changes.untag(&tag)?;
        }
        None => {}
    }
    changes.tag(&pin.id, &pinned_tag(name, places.scope))?;
    let file = places.pin_file(name);
    changes.make_folders(file.parent().unwrap_or(Path::new("/")), places.folder_mode())?;
    changes.put_file(&file, places.note_mode(), |draft| {
        let written = File::create(draft).and_then(|mut draft| draft.write_all(pin.text().as_bytes()));
        written.map_err(|source| ChangeError::io("write", &file, source))
    })
}

/// Takes the tags and the record away, where there is one.
pub(crate) fn release(
    name: &FlakeName,
    places: &Places,
    changes: &mut Transaction<'_>,
) -> Result<(), ChangeError> {
    if let Some(pin) = Pin::read(places, name) {
        changes.untag(&pinned_tag(name, places.scope))?;
        if pin.previous.is_some() {
            changes.untag(&previous_tag(name, places.scope))?;
        }
    }
    changes.take(&places.pin_file(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Scope;
    use crate::register::tests::Host;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_flake_keeps_its_image_whatever_its_name_leads_to() {
        for scope in [Scope::System, Scope::User] {
            let host = Host::new(scope);
            let name: FlakeName = "joe".parse().unwrap();
            assert_eq!(image(&host.places, &name, "box").0, "box");
            let pin = set(&host.places, &name, "box", &host.store).unwrap();
            assert_eq!((pin.id.as_str(), Pin::read(&host.places, &name)), ("1", Some(pin.clone())));
            host.store.tag("new", "box").unwrap();
            let (tag, _) = image(&host.places, &name, "box");
            assert_eq!(host.store.find(&tag).unwrap().unwrap().id, "1");
            assert_eq!(image(&host.places, &name, "new").0, "new");
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
            let file = host.places.pin_file(&name);
            let modes = if scope == Scope::System { (0o755, 0o644) } else { (0o700, 0o600) };
            assert_eq!((mode(file.parent().unwrap()), mode(&file)), modes);
        }
    }

    #[test]
    fn a_tag_that_was_taken_away_comes_back() {
        let host = Host::new(Scope::User);
        let name: FlakeName = "joe".parse().unwrap();
        let ensured = || {
            ensure(&host.places, &name, "box", &host.store).unwrap();
            host.store.names.borrow()["localhost/flake/joe:own"].clone()
        };
        assert_eq!(ensured(), "1");
        host.store.tag("new", "box").unwrap();
        assert_eq!(ensured(), "1");
        host.store.untag("localhost/flake/joe:own").unwrap();
        assert_eq!(ensured(), "1");
        host.store.remove("1").unwrap();
        assert_eq!((ensured().as_str(), Pin::read(&host.places, &name).unwrap().id.as_str()), ("2", "2"));
    }

    #[test]
    fn a_damaged_record_is_none() {
        let host = Host::new(Scope::User);
        let name: FlakeName = "joe".parse().unwrap();
        set(&host.places, &name, "box", &host.store).unwrap();
        let file = host.places.pin_file(&name);
        for text in ["", "box\n", "box\n1", "box\n\n", "box\n1\n2\n3\n"] {
            fs::write(&file, text).unwrap();
            assert_eq!(Pin::read(&host.places, &name), None, "{text:?}");
        }
        fs::write(&file, "box\n1\n2\n").unwrap();
        assert_eq!(Pin::read(&host.places, &name).unwrap().previous.as_deref(), Some("2"));
    }
}
