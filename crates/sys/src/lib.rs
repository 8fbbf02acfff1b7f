//! System calls that the standard library does not have, behind safe functions.
//!
//! The only crate with `unsafe` code besides the runner; each block says why it is sound.

#![allow(unsafe_code)]

pub mod access;
pub mod atomic;
pub mod bound;
pub mod descriptor;
pub mod detach;
pub mod exec;
pub mod fdpass;
pub mod graft;
pub mod helper;
pub mod inherited;
pub mod interrupt;
pub mod kernel;
pub mod memory;
pub mod mount_attributes;
pub mod peer;
pub mod pin;
pub mod pty;
pub mod question;
pub mod reap;
pub mod reason;
pub mod signals;
pub mod spawn;
pub mod title;
