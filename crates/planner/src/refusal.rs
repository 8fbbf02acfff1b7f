//! Options that podman does not make a container with, while it might run one, and other failures of its.

use crate::PlannerError;
use crate::error::Reason;
use flake_tools::ToolError;

/// Podman's status for failures of its own (podman-run(1)).
const REFUSED: i32 = 125;
/// Of failures that the host brings about, and that may be gone at the next call.
const PASSING: [&str; 13] = [
    "already in use",
    "busy",
    "cannot allocate memory",
    "database is locked",
    "input/output error",
    "no space left",
    "no such file or directory",
    // Of podman's locks there is a fixed number.
    "num_locks",
    "permission denied",
    "quota exceeded",
    "read-only file system",
    "temporarily unavailable",
    "too many open files",
];

/// Why podman made no container that could be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// In podman's words, where they are.
    pub(crate) reason: Reason,
    /// It is about the options, so that it stays with them.
    pub(crate) stays: bool,
}

/// What a failure says of the calls that follow; nothing where the next one may do better, or this process was to stop.
pub(crate) fn of(error: &PlannerError) -> Option<Refusal> {
    let text = error.to_string();
    let said = text.to_lowercase();
    if PASSING.iter().any(|words| said.contains(words)) {
        return None;
    }
    let (reason, stays) = match error {
        PlannerError::Engine(_)
        | PlannerError::Tool(ToolError::Interrupted(_) | ToolError::Missing { .. }) => {
            return None;
        }
        PlannerError::Tool(ToolError::Failed { verb, status, reason, .. }) => {
            let stays = verb == "create" && status.code() == Some(REFUSED);
            (format!("what podman {verb} said: {reason}"), stays)
        }
        PlannerError::Tool(_) | PlannerError::Read { .. } | PlannerError::Unexpected { .. } => (text, false),
    };
    Some(Refusal { reason: Reason(reason), stays })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn of(verb: &str, code: i32, said: &str) -> Option<(String, bool)> {
        let (program, verb) = ("podman".to_owned(), verb.to_owned());
        let status = ExitStatus::from_raw(code << 8);
        let failed = ToolError::Failed { program, verb, status, reason: said.to_owned() };
        super::of(&PlannerError::Tool(failed)).map(|Refusal { reason, stays }| (reason.0, stays))
    }

    #[test]
    fn only_what_the_options_bring_about_stays() {
        let refused =
            |verb: &str, stays| Some((format!("what podman {verb} said: unknown flag: --x"), stays));
        assert_eq!(of("create", 125, "unknown flag: --x"), refused("create", true));
        assert_eq!(of("create", 1, "unknown flag: --x"), refused("create", false));
        assert_eq!(of("init", 125, "unknown flag: --x"), refused("init", false));
    }

    #[test]
    fn what_passes_says_nothing() {
        for said in [
            "statfs /a: no such file or directory",
            "write /a: No space left on device",
            "allocating lock: exceeded num_locks (2048)",
        ] {
            assert_eq!((of("create", 125, said), of("init", 126, said)), (None, None), "{said}");
        }
        assert_eq!(super::of(&PlannerError::Tool(ToolError::Interrupted(2))), None);
    }
}
