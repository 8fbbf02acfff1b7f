//! What is different for each call.

use flake_sys::signals::SignalSet;
use flake_wire::{Account, Ids};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// One call of a recipe.
#[derive(Debug)]
pub struct Call {
    /// What runs.
    pub words: Words,
    /// Variables on top of the recipe's.
    pub env: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Where it starts; absent: where the recipe says.
    pub cwd: Option<PathBuf>,
    /// What of the host is visible besides what the recipe says.
    pub binds: Vec<Bind>,
    /// The account that is made in the root.
    pub account: Option<Account>,
    /// Whom the command becomes, though the recipe starts it as the root of the namespace.
    pub becomes: Option<Ids>,
    /// File mode creation mask.
    pub umask: u32,
    /// Signals that the command ignores from its start.
    pub ignored: SignalSet,
    /// Signals that the command blocks from its start.
    pub blocked: SignalSet,
    /// The command's descriptors and their numbers.
    pub descriptors: Vec<(u16, OwnedFd)>,
    /// A folder of this user's in which what is written on disk gets one of its own; it need not be there.
    pub scratch: PathBuf,
    /// A folder of this user's that nothing inside needs, over which the root is put together where nobody else sees it.
    pub workshop: PathBuf,
}

/// What runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// What the image was made to run, with these words of the call's own after its entrypoint; without any, with
    /// the image's.
    Image(Vec<Vec<u8>>),
    /// A program, by its path or a name that is looked up, and its words.
    Program(Vec<u8>, Vec<Vec<u8>>),
}

/// A path of the host that is seen inside, with all that is mounted below it, at the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    /// The path.
    pub path: PathBuf,
    /// It is the working directory of this process, which is bound by what it is and not by its name.
    pub is_cwd: bool,
    /// It cannot be written to.
    pub read_only: bool,
}
