//! What must not be done to the caller's terminal, whatever podman allows.

use libseccomp::error::SeccompError;
use libseccomp::{ScmpAction, ScmpArch, ScmpArgCompare, ScmpCompareOp, ScmpFilterContext, ScmpSyscall};

/// Puts a byte into a terminal's input, as if it was typed (`ioctl_tty(2)`).
const TIOCSTI: u64 = 0x5412;
/// Selects and pastes on a virtual console (`ioctl_console(2)`).
const TIOCLINUX: u64 = 0x541C;
/// The kernel takes an ioctl's number as 32 bits and ignores the others.
const LOW: u64 = 0xFFFF_FFFF;
/// The argument that has the number.
const REQUEST: u32 = 1;

/// The filter: both fail with `EPERM`, in programs of every architecture that the kernel runs beside the native one.
pub(super) fn filter() -> Result<ScmpFilterContext, SeccompError> {
    let mut filter = ScmpFilterContext::new(ScmpAction::Allow)?;
    let native = ScmpArch::native();
    let others: &[ScmpArch] = match native {
        ScmpArch::X8664 => &[ScmpArch::X86, ScmpArch::X32],
        ScmpArch::Aarch64 => &[ScmpArch::Arm],
        ScmpArch::S390X => &[ScmpArch::S390],
        ScmpArch::Ppc64 => &[ScmpArch::Ppc],
        _ => &[],
    };
    for arch in others {
        filter.add_arch(*arch)?;
    }
    // An architecture that is not listed is none that a filter could judge.
    filter.set_act_badarch(ScmpAction::KillProcess)?;
    let ioctl = ScmpSyscall::from_name("ioctl")?;
    let refused = ScmpAction::Errno(rustix::io::Errno::PERM.raw_os_error());
    for number in [TIOCSTI, TIOCLINUX] {
        let is_number = ScmpArgCompare::new(REQUEST, ScmpCompareOp::MaskedEqual(LOW), number);
        filter.add_rule_conditional(refused, ioctl, &[is_number])?;
    }
    Ok(filter)
}
