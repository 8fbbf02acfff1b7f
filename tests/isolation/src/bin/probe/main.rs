//! A program that looks around in the place where it runs, and that tries to get out of it. It says what it found as
//! lines, `key=value` each, sorted by nothing: what they mean is for the tests.
//!
//! * `probe facts PATH...`: everything by which two places can be told apart; PATHs are looked at as well
//! * `probe calls`: what becomes of every system call
//! * `probe try NAME WORDS...`: one attempt at something that must not work

#![allow(unsafe_code, reason = "what is tried here is what libraries do not offer")]
#![allow(clippy::print_stdout, reason = "the program is there for what it prints")]

mod attempts;
mod calls;
mod devices;
mod facts;
mod files;
mod kernel;
mod mounting;
mod mounts;
mod number;
mod objects;
mod terminal;
mod ways_out;

use std::fmt::Display;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["facts", paths @ ..] => facts::all(paths),
        ["calls"] => calls::all(),
        ["try", name, words @ ..] => return attempts::one(name, words),
        _ => return ExitCode::from(64),
    }
    ExitCode::SUCCESS
}

/// One line.
fn say(key: impl Display, value: impl Display) {
    let value = value.to_string();
    println!("{key}={}", value.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'"));
}
