//! What every engine does: bring up an isolated root with the agent in it, connected.

use flake_core::launch::Launch;
use flake_tools::{ToolError, reason};
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, waitpid};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// An engine.
pub trait Engine {
    /// Starts an environment for one launch, with the agent in it at the other end of the socket. It goes
    /// when the socket is closed.
    ///
    /// # Errors
    /// [`EngineError`]; nothing is left behind.
    fn start(&self, launch: &Launch) -> Result<Started, EngineError>;

    /// What a failed start means, and what to do about it.
    fn explain(&self, launch: &Launch, status: ExitStatus, said: &[u8]) -> EngineError;
}

/// An environment on its way up.
#[derive(Debug)]
pub struct Started {
    /// The connection to the agent, which may not run yet.
    pub socket: OwnedFd,
    /// The program that brings it up; none where it is up already.
    pub starter: Option<Starter>,
    /// Whether the agent is to become the caller: it was started with the right to.
    pub becomes: bool,
}

/// Why an environment is not there.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The image is not in the store.
    #[error("image {image} is not in the store; try: {remedy}")]
    ImageMissing {
        /// The image.
        image: String,
        /// A command that brings it.
        remedy: String,
    },
    /// The store says that it has the image, but has not all of its layers.
    #[error("layers of image {image} are gone from the store; try: {remedy}")]
    LayersMissing {
        /// The image.
        image: String,
        /// Commands that bring it anew.
        remedy: String,
    },
    /// A container has the name that an option of the flake gives it; perhaps it is just going.
    #[error("podman failed: {0}")]
    NameInUse(String),
    /// The user has no range of subordinate ids.
    #[error(
        "{user} has no subordinate ids, which containers without root need; add the line \
         {user}:100000:65536 to /etc/subuid and /etc/subgid, or try: \
         usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {user}"
    )]
    NoSubordinateIds {
        /// The user.
        user: String,
    },
    /// An option of the flake cannot be used.
    #[error("option {option} cannot be used: {why}")]
    Option {
        /// The option.
        option: String,
        /// Why.
        why: &'static str,
    },
    /// The agent's program is not where it was installed.
    #[error("the agent {0} is missing; install flake-pilot again")]
    NoAgent(String),
    /// A kept instance runs, is in use, and cannot be connected to.
    #[error("{0} runs, and its socket is gone; when what runs in it is done, try: flake-ctl stop {0}")]
    OutOfReach(String),
    /// A container has the name of a kept instance's, and is none.
    #[error("container {0} was not made for this command; try: podman rename {0} NAME")]
    SomebodyElses(String),
    /// A kept instance is gone though it was there a moment ago.
    #[error("the instance was ended or removed meanwhile")]
    Vanished,
    /// The image names a user that it does not have.
    #[error("the image's user {0} is not in its /etc/passwd and /etc/group")]
    ImageUser(String),
    /// The agent of an instance that was just started is silent.
    #[error("the agent inside does not answer")]
    Silent,
    /// The agent speaks another version.
    #[error("the agent inside is of release {0}, which this launcher does not understand")]
    OtherRelease(String),
    /// The working directory cannot be shared.
    #[error(transparent)]
    Graft(#[from] flake_sys::graft::GraftError),
    /// What is noted about instances cannot be read or written.
    #[error(transparent)]
    Notes(#[from] flake_core::instance::NotesError),
    /// No room for one more instance.
    #[error(transparent)]
    Quota(#[from] flake_core::quota::QuotaError),
    /// A script of the flake failed.
    #[error(transparent)]
    Provision(#[from] flake_core::provision::ProvisionError),
    /// The instance does not become ready.
    #[error(transparent)]
    Probe(#[from] flake_core::probe::ProbeError),
    /// The instance does not do what it is asked.
    #[error(transparent)]
    Guest(#[from] flake_core::guest::GuestError),
    /// The engine's program failed.
    #[error("{said}")]
    Failed {
        /// What the program said.
        said: String,
    },
    /// An external program failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

/// For `map_err`: names what was tried.
pub(crate) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> EngineError {
    move |source| EngineError::System { what, source: source.into() }
}

/// Something that brings an environment up, and is done when it is.
pub struct Starter {
    watch: OwnedFd,
    finish: Box<dyn FnOnce() -> io::Result<Outcome>>,
}

/// What starting came to.
#[derive(Debug)]
pub enum Outcome {
    /// The environment is up.
    Up,
    /// A program failed: its status, and the end of what it said.
    Failed(ExitStatus, Vec<u8>),
    /// Somebody else tried, and says why not.
    Refused(String),
}

impl Starter {
    /// A child of this process; `said` is the other end of its standard error.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn child(pid: i32, said: OwnedFd) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
        let watch = pidfd_open(pid, PidfdFlags::empty())?;
        let finish = Box::new(move || {
            let status = status_of(pid)?;
            Ok(if status.success() { Outcome::Up } else { Outcome::Failed(status, said_so_far(said)) })
        });
        Ok(Self { watch, finish })
    }

    /// Something else that is done when `watch` becomes readable; `finish` then tells what it came to.
    pub fn other(watch: OwnedFd, finish: impl FnOnce() -> io::Result<Outcome> + 'static) -> Self {
        Self { watch, finish: Box::new(finish) }
    }

    /// What it came to; waits for that.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn finish(self) -> io::Result<Outcome> {
        (self.finish)()
    }
}

impl std::fmt::Debug for Starter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Starter").field("watch", &self.watch).finish_non_exhaustive()
    }
}

impl AsFd for Starter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watch.as_fd()
    }
}

fn status_of(pid: Pid) -> io::Result<ExitStatus> {
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return Ok(ExitStatus::from_raw(status.as_raw())),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// What is in the pipe: a process that the program left behind may hold it open.
fn said_so_far(pipe: OwnedFd) -> Vec<u8> {
    let mut said = Vec::new();
    let _ = rustix::io::ioctl_fionbio(&pipe, true);
    let _ = File::from(pipe).take(64 << 10).read_to_end(&mut said);
    said
}

/// The error for a program that said something nobody here knows better words for.
pub(crate) fn failed(program: &str, status: ExitStatus, said: &[u8]) -> EngineError {
    EngineError::Failed { said: format!("{program} failed: {}", reason(said, status)) }
}
