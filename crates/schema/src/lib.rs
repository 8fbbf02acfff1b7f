//! The words: what may stand in a flake file (`NAME.yaml` and `NAME.d/*.yaml`) and in the settings
//! (`flakes.yml`), how files lie above each other, which combinations are wrong, and errors that show the
//! place.
//!
//! [`FlakeFile`] and [`SettingsFile`] are files as written, [`Flake`] and [`Settings`] what they mean.
//! [`load_flake`] and [`load_settings`] go from one to the other; nothing else here touches a file.

mod check;
mod decode;
mod document;
mod error;
mod fault;
mod flake;
mod image;
mod load;
mod machine;
mod name;
mod node;
mod resolve;
mod section;
mod settings;
mod source;
mod suggest;
mod text;
mod view;
mod words;
mod yaml;

pub use self::check::Problem;
pub use self::error::{Diagnostic, Diagnostics, LoadError, WriteError};
pub use self::flake::{
    Container, ContainerRuntime, Firecracker, FlakeFile, Include, Northstar, NorthstarRuntime, Probe,
    Provision, Vm, VmRuntime,
};
pub use self::image::ImageRegistration;
pub use self::load::{Loaded, LoadedSettings, load_flake, load_settings};
pub use self::machine::Machine;
pub use self::name::FlakeName;
pub use self::resolve::{Decides, Flake, Image, Lifetime, ProbeStep, ProvisionStep, Target};
pub use self::section::KeyDoc;
pub use self::settings::{Generic, Settings, SettingsFile};
pub use self::source::{Identity, Source};
pub use self::words::{
    Accel, ByteSize, CacheType, Engine, EnvEntry, FlakeType, InstanceName, Network, Period, PortForward,
    ProbeAction, ProbeMode, ProvisionMode, ProvisionRun, Reserved, RunAs, Scratch, Share, ShareWhat,
    Snapshot, User, VmNetwork, Vmm, WordError, Workdir,
};
