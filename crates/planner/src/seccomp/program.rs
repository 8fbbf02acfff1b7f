//! Programs of the kernel's packet filter, as far as filters of system calls are made of them: structures
//! `sock_filter` (linux/filter.h), which look at a structure `seccomp_data` (linux/seccomp.h).

/// What the kernel takes at most, in instructions (`BPF_MAXINSNS`).
pub(super) const MOST: usize = 4096;
/// The words of 32 bits in a `seccomp_data`: call, architecture, two of the instruction pointer, two for each
/// of six arguments.
pub(super) const WORDS: usize = 16;
/// The word that has the call's number.
pub(super) const NUMBER: u32 = 0;
/// The word that has the architecture, as the kernel's audit names it (linux/audit.h).
pub(super) const ARCHITECTURE: u32 = 1;
/// A structure `sock_filter`, in bytes.
const INSTRUCTION: usize = 8;

/// Codes of linux/bpf_common.h, put together: the operand is always in the instruction.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const EQUAL: u16 = 0x15;
const GREATER: u16 = 0x25;
const AT_LEAST: u16 = 0x35;
const ANY_OF: u16 = 0x45;
const RETURN: u16 = 0x06;

/// How the accumulator is compared with a value; without a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Compare {
    /// It is that.
    Equal,
    /// It is more.
    Greater,
    /// It is that or more.
    AtLeast,
    /// It has one of its bits.
    AnyOf,
}

impl Compare {
    /// The answer.
    pub(super) fn holds(self, accumulator: u32, value: u32) -> bool {
        match self {
            Self::Equal => accumulator == value,
            Self::Greater => accumulator > value,
            Self::AtLeast => accumulator >= value,
            Self::AnyOf => accumulator & value != 0,
        }
    }
}

/// An instruction. Distances count from the instruction after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instruction {
    /// The word with this number becomes the accumulator.
    Load(u32),
    /// The accumulator keeps these bits.
    And(u32),
    /// Goes on at a distance.
    Jump(u32),
    /// Goes on at one of two distances.
    Branch {
        /// The question.
        compare: Compare,
        /// What the accumulator is compared with.
        value: u32,
        /// Where it holds.
        yes: u8,
        /// Where it does not.
        no: u8,
    },
    /// The verdict (seccomp(2), `SECCOMP_RET_*`).
    Return(u32),
}

/// A program that stays within itself and ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program(Vec<Instruction>);

impl Program {
    /// A program of instructions; none if the kernel would not take it.
    pub(super) fn new(instructions: Vec<Instruction>) -> Option<Self> {
        let length = instructions.len();
        let is_inside = |at: usize, distance: u32| {
            usize::try_from(distance).is_ok_and(|distance| distance < length.saturating_sub(at + 1))
        };
        let is_good = |(at, instruction): (usize, &Instruction)| match *instruction {
            Instruction::Load(word) => usize::try_from(word).is_ok_and(|word| word < WORDS),
            Instruction::And(_) | Instruction::Return(_) => true,
            Instruction::Jump(distance) => is_inside(at, distance),
            Instruction::Branch { yes, no, .. } => is_inside(at, yes.into()) && is_inside(at, no.into()),
        };
        let ends = matches!(instructions.last(), Some(Instruction::Return(_)));
        let is_all_good = ends && length <= MOST && instructions.iter().enumerate().all(is_good);
        is_all_good.then_some(Self(instructions))
    }

    /// Reads the kernel's structures. None if there is one that is not known here.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (structures, []) = bytes.as_chunks::<INSTRUCTION>() else { return None };
        Self::new(structures.iter().map(|structure| decode(*structure)).collect::<Option<_>>()?)
    }

    /// The kernel's structures.
    pub(super) fn encode(&self) -> Vec<u8> {
        self.0.iter().flat_map(|instruction| encode(*instruction)).collect()
    }

    /// The instructions. Whatever is run from the first one to a verdict is among them.
    pub(super) fn instructions(&self) -> &[Instruction] {
        &self.0
    }
}

fn decode([code_0, code_1, yes, no, value @ ..]: [u8; INSTRUCTION]) -> Option<Instruction> {
    let value = u32::from_ne_bytes(value);
    let branch = |compare| Instruction::Branch { compare, value, yes, no };
    Some(match u16::from_ne_bytes([code_0, code_1]) {
        LOAD if value.is_multiple_of(4) => Instruction::Load(value / 4),
        AND => Instruction::And(value),
        JUMP => Instruction::Jump(value),
        EQUAL => branch(Compare::Equal),
        GREATER => branch(Compare::Greater),
        AT_LEAST => branch(Compare::AtLeast),
        ANY_OF => branch(Compare::AnyOf),
        RETURN => Instruction::Return(value),
        _ => return None,
    })
}

fn encode(instruction: Instruction) -> [u8; INSTRUCTION] {
    let (code, yes, no, value) = match instruction {
        Instruction::Load(word) => (LOAD, 0, 0, word * 4),
        Instruction::And(value) => (AND, 0, 0, value),
        Instruction::Jump(distance) => (JUMP, 0, 0, distance),
        Instruction::Branch { compare, value, yes, no } => {
            let code = match compare {
                Compare::Equal => EQUAL,
                Compare::Greater => GREATER,
                Compare::AtLeast => AT_LEAST,
                Compare::AnyOf => ANY_OF,
            };
            (code, yes, no, value)
        }
        Instruction::Return(value) => (RETURN, 0, 0, value),
    };
    let ([code_0, code_1], [value_0, value_1, value_2, value_3]) = (code.to_ne_bytes(), value.to_ne_bytes());
    [code_0, code_1, yes, no, value_0, value_1, value_2, value_3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_encoded_is_decoded() {
        let branch = |compare| Instruction::Branch { compare, value: 0xC000_003E, yes: 1, no: 0 };
        let program = vec![
            Instruction::Load(ARCHITECTURE),
            branch(Compare::Equal),
            branch(Compare::Greater),
            branch(Compare::AtLeast),
            Instruction::And(7),
            branch(Compare::AnyOf),
            Instruction::Jump(0),
            Instruction::Return(0x7FFF_0000),
        ];
        let program = Program::new(program).unwrap();
        assert_eq!(Program::decode(&program.encode()), Some(program.clone()));
        assert_eq!(program.encode()[..8], [0x20, 0, 0, 0, 4, 0, 0, 0].map(u8::to_le)[..]);
    }

    #[test]
    fn what_could_leave_the_program_is_none() {
        let end = Instruction::Return(0);
        for bad in [
            vec![],
            vec![Instruction::Load(0)],
            vec![Instruction::Load(16), end],
            vec![Instruction::Jump(1), end],
            vec![Instruction::Jump(u32::MAX), end],
            vec![Instruction::Branch { compare: Compare::Equal, value: 0, yes: 0, no: 1 }, end],
            vec![end; MOST + 1],
        ] {
            assert_eq!(Program::new(bad.clone()), None, "{bad:?}");
        }
    }

    #[test]
    fn what_is_not_known_is_none() {
        let end = encode(Instruction::Return(0));
        // A load of half a word, of the length, across words; the result of a register.
        for (code, value) in [(0x28_u16, 0), (0x80, 0), (0x20, 2), (0x16, 0)] {
            let mut bytes = encode(Instruction::Load(0));
            bytes[..2].copy_from_slice(&code.to_ne_bytes());
            bytes[4..].copy_from_slice(&u32::to_ne_bytes(value));
            assert_eq!(Program::decode(&[bytes, end].concat()), None, "{code:#x}");
        }
        assert_eq!(Program::decode(&end[..7]), None);
    }
}
