//! Every word reaches the app as it is.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;

use anyhow::{Result, ensure};
use flake_testkit::Call;

use crate::scene::{Case, Scene};

pub(crate) const CASES: &[Case] = &[
    Case { name: "words_with_blanks_and_quotes", run: blanks_and_quotes },
    Case { name: "words_with_newlines", run: |scene| words(scene, ["a\nb", "\n", "\n\n", "\r\n", "\t"]) },
    Case { name: "empty_words", run: |scene| words(scene, ["", "a", "", "", "b", ""]) },
    Case { name: "leading_signs_after_a_word", run: leading_signs },
    Case { name: "leading_signs_in_the_first_word", run: first_word },
    Case { name: "bytes_that_are_not_utf8", run: bytes },
    Case { name: "a_thousand_words", run: |scene| words(scene, (0..1000).map(|n| format!("word {n}"))) },
    Case { name: "a_word_of_100000_bytes", run: |scene| words(scene, ["x".repeat(100_000)]) },
];

/// The app prints each of its words with a NUL behind it.
const PRINT: [&str; 4] = ["sh", "-c", r#"for word; do printf '%s\0' "$word"; done"#, "sh"];

fn words<W: Into<OsString>>(scene: &Scene<'_>, words: impl IntoIterator<Item = W>) -> Result<()> {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let outcome = scene.same(|subject| {
        let mut command = subject.command();
        command.args(PRINT).args(&words);
        Ok(Call::new(command).run()?)
    })?;
    let expected = words.into_iter().flat_map(|word| [word.into_vec(), vec![0]].concat());
    ensure!(outcome.success() && outcome.stdout.iter().copied().eq(expected), "{outcome}");
    Ok(())
}

fn blanks_and_quotes(scene: &Scene<'_>) -> Result<()> {
    let list = [
        " ", "a b", " a  b ", "it's", "\"q\"", "'ls -l'", "\\", "\\\\n", "$HOME", "`id`", "$(id)", "*", "~",
        "a;b", "a|b", "a&b", "#", "!", "{a,b}", "%s", "\\0",
    ];
    words(scene, list)
}

fn leading_signs(scene: &Scene<'_>) -> Result<()> {
    let list =
        ["@x", "@", "@@x", "%x", "%", "%%x", "-x", "-", "--", "--help", "@a/b", "%a:b", "x@", "-d", "@mine"];
    words(scene, list)
}

/// busybox takes its first word as the name of an applet and repeats it in its complaint.
fn first_word(scene: &Scene<'_>) -> Result<()> {
    for word in ["@x", "@@x", "%x", "%%x", "-x", "--", "", "flake", "@types"] {
        let outcome = scene
            .same(|subject| Ok(subject.call(&[subject.before_words, &[word, "flake"]].concat()).run()?))?;
        let complaint = format!("{word}: applet not found\n");
        ensure!(outcome.code == Some(127) && outcome.err() == complaint, "{word:?}: {outcome}");
    }
    Ok(())
}

fn bytes(scene: &Scene<'_>) -> Result<()> {
    let all: Vec<u8> = (1..=255).collect();
    let list = [&all[..], b"\xff", b"caf\xe9", b"\xc3", b"\xed\xa0\x80", "caf\u{e9}".as_bytes()];
    words(scene, list.map(|word| OsString::from_vec(word.to_vec())))?;
    words(scene, [OsStr::new("\u{1F980}")])
}
