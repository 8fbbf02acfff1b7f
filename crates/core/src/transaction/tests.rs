//! What a transaction leaves at every point at which it can end.

use super::*;
use crate::store::memory::Memory;
use std::collections::BTreeMap;

impl Transaction<'_> {
    /// Ends as a killed process does: nothing is undone, the lock is gone.
    fn crash(mut self) {
        self.journal = None;
    }
}

/// A folder with registrations, and one with commands.
struct Scene {
    root: tempfile::TempDir,
    store: Memory,
}

type Step = fn(&Scene, &mut Transaction<'_>) -> Result<(), ChangeError>;

/// Everything that a transaction can do, on places that are free and on places that are not.
const STEPS: [Step; 10] = [
    |scene, changes| changes.make_folders(&scene.at("bin/deep/er"), 0o755),
    |_, changes| changes.tag("two", "pinned"),
    |_, changes| changes.tag("two", "fresh"),
    |scene, changes| {
        changes.with_scratch(&scene.at("flakes/.scratch"), |changes, scratch| {
            std::fs::write(scratch.join("x"), "x").unwrap();
            put(changes, &scene.at("flakes/archive"), "new")
        })
    },
    |scene, changes| changes.take(&scene.at("flakes/joe.d")),
    |scene, changes| changes.make_folders(&scene.at("flakes/joe.d"), 0o755),
    |scene, changes| put(changes, &scene.at("flakes/joe.yaml"), "new"),
    |scene, changes| put(changes, &scene.at("flakes/other.yaml"), "new"),
    |scene, changes| changes.put_link(&scene.at("bin/joe"), Path::new("/pilot")),
    |scene, changes| changes.put_link(&scene.at("bin/deep/er/joe"), Path::new("/pilot")),
];

fn put(changes: &mut Transaction<'_>, place: &Path, text: &str) -> Result<(), ChangeError> {
    changes.put_file(place, 0o644, |draft| {
        std::fs::write(draft, text).map_err(|source| ChangeError::io("write", draft, source))
    })
}

impl Scene {
    fn new() -> Self {
        let scene = Self {
            root: tempfile::tempdir().unwrap(),
            store: Memory::with(&[("one", "1"), ("two", "2"), ("pinned", "1")]),
        };
        for folder in ["flakes/joe.d", "bin"] {
            std::fs::create_dir_all(scene.at(folder)).unwrap();
        }
        for file in ["flakes/joe.yaml", "flakes/joe.d/layer.yaml", "flakes/archive", "bin/joe"] {
            std::fs::write(scene.at(file), "old").unwrap();
        }
        scene
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn begin(&self) -> Transaction<'_> {
        Transaction::begin(&self.at("flakes"), 0o755, &self.store).unwrap()
    }

    /// Every path with its content or target, and every name in the store.
    fn state(&self) -> BTreeMap<String, String> {
        let mut state: BTreeMap<String, String> = self.store.names.borrow().clone();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let text = if path.is_symlink() {
                    std::fs::read_link(&path).unwrap().display().to_string()
                } else if path.is_dir() {
                    folders.push(path.clone());
                    String::new()
                } else {
                    std::fs::read_to_string(&path).unwrap()
                };
                state.insert(path.strip_prefix(self.root.path()).unwrap().display().to_string(), text);
            }
        }
        state
    }
}

#[test]
fn all_of_it_or_nothing() {
    let scene = Scene::new();
    let before = scene.state();
    for count in 0..=STEPS.len() {
        let mut changes = scene.begin();
        STEPS[..count].iter().try_for_each(|step| step(&scene, &mut changes)).unwrap();
        assert!(changes.roll_back().is_empty());
        assert_eq!(scene.state(), before, "{count} steps");
    }
    let mut changes = scene.begin();
    STEPS.iter().try_for_each(|step| step(&scene, &mut changes)).unwrap();
    changes.commit().unwrap();
    let after = scene.state();
    assert_eq!(
        after.iter().map(|(path, text)| format!("{path}={text}")).collect::<Vec<_>>(),
        [
            "bin=",
            "bin/deep=",
            "bin/deep/er=",
            "bin/deep/er/joe=/pilot",
            "bin/joe=/pilot",
            "flakes=",
            "flakes/archive=new",
            "flakes/joe.d=",
            "flakes/joe.yaml=new",
            "flakes/other.yaml=new",
            "fresh=2",
            "one=1",
            "pinned=2",
            "two=2",
        ]
    );
}

#[test]
fn what_a_killed_process_left_is_undone_once_and_again() {
    let scene = Scene::new();
    let before = scene.state();
    let journal = scene.at("flakes/.flake-journal");
    for count in 1..=STEPS.len() {
        let mut changes = scene.begin();
        STEPS[..count].iter().try_for_each(|step| step(&scene, &mut changes)).unwrap();
        changes.crash();
        let noted = std::fs::read(&journal).unwrap();

        let next = scene.begin();
        assert!(next.recovered);
        assert!(next.roll_back().is_empty());
        assert_eq!(scene.state(), before, "{count} steps");

        // The notes come before the changes, so those of changes that were never made are undone as well.
        std::fs::write(&journal, noted).unwrap();
        scene.begin().commit().unwrap();
        assert_eq!(scene.state(), before, "{count} steps, again");
    }
}

#[test]
fn a_committed_transaction_is_finished_not_undone() {
    let scene = Scene::new();
    let mut changes = scene.begin();
    STEPS.iter().try_for_each(|step| step(&scene, &mut changes)).unwrap();
    changes.journal.as_mut().unwrap().note(&Undo::Committed).unwrap();
    changes.crash();
    assert!(scene.state().contains_key("bin/.joe.flake-old"));
    scene.begin().commit().unwrap();
    let state = scene.state();
    assert_eq!((state["bin/joe"].as_str(), state["flakes/joe.yaml"].as_str()), ("/pilot", "new"));
    assert!(!state.keys().any(|path| path.contains(".flake-")), "{state:?}");
}

#[test]
fn a_link_of_somebody_else_is_not_undone() {
    let scene = Scene::new();
    let mut changes = scene.begin();
    changes.put_link(&scene.at("bin/new"), Path::new("/pilot")).unwrap();
    std::fs::remove_file(scene.at("bin/new")).unwrap();
    std::fs::write(scene.at("bin/new"), "theirs").unwrap();
    assert!(changes.roll_back().is_empty());
    assert_eq!(std::fs::read_to_string(scene.at("bin/new")).unwrap(), "theirs");
}

#[test]
fn one_at_a_time() {
    let scene = Scene::new();
    let first = scene.begin();
    let waited = std::thread::scope(|threads| {
        let folder = scene.at("flakes");
        let second = threads.spawn(move || {
            let store = Memory::default();
            let begun = Transaction::begin(&folder, 0o755, &store).unwrap();
            begun.commit().unwrap();
        });
        std::thread::sleep(std::time::Duration::from_millis(100));
        let waited = !second.is_finished();
        drop(first);
        second.join().unwrap();
        waited
    });
    assert!(waited);
    assert!(!scene.at("flakes/.flake-journal").exists());
}

#[test]
fn folders_that_were_made_go_with_the_rest() {
    let root = tempfile::tempdir().unwrap();
    let store = Memory::default();
    let folder = root.path().join("a/b");
    let mut changes = Transaction::begin(&folder, 0o700, &store).unwrap();
    put(&mut changes, &folder.join("file"), "x").unwrap();
    drop(changes);
    assert!(!root.path().join("a").exists());
}
