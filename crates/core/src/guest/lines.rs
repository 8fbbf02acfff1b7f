//! What a script writes, as lines: each of them as soon as it is complete, and the last few for the error.

use std::collections::VecDeque;

/// The most bytes of one line; a longer one comes in pieces.
const LINE_MAX: usize = 4096;
/// How many lines are kept for the error.
const KEPT: usize = 20;
/// The most signs of a kept line.
const KEPT_SIGNS: usize = 400;

/// Output on its way from bytes to lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    open: Vec<u8>,
    last: VecDeque<String>,
}

impl Lines {
    /// Takes bytes as they come, and gives each line that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8], each: &mut dyn FnMut(&str)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (part, is_complete) = part.strip_suffix(b"\n").map_or((part, false), |part| (part, true));
            for piece in part.chunks(LINE_MAX) {
                if self.open.len() + piece.len() > LINE_MAX {
                    self.close(each);
                }
                self.open.extend_from_slice(piece);
            }
            if is_complete {
                self.close(each);
            }
        }
    }

    /// Gives what the output ended with, and keeps the last lines that say something.
    pub(crate) fn finish(mut self, each: &mut dyn FnMut(&str)) -> Vec<String> {
        if !self.open.is_empty() {
            self.close(each);
        }
        self.last.into()
    }

    fn close(&mut self, each: &mut dyn FnMut(&str)) {
        let line = readable(&self.open);
        self.open.clear();
        each(&line);
        if !line.is_empty() {
            if self.last.len() == KEPT {
                self.last.pop_front();
            }
            self.last.push_back(line.chars().take(KEPT_SIGNS).collect());
        }
    }
}

/// A line as text that does nothing to a terminal. Of one that was written over, as progress is, the last state counts.
fn readable(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let shown = line.rsplit(|byte| *byte == b'\r').next().unwrap_or_default();
    let harmless =
        |sign: char| if sign.is_control() && sign != '\t' { char::REPLACEMENT_CHARACTER } else { sign };
    String::from_utf8_lossy(shown).chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(parts: &[&[u8]]) -> (Vec<String>, Vec<String>) {
        let mut all = Vec::new();
        let mut each = |line: &str| all.push(line.to_owned());
        let mut lines = Lines::default();
        for part in parts {
            lines.push(part, &mut each);
        }
        let last = lines.finish(&mut each);
        (all, last)
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        let text = "one\r\n\ntw\u{f6}\n10%\r50%\r100%\nno end".as_bytes();
        let expected = ["one", "", "tw\u{f6}", "100%", "no end"];
        for step in 1..text.len() {
            let parts: Vec<_> = text.chunks(step).collect();
            assert_eq!(lines(&parts).0, expected, "{step}");
        }
    }

    #[test]
    fn nothing_of_it_is_for_the_terminal() {
        assert_eq!(lines(&[b"a\x1b[2Jb\x07\tc\xff\n"]).0, ["a\u{fffd}[2Jb\u{fffd}\tc\u{fffd}"]);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let (all, last) = lines(&[&[b'x'; 3 * LINE_MAX + 1], b"y"]);
        assert_eq!(all.iter().map(String::len).collect::<Vec<_>>(), [LINE_MAX, LINE_MAX, LINE_MAX, 2]);
        assert!(last.iter().all(|line| line.len() <= KEPT_SIGNS));
        let many: String = (0..50).map(|number| format!("{number}\n\n")).collect();
        let (_, last) = lines(&[many.as_bytes()]);
        assert_eq!((last.len(), last[0].as_str(), last[19].as_str()), (KEPT, "30", "49"));
    }
}
