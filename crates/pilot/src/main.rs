//! The launcher: the program behind every registered command. It finds the registration that its name
//! stands for, has the engine run the application, and ends as the application did.

mod call;
mod direct;
mod elevate;
mod ending;
mod install;
mod kept;
mod relaying;
mod report;
mod run;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let ending = call::run(&words).unwrap_or_else(|refusal| {
        report::say(&words, &refusal.to_string());
        refusal.ending()
    });
    ending.leave()
}
