use super::*;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

struct Layers(tempfile::TempDir);

impl Layers {
    fn at(&self, path: &str) -> PathBuf {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn view(&self) -> View {
        let layers = ["top", "middle", "bottom"].map(|layer| self.0.path().join(layer));
        for layer in &layers {
            fs::create_dir_all(layer).unwrap();
        }
        let own = fs::metadata(self.0.path()).unwrap();
        let map = |id| crate::ids::Map::parse(&format!("0 {id} 1")).unwrap();
        let ids = Ids { users: map(own.uid()), groups: map(own.gid()) };
        View::new(layers.iter().map(PathBuf::as_path), ids).unwrap()
    }
}

fn layers() -> Layers {
    Layers(tempfile::tempdir().unwrap())
}

#[test]
fn layers_lie_above_each_other() {
    let layers = layers();
    fs::write(layers.at("bottom/usr/bin/a"), "").unwrap();
    fs::write(layers.at("bottom/usr/bin/b"), "").unwrap();
    fs::write(layers.at("middle/usr/bin/c"), "").unwrap();
    fs::write(layers.at("top/usr/bin/.wh.b"), "").unwrap();
    fs::write(layers.at("bottom/gone/x/y"), "").unwrap();
    fs::write(layers.at("middle/.wh.gone"), "").unwrap();
    fs::write(layers.at("bottom/new/old"), "").unwrap();
    fs::write(layers.at("middle/new/.wh..wh..opq"), "").unwrap();
    fs::write(layers.at("top/new/newer"), "").unwrap();
    // A file above a folder, and a folder above a file.
    fs::write(layers.at("bottom/was/folder"), "").unwrap();
    fs::write(layers.at("top/was"), "").unwrap();
    fs::write(layers.at("middle/is"), "").unwrap();
    fs::write(layers.at("bottom/is/hidden"), "").unwrap();
    fs::write(layers.at("top/is/shown"), "").unwrap();
    let view = layers.view();
    for (path, there) in [
        ("/usr/bin/a", true),
        ("/usr/bin/b", false),
        ("/usr/bin/c", true),
        ("/gone", false),
        ("/gone/x/y", false),
        ("/new", true),
        ("/new/old", false),
        ("/new/newer", true),
        ("/was", true),
        ("/was/folder", false),
        ("/is/shown", true),
        ("/is/hidden", false),
        ("/", true),
        ("/usr/bin/a/b", false),
    ] {
        assert_eq!(view.has(Path::new(path)).unwrap(), there, "{path}");
    }
}

#[test]
fn links_lead_inside() {
    let layers = layers();
    fs::write(layers.at("bottom/usr/lib/x.so"), "").unwrap();
    symlink("usr/lib", layers.at("middle/lib")).unwrap();
    symlink("/usr/lib", layers.at("middle/abs")).unwrap();
    symlink("../../../../../usr", layers.at("top/usr/lib/deep")).unwrap();
    symlink("loop", layers.at("top/loop")).unwrap();
    symlink("/nowhere/../x", layers.at("top/dangling")).unwrap();
    let view = layers.view();
    let place = |path: &str, follow| view.place(Path::new(path), follow).map(|place| place.path).unwrap();
    assert_eq!(place("/lib/x.so", false), Path::new("usr/lib/x.so"));
    assert_eq!(place("/abs/new/file", false), Path::new("usr/lib/new/file"));
    assert_eq!(place("/lib/deep/lib/x.so", false), Path::new("usr/lib/x.so"));
    assert_eq!(place("/lib", false), Path::new("lib"));
    assert_eq!(place("/lib", true), Path::new("usr/lib"));
    assert_eq!(place("/dangling", true), Path::new("x"));
    assert!(!view.has(Path::new("/dangling")).unwrap());
    assert_eq!(place("/../../etc", false), Path::new("etc"));
    let error = view.place(Path::new("/loop/x"), false).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::LOOP.raw_os_error()));
}

#[test]
fn a_folder_is_the_topmost_ones() {
    let layers = layers();
    fs::write(layers.at("bottom/root/x"), "").unwrap();
    fs::write(layers.at("top/root/y"), "").unwrap();
    fs::set_permissions(layers.at("top/root"), std::os::unix::fs::PermissionsExt::from_mode(0o1700)).unwrap();
    let place = layers.view().place(Path::new("root"), true).unwrap();
    let Found::Folder(meta) = place.found else { panic!("{place:?}") };
    assert_eq!((meta.mode, meta.uid, meta.gid), (0o1700, 0, 0));
}
