//! What the kernel makes of filters and a call.

use super::program::{Instruction, Program, WORDS};

/// A call: the words of a `seccomp_data`.
pub(super) type Call = [u32; WORDS];
/// A set of a call's words, bit N for word N.
pub(super) type Seen = u32;

/// Lets a call pass.
pub(super) const ALLOW: u32 = 0x7FFF_0000;
/// The part of a verdict that says what is done (`SECCOMP_RET_ACTION_FULL`).
const ACTION: u32 = 0xFFFF_0000;

/// The verdict of filters, in the order of their installation, and which words it came from.
pub(super) fn verdict<'a>(programs: impl IntoIterator<Item = &'a Program>, call: &Call) -> (u32, Seen) {
    programs.into_iter().fold((ALLOW, 0), |(before, seen), program| {
        let (after, also_seen) = run(program, call);
        (stricter(before, after), seen | also_seen)
    })
}

/// Which of two verdicts holds: the stricter; of the same strictness, that of the filter installed later
/// (seccomp(2), `SECCOMP_SET_MODE_FILTER`).
pub(super) fn stricter(earlier: u32, later: u32) -> u32 {
    let action = |verdict: u32| (verdict & ACTION).cast_signed();
    if action(earlier) < action(later) { earlier } else { later }
}

fn run(program: &Program, call: &Call) -> (u32, Seen) {
    let (mut accumulator, mut seen, mut at) = (0, 0, 0);
    loop {
        let distance = match program.instructions()[at] {
            Instruction::Load(word) => {
                accumulator = call[word as usize];
                seen |= 1 << word;
                0
            }
            Instruction::And(value) => {
                accumulator &= value;
                0
            }
            Instruction::Jump(distance) => distance as usize,
            Instruction::Branch { compare, value, yes, no } => {
                usize::from(if compare.holds(accumulator, value) { yes } else { no })
            }
            Instruction::Return(verdict) => return (verdict, seen),
        };
        at += 1 + distance;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_verdict_holds() {
        // From the strictest to none: kill the process, the thread, trap, error, trace, log, allow.
        let verdicts = [0x8000_0000, 0, 0x0003_0000, 0x0005_0001, 0x7FF0_0000, 0x7FFC_0000, ALLOW];
        for (at, strict) in verdicts.into_iter().enumerate() {
            for lax in &verdicts[at..] {
                assert_eq!((stricter(strict, *lax), stricter(*lax, strict)), (strict, strict));
            }
        }
        assert_eq!(stricter(0x0005_0001, 0x0005_0026), 0x0005_0026);
    }
}
