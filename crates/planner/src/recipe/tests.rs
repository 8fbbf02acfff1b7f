//! Recipes of specifications that podman 4.3 made: root's with the host's network, and a user's without a network,
//! with the caller's ids and a root that cannot be written to.

use super::*;
use flake_plan::{EntryKind, MountKind, UserSpace};
use flake_tools::podman::{HostConfig, Inspection, Own, OwnKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ROOT: (&str, &[u8]) =
    (include_str!("../../tests/fixtures/root.json"), include_bytes!("../../tests/fixtures/root.mountinfo"));
const USER: (&str, &[u8]) =
    (include_str!("../../tests/fixtures/user.json"), include_bytes!("../../tests/fixtures/user.mountinfo"));
const ID: &str = "c0ffee";
/// What podman makes over every image, the ids as podman's namespace has them.
const FOLDERS: [&str; 4] = ["", "etc", "proc", "run"];
const FILES: [&str; 5] =
    ["etc/hostname", "etc/hosts", "etc/resolv.conf", "run/.containerenv", "run/podman-init"];
const MAPS: &str = "         0       4242          1\n         1   10000000      65536\n";

fn captured((specification, mounts): (&str, &[u8])) -> Captured {
    let specification: Value = serde_json::from_str(specification).unwrap();
    let is_user = specification["linux"]["uidMappings"].is_array();
    let mut own = BTreeMap::new();
    for mount in specification["mounts"].as_array().unwrap() {
        let source = mount["source"].as_str().unwrap();
        let kind = if source.ends_with("shm") { OwnKind::Folder } else { OwnKind::File(b"x".into()) };
        own.insert(source.into(), file(kind, 0o644));
    }
    let mut upper = BTreeMap::new();
    let (owner, folder) =
        (u32::from(is_user), |path: &str| (PathBuf::from(path), file(OwnKind::Folder, 0o555)));
    upper.extend(FOLDERS.map(folder));
    upper.extend(FILES.map(|path| (path.into(), file(OwnKind::File(Vec::new()), 0o755))));
    upper.insert("etc/mtab".into(), file(OwnKind::Link("/proc/mounts".into()), 0o777));
    upper.values_mut().for_each(|own| (own.uid, own.gid) = (owner, owner));
    let host_config = HostConfig {
        shm_size: 65_536_000,
        network_mode: if is_user { "none" } else { "host" }.into(),
        privileged: false,
        cap_add: None,
    };
    let mut container = Inspection { id: ID.into(), host_config, ..Inspection::default() };
    container.graph_driver.name = "overlay".into();
    let maps = is_user.then(|| (MAPS.to_owned(), MAPS.to_owned()));
    Captured { specification, container, mounts: mounts.into(), maps, own, upper, odd_volume: None }
}

fn file(kind: OwnKind, mode: u32) -> Own {
    Own { kind, mode, uid: 0, gid: 0, attributes: Vec::new() }
}

fn made(captured: &Captured) -> Recipe {
    recipe(captured, vec!["sh".into()], None, &[]).unwrap()
}

/// The reason, with one value of root's specification changed.
fn said(pointer: &str, value: Value) -> String {
    let mut captured = captured(ROOT);
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match captured.specification.pointer_mut(parent).unwrap() {
        Value::Array(values) => values.push(value),
        parent => parent[name] = value,
    }
    recipe(&captured, Vec::new(), None, &[]).unwrap_err().0
}

#[test]
fn roots_is_what_podman_says() {
    let recipe = made(&captured(ROOT));
    assert_eq!(recipe.user, UserSpace::Host);
    assert_eq!(recipe.hostname.as_deref(), Some("scratch"));
    assert_eq!(recipe.layers.folders, [PathBuf::from("/var/lib/containers/storage/overlay/l/TOP")]);
    assert_eq!(
        (recipe.process.entrypoint.len(), recipe.process.command.as_slice()),
        (0, &["sh".to_owned()][..])
    );
    // CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND_SERVICE, SYS_CHROOT, SETFCAP
    assert_eq!(recipe.process.capabilities.bounding, 0x8004_05fb);
    assert_eq!(recipe.process.capabilities.ambient, 0);
    assert_eq!(recipe.masked.len(), 11);
    assert!(recipe.mounts.iter().all(|mount| !mount.destination.ends_with("podman-init")));
}

#[test]
fn devices_and_raw_packets_are_not_for_the_real_root() {
    let (mknod, net_raw) = (1 << 27, 1 << 13);
    let with = |template, added: &[&str]| {
        let mut captured: Captured = captured(template);
        for set in ["bounding", "effective", "permitted"] {
            let set = captured.specification["process"]["capabilities"][set].as_array_mut();
            set.unwrap().extend([json!("CAP_MKNOD"), json!("CAP_NET_RAW")]);
        }
        captured.container.host_config.cap_add = Some(added.iter().map(|name| (*name).into()).collect());
        recipe(&captured, Vec::new(), None, &[])
    };
    let capabilities = with(ROOT, &[]).unwrap().process.capabilities;
    for set in [capabilities.bounding, capabilities.effective, capabilities.permitted] {
        assert_eq!(set & (mknod | net_raw), 0);
    }
    assert_eq!(with(ROOT, &["CAP_NET_RAW"]).unwrap_err().0, "adds CAP_NET_RAW");
    // In a user's own namespace neither is of any use against the host.
    let users = with(USER, &[]).unwrap().process.capabilities;
    assert_eq!(users.bounding & (mknod | net_raw), mknod | net_raw);
}

#[test]
fn a_users_is_what_podman_says() {
    let recipe = made(&captured(USER));
    let UserSpace::Own { outer, inner: Some(inner) } = &recipe.user else { panic!("{:?}", recipe.user) };
    assert_eq!((outer.0.len(), inner.0.len(), inner.1.len()), (2, 3, 3));
    assert!(recipe.is_read_only && recipe.namespaces.network);
    let file = recipe.mounts.iter().find(|mount| mount.destination == Path::new("/etc/passwd")).unwrap();
    assert!(file.flags.read_only && file.flags.no_exec);
    assert_eq!(file.kind, MountKind::File { content: b"x".into(), mode: 0o644 });
    assert_eq!(recipe.process.groups, [4242, 0]);
}

#[test]
fn what_nobody_knows_is_the_reason() {
    for (pointer, value, words) in [
        ("/linux/intelRdt", json!({"closID": "x"}), "a share of the processor's cache (closID)"),
        (
            "/linux/timeOffsets",
            json!({"monotonic": {"secs": 1}}),
            "linux.timeOffsets.monotonic.secs is not known",
        ),
        ("/vm", json!({"kernel": {"path": "/x"}}), "vm.kernel.path is not known"),
        (
            "/process/ioPriority",
            json!({"class": "IOPRIO_CLASS_IDLE"}),
            "process.ioPriority.class is not known",
        ),
        ("/process/selinuxLabel", json!("x:y"), "an SELinux label"),
        ("/process/terminal", json!(true), "a terminal of podman's"),
        ("/hooks", json!({"prestart": [{"path": "/x"}]}), "hooks (prestart[].path)"),
        ("/linux/namespaces/-", json!({"type": "time"}), "a namespace of type time"),
        ("/linux/namespaces/-", json!({"type": "new"}), "unknown variant `new`"),
        ("/linux/namespaces/-", json!({"type": "network", "path": "/x"}), "a private network"),
        ("/linux/namespaces/-", json!({"type": "network"}), "a private network"),
        (
            "/linux/namespaces/-",
            json!({"type": "cgroup", "path": "/x"}),
            "a namespace of others (type cgroup)",
        ),
        ("/linux/namespaces/-", json!({"type": "user"}), "a user namespace of root's"),
        ("/process/capabilities/bounding/-", json!("CAP_NEW"), "CAP_NEW"),
        ("/process/capabilities/bounding/-", json!("CAP_SYS_ADMIN"), "adds CAP_SYS_ADMIN"),
        ("/process/rlimits/-", json!({"type": "RLIMIT_NEW", "hard": 1, "soft": 1}), "RLIMIT_NEW"),
        ("/linux/seccomp/flags", json!(["SECCOMP_FILTER_FLAG_NEW"]), "SECCOMP_FILTER_FLAG_NEW"),
        ("/linux/seccomp/listenerPath", json!("/x"), "linux.seccomp.listenerPath is not known"),
        ("/linux/seccomp/defaultAction", json!("SCMP_ACT_TRACE"), "SCMP_ACT_TRACE"),
        ("/linux/seccomp/architectures/-", json!("SCMP_ARCH_NEW"), "SCMP_ARCH_NEW"),
        (
            "/linux/resources/unified",
            json!({"memory.high": "1"}),
            "a limit of resources (unified.memory.high)",
        ),
        ("/linux/rootfsPropagation", json!("shared"), "mounts that the host sees (shared)"),
        ("/linux/sysctl", json!({"net/../x": "1"}), "the kernel setting net/../x"),
        ("/mounts/-", json!({"destination": "/x", "type": "nfs"}), "a mount of type nfs at /x"),
        (
            "/mounts/-",
            json!({"destination": "/x", "type": "none", "source": "/y"}),
            "a mount of type none at /x",
        ),
        ("/mounts/-", json!({"destination": "/a/../x", "type": "proc"}), "a mount at /a/../x"),
        (
            "/mounts/-",
            json!({"destination": "/x", "type": "tmpfs", "options": ["nr_blocks=1"]}),
            "nr_blocks of /x",
        ),
        (
            "/mounts/-",
            json!({"destination": "/x", "type": "bind", "source": "/y", "options": ["idmap"]}),
            "idmap of /x",
        ),
        ("/mounts/-", json!({"destination": "/x", "type": "bind", "source": "y"}), "a mount of y at /x"),
        (
            "/mounts/-",
            json!({"destination": "/x", "type": "bind", "source": "/s/c0ffee/x"}),
            "for each container at /x",
        ),
        (
            "/linux/devices",
            json!([{"path": "/dev/sda", "type": "b", "major": 8, "minor": 0}]),
            "the device /dev/sda",
        ),
        (
            "/linux/devices",
            json!([{"path": "/dev/null", "type": "c", "major": 1, "minor": 1}]),
            "than the host's",
        ),
    ] {
        let reason = said(pointer, value.clone());
        assert!(reason.contains(words), "{pointer} {value}: {reason:?}");
        assert!(!reason.contains("expected"), "{reason}");
    }
}

#[test]
fn accounts_that_podman_wrote_are_there() {
    let mut captured = captured(ROOT);
    let passwd = file(OwnKind::File(b"me:x:0:0:me:/place:/bin/sh\n".into()), 0o644);
    captured.upper.insert("etc/passwd".into(), passwd);
    captured.specification["process"]["env"] = json!([]);
    let recipe = made(&captured);
    let has_passwd = |recipe: &Recipe| recipe.upper.iter().any(|entry| entry.path == Path::new("etc/passwd"));
    assert!(has_passwd(&recipe) && recipe.process.env.contains(&"HOME=/place".to_owned()));
    // The launch adds a line of its own to the image's.
    let recipe = super::recipe(&captured, Vec::new(), Some(1000), &[]).unwrap();
    assert!(!has_passwd(&recipe));
}

#[test]
fn files_are_in_the_places_of_their_mounts() {
    let captured = self::captured(ROOT);
    let recipe = made(&captured);
    let paths: Vec<_> = recipe.upper.iter().map(|entry| entry.path.to_str().unwrap()).collect();
    let init = "run/podman-init";
    let mut all: Vec<_> = FOLDERS.into_iter().chain(FILES).chain(["etc/mtab"]).collect();
    all.retain(|path| *path != init);
    all.sort_by_key(|path| Path::new(*path));
    assert_eq!(paths, all);
    assert!(recipe.mounts.iter().all(|mount| !matches!(mount.kind, MountKind::File { .. })));
    let hosts = recipe.upper.iter().find(|entry| entry.path == Path::new("etc/hosts")).unwrap();
    assert_eq!((&hosts.kind, hosts.mode), (&EntryKind::File { content: b"x".into() }, 0o644));

    let mounted = |recipe: &Recipe| -> Vec<String> {
        let files = recipe.mounts.iter().filter(|mount| matches!(mount.kind, MountKind::File { .. }));
        files.map(|mount| mount.destination.display().to_string()).collect()
    };
    // Over what a call mounts they have to be mounts.
    let shared = [PathBuf::from("/run"), PathBuf::from("/etc/hosts")];
    let recipe = super::recipe(&captured, Vec::new(), None, &shared).unwrap();
    assert_eq!(mounted(&recipe), ["/run/.containerenv"]);
    // Where the image has the file, or it is elsewhere.
    let mut other = self::captured(ROOT);
    other.upper.remove(Path::new("etc/hosts"));
    let text = String::from_utf8(other.mounts).unwrap();
    other.mounts = text.replace("318 314", "318 317").into();
    assert_eq!(mounted(&made(&other)), ["/etc/hosts", "/etc/hostname"]);
}

#[test]
fn a_users_entries_have_the_ids_inside() {
    let captured = captured(USER);
    let recipe = made(&captured);
    assert!(recipe.upper.iter().all(|entry| (entry.uid, entry.gid) == (0, 0)), "{:?}", recipe.upper);
    // It cannot be written to.
    assert!(recipe.mounts.iter().any(|mount| mount.destination == Path::new("/etc/hosts")));
    let root = &recipe.upper[0];
    assert!(root.path.as_os_str().is_empty() && root.mode == 0o555 && root.kind == EntryKind::Folder);
}
