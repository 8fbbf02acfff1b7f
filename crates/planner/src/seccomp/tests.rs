//! The filters in force: on a thread of their own, which hands them on to the programs that it starts.

use super::*;
use oci_spec::runtime::Spec;
use std::process::Command;
use std::thread;

/// The filter of podman's default profile.
pub(super) fn profile() -> LinuxSeccomp {
    let spec: Spec = serde_json::from_str(include_str!("../../tests/fixtures/root.json")).unwrap();
    spec.linux().as_ref().and_then(|linux| linux.seccomp().clone()).unwrap()
}

/// What a line of perl prints under a filter.
fn perl(filter: impl FnOnce() -> ScmpFilterContext + Send + 'static, line: &str) -> String {
    let line = line.to_owned();
    let run = move || {
        filter().load().unwrap();
        let output = Command::new("perl").args(["-e", &line]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    thread::spawn(run).join().unwrap()
}

const EPERM: i32 = 1;
const ENOTTY: i32 = 25;

#[test]
fn nothing_is_typed_into_a_terminal() {
    for (request, error) in [("0x5412", EPERM), ("0x541C", EPERM), ("0x5401", ENOTTY)] {
        let line = format!("open F, '<', '/dev/null'; my $b = 'x' x 64; ioctl(F, {request}, $b); print $!+0");
        assert_eq!(perl(|| terminal::filter().unwrap(), &line), error.to_string(), "{request}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_upper_half_of_a_request_hides_nothing() {
    // The kernel ignores it, so a comparison of all 64 bits would not see TIOCSTI.
    for request in ["0x5412", "0x100005412", "0xffffffff0000541c"] {
        let line = format!(
            "no warnings; open F, '<', '/dev/null'; my $b = 'x' x 64; syscall(16, fileno(F), {request}, $b); print $!+0"
        );
        assert_eq!(perl(|| terminal::filter().unwrap(), &line), EPERM.to_string(), "{request}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_default_profile_is_podmans() {
    const ENOSYS: i32 = 38;
    const EINVAL: i32 = 22;
    for (call, error) in [
        // personality(2): some values only
        ("135, 0xffffffff", 0),
        ("135, 5", ENOSYS),
        // kexec_load(2), and one that nobody knows
        ("246, 0, 0, 0, 0", EPERM),
        ("9999", ENOSYS),
        // socket(2): the audit of the kernel, and another protocol of netlink
        ("41, 16, 3, 9", EINVAL),
        ("41, 16, 3, 0", 0),
    ] {
        let line = format!("syscall({call}); print $!+0");
        assert_eq!(perl(|| words::filter(&profile()).unwrap(), &line), error.to_string(), "{call}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_kernel_decides_as_foreseen() {
    const ARCHITECTURE: u32 = 0xC000_003E;
    const ERRNO: u32 = 0x0005_0000;
    let compiled = compiled(Some(&profile())).unwrap();
    let compacted = compact::compact(compiled.clone());
    assert_eq!((compiled.len(), compacted.len()), (2, 1));
    let calls: [&[u64]; 17] = [
        // ioctl(2): TIOCSTI, the same with an upper half, TIOCLINUX, TCGETS
        &[16, 0, 0x5412],
        &[16, 0, 0x1_0000_5412],
        &[16, 0, 0x541C],
        &[16, 0, 0x5401],
        // socket(2): the audit of the kernel, with and without an upper half, and others
        &[41, 16, 3, 9],
        &[41, 0x1_0000_0010, 3, 9],
        &[41, 16, 3, 0],
        &[41, 2, 1, 9],
        // unshare(2), setns(2), bpf(2), open_by_handle_at(2): for privileged ones
        &[272, 0],
        &[308, u64::MAX, 0],
        &[321, 9999, 0, 0],
        &[304, u64::MAX, 0, 0],
        // getppid(2), and the same of x32; two that nobody knows
        &[110],
        &[0x4000_006E],
        &[1023],
        &[9999],
        // personality(2): what it is now
        &[135, 0xFFFF_FFFF],
    ];
    let natural = errors(&[], &calls);
    let filtered = errors(&compacted, &calls);
    assert_eq!(filtered, errors(&compiled, &calls));
    let programs: Vec<_> =
        compacted.iter().map(|filter| program::Program::decode(&filter.program).unwrap()).collect();
    let mut refused = 0;
    for (at, call) in calls.iter().enumerate() {
        let half = |value: u64, shift: u32| u32::try_from(value >> shift & 0xFFFF_FFFF).unwrap();
        let mut words = [0; program::WORDS];
        (words[0], words[1]) = (half(call[0], 0), ARCHITECTURE);
        for (argument, value) in call[1..].iter().enumerate() {
            (words[4 + 2 * argument], words[5 + 2 * argument]) = (half(*value, 0), half(*value, 32));
        }
        let expected = match interpret::verdict(&programs, &words).0 {
            interpret::ALLOW => natural[at],
            verdict => i32::try_from(verdict ^ ERRNO).unwrap(),
        };
        refused += usize::from(expected != natural[at]);
        assert_eq!(filtered[at], expected, "{call:?}, {natural:?}");
    }
    assert!(refused >= 4, "{natural:?}, {filtered:?}");
}

/// The errors of calls in a process that is under filters.
#[cfg(target_arch = "x86_64")]
fn errors(filters: &[Seccomp], calls: &[&[u64]]) -> Vec<i32> {
    // No new privileges (prctl(2)), as the kernel asks for of those who are not root; then each filter.
    let mut lines =
        "no warnings; close STDIN; open STDIN, '<', '/dev/null'; syscall(157, 38, 1, 0, 0, 0);".to_owned();
    for Seccomp { program, .. } in filters {
        let hex: String = program.iter().map(|byte| format!("{byte:02x}")).collect();
        lines += &format!(
            "$f = pack 'H*', '{hex}'; syscall(317, 1, 0, pack('S x6 P', length($f) / 8, $f)) == 0 or die $!;"
        );
    }
    for call in calls {
        let words: Vec<_> = call.iter().map(ToString::to_string).collect();
        lines += &format!("$! = 0; syscall({}); push @e, $! + 0;", words.join(", "));
    }
    lines += "print \"@e\"";
    let output = Command::new("perl").args(["-e", &lines]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().split(' ').map(|error| error.parse().unwrap()).collect()
}

#[test]
fn programs_are_of_a_sane_length() {
    let compiled = compiled(Some(&profile())).unwrap();
    let [first, second] = compiled.as_slice() else { panic!("{} filters", compiled.len()) };
    // A sock_filter has 8 bytes, a program at most 4096 of them (BPF_MAXINSNS).
    let lengths = [&first.program, &second.program].map(|program| (program.len() / 8, program.len() % 8));
    assert!(matches!(lengths, [(500..4096, 0), (8..64, 0)]), "{lengths:?}");
    assert_eq!(super::compiled(None).unwrap(), std::slice::from_ref(second));
    assert_eq!(filters(None).unwrap().len(), 1);
}

#[test]
fn a_name_that_the_library_does_not_know_is_passed_over() {
    let mut seccomp = profile();
    let mut calls = seccomp.syscalls().clone().unwrap();
    calls[0].set_names(vec!["call_of_the_future".into(), "kexec_load".into()]);
    seccomp.set_syscalls(Some(calls));
    assert!(filters(Some(&seccomp)).is_ok());
}
