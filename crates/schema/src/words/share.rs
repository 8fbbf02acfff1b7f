//! What of the host an application sees.

use super::unit::unit_words;
use super::{WordError, as_text};
use std::fmt;
use std::str::FromStr;

unit_words! {
    /// Shares of the desktop: they load, and whoever launches says that they are not there yet.
    pub enum Reserved {
        /// The Wayland display.
        Wayland = "wayland",
        /// The X11 display.
        X11 = "x11",
        /// The PulseAudio server.
        Pulse = "pulse",
        /// The session bus.
        Dbus = "dbus",
        /// The ssh agent.
        SshAgent = "ssh-agent",
        /// The graphics device.
        Gpu = "gpu",
    }
}

/// What is shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareWhat {
    /// The caller's current directory.
    Cwd,
    /// The caller's home directory.
    Home,
    /// A directory or file, absolute, without `..`, the same inside and outside.
    Path(String),
    /// A part of the desktop.
    Reserved(Reserved),
}

/// One entry of `share`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// What is shared.
    pub what: ShareWhat,
    /// Written `WHAT:ro`.
    pub read_only: bool,
}

const WORDS: &[&str] = &["cwd", "home", "wayland", "x11", "pulse", "dbus", "ssh-agent", "gpu"];

impl FromStr for Share {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let (what, read_only) = match text.strip_suffix(":ro") {
            Some(what) => (what, true),
            None => (text.strip_suffix(":rw").unwrap_or(text), false),
        };
        let what = match what {
            "cwd" => ShareWhat::Cwd,
            "home" => ShareWhat::Home,
            path if path.starts_with('/') => ShareWhat::Path(shared_path(path)?),
            path if path.contains('/') || path.starts_with(['~', '.', '$']) => {
                return Err(WordError::new(
                    format!("shared path `{}` is not absolute", crate::error::show(path)),
                    "write a path that begins with `/`, `cwd` or `home`",
                ));
            }
            word => match word.replace('_', "-").parse() {
                Ok(reserved) => ShareWhat::Reserved(reserved),
                Err(_) => return Err(WordError::unknown(word, WORDS)),
            },
        };
        Ok(Self { what, read_only })
    }
}

fn shared_path(path: &str) -> Result<String, WordError> {
    let shown = crate::error::show(path);
    if path.contains(':') {
        return Err(WordError::new(
            format!("`{shown}` has a `:`, a shared path has the same name inside and outside"),
            "only `:ro` may follow; for another name inside use the podman option `--volume`",
        ));
    }
    let kept: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if kept.contains(&"..") {
        return Err(WordError::new(
            format!("shared path `{shown}` has `..` in it"),
            "write the path it means",
        ));
    }
    if kept.is_empty() {
        return Err(WordError::new(
            "sharing `/` would hide the image",
            "share the directories that are needed",
        ));
    }
    Ok(format!("/{}", kept.join("/")))
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            ShareWhat::Cwd => f.write_str("cwd"),
            ShareWhat::Home => f.write_str("home"),
            ShareWhat::Path(path) => f.write_str(path),
            ShareWhat::Reserved(word) => word.fmt(f),
        }?;
        f.write_str(if self.read_only { ":ro" } else { "" })
    }
}

as_text!(Share);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        for text in ["cwd", "home:ro", "/data", "/data:ro", "wayland", "ssh-agent:ro"] {
            assert_eq!(text.parse::<Share>().unwrap().to_string(), text);
        }
        assert_eq!("/a//b/./c/:rw".parse::<Share>().unwrap().to_string(), "/a/b/c");
        assert_eq!("ssh_agent".parse::<Share>().unwrap().to_string(), "ssh-agent");
    }

    #[test]
    fn refuses_what_is_no_share() {
        for text in ["", "hme", "~/x", "a/b", "./x", "/a/../b", "/", "//", "/a:/b", ":ro", "/a:ro:ro"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
        let error = "hme".parse::<Share>().unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean `home`?"));
    }
}
