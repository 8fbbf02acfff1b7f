//! What goes into a recipe, and what does not.

use super::*;
use flake_tools::podman::Inspection;
use std::fs;

const HOST: UserSpace = UserSpace::Host;

fn own(kind: OwnKind) -> Own {
    Own { kind, mode: 0o755, uid: 5, gid: 6, attributes: Vec::new() }
}

/// A root with one thing in it.
fn captured(path: &str, thing: Own) -> Captured {
    Captured {
        specification: serde_json::Value::Null,
        container: Inspection::default(),
        mounts: Vec::new(),
        maps: None,
        own: BTreeMap::new(),
        upper: [(PathBuf::new(), own(OwnKind::Folder)), (path.into(), thing)].into(),
        odd_volume: None,
    }
}

fn made(captured: &Captured, layer: &Path, user: &UserSpace) -> Result<Vec<Entry>, String> {
    let layers = Layers { folders: vec![layer.to_owned()], options: Vec::new() };
    let upper = Upper::new(captured, &layers, user, (false, &[]));
    upper.map(Upper::into_entries).map_err(|reason| reason.0)
}

#[test]
fn what_is_odd_is_the_reason() {
    let none = Path::new("/none");
    let with = |name: &str, value: &str| Own {
        attributes: vec![(name.to_owned(), value.into())],
        ..own(OwnKind::Folder)
    };
    for (path, thing, words) in [
        ("x", own(OwnKind::Other), "a large or special file that podman made at /x"),
        ("x/y", own(OwnKind::Folder), "an entry in no folder that podman made at /x/y"),
        ("..", own(OwnKind::Folder), "an entry in no folder"),
        ("x", with("security.capability", "1"), "the attribute security.capability"),
        ("x", with("user.other", "1"), "the attribute user.other"),
        ("x", with("user.overlay.whiteout", "y"), "the attribute user.overlay.whiteout"),
        ("x", with("trusted.overlay.redirect", "/a"), "the attribute trusted.overlay.redirect"),
        ("x", with("trusted.overlay.opaque", "x"), "the attribute trusted.overlay.opaque"),
        ("x", with("user.opaque", "y"), "the attribute user.opaque"),
    ] {
        let reason = made(&captured(path, thing), none, &HOST).unwrap_err();
        assert!(reason.contains(words), "{reason}");
    }
    let fine = with("trusted.overlay.origin", "?");
    assert_eq!(made(&captured("x", fine), none, &HOST).unwrap().len(), 2);
    let mut many = captured("x", own(OwnKind::Folder));
    many.upper.extend((0..MOST).map(|number| (number.to_string().into(), own(OwnKind::Folder))));
    assert_eq!(made(&many, none, &HOST).unwrap_err(), "more than 256 files that podman made");
    many.upper.clear();
    assert_eq!(made(&many, none, &HOST).unwrap_err(), "a root without a writable layer");
}

#[test]
fn a_folder_that_hides_the_layers_matters_where_they_have_one() {
    let layer = tempfile::tempdir().unwrap();
    fs::create_dir(layer.path().join("there")).unwrap();
    let hiding = |path: &str| {
        let attributes = vec![("trusted.overlay.opaque".to_owned(), b"y".to_vec())];
        made(&captured(path, Own { attributes, ..own(OwnKind::Folder) }), layer.path(), &HOST)
    };
    assert_eq!(hiding("new").unwrap().len(), 2);
    assert!(hiding("there").unwrap_err().contains("a folder in the place of the image's"));

    let mut two = captured("new", own(OwnKind::Folder));
    two.upper.insert("there".into(), own(OwnKind::Folder));
    let layers = Layers { folders: vec![layer.path().to_owned()], options: Vec::new() };
    let upper = Upper::new(&two, &layers, &HOST, (false, &[])).unwrap();
    assert_eq!(
        ["/new", "/there", "/none"].map(|path| upper.is_new_folder(Path::new(path))),
        [true, false, false]
    );
}

#[test]
fn owners_are_those_inside() {
    let map = |inside, outside, count| IdMap { inside, outside, count };
    let maps = vec![map(0, 1, 1000), map(1000, 0, 1), map(1001, 1001, 10)];
    let user = |inner: Option<Vec<IdMap>>| UserSpace::Own {
        outer: (vec![map(0, 1000, 1)], vec![map(0, 1000, 1)]),
        inner: inner.map(|maps| (maps.clone(), maps)),
    };
    let thing = captured("x", own(OwnKind::Link("/x".into())));
    let owner = |user: &UserSpace| {
        made(&thing, Path::new("/none"), user).map(|entries| (entries[1].uid, entries[1].gid))
    };
    assert_eq!(owner(&HOST), Ok((5, 6)));
    assert_eq!(owner(&user(None)), Ok((5, 6)));
    assert_eq!(owner(&user(Some(maps.clone()))), Ok((4, 5)));
    assert!(owner(&user(Some(maps[1..].to_vec()))).unwrap_err().contains("an unmapped owner"));
    assert_eq!([0, 1010, 1011].map(|id| inside(&maps, id)), [Some(1000), Some(1010), None]);
}
