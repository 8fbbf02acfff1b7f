//! Archives whose entries all belong to one user.

use super::Owner;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use tar::{Archive, Builder, Header};

/// Packs a file, or a folder with all that is in it, as `name`.
pub(super) fn pack(source: &Path, name: &Path, owner: Owner, into: &mut dyn Write) -> io::Result<()> {
    let mut archive = Builder::new(into);
    append(source, name, owner, &mut archive)?;
    archive.finish()
}

/// An archive with nothing in it.
pub(super) fn nothing(into: &mut dyn Write) -> io::Result<()> {
    Builder::new(into).finish()
}

/// Passes an archive on, with other owners.
pub(super) fn change(archive: impl Read, owner: Owner, into: &mut dyn Write) -> io::Result<()> {
    let mut archive = Archive::new(archive);
    let mut changed = Builder::new(into);
    // Unread, so that whatever stands in front of an entry to say more about it is passed on too.
    for entry in archive.entries()?.raw(true) {
        let entry = entry?;
        let mut header = entry.header().clone();
        give(&mut header, owner);
        header.set_cksum();
        changed.append(&header, entry)?;
    }
    changed.finish()
}

fn append(source: &Path, name: &Path, owner: Owner, archive: &mut Builder<&mut dyn Write>) -> io::Result<()> {
    let failed = |error: io::Error| {
        io::Error::new(error.kind(), format!("{}: {}", source.display(), flake_sys::reason::reason(&error)))
    };
    let found = fs::symlink_metadata(source).map_err(failed)?;
    let mut header = Header::new_gnu();
    header.set_metadata(&found);
    give(&mut header, owner);
    let kind = found.file_type();
    if kind.is_symlink() {
        header.set_size(0);
        archive.append_link(&mut header, name, fs::read_link(source).map_err(failed)?)
    } else if kind.is_file() {
        let file = File::open(source).map_err(failed)?;
        // What is written to it meanwhile is left out.
        archive.append_data(&mut header, name, file.take(found.len()))
    } else if kind.is_dir() {
        header.set_size(0);
        archive.append_data(&mut header, name, io::empty())?;
        for entry in fs::read_dir(source).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            append(&entry.path(), &name.join(entry.file_name()), owner, archive)?;
        }
        Ok(())
    } else if kind.is_socket() {
        // It means nothing elsewhere.
        Ok(())
    } else {
        header.set_size(0);
        archive.append_data(&mut header, name, io::empty())
    }
}

fn give(header: &mut Header, owner: Owner) {
    header.set_uid(owner.uid.into());
    header.set_gid(owner.gid.into());
    if let Some(ustar) = header.as_ustar_mut() {
        ustar.uname = [0; 32];
        ustar.gname = [0; 32];
    } else if let Some(gnu) = header.as_gnu_mut() {
        gnu.uname = [0; 32];
        gnu.gname = [0; 32];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::os::unix::fs::symlink;

    const ADA: Owner = Owner { uid: 4242, gid: 70_000 };

    /// Path, and owner and what it is.
    fn listed(archive: &[u8]) -> BTreeMap<String, (u64, u64, String)> {
        let mut archive = Archive::new(archive);
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().to_str().unwrap().to_owned();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            if let Some(target) = entry.link_name().unwrap() {
                text = format!("-> {}", target.display());
            }
            (path, (entry.header().uid().unwrap(), entry.header().gid().unwrap(), text))
        });
        entries.collect()
    }

    fn packed(folder: &Path) -> Vec<u8> {
        let long = "n".repeat(150);
        fs::create_dir_all(folder.join("d/e")).unwrap();
        fs::write(folder.join("d/e").join(&long), "hello").unwrap();
        symlink("../t".repeat(50), folder.join("d/l")).unwrap();
        let mut archive = Vec::new();
        pack(&folder.join("d"), Path::new("new"), ADA, &mut archive).unwrap();
        archive
    }

    #[test]
    fn everything_belongs_to_one() {
        let folder = tempfile::tempdir().unwrap();
        let archive = packed(folder.path());
        let found = listed(&archive);
        let ids = (4242, 70_000);
        let expected = [
            ("new".to_owned(), String::new()),
            ("new/e".to_owned(), String::new()),
            (format!("new/e/{}", "n".repeat(150)), "hello".to_owned()),
            ("new/l".to_owned(), format!("-> {}", "../t".repeat(50))),
        ];
        let expected: BTreeMap<_, _> =
            expected.into_iter().map(|(path, text)| (path, (ids.0, ids.1, text))).collect();
        let found: BTreeMap<_, _> =
            found.into_iter().map(|(path, entry)| (path.trim_end_matches('/').to_owned(), entry)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_archive_keeps_everything_but_its_owners() {
        let folder = tempfile::tempdir().unwrap();
        let archive = packed(folder.path());
        let mut changed = Vec::new();
        change(archive.as_slice(), Owner { uid: 1, gid: 2 }, &mut changed).unwrap();
        let (before, after) = (listed(&archive), listed(&changed));
        assert_eq!(before.len(), after.len());
        for (path, (_, _, text)) in before {
            assert_eq!(after[&path], (1, 2, text));
        }
        let mut none = Vec::new();
        assert!(
            change(&b"no archive at all, but long enough to be one".repeat(20)[..], ADA, &mut none).is_err()
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let mut archive = Vec::new();
        let error = pack(Path::new("/nowhere/x"), Path::new("x"), ADA, &mut archive).unwrap_err();
        assert_eq!(error.to_string(), "/nowhere/x: no such file or directory");
    }
}
