//! Properties: what is written reads back equal; files merge as maps do, key by key; no text makes the reader
//! panic.

#![allow(clippy::unwrap_used)] // helpers of tests

mod strategy;

use flake_schema::{FlakeFile, SettingsFile, load_flake};
use proptest::prelude::*;
use serde_json::Value;
use strategy::{any_text, flake_file, settings_file};

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Layering as it is defined, on values without types.
fn lay_over(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                lay_over(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (base, over) => *base = over,
    }
}

fn merged(base: &FlakeFile, over: &FlakeFile) -> FlakeFile {
    let mut file = base.clone();
    file.merge(over.clone());
    file
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn written_files_read_back_equal(file in flake_file()) {
        let text = file.to_yaml().unwrap();
        prop_assert_eq!(&FlakeFile::from_yaml(&text, "written").unwrap(), &file, "{}", text);
        prop_assert_eq!(file.to_yaml().unwrap(), text);
    }

    #[test]
    fn written_settings_read_back_equal(file in settings_file()) {
        let text = file.to_yaml().unwrap();
        prop_assert_eq!(SettingsFile::from_yaml(&text, "written").unwrap(), file, "{}", text);
    }

    #[test]
    fn merging_is_merging_of_maps(base in flake_file(), over in flake_file()) {
        let mut model = serde_json::to_value(&base).unwrap();
        lay_over(&mut model, serde_json::to_value(&over).unwrap());
        prop_assert_eq!(serde_json::to_value(merged(&base, &over)).unwrap(), model);
    }

    #[test]
    fn merging_has_its_laws(a in flake_file(), b in flake_file(), c in flake_file()) {
        let nothing = FlakeFile::default();
        prop_assert_eq!(&merged(&a, &nothing), &a);
        prop_assert_eq!(&merged(&nothing, &a), &a);
        prop_assert_eq!(&merged(&a, &a), &a);
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
    }

    #[test]
    fn no_flake_makes_the_checks_panic(file in flake_file()) {
        match file.resolve() {
            Ok(flake) => prop_assert!(flake.host_path.is_absolute()),
            Err(problems) => prop_assert!(!problems.is_empty()),
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any_text()) {
        if let Err(error) = FlakeFile::from_yaml(&text, "text") {
            prop_assert!(error.to_string().starts_with("text:"));
            prop_assert!(!error.to_string().chars().any(|c| c.is_control() && c != '\n'));
        }
    }

    #[test]
    fn a_damaged_file_is_an_error_or_another_file(file in flake_file(), at in any::<prop::sample::Index>(), c in any::<char>()) {
        let mut chars: Vec<char> = file.to_yaml().unwrap().chars().collect();
        let at = at.index(chars.len());
        chars[at] = c;
        let text: String = chars.into_iter().collect();
        if let Ok(other) = FlakeFile::from_yaml(&text, "text") {
            prop_assert_eq!(FlakeFile::from_yaml(&other.to_yaml().unwrap(), "written").unwrap(), other);
        }
    }
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn layers_on_disk_merge_like_files_in_memory(layers in prop::collection::vec(flake_file(), 1..4)) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a.d")).unwrap();
        let base = FlakeFile::from_yaml("container: {name: a, host_app_path: /a}", "base").unwrap();
        std::fs::write(dir.path().join("a.yaml"), base.to_yaml().unwrap()).unwrap();
        let mut expected = base;
        for (index, layer) in layers.iter().enumerate() {
            let path = dir.path().join(format!("a.d/{index}.yaml"));
            std::fs::write(path, layer.to_yaml().unwrap()).unwrap();
            expected.merge(layer.clone());
        }
        match (load_flake(&dir.path().join("a.yaml")), expected.resolve()) {
            (Ok(loaded), Ok(flake)) => {
                prop_assert_eq!(loaded.file, expected);
                prop_assert_eq!(loaded.flake, flake);
            }
            (Err(error), Err(problems)) => {
                prop_assert_eq!(error.diagnostics().unwrap().iter().count(), problems.len());
            }
            (loaded, flake) => prop_assert!(false, "{loaded:?} {flake:?}"),
        }
    }
}
