//! The pages of the files, from the declarations of their keys.

use super::page::Page;
use flake_schema::{FlakeFile, KeyDoc, SettingsFile};

const EXAMPLE: &str = "\
type: immutable
container:
  name: docker.io/amazon/aws-cli
  target_app_path: /
  host_app_path: /home/ada/bin/aws
  runtime:
    runas: caller
    network: host
    share: [cwd, home:ro]
    env: [LANG, AWS_*]
    user: caller";

pub(super) fn flake() -> Vec<u8> {
    let page = Page::new("flake", "5", "registration of an application that lives in an isolated environment")
        .section("DESCRIPTION")
        .text(
            "NAME.yaml in the folder of registrations makes the command NAME. Over it lie the files NAME.d/*.yaml \
             and *.yml, in the order of their names: sections are merged key by key, every other value and list is \
             replaced. The files are read strictly: an unknown key, a wrong type or a combination that makes no \
             sense is an error, and nothing is launched. Dashes and underscores in keys are equal. Files of \
             flake-pilot 3.x load unchanged.",
        )
        .text("flake-ctl register writes such a file; flake-ctl validate checks one.")
        .section("EXAMPLE")
        .example(EXAMPLE)
        .section("KEYS");
    keys(page, FlakeFile::reference())
        .section("FILES")
        .item("/usr/share/flakes", "The system's registrations.")
        .item("~/.config/flakes", "A user's own.")
        .section("SEE ALSO")
        .text("flake-ctl(1), flake-pilot(1), flakes.yml(5)")
        .finish()
}

pub(super) fn settings() -> Vec<u8> {
    let page = Page::new("flakes.yml", "5", "settings of Flake Pilot")
        .section("DESCRIPTION")
        .text(
            "Where things are, and how many. All keys are optional, and so are the files. A user's file lies over \
             the system's, but for the places, which each has its own of. The files are read strictly.",
        )
        .section("KEYS");
    keys(page, SettingsFile::reference())
        .section("FILES")
        .item("/etc/flakes.yml", "The system's.")
        .item("~/.config/flakes.yml", "A user's; flake-ctl init --user writes one.")
        .section("SEE ALSO")
        .text("flake-ctl(1), flake(5)")
        .finish()
}

fn keys(page: Page, keys: Vec<KeyDoc>) -> Page {
    keys.into_iter().fold(page, |page, key| page.item(&key.path, key.meaning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_a_flake() {
        let file = FlakeFile::from_yaml(EXAMPLE, "example").unwrap();
        assert!(file.resolve().is_ok());
    }
}
