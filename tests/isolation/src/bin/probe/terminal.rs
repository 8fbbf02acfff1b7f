//! Putting words into the caller's terminal, by every way to ask the kernel for it.

use crate::kernel::{apart, ioctl, syscall};
use crate::say;
use std::ffi::{c_long, c_ulong};

/// Puts a byte into a terminal's input, as if it was typed (ioctl_tty(2)).
const TIOCSTI: c_ulong = 0x5412;
/// Selects and pastes on a virtual console (ioctl_console(2)).
const TIOCLINUX: c_ulong = 0x541c;
/// The kernel looks at 32 bits only.
const HIGH: c_ulong = 0xdead_beef_0000_0000;

/// Types `words` on standard input's terminal.
pub(crate) fn type_in(words: &[&str]) {
    let bytes: Vec<u8> = words.join(" ").into_bytes();
    for (name, request) in [
        ("sti", TIOCSTI),
        ("sti.high", TIOCSTI | HIGH),
        ("linux", TIOCLINUX),
        ("linux.high", TIOCLINUX | HIGH),
    ] {
        // The first byte of an argument of TIOCLINUX is what it is to do: 3 pastes.
        let bytes: &[u8] = if name.starts_with("sti") { &bytes } else { &[3] };
        for byte in bytes {
            // SAFETY: the argument is a pointer to a byte; the libc's own wrapper would cut the number.
            let call = || unsafe { syscall(number::IOCTL, 0_i64, request, std::ptr::from_ref(byte)) };
            say(format_args!("type.{name}"), apart(call));
        }
    }
    // SAFETY: as above.
    say("type.libc", apart(|| unsafe { c_long::from(ioctl(0, TIOCSTI, b"#".as_ptr())) }));
    #[cfg(target_arch = "x86_64")]
    old_abis();
}

mod number {
    #[cfg(target_arch = "x86_64")]
    pub(super) const IOCTL: i64 = 16;
    #[cfg(target_arch = "aarch64")]
    pub(super) const IOCTL: i64 = 29;
}

/// As a 32-bit program asks, and as one of the x32 kind.
#[cfg(target_arch = "x86_64")]
fn old_abis() {
    // A static program's data is below 4 GiB, where 32 bits reach.
    static BYTE: u8 = b'#';
    let byte = std::ptr::from_ref(&BYTE);
    for (name, request) in [("sti", TIOCSTI), ("linux", TIOCLINUX)] {
        let call = || old_ioctl(u32::try_from(request).unwrap_or_default(), byte);
        say(format_args!("type.{name}.i386"), apart(call));
        // SAFETY: as above.
        let call = || unsafe { syscall(0x4000_0000 | 514, 0_i64, request, byte) };
        say(format_args!("type.{name}.x32"), apart(call));
    }
    // The call is there at all: ioctl(0, TCGETS-like nonsense) is answered by the terminal, not by a filter.
    say("type.nothing.i386", apart(|| old_ioctl(0x5400, byte)));
}

/// ioctl(2) on descriptor 0 through the gate of 32-bit programs, where it is number 54.
#[cfg(target_arch = "x86_64")]
fn old_ioctl(request: u32, argument: *const u8) -> c_long {
    let answer: i32;
    // SAFETY: the gate takes arguments in these registers and keeps all others; rbx, which the compiler keeps to itself,
    // is put back.
    unsafe {
        std::arch::asm!(
            "xchg rbx, {fd:r}",
            "int 0x80",
            "xchg rbx, {fd:r}",
            fd = inout(reg) 0_u64 => _,
            inout("eax") 54 => answer,
            in("ecx") request,
            in("rdx") argument,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    if answer < 0 {
        // SAFETY: the place of this thread's error number.
        unsafe { *errno() = -answer };
        return -1;
    }
    c_long::from(answer)
}

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    #[link_name = "__errno_location"]
    fn errno() -> *mut i32;
}
