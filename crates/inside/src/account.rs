//! The caller's account inside: a line of passwd and one of group (passwd(5), group(5)), in place of what the
//! image has under the same name or number.

use flake_sys::atomic;
use flake_wire::Account;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags, fchmod, fchown, fstat, open, statx};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A larger file of an image's is left alone.
const MOST: u64 = 4 << 20;

/// Makes the account; does nothing where it was made before, so that whoever lives inside may have chosen another
/// shell since. What cannot be written is left as it is: the numbers count, not their names.
pub fn make(account: &Account) {
    let home = String::from_utf8_lossy(&account.home);
    let (name, uid, gid) = (clean(&account.name), account.uid.to_string(), account.gid.to_string());
    let line = format!("{name}:x:{uid}:{gid}:{}:{}:/bin/sh", clean(&account.gecos), clean(&home));
    let group = clean(&account.group);
    let group_line = format!("{group}:x:{gid}:");
    for (file, name, number, line) in
        [("/etc/passwd", &name, &uid, &line), ("/etc/group", &group, &gid, &group_line)]
    {
        let _ = put(Path::new(file), name, number, line, is_images_own);
    }
    if account.owns_home {
        let _ = give(Path::new(OsStr::from_bytes(&account.home)), account.uid, account.gid);
    }
}

/// Gives a home directory that was made for the user to the user, once: what it may do to others is theirs to say.
/// They may have put a link in its place since, which is not followed.
fn give(home: &Path, uid: u32, gid: u32) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let home = open(home, flags, Mode::empty())?;
    let found = fstat(&home)?;
    if (found.st_uid, found.st_gid) != (uid, gid) {
        fchown(&home, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
        fchmod(&home, Mode::RWXU)?;
    }
    Ok(())
}

/// A field ends at a colon, a line at a line feed.
fn clean(text: &str) -> String {
    text.chars().filter(|sign| *sign != ':' && !sign.is_control()).collect()
}

/// Puts a line into a file, unless it is there. `may_write` is asked before anything is written.
fn put(
    file: &Path,
    name: &str,
    number: &str,
    line: &str,
    may_write: impl Fn(&Path) -> bool,
) -> io::Result<()> {
    let before = read(file)?.unwrap_or_default();
    if has_line(&before, name, number, line) {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    if !may_write(file) {
        return Ok(());
    }
    atomic::write(file, &with_line(&before, name, number, line), 0o644)
}

/// Whether a line is in the file, and no other has its name or its number. A last field that differs, a shell or a
/// group's members, is no difference.
fn has_line(file: &[u8], name: &str, number: &str, line: &str) -> bool {
    let entries = || file.split(|byte| *byte == b'\n');
    let is_ours = |entry: &&[u8]| !is_other(entry, name, number);
    let all_but_last =
        |entry: &[u8]| entry.iter().rposition(|byte| *byte == b':').map(|end| entry[..end].to_vec());
    let mut ours = entries().filter(|entry| !entry.is_empty()).filter(is_ours);
    let is_same = ours.next().is_some_and(|entry| all_but_last(entry) == all_but_last(line.as_bytes()));
    is_same && ours.next().is_none()
}

/// Whether an entry has neither this name nor, in its third field, this number.
fn is_other(entry: &[u8], name: &str, number: &str) -> bool {
    let mut fields = entry.split(|byte| *byte == b':');
    fields.next() != Some(name.as_bytes()) && fields.nth(1) != Some(number.as_bytes())
}

/// Whether a file, or the folder that it would be made in, is the image's own. Anything mounted there is
/// somebody else's, perhaps the host's.
fn is_images_own(file: &Path) -> bool {
    let mount = |path: &Path| {
        let stat = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::MNT_ID).ok()?;
        (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
    };
    let root = mount(Path::new("/"));
    let folder = file.parent().and_then(mount);
    root.is_some() && folder == root && (!file.exists() || mount(file) == root)
}

/// A regular file's content; none where there is no such. The image may have put anything there, such as a
/// named pipe, which would be waited for.
fn read(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = match open(file, flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if FileType::from_raw_mode(fstat(&opened)?.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    let mut content = Vec::new();
    File::from(opened).take(MOST).read_to_end(&mut content)?;
    if content.len() as u64 == MOST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(content))
}

/// The file with a line in place of all that have this name, or this number in the third field.
fn with_line(before: &[u8], name: &str, number: &str, line: &str) -> Vec<u8> {
    let mut after: Vec<u8> = Vec::with_capacity(before.len() + line.len() + 1);
    let stays = |entry: &&[u8]| !entry.is_empty() && is_other(entry, name, number);
    for entry in before.split(|byte| *byte == b'\n').filter(stays) {
        after.extend_from_slice(entry);
        after.push(b'\n');
    }
    after.extend_from_slice(line.as_bytes());
    after.push(b'\n');
    after
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn the_image_gives_way_under_name_and_number() {
        let before = b"root:x:0:0::/root:/bin/sh\nubuntu:x:1000:1000:U:/home/ubuntu:/bin/bash\nada:x:7:7::/:/x\nlast:x:8:8::/:/x";
        let after = with_line(before, "ada", "1000", "ada:x:1000:1000:Ada:/home/ada:/bin/sh");
        assert_eq!(
            String::from_utf8(after).unwrap(),
            "root:x:0:0::/root:/bin/sh\nlast:x:8:8::/:/x\nada:x:1000:1000:Ada:/home/ada:/bin/sh\n"
        );
    }

    #[test]
    fn a_named_pipe_in_its_place_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passwd");
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        put(&file, "ada", "5", "ada:x:5:5::/:/bin/sh", |_| true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "ada:x:5:5::/:/bin/sh\n");
    }

    #[test]
    fn a_file_that_is_not_there_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("group");
        put(&file, "ada", "5", "ada:x:5:", |_| true).unwrap();
        put(&file, "ada", "6", "ada:x:6:", |_| true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "ada:x:6:\n");
    }

    #[test]
    fn what_is_there_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passwd");
        let line = "ada:x:5:5:Ada:/home/ada:/bin/sh";
        put(&file, "ada", "5", line, |_| true).unwrap();
        let inode = || fs::metadata(&file).unwrap().ino();
        let before = inode();
        put(&file, "ada", "5", line, |_| panic!("to be written")).unwrap();
        assert_eq!(inode(), before);

        // Another shell is the user's choice; another home, name or number is not the account.
        let text = "root:x:0:0::/:/bin/sh\nada:x:5:5:Ada:/home/ada:/bin/zsh\n";
        assert!(has_line(text.as_bytes(), "ada", "5", line));
        for other in [
            "ada:x:5:5:Ada:/home/other:/bin/sh\n",
            "ada:x:6:5:Ada:/home/ada:/bin/sh\n",
            "ada:x:5:5:Ada:/home/ada:/bin/sh\nother:x:5:5::/:/bin/sh\n",
            "other:x:5:5:Ada:/home/ada:/bin/sh\n",
            "ada\n",
            "",
        ] {
            assert!(!has_line(other.as_bytes(), "ada", "5", line), "{other}");
        }
        assert!(has_line(b"ada:x:5:bob,carl", "ada", "5", "ada:x:5:"));
    }

    #[test]
    fn a_home_is_given_once() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can give a folder away");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        let seen =
            |path: &Path| fs::metadata(path).map(|found| (found.uid(), found.gid(), found.mode() & 0o777));
        give(&home, 7, 8).unwrap();
        assert_eq!(seen(&home).unwrap(), (7, 8, 0o700));
        fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
        give(&home, 7, 8).unwrap();
        assert_eq!(seen(&home).unwrap(), (7, 8, 0o755));

        let before = seen(folder.path()).unwrap();
        fs::remove_dir(&home).unwrap();
        std::os::unix::fs::symlink(folder.path(), &home).unwrap();
        assert!(give(&home, 7, 8).is_err());
        assert_eq!(seen(folder.path()).unwrap(), before);
    }
}
