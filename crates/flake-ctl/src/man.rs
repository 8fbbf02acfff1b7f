//! Manual pages, made from the same definitions that the programs work with.

mod format;
mod launcher;
mod page;

use crate::cli::Cli;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_mangen::Man;

/// A page: file name and text.
pub(crate) type Named = (String, Vec<u8>);

/// Every page.
pub(crate) fn pages() -> Result<Vec<Named>, Failure> {
    let mut command = Cli::command();
    command.build();
    let mut pages = Vec::new();
    commands(&command, &mut pages)?;
    // The short form of a verb is the verb of podman.
    let podman = command.find_subcommand("podman");
    for verb in podman.into_iter().flat_map(clap::Command::get_subcommands) {
        let page = format!("flake-ctl-podman-{}.1", verb.get_name());
        let short = format!("flake-ctl-{}.1", verb.get_name());
        pages.retain(|(name, _)| *name != short);
        pages.push((short, link(&page)));
        for other in verb.get_visible_aliases() {
            pages.push((format!("flake-ctl-podman-{other}.1"), link(&page)));
            pages.push((format!("flake-ctl-{other}.1"), link(&page)));
        }
    }
    pages.push(("flake-pilot.1".to_owned(), launcher::page()));
    pages.push(("podman-pilot.1".to_owned(), link("flake-pilot.1")));
    pages.push(("flake.5".to_owned(), format::flake()));
    pages.push(("flakes.yml.5".to_owned(), format::settings()));
    Ok(pages)
}

fn commands(command: &clap::Command, pages: &mut Vec<Named>) -> Result<(), Failure> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render(&mut text)?;
    pages.push((man.get_filename(), text));
    command.get_subcommands().try_for_each(|verb| commands(verb, pages))
}

/// A page that is another one.
fn link(page: &str) -> Vec<u8> {
    format!(".so man1/{page}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_for_everything() {
        let pages = pages().unwrap();
        let text = |name: &str| {
            let found: Vec<_> = pages.iter().filter(|(page, _)| page == name).collect();
            assert_eq!(found.len(), 1, "{name}");
            String::from_utf8(found[0].1.clone()).unwrap()
        };
        for name in ["flake-ctl.1", "flake-ctl-podman.1", "flake-ctl-rm.1", "flake-ctl-podman-remove.1"] {
            assert!(text(name).contains(".SH OPTIONS"), "{name}");
        }
        assert_eq!(text("flake-ctl-register.1"), ".so man1/flake-ctl-podman-register.1\n");
        for name in ["flake-ctl-ps.1", "flake-ctl-show.1", "flake-ctl-podman-show.1"] {
            assert_eq!(text(name), ".so man1/flake-ctl-podman-ps.1\n");
        }
        for key in flake_schema::FlakeFile::reference() {
            assert!(text("flake.5").contains(&page::escaped(&key.path)), "{}", key.path);
        }
        assert!(text("flakes.yml.5").contains("podman_storage_conf"));
    }
}
