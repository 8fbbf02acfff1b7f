//! How the launcher ends: as the application did, or refusing.

use std::process::ExitCode;

/// The launcher itself failed.
pub(crate) const FAILED: u8 = 125;
/// The program cannot be executed.
pub(crate) const NOT_EXECUTABLE: u8 = 126;
/// The program was not found.
pub(crate) const NOT_FOUND: u8 = 127;

/// An end.
#[derive(Debug)]
pub(crate) enum Ending {
    /// With a status.
    Status(u8),
    /// By a signal.
    Signal(i32),
}

impl Ending {
    /// Ends the process; comes back only where that is by returning from `main`.
    pub(crate) fn leave(self) -> ExitCode {
        match self {
            Self::Status(status) => ExitCode::from(status),
            Self::Signal(number) => {
                flake_sys::signals::die_by(number);
                // Signals that do not kill: what a shell shows for one.
                ExitCode::from(u8::try_from(128 + number).unwrap_or(u8::MAX))
            }
        }
    }
}

/// The launcher did not run the application.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// No registration, or a wrong one.
    #[error(transparent)]
    Find(#[from] flake_core::registry::FindError),
    /// The settings are wrong.
    #[error(transparent)]
    Settings(Box<flake_schema::LoadError>),
    /// The registration cannot be launched.
    #[error(transparent)]
    Resolve(#[from] flake_core::launch::ResolveError),
    /// The words of the call mean nothing.
    #[error(transparent)]
    Request(#[from] flake_core::instance::RequestError),
    /// The call means no instance.
    #[error(transparent)]
    Choice(#[from] flake_core::instance::ChoiceError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] flake_engine::EngineError),
    /// A file descriptor cannot go with the command.
    #[error(transparent)]
    Streams(#[from] flake_engine::session::StreamError),
    /// The connection to the agent failed.
    #[error(transparent)]
    Session(#[from] flake_engine::session::SessionError),
    /// An external program is missing.
    #[error(transparent)]
    Tool(#[from] flake_tools::ToolError),
    /// The agent could not run the program.
    #[error("{message}")]
    Program {
        /// Why.
        message: String,
        /// The status that says so.
        status: u8,
    },
    /// The environment went away under the application, as by this signal.
    #[error("the container was ended from outside")]
    Lost(i32),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Refusal {
    /// How the launcher ends.
    pub(crate) fn ending(&self) -> Ending {
        match self {
            Self::Program { status, .. } => Ending::Status(*status),
            Self::Lost(signal) => Ending::Signal(*signal),
            _ => Ending::Status(FAILED),
        }
    }
}

impl From<flake_schema::LoadError> for Refusal {
    fn from(error: flake_schema::LoadError) -> Self {
        Self::Settings(Box::new(error))
    }
}

impl From<flake_wire::Failure> for Refusal {
    fn from(failure: flake_wire::Failure) -> Self {
        let status = match failure.kind {
            flake_wire::FailureKind::NotFound => NOT_FOUND,
            flake_wire::FailureKind::NotExecutable => NOT_EXECUTABLE,
            flake_wire::FailureKind::Other | flake_wire::FailureKind::NotShared => FAILED,
        };
        Self::Program { message: failure.message, status }
    }
}
