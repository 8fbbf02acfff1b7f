//! Scripts that come as text: kept in memory, read by their interpreter through a descriptor.

use flake_inside::program;
use flake_sys::reason::reason;
use flake_sys::spawn::{SpawnError, Stage};
use flake_wire::{Failure, FailureKind, Stream};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

/// For a text that names no interpreter.
const SHELL: &[u8] = b"/bin/sh";
/// Descriptors below are what a script itself may use by number, as POSIX has it for the shell.
const FIRST_NUMBER: u16 = 10;

/// A script, ready to be read.
#[derive(Debug)]
pub(crate) struct Script {
    /// The interpreter's words, the last of them the script's path.
    pub(crate) words: Vec<Vec<u8>>,
    /// The number that the descriptor has in the command.
    pub(crate) number: u16,
    /// The text.
    pub(crate) text: OwnedFd,
}

impl Script {
    /// Puts a text where nobody can change it, under a number that is none of the streams'.
    pub(crate) fn new(text: &[u8], streams: &[Stream]) -> Result<Self, Failure> {
        let is_free = |number: &u16| !streams.iter().any(|stream| stream.number == *number);
        let number = (FIRST_NUMBER..u16::MAX).find(is_free).unwrap_or(u16::MAX);
        let (interpreter, argument) = interpreter(text).unwrap_or((SHELL, None));
        if interpreter.ends_with(b"\r") || argument.is_some_and(|argument| argument.ends_with(b"\r")) {
            return Err(failed("its first line ends in a carriage return; write it with plain line feeds"));
        }
        let path = format!("/proc/self/fd/{number}").into_bytes();
        let words = [Some(interpreter), argument].into_iter().flatten().map(<[u8]>::to_vec);
        let words = words.chain([path]).collect();
        let text = sealed(text).map_err(|error| failed(&reason(&error)))?;
        Ok(Self { words, number, text })
    }
}

/// What a failed start of its interpreter means.
pub(crate) fn failure(words: &[Vec<u8>], cwd: Option<&[u8]>, error: &SpawnError) -> Failure {
    let interpreter = words.first().map(Vec::as_slice).unwrap_or_default();
    let mut failure = program::failure(interpreter, cwd, error);
    if error.stage == Stage::Execute {
        failure.message.insert_str(0, "the script's interpreter ");
    }
    failure
}

fn failed(why: &str) -> Failure {
    Failure { kind: FailureKind::Other, message: format!("cannot run the script: {why}") }
}

/// What the first line names after `#!`, and the one argument that may follow (execve(2)).
fn interpreter(text: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let rest = text.strip_prefix(b"#!")?;
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = line.iter().position(|byte| !is_blank(byte))?;
    let end = line.iter().rposition(|byte| !is_blank(byte))?;
    let line = &line[start..=end];
    let Some(gap) = line.iter().position(is_blank) else { return Some((line, None)) };
    let argument = line[gap..].iter().position(|byte| !is_blank(byte)).map(|skip| &line[gap + skip..]);
    Some((&line[..gap], argument))
}

/// A file without a name that holds a text for good. It is read and never executed, so that a host on which such
/// files may not be (`vm.memfd_noexec`) has nothing against it.
fn sealed(text: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = match memfd_create("script", flags | MemfdFlags::NOEXEC_SEAL) {
        // Linux before 6.3.
        Err(Errno::INVAL) => memfd_create("script", flags)?,
        made => made?,
    };
    let mut file = File::from(file);
    file.write_all(text)?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flake_wire::Source;

    #[test]
    fn the_first_line_is_read_as_linux_does() {
        for (text, expected) in [
            ("#!/bin/bash\necho", Some(("/bin/bash", None))),
            ("#! /usr/bin/env  python3 -u \t\nx", Some(("/usr/bin/env", Some("python3 -u")))),
            ("#!/bin/sh", Some(("/bin/sh", None))),
            ("#!", None),
            ("#! \n", None),
            ("echo #!/bin/sh", None),
            ("", None),
        ] {
            let expected = expected
                .map(|(path, argument): (&str, Option<&str>)| (path.as_bytes(), argument.map(str::as_bytes)));
            assert_eq!(interpreter(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn its_number_is_nobody_elses() {
        let streams = [0, 10, 11, 13].map(|number| Stream { number, source: Source::Passed });
        let script = Script::new(b"true", &streams).unwrap();
        assert_eq!((script.number, script.words.concat()), (12, b"/bin/sh/proc/self/fd/12".to_vec()));
    }

    #[test]
    fn carriage_returns_are_named() {
        assert!(Script::new(b"#!/bin/sh\r\ntrue\r\n", &[]).unwrap_err().message.contains("carriage return"));
        assert!(Script::new(b"#!/bin/sh -e\r\n", &[]).is_err());
    }
}
