//! The specification's words about system calls (config-linux.md, "Seccomp"), in libseccomp's.

use super::failed;
use crate::error::Reason;
use libseccomp::{ScmpAction, ScmpArch, ScmpArgCompare, ScmpCompareOp, ScmpFilterContext, ScmpSyscall};
use oci_spec::runtime::{
    Arch, LinuxSeccomp, LinuxSeccompAction as Action, LinuxSeccompArg, LinuxSeccompFilterFlag as Flag,
    LinuxSeccompOperator as Operator, LinuxSyscall,
};
use rustix::io::Errno;

/// Flags of seccomp(2): all threads, logging, no mitigation of speculation.
const TSYNC: u32 = 1;
const LOG: u32 = 2;
const SPEC_ALLOW: u32 = 4;

/// The filter of a specification.
pub(super) fn filter(seccomp: &LinuxSeccomp) -> Result<ScmpFilterContext, Reason> {
    let default = action(seccomp.default_action(), seccomp.default_errno_ret())?;
    let mut filter = ScmpFilterContext::new(default).map_err(|error| failed(&error))?;
    for listed in seccomp.architectures().iter().flatten() {
        filter.add_arch(arch(*listed)?).map_err(|error| failed(&error))?;
    }
    for syscall in seccomp.syscalls().iter().flatten() {
        add(&mut filter, syscall, default)?;
    }
    Ok(filter)
}

/// The flags of a specification.
pub(super) fn flags(flags: &[Flag]) -> Result<u32, Reason> {
    let bit = |flag: &Flag| match flag {
        Flag::SeccompFilterFlagTsync => Ok(TSYNC),
        Flag::SeccompFilterFlagLog => Ok(LOG),
        Flag::SeccompFilterFlagSpecAllow => Ok(SPEC_ALLOW),
        Flag::SeccompFilterFlagWaitKillableRecv => {
            Err(Reason::unknown(format_args!("the seccomp flag {flag}")))
        }
    };
    flags.iter().map(bit).try_fold(0, |all, bit| Ok(all | bit?))
}

fn add(filter: &mut ScmpFilterContext, syscall: &LinuxSyscall, default: ScmpAction) -> Result<(), Reason> {
    let action = action(syscall.action(), syscall.errno_ret())?;
    // A rule that says what is so anyway is none to libseccomp.
    if action == default {
        return Ok(());
    }
    let args = syscall.args().as_deref().unwrap_or_default();
    let compared: Vec<_> = args.iter().map(compare).collect::<Result<_, _>>()?;
    for name in syscall.names() {
        // Names that this library does not know are of no call that it could let pass: runtimes skip them.
        let Ok(number) = ScmpSyscall::from_name(name) else { continue };
        let is_same_argument_twice = args
            .iter()
            .enumerate()
            .any(|(at, arg)| args[..at].iter().any(|other| other.index() == arg.index()));
        if is_same_argument_twice {
            // libseccomp takes each argument once in a rule; then every condition is a rule of its own, as for
            // the runtimes.
            for condition in &compared {
                filter.add_rule_conditional(action, number, &[*condition]).map_err(|error| failed(&error))?;
            }
        } else {
            filter.add_rule_conditional(action, number, &compared).map_err(|error| failed(&error))?;
        }
    }
    Ok(())
}

fn compare(arg: &LinuxSeccompArg) -> Result<ScmpArgCompare, Reason> {
    let index = u32::try_from(arg.index()).ok().filter(|index| *index < 6);
    let index = index.ok_or_else(|| format!("a filter of the argument {} of a system call", arg.index()))?;
    let (operator, value) = match arg.op() {
        Operator::ScmpCmpNe => (ScmpCompareOp::NotEqual, arg.value()),
        Operator::ScmpCmpLt => (ScmpCompareOp::Less, arg.value()),
        Operator::ScmpCmpLe => (ScmpCompareOp::LessOrEqual, arg.value()),
        Operator::ScmpCmpEq => (ScmpCompareOp::Equal, arg.value()),
        Operator::ScmpCmpGe => (ScmpCompareOp::GreaterEqual, arg.value()),
        Operator::ScmpCmpGt => (ScmpCompareOp::Greater, arg.value()),
        // The first value is the mask.
        Operator::ScmpCmpMaskedEq => {
            (ScmpCompareOp::MaskedEqual(arg.value()), arg.value_two().unwrap_or_default())
        }
    };
    Ok(ScmpArgCompare::new(index, operator, value))
}

fn action(action: Action, errno: Option<u32>) -> Result<ScmpAction, Reason> {
    Ok(match action {
        Action::ScmpActKill | Action::ScmpActKillThread => ScmpAction::KillThread,
        Action::ScmpActKillProcess => ScmpAction::KillProcess,
        Action::ScmpActTrap => ScmpAction::Trap,
        Action::ScmpActErrno => {
            let errno = errno.map_or(Ok(Errno::PERM.raw_os_error()), i32::try_from);
            ScmpAction::Errno(errno.map_err(|_| "a filter with an impossible error number")?)
        }
        Action::ScmpActLog => ScmpAction::Log,
        Action::ScmpActAllow => ScmpAction::Allow,
        Action::ScmpActNotify | Action::ScmpActTrace => {
            return Err(Reason::unknown(format_args!("the seccomp action {action}")));
        }
    })
}

fn arch(arch: Arch) -> Result<ScmpArch, Reason> {
    Ok(match arch {
        Arch::ScmpArchNative => ScmpArch::Native,
        Arch::ScmpArchX86 => ScmpArch::X86,
        Arch::ScmpArchX86_64 => ScmpArch::X8664,
        Arch::ScmpArchX32 => ScmpArch::X32,
        Arch::ScmpArchArm => ScmpArch::Arm,
        Arch::ScmpArchAarch64 => ScmpArch::Aarch64,
        Arch::ScmpArchPpc => ScmpArch::Ppc,
        Arch::ScmpArchPpc64 => ScmpArch::Ppc64,
        Arch::ScmpArchPpc64le => ScmpArch::Ppc64Le,
        Arch::ScmpArchS390 => ScmpArch::S390,
        Arch::ScmpArchS390x => ScmpArch::S390X,
        Arch::ScmpArchRiscv64 => ScmpArch::Riscv64,
        other => return Err(Reason::unknown(format_args!("the architecture {other}"))),
    })
}
