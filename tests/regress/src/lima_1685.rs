//! lima-vm/lima 1685: a script's variables are unset, and it is run by another shell than it names.

use anyhow::{Result, ensure};

use crate::Ground;
use crate::kept::Kept;

pub(crate) fn run(ground: &Ground<'_>) -> Result<()> {
    let kept = Kept::register(ground, "kept-1685")?;
    kept.layer(
        "param: {Place: here}\n\
         provision:\n\
         - script: |\n    #!/bin/ash -eu\n    set -o pipefail\n    echo $PARAM_Place >/log\n    if false | true; then exit 1; fi\n\
         - script: |\n    #!/bin/awk -f\n    BEGIN { print ENVIRON[\"PARAM_Place\"] >>\"/log\" }\n",
    )?;
    kept.prints(&["cat", "/log"], "here\nhere\n")?;
    kept.end()?;
    // The interpreter's options are heeded, too.
    kept.layer("param: {Place: here}\nprovision:\n- script: |\n    #!/bin/ash -eu\n    echo $PARAM_Place\n")?;
    let outcome = kept.call(&["%progress", "true"])?;
    ensure!(outcome.success() && outcome.err().contains("here"), "{outcome}");
    kept.end()?;
    kept.layer("provision:\n- script: |\n    #!/bin/ash -eu\n    echo $PARAM_Absent\n")?;
    let outcome = kept.call(&["true"])?;
    ensure!(outcome.code == Some(125) && outcome.err().contains("PARAM_Absent"), "{outcome}");
    kept.end()
}
