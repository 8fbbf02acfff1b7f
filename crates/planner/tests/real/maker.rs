//! Making a plan as a user of the scratch host: this binary once more, run by that user.

use anyhow::{Context, Result};
use flake_core::launch::{Identity, Launch};
use flake_plan::{Plan, Recipe, Way};
use flake_schema::{FlakeName, Network, Scratch, Target};
use flake_testkit::{Call, Image, ScratchHost, User};
use flake_tools::podman::Podman;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Once;

/// Says that this is the user's run, and where the plan goes.
const OUT: &str = "FLAKE_TEST_PLAN";
/// The flake's network.
const NETWORK: &str = "FLAKE_TEST_NETWORK";
/// The application is the caller, and podman starts it so.
const CALLER: &str = "FLAKE_TEST_CALLER";
/// This binary, where every user can run it.
pub(crate) const PROGRAM: &str = "/usr/local/bin/plan-maker";

/// What is planned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) image: &'a Image,
    pub(crate) network: &'a str,
    pub(crate) as_caller: bool,
    pub(crate) options: &'a [&'a str],
}

/// A plain flake in the host's network.
pub(crate) const PLAIN: Wish<'static> =
    Wish { image: &Image::BOX, network: "host", as_caller: false, options: &[] };

/// The plan, as `user` makes it.
pub(crate) fn plan(host: &ScratchHost, user: &User, wish: Wish) -> Result<Plan> {
    let out = user.home().join(format!("plan-{}", host.mark()));
    Call::new(command(host, user, wish, &out)?).check()?;
    Ok(Plan::read(&out, user.id)?)
}

/// The program that writes the plan to `out`.
pub(crate) fn command(host: &ScratchHost, user: &User, wish: Wish, out: &Path) -> Result<Command> {
    static COPIED: Once = Once::new();
    COPIED.call_once(|| {
        fs::copy("/proc/self/exe", PROGRAM).expect("the plan maker can be copied");
    });
    let image = host.image(user, wish.image)?;
    let mut command = user.command(PROGRAM);
    command.env(OUT, out).env(NETWORK, wish.network).arg(image).args(wish.options);
    if wish.as_caller {
        command.env(CALLER, "1");
    }
    Ok(command)
}

/// The recipe of a plan.
pub(crate) fn recipe(plan: Plan) -> Result<Recipe> {
    match plan.way {
        Way::Runner(recipe) => Ok(*recipe),
        Way::Agent { reason } => anyhow::bail!("the agent's way: {reason}"),
    }
}

/// The reason of a plan.
pub(crate) fn reason(plan: &Plan) -> Result<&str> {
    match &plan.way {
        Way::Agent { reason } => Ok(reason),
        Way::Runner(_) => anyhow::bail!("the runner's way"),
    }
}

pub(crate) fn is_asked_for() -> bool {
    std::env::var_os(OUT).is_some()
}

pub(crate) fn main() -> ExitCode {
    flake_sys::interrupt::watch();
    match made() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn made() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let image = words.next().context("no image")?;
    let out = PathBuf::from(std::env::var_os(OUT).context("no place")?);
    let launch = launch(image, words.collect())?;
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let plan = flake_planner::make(&launch, &Podman::find()?, Vec::new(), (&home, &home))?;
    let is_root = rustix::process::geteuid().is_root();
    anyhow::ensure!(plan.words == flake_engine::podman::created(&launch, is_root)?, "other words");
    Ok(plan.write(&out, 0o600)?)
}

fn launch(image: String, options: Vec<String>) -> Result<Launch> {
    let name: FlakeName = "planned".parse()?;
    let uid = rustix::process::getuid().as_raw();
    let network = match std::env::var(NETWORK).as_deref() {
        Ok("host") => Some(Network::Host),
        Ok("none") => Some(Network::None),
        Ok("private") => Some(Network::Private),
        _ => None,
    };
    let identity = std::env::var_os(CALLER).map(|_| Identity {
        uid,
        gid: uid,
        name: std::env::var("USER").unwrap_or_default(),
        group: std::env::var("USER").unwrap_or_default(),
        gecos: String::new(),
        home: std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default(),
        empty_home: uid != 0,
        zone: Path::new("/etc/localtime").exists().then_some(flake_core::launch::Zone::Local),
    });
    Ok(Launch {
        name,
        file: "/usr/share/flakes/planned.yaml".into(),
        uid,
        as_root: false,
        reference: image.clone(),
        image,
        archive: None,
        target: Target::Entrypoint,
        args: Vec::new(),
        network,
        binds: Vec::new(),
        passing: None,
        image_state: String::new(),
        env: BTreeMap::new(),
        workdir: None,
        identity,
        scratch: Scratch::Memory,
        options,
        umask: 0o022,
        warning: None,
    })
}
