//! The filters in force: on a thread of their own, which hands them on to the programs that it starts.

use super::*;
use oci_spec::runtime::Spec;
use std::process::Command;
use std::thread;

/// The filter of podman's default profile.
fn profile() -> LinuxSeccomp {
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

#[test]
fn programs_are_of_a_sane_length() {
    let filters = filters(Some(&profile())).unwrap();
    let [first, second] = filters.as_slice() else { panic!("{} filters", filters.len()) };
    // A sock_filter has 8 bytes, a program at most 4096 of them (BPF_MAXINSNS).
    let lengths = [&first.program, &second.program].map(|program| (program.len() / 8, program.len() % 8));
    assert!(matches!(lengths, [(500..4096, 0), (8..64, 0)]), "{lengths:?}");
    assert_eq!(super::filters(None).unwrap(), std::slice::from_ref(second));
}

#[test]
fn a_name_that_the_library_does_not_know_is_passed_over() {
    let mut seccomp = profile();
    let mut calls = seccomp.syscalls().clone().unwrap();
    calls[0].set_names(vec!["call_of_the_future".into(), "kexec_load".into()]);
    seccomp.set_syscalls(Some(calls));
    assert!(filters(Some(&seccomp)).is_ok());
}
