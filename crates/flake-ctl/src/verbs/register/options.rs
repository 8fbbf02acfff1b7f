//! From the options to what they say of the flake file.

use crate::cli::{RegisterArgs, RunAsWord};
use crate::failure::Failure;
use flake_core::caller::Caller;
use flake_core::{draft, host_path};
use flake_schema::{Container, ContainerRuntime, FlakeFile, FlakeType, Include, RunAs, User};
use std::path::{Path, PathBuf};

/// What the command line says; what it leaves out is unset.
pub(super) fn file(args: &RegisterArgs, caller: &Caller) -> Result<FlakeFile, Failure> {
    if args.run_as == Some(RunAsWord::Root) && !caller.is_root() {
        return Err(Failure::new("only root can register a command that runs as root")
            .hint("sudo flake-ctl podman register --run-as root ..."));
    }
    let podman: Vec<String> =
        args.opt.iter().map(|option| option.trim_start_matches('\\').to_owned()).collect();
    if args.network.is_some() && draft::chooses_network(&podman) {
        return Err(Failure::new("both --network and an --opt choose a network, one may"));
    }
    let target = match &args.target {
        Some(target) => Some(text(&host_path::absolute(target)?)?),
        None => None,
    };
    let include = Include {
        tar: some(existing(&args.include_tar, caller)?),
        path: some(existing(&args.include_path, caller)?),
    };
    let runtime = ContainerRuntime {
        runas: args.run_as.map(|word| match word {
            RunAsWord::Caller => RunAs::Caller,
            RunAsWord::Root => RunAs::Root,
        }),
        resume: args.resume.then_some(true),
        attach: args.attach.then_some(true),
        podman: some(podman),
        network: args.network,
        share: some(args.share.clone()),
        env: some(args.env.clone()),
        workdir: args.workdir.clone(),
        user: args.as_caller.then_some(User::Caller),
        scratch: args.scratch,
    };
    Ok(FlakeFile {
        kind: args.mutable.then_some(FlakeType::Mutable),
        instance: args.instance.clone(),
        hostsystem: some(args.hostsystem.clone()),
        include: (include != Include::default()).then_some(include),
        container: Some(Container {
            name: Some(args.container.clone()),
            target_app_path: target,
            base_container: args.base.clone(),
            check_host_dependencies: args.check_host_dependencies.then_some(true),
            layers: some(args.layer.clone()),
            runtime: Some(runtime),
            ..Container::default()
        }),
        ..FlakeFile::default()
    })
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| !list.is_empty())
}

/// Paths of the host as they are found from anywhere.
fn existing(paths: &[PathBuf], caller: &Caller) -> Result<Vec<String>, Failure> {
    let cwd = caller.cwd.as_deref().unwrap_or(Path::new("/"));
    let found = paths.iter().map(|path| {
        let path = cwd.join(path);
        match path.try_exists() {
            Ok(true) => text(&path),
            Ok(false) => Err(Failure::new(format!("there is no {}", path.display()))),
            Err(error) => Err(Failure::system(&format!("cannot look at {}", path.display()), &error)),
        }
    });
    found.collect()
}

fn text(path: &Path) -> Result<String, Failure> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Failure::new(format!("{} is not UTF-8 text", path.display())))
}
