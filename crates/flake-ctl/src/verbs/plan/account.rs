//! A plan for a person to read.

mod names;

use super::Known;
use flake_plan::{
    Capabilities, Entry, EntryKind, IdMap, Layers, Mount, MountFlags, MountKind, Namespaces, Plan, Process,
    Recipe, UserSpace, Way,
};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// How much of an id people need.
const SHORT: usize = 12;
/// The size of an instruction of a filter (`struct sock_filter`), in bytes.
const INSTRUCTION: usize = 8;

/// Lines, those that belong to another further in.
#[derive(Default)]
struct Account(String);

impl Account {
    fn line(&mut self, key: &str, value: impl Display) {
        self.0.push_str(&format!("{key}: {value}\n"));
    }

    fn list<T: Display>(&mut self, key: &str, items: impl IntoIterator<Item = T>) {
        let lines: String = items.into_iter().map(|item| format!("  {item}\n")).collect();
        if lines.is_empty() {
            self.line(key, "none");
        } else {
            self.0.push_str(&format!("{key}:\n{lines}"));
        }
    }
}

/// The whole account.
pub(super) fn of(known: &Known<'_>) -> String {
    let mut account = Account::default();
    account.line("name", known.name);
    account.line("way", known.way);
    if let Some(reason) = known.reason {
        account.line("reason", reason);
    }
    if let (Some(file), Some(plan)) = (known.file, known.plan) {
        account.line("plan", file.display());
        planned(plan, &mut account);
    }
    account.0
}

fn planned(plan: &Plan, account: &mut Account) {
    account.line("image", plan.image_id.chars().take(SHORT).collect::<String>());
    if let Way::Runner(recipe) = &plan.way {
        root(recipe, account);
        process(&recipe.process, account);
        let filters = recipe.seccomp.iter().map(|filter| filter.program.len() / INSTRUCTION);
        account.list("system call filters", filters.map(|count| format!("{count} instructions")));
    }
    let there = plan.basis.files.iter().filter(|file| file.identity.is_some());
    account.list("made from", there.map(|file| file.path.display()));
}

fn root(recipe: &Recipe, account: &mut Account) {
    let Layers { folders, options } = &recipe.layers;
    account.list("layers", paths(folders));
    if !options.is_empty() {
        account.line("overlay options", options_text(options));
    }
    let root = match (recipe.is_read_only, recipe.writes_to_disk) {
        (true, _) => "read-only",
        (false, true) => "writable, on disk, thrown away",
        (false, false) => "writable, in memory, thrown away",
    };
    account.line("root", root);
    account.line("namespaces", namespaces(&recipe.namespaces, &recipe.user));
    if let UserSpace::Own { outer, inner } = &recipe.user {
        let (uids, gids) = inner.as_ref().unwrap_or(outer);
        account.list("user ids", uids.iter().map(map));
        account.list("group ids", gids.iter().map(map));
    }
    if let Some(name) = &recipe.hostname {
        account.line("host name", name);
    }
    account.list("written over the layers", recipe.upper.iter().map(entry));
    account.list("mounts", recipe.mounts.iter().map(mount));
    account.list("devices", recipe.devices.iter().map(|device| device.path.display()));
    account.list("masked", paths(&recipe.masked));
    account.list("read-only", paths(&recipe.read_only));
    let sysctls = recipe.sysctls.iter().map(|sysctl| format!("{} = {}", sysctl.path.display(), sysctl.value));
    account.list("kernel settings", sysctls);
}

fn process(process: &Process, account: &mut Account) {
    account.line("user", format!("{}:{}", process.uid, process.gid));
    if !process.groups.is_empty() {
        let groups: Vec<String> = process.groups.iter().map(u32::to_string).collect();
        account.line("groups", groups.join(" "));
    }
    account.list("entrypoint", &process.entrypoint);
    account.list("command", &process.command);
    account.line("directory", process.cwd.display());
    account.list("environment", &process.env);
    let Capabilities { bounding, effective, permitted, inheritable, ambient } = process.capabilities;
    let sets = [
        ("bounding", bounding),
        ("effective", effective),
        ("permitted", permitted),
        ("inheritable", inheritable),
        ("ambient", ambient),
    ];
    account.list(
        "capabilities",
        sets.into_iter().map(|(name, set)| format!("{name}: {}", names::capabilities(set))),
    );
    let limits = process.rlimits.iter().map(|limit| {
        let [soft, hard] = [limit.soft, limit.hard].map(names::limit);
        format!("{} {soft}, at most {hard}", names::resource(limit.resource))
    });
    account.list("limits", limits);
    account.line("no new privileges", if process.no_new_privileges { "yes" } else { "no" });
    if let Some(score) = process.oom_score_adj {
        account.line("out-of-memory score", score);
    }
    if let Some(profile) = &process.apparmor {
        account.line("apparmor", profile);
    }
}

fn namespaces(made: &Namespaces, user: &UserSpace) -> String {
    let known = [
        ("ipc", made.ipc),
        ("uts", made.uts),
        ("cgroup", made.cgroup),
        ("network", made.network),
        ("user", !matches!(user, UserSpace::Host)),
    ];
    let made = known.into_iter().filter(|(_, is_made)| *is_made).map(|(name, _)| name);
    ["mount", "pid"].into_iter().chain(made).collect::<Vec<_>>().join(" ")
}

fn map(map: &IdMap) -> String {
    format!("{} is {} outside, {} of them", map.inside, map.outside, map.count)
}

fn entry(entry: &Entry) -> String {
    let what = match &entry.kind {
        EntryKind::Folder => format!("a folder, mode {:04o}", entry.mode),
        EntryKind::File { content } => file(content, entry.mode),
        EntryKind::Link { target } => format!("a link to {}", target.display()),
    };
    let path = Path::new("/").join(&entry.path);
    format!("{}: {what}; {}:{}", path.display(), entry.uid, entry.gid)
}

fn file(content: &[u8], mode: u32) -> String {
    format!("a file of {} bytes, mode {mode:04o}", content.len())
}

fn mount(mount: &Mount) -> String {
    let what = match &mount.kind {
        MountKind::Proc => "proc".to_owned(),
        MountKind::Sys => "sysfs".to_owned(),
        MountKind::Tmpfs { options, is_copied_up } => {
            let begins = if *is_copied_up { " that begins with the image's content" } else { "" };
            format!("tmpfs{begins}{}", in_brackets(options))
        }
        MountKind::Devpts(options) => format!("devpts{}", in_brackets(options)),
        MountKind::Mqueue => "mqueue".to_owned(),
        MountKind::Cgroup => "cgroup".to_owned(),
        MountKind::Bind { source, is_recursive } => {
            let how = if *is_recursive { ", with what is mounted below" } else { "" };
            format!("{} of the host{how}", source.display())
        }
        MountKind::File { content, mode } => file(content, *mode),
    };
    format!("{}: {what}; {}", mount.destination.display(), flags(mount.flags))
}

fn in_brackets(options: &[(String, Option<String>)]) -> String {
    if options.is_empty() { String::new() } else { format!(" ({})", options_text(options)) }
}

fn options_text(options: &[(String, Option<String>)]) -> String {
    let texts = options.iter().map(|(name, value)| match value {
        Some(value) => format!("{name}={value}"),
        None => name.clone(),
    });
    texts.collect::<Vec<_>>().join(",")
}

fn flags(flags: MountFlags) -> String {
    let known = [
        ("ro", flags.read_only),
        ("nosuid", flags.no_suid),
        ("noexec", flags.no_exec),
        ("noatime", flags.no_atime),
        ("strictatime", flags.strict_atime),
        ("nodiratime", flags.no_dir_atime),
        ("recursive", flags.recursive),
    ];
    let set = known.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name);
    ["nodev"].into_iter().chain(set).collect::<Vec<_>>().join(",")
}

fn paths(paths: &[PathBuf]) -> impl Iterator<Item = impl Display> {
    paths.iter().map(|path| path.display())
}
