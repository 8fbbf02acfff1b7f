//! Nothing from outside of the root can be executed in it, whatever leads there (landlock(7)): the launcher's own file
//! above all, which a root inside could change then. [`own_program`](crate::own_program) sees to that as well, but
//! files that others can write to may change after it has looked, and what `binfmt_misc` names it does not know.

use landlock::{
    AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError,
};

/// Restricts the calling process and what it becomes to programs beneath its root. A kernel that cannot, before Linux
/// 5.19 or without Landlock, leaves everything as it is.
pub(crate) fn restrict_programs() {
    // Renaming between folders would be refused if it were not named.
    let _ = restrict(AccessFs::Execute | AccessFs::Refer);
}

fn restrict(access: BitFlags<AccessFs>) -> Result<(), RulesetError> {
    let Ok(root) = PathFd::new("/") else { return Ok(()) };
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(access)?
        .create()?
        .add_rule(PathBeneath::new(root, access))?
        // The right to do without is there still, and programs may gain what podman lets them.
        .no_new_privs(false)
        .restrict_self()
        .map(drop)
}
