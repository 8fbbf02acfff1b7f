//! The attempts by name.

use crate::{files, mounting, objects, say, terminal, ways_out};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::ExitCode;

pub(crate) fn one(name: &str, words: &[&str]) -> ExitCode {
    match (name, words) {
        ("type", words) => terminal::type_in(words),
        ("mounts", places) => mounting::mounts(places),
        ("climb", []) => ways_out::climb(),
        ("devices", folders) => ways_out::devices(folders),
        ("open", paths) => paths.iter().for_each(|path| ways_out::open(path, path)),
        ("write", paths) => paths.iter().for_each(|path| files::write(path)),
        ("look", paths) => paths.iter().for_each(|path| files::look(path)),
        ("kernels-files", []) => ways_out::kernels_files(),
        ("process", [pid]) => ways_out::process(pid),
        ("signals", [pid]) => ways_out::signals(pid),
        ("namespaces", places) => mounting::namespaces(places),
        ("handles", [path]) => objects::handles(path),
        ("key", [description]) => objects::key(description),
        ("with-key", [description, content, program @ ..]) => {
            objects::with_key(description, content, program);
        }
        ("reopen", descriptors) => descriptors.iter().for_each(|descriptor| objects::reopen(descriptor)),
        ("flags", [path]) => objects::flags(path),
        ("abstract", [name]) => connect(name),
        _ => return ExitCode::from(64),
    }
    ExitCode::SUCCESS
}

/// A socket without a file, which only a network of one's own keeps away (unix(7)).
fn connect(name: &str) {
    let connected =
        SocketAddr::from_abstract_name(name).and_then(|address| UnixStream::connect_addr(&address));
    say("abstract", connected.map_or_else(|cause| crate::kernel::error(&cause), |_| "ok".to_owned()));
}
