//! Options that podman does not make a container with, while it might run one.

use crate::PlannerError;
use crate::error::Reason;
use flake_tools::ToolError;

/// Podman's status for failures of its own (podman-run(1)).
const REFUSED: i32 = 125;
/// Of failures that the options alone do not bring about, and that may be gone at the next call: what a plan says
/// stays.
const PASSING: [&str; 9] = [
    "already in use",
    "busy",
    "no space left",
    "no such file or directory",
    "permission denied",
    "quota exceeded",
    "read-only file system",
    "temporarily unavailable",
    "too many open files",
];

/// Podman's words, if it is about the options.
pub(crate) fn reason(error: &PlannerError) -> Option<Reason> {
    let PlannerError::Tool(ToolError::Failed { verb, status, reason, .. }) = error else { return None };
    let said = reason.to_lowercase();
    let is_refusal = verb == "create" && status.code() == Some(REFUSED);
    (is_refusal && !PASSING.iter().any(|words| said.contains(words)))
        .then(|| Reason(format!("what podman create said: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn of(verb: &str, code: i32, reason: &str) -> Option<Reason> {
        reason_of(ExitStatus::from_raw(code << 8), verb, reason)
    }

    fn reason_of(status: ExitStatus, verb: &str, said: &str) -> Option<Reason> {
        let program = "podman".to_owned();
        let failed = ToolError::Failed { program, verb: verb.to_owned(), status, reason: said.to_owned() };
        reason(&PlannerError::Tool(failed))
    }

    #[test]
    fn only_what_the_options_bring_about_is_one() {
        let refused = of("create", 125, "unknown flag: --x");
        assert_eq!(refused, Some(Reason("what podman create said: unknown flag: --x".to_owned())));
        assert_eq!(of("init", 125, "unknown flag: --x"), None);
        assert_eq!(of("create", 1, "unknown flag: --x"), None);
        assert_eq!(of("create", 125, "statfs /a: no such file or directory"), None);
        assert_eq!(of("create", 125, "write /a: No space left on device"), None);
    }
}
