//! The mounts of a container, as `/proc/PID/mountinfo` of its first process lists them (proc(5)).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A line, as far as it matters.
pub(crate) struct Line<'a> {
    id: &'a [u8],
    parent: &'a [u8],
    root: &'a [u8],
    point: &'a [u8],
    /// The type of the file system.
    pub(crate) kind: &'a [u8],
    options: &'a [u8],
}

/// The mount of the root.
pub(crate) fn root(mounts: &[u8]) -> Option<Line<'_>> {
    lines(mounts).filter(|line| line.point == b"/").last()
}

/// Where a file of the host is mounted, relative to the root. Nothing where that is in another mount, or not certain:
/// the kernel tells the file's path from the root of its file system on, and another may end in the same way.
pub(crate) fn place_of(mounts: &[u8], source: &Path) -> Option<PathBuf> {
    let root = root(mounts)?;
    let mut found = lines(mounts).filter(|line| is_end_of(source, &unescaped(line.root)));
    let line = found.next().filter(|_| found.next().is_none())?;
    let point = PathBuf::from(OsString::from_vec(unescaped(line.point)));
    point.strip_prefix("/").ok().filter(|_| line.parent == root.id).map(Path::to_owned)
}

fn is_end_of(path: &Path, end: &[u8]) -> bool {
    end.strip_prefix(b"/").is_some_and(|end| !end.is_empty() && path.ends_with(OsStr::from_bytes(end)))
}

fn lines(mounts: &[u8]) -> impl Iterator<Item = Line<'_>> {
    mounts.split(|byte| *byte == b'\n').filter_map(Line::parse)
}

impl<'a> Line<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        let (id, parent) = (fields.next()?, fields.next()?);
        let (root, point) = (fields.nth(1)?, fields.next()?);
        // Optional fields end with a dash.
        fields.find(|field| *field == b"-")?;
        let (kind, options) = (fields.next()?, fields.nth(1)?);
        Some(Self { id, parent, root, point, kind, options })
    }

    /// A part of another overlay is none: a plain folder can be on one.
    pub(crate) fn is_overlay(&self) -> bool {
        self.kind == b"overlay" && self.root == b"/"
    }

    /// The options of the file system.
    pub(crate) fn options(&self) -> impl Iterator<Item = (String, Option<Vec<u8>>)> + use<'a> {
        self.options.split(|byte| *byte == b',').map(|option| {
            let (name, value) = match option.iter().position(|byte| *byte == b'=') {
                Some(at) => (&option[..at], Some(unescaped(&option[at + 1..]))),
                None => (option, None),
            };
            (String::from_utf8_lossy(name).into_owned(), value)
        })
    }
}

/// The kernel writes separators as a backslash and three octal digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let digit = |byte: &u8| (b'0'..=b'7').contains(byte).then(|| u32::from(byte - b'0'));
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let code = after.first_chunk::<3>().and_then(|[high, middle, low]| {
            u8::try_from(digit(high)? * 64 + digit(middle)? * 8 + digit(low)?).ok()
        });
        match code.filter(|_| first == b'\\') {
            Some(code) => {
                plain.push(code);
                rest = &after[3..];
            }
            None => {
                plain.push(first);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
9 8 0:57 / / rw - overlay overlay rw,lowerdir=/a
10 9 0:5 /containers/c0ffee/resolv.conf /run/systemd/stub\\040.conf rw - tmpfs tmpfs rw
11 9 0:6 / /run/in rw - tmpfs tmpfs rw
12 11 0:5 /containers/c0ffee/hosts /run/in/hosts rw - tmpfs tmpfs rw
13 9 0:5 /containers/c0ffee/hostname /etc/hostname rw - tmpfs tmpfs rw
14 9 0:7 /hostname /etc/other rw - tmpfs tmpfs rw
";

    #[test]
    fn the_place_of_a_file_is_told_where_it_is_certain() {
        let place =
            |name| place_of(MOUNTS.as_bytes(), Path::new("/run/containers/c0ffee").join(name).as_ref());
        assert_eq!(place("resolv.conf"), Some("run/systemd/stub .conf".into()));
        assert_eq!(place("hosts"), None, "in another mount");
        assert_eq!(place("hostname"), None, "it could be either");
        assert_eq!(place("none"), None);
    }
}
