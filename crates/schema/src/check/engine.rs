//! What an engine needs, and what it cannot do.

use super::Problem;
use crate::flake::{Container, FlakeFile};
use crate::view::View;
use crate::words::{Accel, Engine, Network, ShareWhat, Vmm};

pub(super) fn choose(file: &FlakeFile) -> Result<Engine, Problem> {
    let sections: Vec<(Engine, &str)> = [
        file.container.as_ref().map(|_| (Engine::Podman, "container")),
        file.vm.as_ref().map(|_| (Engine::Vm, "vm")),
        file.northstar.as_ref().map(|_| (Engine::Northstar, "northstar")),
    ]
    .into_iter()
    .flatten()
    .collect();
    match (file.engine, sections.as_slice()) {
        (_, []) => Err(Problem::new("", "no application: `container`, `vm` or `northstar` is missing")
            .hint("see `flake-ctl podman register --help`")),
        (Some(Engine::Podman), _) if file.container.is_none() => {
            Err(Problem::new("engine", "`engine: podman` needs a `container` section"))
        }
        (Some(engine), sections) => {
            let usable = |(own, _): &(Engine, &str)| *own == engine || *own == Engine::Podman;
            if sections.iter().any(usable) {
                return Ok(engine);
            }
            let own = if engine == Engine::Vm { "vm" } else { "northstar" };
            Err(Problem::new("engine", format!("`engine: {engine}` needs a `{own}` or `container` section")))
        }
        (None, [(engine, _)]) => Ok(*engine),
        (None, [first, .., last]) => {
            let message = format!("both `{}` and `{}`, and no `engine` that chooses", first.1, last.1);
            Err(Problem::new(last.1, message)
                .hint(format!("add `engine: {}` or `engine: {}`", first.0, last.0)))
        }
    }
}

pub(super) fn check(file: &FlakeFile, engine: Engine, view: &View<'_>, problems: &mut Vec<Problem>) {
    let name = |name: &Option<String>| name.as_deref().is_some_and(|name| !name.trim().is_empty());
    let container = file.container.as_ref();
    let own = match engine {
        Engine::Podman => ("container.name", container.is_some_and(|c| name(&c.name))),
        Engine::Vm => ("vm.name", file.vm.as_ref().is_some_and(|vm| name(&vm.name))),
        Engine::Northstar => ("northstar.name", file.northstar.as_ref().is_some_and(|n| name(&n.name))),
    };
    match (own, container) {
        ((_, true), _) => {}
        ((_, false), Some(container)) if name(&container.name) => {}
        ((_, false), Some(_)) => problems.push(missing_name("container.name")),
        ((path, false), None) => problems.push(missing_name(path)),
    }
    if let Some(container) = container {
        layers(container, problems);
    }
    match engine {
        Engine::Podman => {}
        Engine::Vm => {
            vm(file, view, problems);
            no_podman(container, "a VM", problems);
        }
        Engine::Northstar => {
            no_podman(container, "Northstar", problems);
            let network = file.northstar.as_ref().and_then(|n| n.runtime.as_ref()).and_then(|r| r.network);
            if network == Some(Network::Private) {
                let problem = Problem::new("northstar.runtime.network", "northstar has no private network");
                problems.push(problem.hint("write `host` or `none`"));
            }
        }
    }
}

fn missing_name(path: &str) -> Problem {
    Problem::new(path, format!("`{path}` is missing")).hint("name the image")
}

fn layers(container: &Container, problems: &mut Vec<Problem>) {
    let based = container.base_container.as_deref().is_some_and(|base| !base.is_empty());
    if !based && container.layers.as_deref().is_some_and(|layers| !layers.is_empty()) {
        problems.push(
            Problem::new("container.layers", "`layers` need a `base_container` to lie on")
                .hint("add `base_container: IMAGE`"),
        );
    }
    for (index, layer) in container.layers.iter().flatten().enumerate() {
        if layer.trim().is_empty() {
            problems.push(Problem::new(format!("container.layers[{index}]"), "a layer without a name"));
        }
    }
}

/// Options of podman would silently mean nothing to another engine.
fn no_podman(container: Option<&Container>, engine: &str, problems: &mut Vec<Problem>) {
    let Some(runtime) = container.and_then(|c| c.runtime.as_ref()) else { return };
    if runtime.podman.as_deref().is_some_and(|options| !options.is_empty()) {
        problems.push(
            Problem::new("container.runtime.podman", format!("{engine} takes no options of podman"))
                .hint("use `share`, `env`, `network`, `workdir`, or `engine: podman`"),
        );
    }
    if runtime.scratch.is_some() {
        let message = format!("{engine} has a disk of its own");
        problems.push(Problem::new("container.runtime.scratch", message).hint("leave `scratch` out"));
    }
    if runtime.attach == Some(true) {
        problems.push(
            Problem::new("container.runtime.attach", format!("`attach` is not possible with {engine}"))
                .hint("use `resume`"),
        );
    }
    if runtime.network == Some(Network::Host) && engine == "a VM" {
        problems.push(
            Problem::new("container.runtime.network", "a VM cannot use the host's own network")
                .hint("write `private` or `none`"),
        );
    }
    if runtime.network == Some(Network::Private) && engine != "a VM" {
        problems.push(
            Problem::new("container.runtime.network", "northstar has no private network")
                .hint("write `host` or `none`"),
        );
    }
}

fn vm(file: &FlakeFile, view: &View<'_>, problems: &mut Vec<Problem>) {
    let runtime = file.vm.as_ref().and_then(|vm| vm.runtime.as_ref());
    let vmm = runtime.and_then(|r| r.vmm);
    let shares = view.share.value.map(Vec::as_slice).unwrap_or_default();
    if vmm == Some(Vmm::Firecracker) {
        if shares.iter().any(|share| !matches!(share.what, ShareWhat::Reserved(_))) {
            problems.push(
                Problem::new(view.share.path, "firecracker cannot share directories of the host")
                    .hint("write `vmm: qemu`"),
            );
        }
        if runtime.and_then(|r| r.accel) == Some(Accel::Tcg) {
            problems.push(
                Problem::new("vm.runtime.accel", "firecracker needs KVM, it cannot emulate")
                    .hint("write `vmm: qemu`"),
            );
        }
    }
    let Some(runtime) = runtime else { return };
    if runtime.network == Some(crate::VmNetwork::None)
        && runtime.ports.as_deref().is_some_and(|p| !p.is_empty())
    {
        problems.push(Problem::new("vm.runtime.ports", "`ports` need a network, `network: none` has none"));
    }
    let mut hosts: Vec<u16> = Vec::new();
    for (index, port) in runtime.ports.iter().flatten().enumerate() {
        if hosts.contains(&port.host) {
            let path = format!("vm.runtime.ports[{index}]");
            problems.push(Problem::new(path, format!("port {} of the host is given twice", port.host)));
        }
        hosts.push(port.host);
    }
    if runtime.start_timeout.is_some_and(crate::Period::is_zero) {
        problems
            .push(Problem::new("vm.runtime.start_timeout", "`start_timeout` must be longer than nothing"));
    }
    let Some(machine) = &runtime.firecracker else { return };
    if machine.mem_size_mib == Some(0) {
        problems.push(Problem::new("vm.runtime.firecracker.mem_size_mib", "a VM without memory"));
    }
    if machine.vcpu_count == Some(0) {
        problems.push(Problem::new("vm.runtime.firecracker.vcpu_count", "a VM without a processor"));
    }
    if machine.overlay_size.is_some_and(|size| size.bytes() == 0) {
        problems.push(Problem::new("vm.runtime.firecracker.overlay_size", "an overlay without a size"));
    }
}
