//! One program against the filters that it stands for.

mod any;

use super::*;
use crate::seccomp::compiled;
use crate::seccomp::interpret::{Call, verdict};
use crate::seccomp::program::{Compare, Instruction, WORDS};
use crate::seccomp::tests::profile;
use libseccomp::{ScmpAction, ScmpArch, ScmpArgCompare, ScmpCompareOp, ScmpFilterContext, ScmpSyscall};

const ALLOW: u32 = 0x7FFF_0000;
const LOG: u32 = 0x7FFC_0000;
const ERRNO: u32 = 0x0005_0000;

fn programs(filters: &[Seccomp]) -> Vec<Program> {
    filters.iter().map(|filter| Program::decode(&filter.program).unwrap()).collect()
}

fn filter(instructions: Vec<Instruction>) -> Seccomp {
    Seccomp { program: Program::new(instructions).unwrap().encode(), flags: 0 }
}

fn equal(value: u32, yes: u8, no: u8) -> Instruction {
    Instruction::Branch { compare: Compare::Equal, value, yes, no }
}

#[test]
fn podmans_profile_becomes_short() {
    let mut filters = compiled(Some(&profile())).unwrap();
    filters[0].flags = 4;
    let compacted = compact(filters.clone());
    let [one] = compacted.as_slice() else { panic!("{} filters", compacted.len()) };
    let length = programs(&compacted)[0].instructions().len();
    assert!((50..=500).contains(&length), "{length} instructions");
    assert_eq!(one.flags, 4);
}

#[test]
fn a_change_of_any_instruction_is_noticed() {
    let filters = programs(&compiled(Some(&profile())).unwrap());
    let program = merge(&filters).unwrap();
    assert_eq!(verify::are_same(&filters, &program), Some(true));
    for (at, instruction) in program.instructions().iter().enumerate() {
        let changed = match *instruction {
            Instruction::Load(word) => vec![Instruction::Load(word ^ 1)],
            Instruction::And(mask) => (0..32).map(|bit| Instruction::And(mask ^ 1 << bit)).collect(),
            Instruction::Jump(distance) => vec![Instruction::Jump(distance - 1)],
            Instruction::Branch { compare, value, yes, no } => vec![
                Instruction::Branch { compare, value: value.wrapping_add(1), yes, no },
                Instruction::Branch { compare, value, yes: no, no: yes },
            ],
            Instruction::Return(verdict) => vec![Instruction::Return(verdict ^ 1)],
        };
        for other in changed {
            let mut instructions = program.instructions().to_vec();
            instructions[at] = other;
            let other_program = Program::new(instructions).unwrap();
            assert_ne!(
                verify::are_same(&filters, &other_program),
                Some(true),
                "{at}: {instruction:?}, {other:?}"
            );
        }
    }
}

#[test]
fn the_stricter_of_two_filters_decides() {
    let deny = |allowed, error| {
        programs(&[filter(vec![
            Instruction::Load(0),
            equal(7, 0, 1),
            Instruction::Return(ERRNO | error),
            Instruction::Return(allowed),
        ])])
    };
    for (first, second, verdicts) in [
        (deny(LOG, 1), deny(ALLOW, 2), (ERRNO | 2, LOG)),
        (deny(ALLOW, 2), deny(LOG, 1), (ERRNO | 1, LOG)),
        (deny(ERRNO | 3, 1), deny(0x8000_0000, 1), (ERRNO | 1, 0x8000_0000)),
    ] {
        let both = [first, second].concat();
        let one = merge(&both).unwrap();
        let of = |number| verdict([&one], &std::array::from_fn(|word| if word == 0 { number } else { 0 })).0;
        assert_eq!((of(7), of(8)), verdicts, "{both:?}");
        assert_eq!(verify::are_same(&both, &one), Some(true));
    }
}

#[test]
fn what_is_not_understood_stays() {
    let [end, load] = [Instruction::Return(ALLOW), Instruction::Load(0)];
    // Long enough that anything would be shorter.
    let long = |instructions: &[Instruction]| filter([instructions, &[equal(3, 0, 0); 200], &[end]].concat());
    let bits = Instruction::Branch { compare: Compare::AnyOf, value: 0x4000_0000, yes: 0, no: 1 };
    let mut register = long(&[load]);
    register.program[..2].copy_from_slice(&0x07_u16.to_ne_bytes());
    for odd in [long(&[load, bits]), long(&[load, Instruction::And(0xFF)]), long(&[]), register] {
        let filters = vec![long(&[load]), odd];
        assert_eq!(compact(filters.clone()), filters);
    }
    assert_eq!(compact(vec![long(&[load])]), [filter(vec![end])]);
}

#[test]
fn what_would_not_be_shorter_stays() {
    let filters = vec![filter(vec![Instruction::Return(ALLOW)])];
    assert_eq!(compact(filters.clone()), filters);
    assert_eq!(compact(Vec::new()), []);
}

#[test]
fn branches_reach_far() {
    // A verdict and a question of its own for every number, which no branch can jump over.
    let architecture = 0xC000_003E;
    let mut filter = ScmpFilterContext::new(ScmpAction::Allow).unwrap();
    filter.remove_arch(ScmpArch::Native).unwrap();
    filter.add_arch(ScmpArch::X8664).unwrap();
    for number in 0..400_u32 {
        let argument = ScmpArgCompare::new(1, ScmpCompareOp::MaskedEqual(0xFF00_0000_FFFF), number.into());
        let (number, error) = (number.cast_signed(), (1000 + number).cast_signed());
        let _ = filter.add_rule_conditional(ScmpAction::Errno(error), ScmpSyscall::from(number), &[argument]);
    }
    let filters = programs(&[Seccomp { program: crate::seccomp::program(filter).unwrap(), flags: 0 }]);
    let one = merge(&filters).unwrap();
    assert!(one.instructions().iter().any(|instruction| matches!(instruction, Instruction::Jump(256..))));
    for number in 0..401 {
        for argument in [number, number + 1] {
            let mut call: Call = [0; WORDS];
            (call[0], call[1], call[6]) = (number, architecture, argument);
            assert_eq!(verdict(&filters, &call).0, verdict([&one], &call).0, "{call:?}");
        }
    }
}

#[test]
fn what_would_take_too_long_is_given_up() {
    // Each of these doubles the ways.
    let step = |word| {
        let compare = Compare::AnyOf;
        (0..32).flat_map(move |bit| {
            [
                Instruction::Load(word),
                Instruction::Branch { compare, value: 1 << bit, yes: 0, no: 1 },
                Instruction::Jump(0),
            ]
        })
    };
    let end = [Instruction::Load(5), equal(0, 0, 1), Instruction::Return(0), Instruction::Return(ALLOW)];
    let filters = vec![filter((4..16).flat_map(step).chain(end).collect())];
    assert_eq!(merge(&programs(&filters)), None);
    assert_eq!(compact(filters.clone()), filters);
}
