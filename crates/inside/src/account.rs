//! The caller's account inside: a line of passwd and one of group (passwd(5), group(5)), in place of what the
//! image has under the same name or number.

use flake_sys::atomic;
use flake_wire::Account;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags, chmod, chown, fstat, open, statx};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A larger file of an image's is left alone.
const MOST: u64 = 4 << 20;

/// Makes the account. What cannot be written is left as it is: the numbers count, not their names.
pub fn make(account: &Account) {
    let _ = fs::create_dir_all("/etc");
    let home = String::from_utf8_lossy(&account.home);
    let (name, uid, gid) = (clean(&account.name), account.uid.to_string(), account.gid.to_string());
    let line = format!("{name}:x:{uid}:{gid}:{}:{}:/bin/sh", clean(&account.gecos), clean(&home));
    let group = clean(&account.group);
    let group_line = format!("{group}:x:{gid}:");
    for (file, name, number, line) in
        [("/etc/passwd", &name, &uid, &line), ("/etc/group", &group, &gid, &group_line)]
    {
        let file = Path::new(file);
        if is_images_own(file) {
            let _ = put(file, name, number, line);
        }
    }
    if account.owns_home {
        let home = Path::new(OsStr::from_bytes(&account.home));
        let _ = chown(home, Some(Uid::from_raw(account.uid)), Some(Gid::from_raw(account.gid)));
        let _ = chmod(home, Mode::RWXU);
    }
}

/// A field ends at a colon, a line at a line feed.
fn clean(text: &str) -> String {
    text.chars().filter(|sign| *sign != ':' && !sign.is_control()).collect()
}

fn put(file: &Path, name: &str, number: &str, line: &str) -> io::Result<()> {
    let before = read(file)?;
    let after = with_line(before.as_deref().unwrap_or_default(), name, number, line);
    atomic::write(file, &after, 0o644)
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
    let is_other = |entry: &&[u8]| {
        let mut fields = entry.split(|byte| *byte == b':');
        !entry.is_empty()
            && fields.next() != Some(name.as_bytes())
            && fields.nth(1) != Some(number.as_bytes())
    };
    let mut after: Vec<u8> = Vec::with_capacity(before.len() + line.len() + 1);
    for entry in before.split(|byte| *byte == b'\n').filter(is_other) {
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
        put(&file, "ada", "5", "ada:x:5:5::/:/bin/sh").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "ada:x:5:5::/:/bin/sh\n");
    }

    #[test]
    fn a_file_that_is_not_there_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("group");
        put(&file, "ada", "5", "ada:x:5:").unwrap();
        put(&file, "ada", "6", "ada:x:6:").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "ada:x:6:\n");
    }
}
