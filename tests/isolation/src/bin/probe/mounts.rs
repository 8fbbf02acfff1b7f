//! The mounts, as `/proc/self/mountinfo` lists them (proc(5)): place, type, flags, propagation, options.

use crate::say;
use std::collections::BTreeMap;
use std::fs;

/// Options whose values name places of the host, or come and go with the machine.
const SHORTENED: [&str; 8] =
    ["lowerdir", "lowerdir+", "upperdir", "workdir", "nr_inodes", "size", "uuid", "inode64"];

pub(crate) fn all() {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut at: BTreeMap<&str, u32> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let Some(dash) = fields.iter().position(|field| *field == "-") else { continue };
        let (Some(place), Some(flags), Some(optional)) = (fields.get(4), fields.get(5), fields.get(6..dash))
        else {
            continue;
        };
        let [kind, source, options] =
            fields.get(dash + 1..).and_then(|rest| rest.try_into().ok()).unwrap_or([""; 3]);
        let count = at.entry(place).or_default();
        let place = if *count == 0 { (*place).to_owned() } else { format!("{place}#{count}") };
        *count += 1;
        say(format_args!("mount.{place}.type"), kind);
        say(format_args!("mount.{place}.source"), source);
        for flag in flags.split(',') {
            say(format_args!("mount.{place}.flag.{flag}"), "set");
        }
        let propagation: Vec<_> =
            optional.iter().map(|field| field.split(':').next().unwrap_or(field)).collect();
        say(format_args!("mount.{place}.propagation"), propagation.join(" "));
        let memory = kind == "tmpfs";
        for option in options.split(',') {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            // There is one such file system for a network; whoever was the first to mount it has said this.
            if kind == "sysfs" && matches!(name, "ro" | "rw") {
                continue;
            }
            // The size of memory is a bound of the application's, that of a device none.
            let is_short = SHORTENED.contains(&name) && !(memory && name == "size");
            say(format_args!("mount.{place}.option.{name}"), if is_short { "..." } else { value });
        }
    }
}
