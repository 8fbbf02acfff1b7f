//! Numbers of system calls that the C library has no function for, by the tables of the kernel's arch folders.

#[cfg(target_arch = "x86_64")]
mod native {
    pub(crate) const PIVOT_ROOT: i64 = 155;
    pub(crate) const NAME_TO_HANDLE: i64 = 303;
    pub(crate) const OPEN_BY_HANDLE: i64 = 304;
    pub(crate) const READ_MEMORY: i64 = 310;
    pub(crate) const QUEUE_SIGNAL: i64 = 129;
    pub(crate) const ADD_KEY: i64 = 248;
    pub(crate) const KEYCTL: i64 = 250;
}

#[cfg(target_arch = "aarch64")]
mod native {
    pub(crate) const PIVOT_ROOT: i64 = 41;
    pub(crate) const NAME_TO_HANDLE: i64 = 264;
    pub(crate) const OPEN_BY_HANDLE: i64 = 265;
    pub(crate) const READ_MEMORY: i64 = 270;
    pub(crate) const QUEUE_SIGNAL: i64 = 138;
    pub(crate) const ADD_KEY: i64 = 217;
    pub(crate) const KEYCTL: i64 = 219;
}

pub(crate) use native::*;
