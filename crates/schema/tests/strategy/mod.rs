//! Random files. Every struct is written out in full, so that a new key does not compile until it is here.

use flake_schema::*;
use proptest::option::of;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Texts that YAML could take for something else, and any others.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "",
            " ",
            "yes",
            "no",
            "on",
            "null",
            "~",
            "1e3",
            "0x1f",
            "0o17",
            "1_000",
            "12:30:45",
            "2026-01-01",
            ".inf",
            ".nan",
            "%YAML",
            "% x",
            "---",
            "--- a",
            "...",
            "- a",
            "? a",
            ": a",
            "a: b",
            "a #b",
            "#a",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "'",
            "\"",
            "'a'",
            "\"a\"",
            "[a",
            "{a",
            "@a",
            "`a",
            "<<",
            "=",
            "a\nb",
            "a\n",
            "\na",
            "\n",
            "\n\n",
            " a",
            "a ",
            "a\tb",
            "\t",
            "a\r\nb",
            "\r",
            "\u{85}",
            "\u{2028}",
            "\u{feff}a",
            "\u{7f}",
            "\u{1b}[31m",
            "é",
            "日本",
            "🦀",
            "#!/bin/sh\nset -e\n\techo \"$1\"\n",
            "  two\n one\n",
            "a\n\n\n",
            "trailing \nblank",
            "true",
            "false",
            "123",
            "-1",
            "0755",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,40}",
        "(?s).{0,200}".prop_map(|text: String| text.replace('\0', "")),
        "[a-z \n#:'\"-]{0,120}",
    ]
}

/// Whole texts for the reader: anything, and things near YAML.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "(?s).{0,300}",
        "[\\[\\]{}:,&*!|>'\"%@`#?~ \n\ta-c0-2-]{0,200}",
        "(container|vm|runtime|  |\n|: |- |\\[|\\]|\\{|\\}|name|share|cwd|&a |\\*a|\\? ){0,60}",
    ]
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..4)
}

fn word<T>(words: &'static [&'static str]) -> impl Strategy<Value = T>
where
    T: std::str::FromStr<Err = WordError> + std::fmt::Debug,
{
    prop::sample::select(words).prop_map(|word| word.parse().unwrap())
}

fn parsed<T>(pattern: &'static str) -> impl Strategy<Value = T>
where
    T: std::str::FromStr<Err = WordError> + std::fmt::Debug,
{
    pattern.prop_map(|word: String| word.parse().unwrap())
}

fn env() -> impl Strategy<Value = Vec<EnvEntry>> {
    let entry = prop_oneof![
        parsed("[A-Za-z_][A-Za-z0-9_.-]{0,8}\\*?"),
        ("[A-Z_]{1,6}", text()).prop_map(|(name, value)| EnvEntry::Set { name, value }),
    ];
    prop::collection::vec(entry, 0..4)
}

fn shares() -> impl Strategy<Value = Vec<Share>> {
    let what = prop_oneof![
        parsed("(cwd|home|wayland|x11|pulse|dbus|ssh-agent|gpu)(:ro)?"),
        parsed("(/[a-zA-Z0-9_é #'-]{1,6}){1,3}(:ro)?"),
    ];
    prop::collection::vec(what, 0..4)
}

fn period() -> impl Strategy<Value = Period> {
    parsed("[0-9]{1,4} ?(ms|s|m|h|d|w)")
}

fn runas() -> impl Strategy<Value = RunAs> {
    parsed("root|caller|[a-z0-9_]{1,8}|~|null|yes|1e3")
}

fn workdir() -> impl Strategy<Value = Workdir> {
    parsed("cwd|image|/[a-z #]{0,8}")
}

fn user() -> impl Strategy<Value = User> {
    word(User::WORDS)
}

prop_compose! {
    fn provision()(
        mode in of(word(ProvisionMode::WORDS)), script in of(text()), run in of(word(ProvisionRun::WORDS)),
        timeout in of(period()),
    ) -> Provision {
        Provision { mode, script, run, timeout }
    }
}

prop_compose! {
    fn probe()(
        mode in of(word(ProbeMode::WORDS)), description in of(text()), script in of(text()), hint in of(text()),
        timeout in of(period()), interval in of(period()), deadline in of(period()), failures in of(any::<u32>()),
        action in of(word(ProbeAction::WORDS)),
    ) -> Probe {
        Probe { mode, description, script, hint, timeout, interval, deadline, failures, action }
    }
}

prop_compose! {
    fn container_runtime()(
        runas in of(runas()), resume in of(any::<bool>()), attach in of(any::<bool>()), podman in of(texts()),
        network in of(word(Network::WORDS)), share in of(shares()), env in of(env()), workdir in of(workdir()),
        user in of(user()), scratch in of(word(Scratch::WORDS)),
    ) -> ContainerRuntime {
        ContainerRuntime { runas, resume, attach, podman, network, share, env, workdir, user, scratch }
    }
}

prop_compose! {
    fn container()(
        name in of(text()), target_app_path in of(text()), host_app_path in of(text()), base_container in of(text()),
        check_host_dependencies in of(any::<bool>()), layers in of(texts()), runtime in of(container_runtime().boxed()),
    ) -> Container {
        Container {
            name, target_app_path, host_app_path, base_container, check_host_dependencies, layers, runtime,
        }
    }
}

prop_compose! {
    fn firecracker()(
        boot_args in of(texts()), overlay_size in of(any::<u64>().prop_map(ByteSize::new)),
        rootfs_image_path in of(text()), kernel_image_path in of(text()), initrd_path in of(text()),
        mem_size_mib in of(any::<u32>()), vcpu_count in of(any::<u32>()),
        cache_type in of(word(CacheType::WORDS)),
    ) -> Firecracker {
        Firecracker {
            boot_args, overlay_size, rootfs_image_path, kernel_image_path, initrd_path, mem_size_mib, vcpu_count,
            cache_type,
        }
    }
}

fn vm_network() -> impl Strategy<Value = VmNetwork> {
    prop_oneof![Just(VmNetwork::None), Just(VmNetwork::Private), "[a-z0-9~-]{1,15}".prop_map(VmNetwork::Tap),]
}

fn ports() -> impl Strategy<Value = Vec<PortForward>> {
    let port = (1..=u16::MAX, 1..=u16::MAX).prop_map(|(host, guest)| PortForward { host, guest });
    prop::collection::vec(port, 0..3)
}

prop_compose! {
    fn vm_runtime()(
        (runas, resume, force_vsock) in (of(runas()), of(any::<bool>()), of(any::<bool>())),
        (vmm, accel, snapshot) in (of(word(Vmm::WORDS)), of(word(Accel::WORDS)), of(word(Snapshot::WORDS))),
        start_timeout in of(period()), network in of(vm_network()), ports in of(ports()), share in of(shares()),
        env in of(env()), workdir in of(workdir()), user in of(user()), firecracker in of(firecracker().boxed()),
    ) -> VmRuntime {
        VmRuntime {
            runas, resume, force_vsock, vmm, accel, snapshot, start_timeout, network, ports, share, env, workdir,
            user, firecracker,
        }
    }
}

prop_compose! {
    fn vm()(
        name in of(text()), target_app_path in of(text()), host_app_path in of(text()), base_vm in of(text()),
        layers in of(texts()), runtime in of(vm_runtime().boxed()),
    ) -> Vm {
        Vm { name, target_app_path, host_app_path, base_vm, layers, runtime }
    }
}

prop_compose! {
    fn northstar_runtime()(
        runas in of(runas()), resume in of(any::<bool>()), network in of(word(Network::WORDS)),
        share in of(shares()), env in of(env()), workdir in of(workdir()), user in of(user()),
    ) -> NorthstarRuntime {
        NorthstarRuntime { runas, resume, network, share, env, workdir, user }
    }
}

prop_compose! {
    fn northstar()(
        name in of(text()), target_app_path in of(text()), host_app_path in of(text()),
        runtime in of(northstar_runtime().boxed()),
    ) -> Northstar {
        Northstar { name, target_app_path, host_app_path, runtime }
    }
}

fn param() -> impl Strategy<Value = BTreeMap<String, String>> {
    prop::collection::btree_map("[A-Z_][A-Z0-9_]{0,3}|yes|null|~|1", text(), 0..4)
}

prop_compose! {
    pub(crate) fn flake_file()(
        engine in of(word(Engine::WORDS)), kind in of(word(FlakeType::WORDS)),
        instance in of(parsed("[a-zA-Z0-9@=_-]{1,64}")), hostsystem in of(texts()),
        include in of((of(texts()), of(texts())).prop_map(|(tar, path)| Include { tar, path })),
        param in of(param()), provision in of(prop::collection::vec(provision().boxed(), 0..3)),
        probes in of(prop::collection::vec(probe().boxed(), 0..3)), container in of(container().boxed()), vm in of(vm().boxed()),
        northstar in of(northstar().boxed()),
    ) -> FlakeFile {
        FlakeFile {
            engine, kind, instance, hostsystem, include, param, provision, probes, container, vm, northstar,
        }
    }
}

prop_compose! {
    fn generic()(
        flakes_dir in of(text()), podman_ids_dir in of(text()), firecracker_ids_dir in of(text()),
        podman_storage_conf in of(text()),
    ) -> Generic {
        Generic { flakes_dir, podman_ids_dir, firecracker_ids_dir, podman_storage_conf }
    }
}

prop_compose! {
    pub(crate) fn settings_file()(
        instances_per_user in of(any::<u32>()), instances_timeout in of(period()), generic in of(generic().boxed()),
    ) -> SettingsFile {
        SettingsFile { instances_per_user, instances_timeout, generic }
    }
}
