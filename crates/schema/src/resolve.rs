//! From what is written to what is meant: one engine, defaults filled in.

use crate::check::{Problem, is_mutable, removes_itself};
use crate::flake::{FlakeFile, Probe, Provision};
use crate::machine::Machine;
use crate::view::View;
use crate::words::{
    Engine, EnvEntry, InstanceName, Network, Period, ProbeAction, ProbeMode, ProvisionMode, ProvisionRun,
    RunAs, Scratch, Share, ShareWhat, User, Workdir,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a flake file means: everything that can be known without looking at the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flake {
    /// What isolates.
    pub engine: Engine,
    /// What is launched.
    pub image: Image,
    /// The command on the host, absolute.
    pub host_path: PathBuf,
    /// The program inside.
    pub target: Target,
    /// What happens to the instance after the call.
    pub lifetime: Lifetime,
    /// Name of an environment shared with other flakes.
    pub instance: Option<InstanceName>,
    /// The engine runs as root, else as the caller.
    pub as_root: bool,
    /// The application runs with the caller's identity, else with the image's user.
    pub as_caller: bool,
    /// Network of a container; `None` is what podman does without an option (files of flake-pilot 3.x).
    pub network: Option<Network>,
    /// What of the host is visible.
    pub share: Vec<Share>,
    /// Environment that reaches the application.
    pub env: Vec<EnvEntry>,
    /// Where it starts; by default the caller's directory when it is shared, else what the image says.
    pub workdir: Workdir,
    /// Where what it writes into the root of a container is, when that is thrown away.
    pub scratch: Scratch,
    /// Options of podman, `--rm` left out.
    pub podman: Vec<String>,
    /// The virtual machine, for [`Engine::Vm`].
    pub machine: Option<Machine>,
    /// Tar archives that become part of the image.
    pub include_tar: Vec<PathBuf>,
    /// Files and directories that become part of the image.
    pub include_path: Vec<PathBuf>,
    /// Packages of the host whose files the application sees.
    pub hostsystem: Vec<String>,
    /// Variables of the scripts, without the PARAM_ in front.
    pub param: BTreeMap<String, String>,
    /// Provisioning scripts.
    pub provision: Vec<ProvisionStep>,
    /// Readiness and liveness probes.
    pub probes: Vec<ProbeStep>,
}

/// What is launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Image {
    /// A container image, alone or composed.
    Container {
        /// Reference of the application's image.
        name: String,
        /// Image below it.
        base: Option<String>,
        /// Images between, in order.
        layers: Vec<String>,
        /// Copy the host files that the images list as missing.
        host_files: bool,
    },
    /// A VM image by name.
    Vm(String),
    /// A Northstar container by name.
    Northstar(String),
}

/// The program inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// The image's own entrypoint; written `/`.
    Entrypoint,
    /// A program: an absolute path, or a bare name that is looked up on the PATH inside.
    Program(String),
}

/// What happens to the instance after the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lifetime {
    /// Thrown away.
    Immutable,
    /// Kept; further calls run in it.
    Resume,
    /// Kept; further calls join its terminal.
    Attach,
}

impl Lifetime {
    /// True when the instance outlives the call.
    pub fn is_mutable(self) -> bool {
        self != Self::Immutable
    }
}

/// A provisioning script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvisionStep {
    /// As whom it runs.
    pub mode: ProvisionMode,
    /// The script.
    pub script: String,
    /// When it runs.
    pub run: ProvisionRun,
    /// Longest time it may take, when bounded.
    pub timeout: Option<Period>,
}

/// A probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeStep {
    /// What is waited for.
    pub description: Option<String>,
    /// The script.
    pub script: String,
    /// What to look at when it does not pass.
    pub hint: Option<String>,
    /// Longest time of one try; 30 s unless set.
    pub timeout: Period,
    /// Time between two tries; 3 s unless set.
    pub interval: Period,
    /// What it decides.
    pub decides: Decides,
}

/// What a probe decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decides {
    /// Whether the first call may begin, within this time; 10 min unless set.
    Ready(Period),
    /// What follows after so many failures in a row; 3 unless set.
    Alive(u32, ProbeAction),
}

impl FlakeFile {
    /// Checks the rules that cross keys and gives what the file means, or every rule it breaks.
    pub fn resolve(&self) -> Result<Flake, Vec<Problem>> {
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        let engine = self.engine().map_err(|problem| vec![problem])?;
        let view = View::new(self, engine);
        let container = self.container.as_ref().and_then(|c| c.runtime.as_ref());
        let include = self.include.clone().unwrap_or_default();
        let host_path = view.host_path.value.cloned().unwrap_or_default();
        let share = view.share.value.cloned().unwrap_or_default();
        let workdir = match share.iter().any(|share| share.what == ShareWhat::Cwd) {
            true => Workdir::Cwd,
            false => Workdir::Image,
        };
        let network = match engine {
            Engine::Podman | Engine::Vm => container.and_then(|r| r.network),
            Engine::Northstar => {
                let own = self.northstar.as_ref().and_then(|n| n.runtime.as_ref()).and_then(|r| r.network);
                own.or(container.and_then(|r| r.network))
            }
        };
        Ok(Flake {
            engine,
            image: self.image(engine),
            target: match view.target.value.unwrap_or(&host_path).as_str() {
                "/" => Target::Entrypoint,
                program => Target::Program(program.to_owned()),
            },
            host_path: PathBuf::from(host_path),
            lifetime: match is_mutable(self, &view) {
                true if view.attaches() => Lifetime::Attach,
                true => Lifetime::Resume,
                false => Lifetime::Immutable,
            },
            instance: self.instance.clone(),
            as_root: view.runas.value.is_some_and(RunAs::is_root),
            as_caller: view.user.value == Some(&User::Caller),
            network,
            share,
            env: view.env.value.cloned().unwrap_or_default(),
            workdir: view.workdir.value.cloned().unwrap_or(workdir),
            scratch: container.and_then(|r| r.scratch).unwrap_or(Scratch::Memory),
            podman: container
                .and_then(|r| r.podman.as_deref())
                .unwrap_or_default()
                .iter()
                .filter(|option| !removes_itself(option))
                .cloned()
                .collect(),
            machine: (engine == Engine::Vm).then(|| Machine::new(self)),
            include_tar: include.tar.unwrap_or_default().into_iter().map(PathBuf::from).collect(),
            include_path: include.path.unwrap_or_default().into_iter().map(PathBuf::from).collect(),
            hostsystem: self.hostsystem.clone().unwrap_or_default(),
            param: self.param.clone().unwrap_or_default(),
            provision: self.provision.iter().flatten().map(provision).collect(),
            probes: self.probes.iter().flatten().map(probe).collect(),
        })
    }

    /// The image of the engine's own section, else the container's.
    fn image(&self, engine: Engine) -> Image {
        let vm = self.vm.as_ref().and_then(|vm| vm.name.clone()).filter(|_| engine == Engine::Vm);
        let northstar = self.northstar.as_ref().and_then(|n| n.name.clone());
        match (vm, northstar.filter(|_| engine == Engine::Northstar)) {
            (Some(name), _) => Image::Vm(name),
            (_, Some(name)) => Image::Northstar(name),
            _ => {
                let container = self.container.clone().unwrap_or_default();
                Image::Container {
                    name: container.name.unwrap_or_default(),
                    base: container.base_container.filter(|base| !base.is_empty()),
                    layers: container.layers.unwrap_or_default(),
                    host_files: container.check_host_dependencies.unwrap_or(false),
                }
            }
        }
    }
}

fn provision(step: &Provision) -> ProvisionStep {
    ProvisionStep {
        mode: step.mode.unwrap_or(ProvisionMode::System),
        script: step.script.clone().unwrap_or_default(),
        run: step.run.unwrap_or(ProvisionRun::Once),
        timeout: step.timeout,
    }
}

fn probe(probe: &Probe) -> ProbeStep {
    ProbeStep {
        description: probe.description.clone(),
        script: probe.script.clone().unwrap_or_default(),
        hint: probe.hint.clone(),
        timeout: probe.timeout.unwrap_or(Period::from_secs(30)),
        interval: probe.interval.unwrap_or(Period::from_secs(3)),
        decides: match probe.mode {
            Some(ProbeMode::Liveness) => {
                Decides::Alive(probe.failures.unwrap_or(3), probe.action.unwrap_or(ProbeAction::Report))
            }
            _ => Decides::Ready(probe.deadline.unwrap_or(Period::from_secs(600))),
        },
    }
}
