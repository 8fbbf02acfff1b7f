//! What the image was made to run, which podman puts on the agent's command line:
//! `sci -- ENTRYPOINT... COMMAND...`.

use flake_wire::Failure;
use flake_wire::FailureKind::Other;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Given by the launcher as the container's command, so that the words before it are the entrypoint alone and the words
/// of the call can follow it. Behind it are those of the image that a call without words runs.
const ENTRYPOINT_ENDS: &[u8] = flake_wire::ENTRYPOINT_ENDS.as_bytes();

/// The image's own words.
#[derive(Debug)]
pub(crate) struct Image {
    words: Vec<Vec<u8>>,
}

impl Image {
    /// From the agent's command line without its own name.
    pub(crate) fn from_words(words: Vec<OsString>) -> Self {
        let mut words: Vec<Vec<u8>> = words.into_iter().map(OsString::into_vec).collect();
        if words.first().is_some_and(|word| word == b"--") {
            words.remove(0);
        }
        Self { words }
    }

    /// The whole command of a call with these words of its own.
    pub(crate) fn command(&self, args: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Failure> {
        let ends = self.words.iter().position(|word| word == ENTRYPOINT_ENDS);
        let (entrypoint, command) = match ends {
            Some(ends) => (&self.words[..ends], &self.words[ends + 1..]),
            None => (&self.words[..], &[][..]),
        };
        let command = if ends.is_some() && !args.is_empty() { args } else { command };
        let words = [entrypoint, command].concat();
        if words.first().is_none_or(Vec::is_empty) {
            let message = "the image has no entrypoint; register a target, or give a command".to_owned();
            return Err(Failure { kind: Other, message });
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &[&str], args: &[&str]) -> Vec<String> {
        let image = Image::from_words(line.iter().map(OsString::from).collect());
        let args: Vec<Vec<u8>> = args.iter().map(|word| word.as_bytes().to_vec()).collect();
        let words = image.command(&args).unwrap();
        words.into_iter().map(|word| String::from_utf8(word).unwrap()).collect()
    }

    #[test]
    fn words_of_the_call_replace_the_image_command() {
        assert_eq!(command(&["--", "aws", flake_wire::ENTRYPOINT_ENDS], &["s3", "ls"]), ["aws", "s3", "ls"]);
        assert_eq!(command(&["--", "aws", "help"], &[]), ["aws", "help"]);
        assert_eq!(command(&["--", flake_wire::ENTRYPOINT_ENDS], &["ls"]), ["ls"]);
        let kept = ["--", "aws", flake_wire::ENTRYPOINT_ENDS, "help", "-v"];
        assert_eq!(command(&kept, &["s3"]), ["aws", "s3"]);
        assert_eq!(command(&kept, &[]), ["aws", "help", "-v"]);
    }

    #[test]
    fn an_image_without_a_command_is_told_so() {
        let image = Image::from_words(vec!["--".into(), flake_wire::ENTRYPOINT_ENDS.into()]);
        assert!(image.command(&[]).unwrap_err().message.contains("no entrypoint"));
    }
}
