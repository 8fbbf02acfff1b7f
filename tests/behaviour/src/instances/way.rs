//! Who registers a flake, who calls it, and in whose store its instances are kept.

use flake_testkit::{ADA, ROOT, User};

/// A way to have instances.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// What its trials are named after.
    pub(super) name: &'static str,
    /// Who registers.
    pub(super) owner: &'static User,
    /// Who calls.
    pub(super) caller: &'static User,
    /// Whose podman, state, sockets and settings it is.
    pub(super) keeper: &'static User,
    /// Options of `flake-ctl podman register`, before a case's own.
    pub(super) options: &'static [&'static str],
    /// The cases that are left out, each with the reason.
    left_out: &'static [(&'static str, &'static str)],
}

/// Root's own.
pub const ROOTFUL: Way =
    Way { name: "rootful", owner: &ROOT, caller: &ROOT, keeper: &ROOT, options: &[], left_out: &[] };

/// A user's own.
pub const ROOTLESS: Way =
    Way { name: "rootless", owner: &ADA, caller: &ADA, keeper: &ADA, options: &[], left_out: &[] };

/// A flake of the system that every user has in a store of their own.
pub const SYSTEM: Way =
    Way { name: "system", owner: &ROOT, caller: &ADA, keeper: &ADA, options: &[], left_out: &[] };

/// A flake that runs as root, and that a user calls through sudo.
pub const LENT: Way = Way {
    name: "lent",
    owner: &ROOT,
    caller: &ADA,
    keeper: &ROOT,
    options: &["--run-as", "root", "--network", "host"],
    left_out: &[
        ("i_untraced", "sudo gives no rights to what is traced"),
        ("i_stopped", "root's side goes on when the caller is gone"),
    ],
};

impl Way {
    /// Whether a case says something about it.
    pub(super) fn has(&self, case: &str) -> bool {
        !self.left_out.iter().any(|(name, _)| *name == case)
    }

    /// The first call of a flake brings its image into the caller's store.
    pub(super) fn is_set_up(&self) -> bool {
        self.owner.id != self.keeper.id
    }

    /// What is kept for somebody else: calls go through sudo.
    pub(super) fn is_lent(&self) -> bool {
        self.keeper.id != self.caller.id
    }
}
