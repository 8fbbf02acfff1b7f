//! Copying between files and the pipes that stand for them, beside a launch that goes straight: this process is about
//! to change its namespaces, after which it can have no threads.

use crate::ending::Refusal;
use crate::run::copying;
use flake_engine::session::Streams;
use flake_sys::helper::{self, Helper};
use flake_sys::inherited;
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

/// The status of a helper that has no error number to tell.
const FAILED: u8 = u8::MAX;

/// Copies under way.
#[derive(Debug)]
pub(crate) struct Relaying {
    helper: Helper,
    /// Closed when the command has ended.
    running: OwnedFd,
}

/// Starts what has to be copied for these streams, if anything has.
pub(crate) fn start(streams: &mut Streams) -> Result<Option<Relaying>, Refusal> {
    if !streams.has_relays() {
        return Ok(None);
    }
    let (ended, running) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| copying(error.into()))?;
    let mut running = Some(running);
    let helper = helper::start(|| {
        // What only the caller and the command may hold, so that it is seen when they close it.
        running = None;
        streams.descriptors.clear();
        (0..3).for_each(inherited::release);
        match copy(streams, ended) {
            Ok(()) => 0,
            Err(error) => error.raw_os_error().and_then(|number| u8::try_from(number).ok()).unwrap_or(FAILED),
        }
    });
    let helper = helper.map_err(copying)?;
    streams.forget_relays();
    Ok(running.map(|running| Relaying { helper, running }))
}

fn copy(streams: &mut Streams, ended: OwnedFd) -> io::Result<()> {
    let relays = streams.start_relays()?;
    let _ = File::from(ended).read(&mut [0]);
    relays.finish()
}

impl Relaying {
    /// Waits until all that the command has written is in its files.
    pub(crate) fn finish(self) -> Result<(), Refusal> {
        drop(self.running);
        match self.helper.finish().map_err(copying)? {
            Some(0) => Ok(()),
            Some(FAILED) | None => Err(copying(io::Error::other("the copy broke off"))),
            Some(number) => Err(copying(io::Error::from_raw_os_error(number.into()))),
        }
    }
}
