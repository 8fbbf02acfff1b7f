//! Profiles and programs that chance makes: by the trial that every plan goes through, and by calls that have nothing
//! to do with it.

use super::{ALLOW, ERRNO, programs};
use crate::seccomp::compact::questions::questions;
use crate::seccomp::compact::{merge, verify};
use crate::seccomp::interpret::{Call, verdict};
use crate::seccomp::program::{Compare, Instruction, Program, WORDS};
use crate::seccomp::{program, terminal};
use flake_plan::Seccomp;
use libseccomp::{ScmpAction, ScmpArch, ScmpArgCompare, ScmpCompareOp, ScmpFilterContext, ScmpSyscall};
use proptest::prelude::*;

/// A rule of a profile.
fn rule() -> impl Strategy<Value = (ScmpAction, i32, Vec<ScmpArgCompare>)> {
    let action = prop_oneof![
        Just(ScmpAction::Allow),
        Just(ScmpAction::Log),
        Just(ScmpAction::KillProcess),
        (1..4).prop_map(ScmpAction::Errno)
    ];
    let value = prop_oneof![0_u64..4, Just(1 << 32), Just(u64::from(u32::MAX)), Just(u64::MAX), any::<u64>()];
    let operator = (0..7, any::<u64>()).prop_map(|(operator, mask)| match operator {
        0 => ScmpCompareOp::NotEqual,
        1 => ScmpCompareOp::Less,
        2 => ScmpCompareOp::LessOrEqual,
        3 => ScmpCompareOp::Equal,
        4 => ScmpCompareOp::GreaterEqual,
        5 => ScmpCompareOp::Greater,
        _ => ScmpCompareOp::MaskedEqual(mask),
    });
    let argument = (0_u32..3, operator, value)
        .prop_map(|(index, operator, value)| ScmpArgCompare::new(index, operator, value));
    (action, 0..60, proptest::collection::vec(argument, 0..3))
}

/// A filter such as libseccomp makes.
fn profiles() -> impl Strategy<Value = Seccomp> {
    let architectures =
        proptest::sample::subsequence(vec![ScmpArch::X86, ScmpArch::X32, ScmpArch::Aarch64], 0..3);
    (architectures, proptest::collection::vec(rule(), 0..24), any::<bool>()).prop_map(
        |(others, rules, is_tree)| {
            let mut filter = ScmpFilterContext::new(ScmpAction::Errno(38)).unwrap();
            for other in others {
                // The native one is there already.
                let _ = filter.add_arch(other);
            }
            for (action, number, arguments) in rules {
                // Rules that exclude each other, and calls that an architecture does not have, are refused.
                let _ = filter.add_rule_conditional(action, ScmpSyscall::from(number), &arguments);
            }
            if is_tree {
                let _ = filter.set_ctl_optimize(2);
            }
            Seccomp { program: program(filter).unwrap(), flags: 0 }
        },
    )
}

/// An instruction that goes forward; where to is put right later.
fn instruction() -> impl Strategy<Value = Instruction> {
    let compare = prop_oneof![Just(Compare::Equal), Just(Compare::Greater), Just(Compare::AtLeast)];
    prop_oneof![
        2 => prop_oneof![Just(0), Just(1), 4_u32..7].prop_map(Instruction::Load),
        4 => (compare, 0_u32..6, 0_u8..5, 0_u8..5)
            .prop_map(|(compare, value, yes, no)| Instruction::Branch { compare, value, yes, no }),
        1 => (0_u32..4).prop_map(Instruction::Jump),
        1 => (0_u32..4).prop_map(|error| Instruction::Return(ERRNO | error)),
    ]
}

/// Programs of any kind, with words of arguments that are masked and asked for bits.
fn any_program() -> impl Strategy<Value = Program> {
    let masked = (4_u32..7, 0_u32..8, 0_u32..8, 0_u8..3, 0_u8..3).prop_map(|(word, mask, value, yes, no)| {
        let compare = if value < 4 { Compare::AnyOf } else { Compare::Equal };
        vec![Instruction::Load(word), Instruction::And(mask), Instruction::Branch { compare, value, yes, no }]
    });
    let piece = prop_oneof![3 => instruction().prop_map(|instruction| vec![instruction]), 1 => masked];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| {
        let start = vec![Instruction::Load(0)];
        let ends = vec![Instruction::Return(ALLOW); 8];
        Program::new([vec![start], pieces, vec![ends]].concat().concat()).unwrap()
    })
}

/// Calls near the values that programs ask about, most of them with numbers below this one.
fn calls(numbers: u32) -> impl Strategy<Value = Vec<Call>> {
    let word = prop_oneof![4 => 0_u32..8, 1 => Just(u32::MAX), 1 => any::<u32>()];
    let number = prop_oneof![8 => 0..numbers, 1 => 0x4000_0000_u32..0x4000_0040, 1 => any::<u32>()];
    let architecture = prop_oneof![
        0_u32..6,
        Just(0xC000_003E_u32),
        Just(0x4000_0003_u32),
        Just(0xC000_00B7_u32),
        any::<u32>()
    ];
    let call =
        (number, architecture, proptest::array::uniform14(word)).prop_map(|(number, architecture, rest)| {
            let mut call: Call = [0; WORDS];
            (call[0], call[1]) = (number, architecture);
            call[2..].copy_from_slice(&rest);
            call
        });
    proptest::collection::vec(call, 100)
}

fn check(filters: &[Program], one: &Program, calls: &[Call]) -> Result<(), TestCaseError> {
    for call in calls {
        prop_assert_eq!(verdict(filters, call).0, verdict([one], call).0, "{:?}", call);
    }
    Ok(())
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn any_profile_keeps_its_meaning(first in profiles(), calls in calls(60)) {
        let terminal = Seccomp { program: program(terminal::filter().unwrap()).unwrap(), flags: 0 };
        let filters = programs(&[first, terminal]);
        let one = merge(&filters).unwrap();
        prop_assert_eq!(verify::are_same(&filters, &one), Some(true));
        check(&filters, &one, &calls)?;
    }
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn any_programs_keep_their_meaning(
        filters in proptest::collection::vec(any_program(), 1..3),
        calls in calls(8),
    ) {
        // Some jump to where the number of a call would be masked, which is not understood.
        if filters.iter().all(|filter| questions(filter).is_some()) {
            check(&filters, &merge(&filters).unwrap(), &calls)?;
        }
    }
}
