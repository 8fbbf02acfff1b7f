//! Console blocks of a document: commands after `$ `, and what each of them prints.
//!
//! `[..]` in a line stands for anything; a line that is only that stands for one line.

/// A command and the lines it is said to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The command, for bash.
    pub command: String,
    /// The lines, with wildcards.
    pub lines: Vec<String>,
}

/// The steps of all blocks marked `console`, in their order.
#[must_use]
pub fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_inside = false;
    for line in document.lines() {
        match line {
            "```console" => is_inside = true,
            "```" => is_inside = false,
            _ if !is_inside => {}
            _ => match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step { command: command.to_owned(), lines: Vec::new() }),
                (None, Some(step)) => step.lines.push(line.to_owned()),
                (None, None) => {}
            },
        }
    }
    steps
}

/// Whether a line is what a pattern says.
#[must_use]
pub fn fits(line: &str, pattern: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(found) = rest.find(part) else { return false };
        rest = &rest[found + part.len()..];
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_console_blocks_have_steps() {
        let document = "```\n$ no\n```\n```console\n$ a\n1\n2\n$ b\n```\n$ no\n";
        let step = |command: &str, lines: &[&str]| Step {
            command: command.into(),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        };
        assert_eq!(steps(document), [step("a", &["1", "2"]), step("b", &[])]);
    }

    #[test]
    fn wildcards_stand_for_anything() {
        for (line, pattern, expected) in [
            ("abc", "abc", true),
            ("abc", "ab", false),
            ("abc", "[..]", true),
            ("/home/x/bin/box", "[..]/bin/box", true),
            ("a-b-c", "a[..]b[..]c", true),
            ("a-c-b", "a[..]b[..]c", false),
        ] {
            assert_eq!(fits(line, pattern), expected, "{line} {pattern}");
        }
    }
}
