//! Compiles the probe as one static program, which runs in images that have nothing else.
//!
//! Cargo itself would link it as the tests are linked. It has no dependencies, so the compiler alone can do it.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "src/bin/probe";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={SOURCE}");
    let out = env::var("OUT_DIR")?;
    let status = Command::new(env::var("RUSTC")?)
        .args(["--edition=2024", "--crate-name=probe", "--crate-type=bin", "-Cpanic=abort", "-Copt-level=s"])
        .args(["-Ctarget-feature=+crt-static", "-Crelocation-model=static", "-Cstrip=symbols"])
        .args(["--target", &env::var("TARGET")?, "--cap-lints=allow", "-o"])
        .arg(Path::new(&out).join("probe"))
        .arg(Path::new(SOURCE).join("main.rs"))
        .status()?;
    if status.success() { Ok(()) } else { Err(format!("the probe does not compile: {status}").into()) }
}
