//! Running a launch straight from the image's layers, as its plan says.

use crate::ending::{Ending, Refusal};
use crate::relaying::{self, Relaying};
use crate::{install, run};
use flake_core::launch::Launch;
use flake_core::place::{Places, Scope};
use flake_core::registry::Registration;
use flake_engine::podman::created;
use flake_engine::session::{Files, Streams, Surroundings, account, ids};
use flake_plan::{Plan, Recipe, Way};
use flake_runner::{Bind, Call, End, RunError, Words};
use flake_schema::Target;
use flake_sys::reason::reason;
use flake_sys::{inherited, interrupt, spawn};
use flake_tools::show;
use flake_wire::Source;
use rustix::io::fcntl_dupfd_cloexec;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs a launch by its plan; comes back without an ending when the plan says the agent's way, or there is none.
/// `setting_up` is called before an image is imported.
pub(crate) fn run(
    registration: &Registration,
    launch: &Launch,
    places: &Places,
    setting_up: impl Fn(),
) -> Result<Option<Ending>, Refusal> {
    let planned = Planned {
        launch,
        registration,
        places,
        file: places.plan_file(&launch.name, registration.scope),
        uid: rustix::process::geteuid().as_raw(),
        words: created(launch, rustix::process::geteuid().is_root())?,
    };
    let mut plan = planned.read();
    let mut is_renewed = false;
    loop {
        if plan.is_none() && !is_renewed {
            is_renewed = true;
            if let Some(signal) = planned.renew(&setting_up)? {
                return Ok(Some(Ending::Signal(signal)));
            }
            plan = planned.read();
        }
        let Some(Plan { way: Way::Runner(recipe), .. }) = &plan else { return Ok(None) };
        let files = if launch.as_root { Files::Relayed } else { Files::Passed };
        let mut streams = Streams::gather(&launch.args, files)?;
        let relaying = relaying::start(&mut streams)?;
        let end = planned.call(recipe, streams).map(|call| flake_runner::run(recipe, call));
        relaying.map_or(Ok(()), Relaying::finish)?;
        match end? {
            Ok(End::Exited(status)) => return Ok(Some(Ending::Status(status))),
            Ok(End::Killed(signal)) => return Ok(Some(Ending::Signal(signal))),
            Err(error) if error.is_stale() && !is_renewed => plan = None,
            Err(error) if error.is_stale() => return Ok(None),
            Err(RunError::Program(failure)) => return Err(failure.into()),
            Err(error) => return Err(Refusal::Other(error.to_string())),
        }
    }
}

/// A launch and where its plan is.
struct Planned<'launch> {
    launch: &'launch Launch,
    registration: &'launch Registration,
    places: &'launch Places,
    file: PathBuf,
    uid: u32,
    words: Vec<OsString>,
}

impl Planned<'_> {
    /// The plan, if it is good for this launch.
    fn read(&self) -> Option<Plan> {
        Plan::read(&self.file, self.uid).ok().filter(|plan| plan.is_good_for(self.uid, &self.words))
    }

    /// Has the management command make the plan anew. What it cannot do, the agent's way will say. Gives the signal
    /// that asked to stop meanwhile.
    fn renew(&self, setting_up: impl Fn()) -> Result<Option<i32>, Refusal> {
        let engine = run::engine(self.registration, self.places)?;
        engine.import(self.launch, &self.places.state_dir, false, setting_up)?;
        let program = install::management()
            .map_err(|error| Refusal::Other(format!("cannot find the own program: {}", reason(&error))))?;
        let scope = match self.registration.scope {
            Scope::System => "system",
            Scope::User => "user",
        };
        let mut command = Command::new(program);
        command.args(["plan", "--renew", "--scope", scope, "--", self.launch.name.as_str()]);
        // It clears up behind itself, so it is asked to stop and waited for.
        interrupt::watch();
        let _ = show(command.stdout(Stdio::null()).stderr(Stdio::null()));
        spawn::await_one_thread();
        Ok(interrupt::unwatch())
    }

    /// What is different for this call.
    fn call(&self, recipe: &Recipe, streams: Streams) -> Result<Call, Refusal> {
        let launch = self.launch;
        let surroundings = Surroundings::inherited();
        let cwd = std::env::current_dir().ok();
        let bytes = |word: &OsString| word.as_bytes().to_vec();
        let args = launch.args.iter().map(bytes).collect();
        // Whom podman's options start as somebody else is not changed again.
        let becomes = launch.identity.as_ref().filter(|identity| identity.uid != recipe.process.uid);
        Ok(Call {
            words: match &launch.target {
                Target::Entrypoint => Words::Image(args),
                Target::Program(path) => Words::Program(path.clone().into_bytes(), args),
            },
            env: launch
                .env
                .iter()
                .map(|(name, value)| (name.clone().into_vec(), value.clone().into_vec()))
                .collect(),
            cwd: launch.workdir.clone(),
            binds: launch
                .binds
                .iter()
                .map(|bind| Bind {
                    is_cwd: cwd.as_ref() == Some(&bind.path),
                    path: bind.path.clone(),
                    read_only: bind.read_only,
                })
                .collect(),
            account: becomes.map(account),
            becomes: becomes.map(ids),
            umask: launch.umask,
            ignored: surroundings.ignored,
            blocked: surroundings.blocked,
            descriptors: descriptors(streams)?,
            scratch: self.places.scratch_dir(),
            workshop: self.file.parent().map(PathBuf::from).unwrap_or_default(),
        })
    }
}

/// The descriptors by their numbers: the terminal goes as it is, as the others do.
fn descriptors(streams: Streams) -> Result<Vec<(u16, OwnedFd)>, Refusal> {
    let mut passed = streams.descriptors.into_iter();
    let mut descriptors = Vec::with_capacity(streams.table.len());
    for stream in &streams.table {
        let descriptor = match stream.source {
            Source::Passed => passed.next(),
            Source::Terminal | Source::Framed(_) => {
                inherited::open(stream.number).and_then(|terminal| fcntl_dupfd_cloexec(terminal, 3).ok())
            }
        };
        let number = stream.number;
        let lost = || Refusal::Other(format!("cannot pass file descriptor {number}"));
        descriptors.push((number, descriptor.ok_or_else(lost)?));
    }
    Ok(descriptors)
}
