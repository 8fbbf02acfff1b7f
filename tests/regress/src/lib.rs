//! Public bug reports of this field, each as a test that shows the bug where it exists.
//!
//! A file is named after the repository and the number of the report and begins with its symptom.

mod cntr_864;
mod distrobox_1405;
mod distrobox_1525;
mod distrobox_1824;
mod distrobox_231;
mod distrobox_416;
mod distrobox_467;
mod distrobox_482;
mod distrobox_519;
mod distrobox_730;
mod distrobox_781;
mod distrobox_786;
mod distrobox_959;
mod distrobox_965;
mod distrobox_966;
mod elektrobit_113;
mod elektrobit_114;
mod elektrobit_119;
mod elektrobit_128;
mod elektrobit_129;
mod elektrobit_132;
mod elektrobit_28;
mod elektrobit_32;
mod elektrobit_33;
mod elektrobit_45;
mod elektrobit_59;
mod elektrobit_82;
mod ground;
mod kept;
mod lima_1685;
mod lima_192;
mod lima_209;
mod lima_2129;
mod lima_3980;
mod lima_4517;
mod lima_5225;
mod lima_5383;
mod osinside_23;
mod osinside_37;
mod podman_19486;
mod podman_20003;
mod podman_22495;
mod podman_23931;
mod podman_4808;
mod podman_8091;
mod toolbox_1400;
mod toolbox_157;
mod toolbox_657;
mod whalebrew_40;

pub use ground::Ground;

/// A report: the name of its file and what it takes to see the bug.
pub type Row = (&'static str, fn(&Ground<'_>) -> anyhow::Result<()>);

/// The reports that can be looked at side by side.
pub const ROWS: &[Row] = &[
    ("cntr_864", cntr_864::run),
    ("distrobox_1405", distrobox_1405::run),
    ("distrobox_1525", distrobox_1525::run),
    ("distrobox_1824", distrobox_1824::run),
    ("distrobox_231", distrobox_231::run),
    ("distrobox_467", distrobox_467::run),
    ("distrobox_482", distrobox_482::run),
    ("distrobox_730", distrobox_730::run),
    ("distrobox_781", distrobox_781::run),
    ("distrobox_786", distrobox_786::run),
    ("distrobox_959", distrobox_959::run),
    ("distrobox_965", distrobox_965::run),
    ("distrobox_966", distrobox_966::run),
    ("elektrobit_113", elektrobit_113::run),
    ("elektrobit_114", elektrobit_114::run),
    ("elektrobit_119", elektrobit_119::run),
    ("elektrobit_128", elektrobit_128::run),
    ("elektrobit_132", elektrobit_132::run),
    ("elektrobit_28", elektrobit_28::run),
    ("elektrobit_33", elektrobit_33::run),
    ("elektrobit_45", elektrobit_45::run),
    ("elektrobit_59", elektrobit_59::run),
    ("elektrobit_82", elektrobit_82::run),
    ("lima_1685", lima_1685::run),
    ("lima_192", lima_192::run),
    ("lima_209", lima_209::run),
    ("lima_2129", lima_2129::run),
    ("lima_3980", lima_3980::run),
    ("lima_4517", lima_4517::run),
    ("lima_5225", lima_5225::run),
    ("lima_5383", lima_5383::run),
    ("osinside_23", osinside_23::run),
    ("osinside_37", osinside_37::run),
    ("podman_19486", podman_19486::run),
    ("podman_20003", podman_20003::run),
    ("podman_22495", podman_22495::run),
    ("podman_23931", podman_23931::run),
    ("podman_4808", podman_4808::run),
    ("podman_8091", podman_8091::run),
    ("toolbox_1400", toolbox_1400::run),
    ("toolbox_157", toolbox_157::run),
    ("toolbox_657", toolbox_657::run),
    ("whalebrew_40", whalebrew_40::run),
];

/// Those that measure time or take something away from the host.
pub const ALONE: &[Row] = &[
    ("distrobox_416", distrobox_416::run),
    ("distrobox_519", distrobox_519::run),
    ("elektrobit_129", elektrobit_129::run),
    ("elektrobit_32", elektrobit_32::run),
];
