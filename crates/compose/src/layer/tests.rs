use super::*;
use crate::ids::{Ids, Map};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

/// An image with merged `/usr` and a closed folder.
fn image(folder: &Path) -> View {
    fs::create_dir_all(folder.join("usr/lib")).unwrap();
    fs::create_dir_all(folder.join("closed")).unwrap();
    fs::set_permissions(folder.join("closed"), fs::Permissions::from_mode(0o1700)).unwrap();
    symlink("usr/lib", folder.join("lib")).unwrap();
    fs::write(folder.join("file"), "").unwrap();
    let own = fs::metadata(folder).unwrap();
    let map = |id| Map::parse(&format!("0 {id} 1")).unwrap();
    View::new([folder], Ids { users: map(own.uid()), groups: map(own.gid()) }).unwrap()
}

fn entry(path: &str, kind: Kind) -> Entry {
    Entry {
        path: path.into(),
        kind,
        meta: Meta { mode: 0o4755, uid: 3, gid: 4, mtime: 5, ..Meta::default() },
    }
}

fn file(path: &str, content: &str) -> Entry {
    entry(path, Kind::File(content.len() as u64))
}

/// Path, type, mode, owner, link target and content of what a layer comes to.
fn written(fill: impl FnOnce(&mut Layer<'_>) -> Result<(), LayerError>) -> Result<Vec<String>, LayerError> {
    let folder = tempfile::tempdir().unwrap();
    let view = image(&made(folder.path().join("image")));
    let path = folder.path().join("layer");
    let mut layer = Layer::new(&view, File::create(&path).unwrap());
    fill(&mut layer)?;
    let written = layer.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(written.size, bytes.len() as u64);
    assert_eq!(written.digest, format!("sha256:{}", hex(&Sha256::digest(&bytes))));
    let mut lines = Vec::new();
    for entry in tar::Archive::new(bytes.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut attributes = String::new();
        for extension in entry.pax_extensions().unwrap().into_iter().flatten().flatten() {
            attributes += &format!(" {}={:?}", extension.key().unwrap(), extension.value().unwrap());
        }
        let mut content = String::new();
        entry.read_to_string(&mut content).unwrap();
        let header = entry.header();
        let link =
            entry.link_name().unwrap().map(|link| format!(" -> {}", link.display())).unwrap_or_default();
        lines.push(format!(
            "{:?} {} {:o} {}:{} {}{link}{attributes} {content}",
            header.entry_type(),
            entry.path().unwrap().display(),
            header.mode().unwrap(),
            header.uid().unwrap(),
            header.gid().unwrap(),
            header.mtime().unwrap(),
        ));
    }
    Ok(lines)
}

fn made(folder: PathBuf) -> PathBuf {
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn refused(entries: &[Entry]) -> String {
    written(|layer| entries.iter().try_for_each(|entry| layer.put(entry, &mut &b"x"[..])))
        .unwrap_err()
        .to_string()
}

#[test]
fn things_lie_where_the_images_links_lead() {
    let lines = written(|layer| {
        layer.put(&file("lib/x", "text"), &mut &b"text"[..])?;
        layer.put(&entry("lib", Kind::Folder), &mut io::empty())?;
        layer.put(&entry("lib/same", Kind::SameAs("usr/lib/x".into())), &mut io::empty())?;
        layer.put(&entry("new/deep", Kind::Folder), &mut io::empty())?;
        layer.put(&entry("new/link", Kind::Link("/anywhere/..".into())), &mut io::empty())
    });
    let lines: Vec<_> = lines.unwrap().into_iter().filter(|line| !line.contains(" usr 755")).collect();
    let folder = &lines[0];
    assert!(folder.starts_with("Directory usr/lib 755 0:0 "), "{folder}");
    assert_eq!(
        lines[1..],
        [
            "Regular usr/lib/x 4755 3:4 5 text",
            "Link usr/lib/same 4755 3:4 5 -> usr/lib/x ",
            "Directory new 755 0:0 5 ",
            "Directory new/deep 4755 3:4 5 ",
            "Symlink new/link 4755 3:4 5 -> /anywhere/.. ",
        ]
    );
}

#[test]
fn folders_of_the_image_stay_as_they_are() {
    let lines = written(|layer| {
        layer.put(&entry("closed", Kind::Folder), &mut io::empty())?;
        layer.put(&file("closed/x", ""), &mut io::empty())?;
        layer.put(&entry("", Kind::Folder), &mut io::empty())
    });
    let lines = lines.unwrap();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("Directory closed 1700 0:0 "), "{lines:?}");
}

#[test]
fn names_may_be_long_and_have_attributes() {
    let (name, long) = ("d".repeat(150), "t".repeat(300));
    let lines = written(|layer| {
        let mut with = file(&format!("{name}/{name}"), "x");
        with.meta.attributes = vec![("user.a".into(), b"b".to_vec())];
        layer.put(&with, &mut &b"x"[..])?;
        layer.put(&entry("link", Kind::Link(long.clone().into())), &mut io::empty())
    });
    let lines = lines.unwrap();
    assert_eq!(lines[1], format!("Regular {name}/{name} 4755 3:4 5 SCHILY.xattr.user.a=\"b\" x"));
    assert_eq!(lines[2], format!("Symlink link 4755 3:4 5 -> {long} "));
}

#[test]
fn what_leads_astray_is_refused() {
    assert_eq!(
        refused(&[file("a/.wh.b", "x")]),
        "/a/.wh.b: names that begin with .wh. remove files of an image"
    );
    let link = entry("out", Kind::Link("/etc".into()));
    assert_eq!(refused(&[link.clone(), file("out/x", "x")]), "/out/x: goes through /out, which is no folder");
    assert_eq!(refused(&[file("file/x", "x")]), "/file/x: not a directory");
    assert_eq!(
        refused(&[entry("d", Kind::Folder), file("d/x", "x"), entry("d", Kind::Link("/".into()))]),
        "/d: goes through /d, which is no folder"
    );
    for same in ["file", "none", "out"] {
        assert_eq!(
            refused(&[entry("x", Kind::SameAs(same.into()))]),
            format!("/x: is the same as /{same}, which did not come before it")
        );
    }
    assert_eq!(refused(&[file("x", "xyz")]), "/x: it has become shorter meanwhile");
}

#[test]
fn the_same_is_the_same() {
    let once = || {
        let folder = tempfile::tempdir().unwrap();
        let view = View::new([folder.path()], Ids::same()).unwrap();
        let mut layer = Layer::new(&view, File::create(folder.path().join("layer")).unwrap());
        layer.put(&file("a", "x"), &mut &b"x"[..]).unwrap();
        layer.finish().unwrap()
    };
    assert_eq!(once(), once());
}
