//! Small files inside.

use crate::world::{World, launch, written};
use crate::{Case, Outcome};
use flake_core::guest::Guest;

pub(crate) const CASES: &[Case] = &[
    ("the_agents_folder_is_made", the_agents_folder_is_made),
    ("what_is_no_small_file_is_none", what_is_no_small_file_is_none),
];

fn the_agents_folder_is_made(world: &World) -> Outcome {
    let launch = launch(Some(4242));
    let mut guest = world.guest(&launch);
    for content in [&b"one"[..], &[7; 200 << 10]] {
        guest.write("/var/lib/sci/a file", content)?;
        assert_eq!(guest.read("/var/lib/sci/a file", 256 << 10)?.as_deref(), Some(content));
    }
    assert_eq!(written(&mut guest, "stat -c %a:%u /var/lib/sci '/var/lib/sci/a file'")?, "700:0\n600:0\n");
    assert_eq!(guest.read("/var/lib/sci/a file", 1000)?, None);
    let error = guest.write("/no/such/folder/file", b"").expect_err("a refusal");
    assert!(error.to_string().contains("cannot write /no/such/folder/file: "), "{error}");
    Ok(())
}

fn what_is_no_small_file_is_none(world: &World) -> Outcome {
    let launch = launch(None);
    let mut guest = world.guest(&launch);
    let folder = world.path("none");
    std::fs::create_dir(&folder)?;
    written(
        &mut guest,
        &format!("mkfifo {0}/fifo; ln -s loop {0}/loop; truncate -s 1T {0}/huge", folder.display()),
    )?;
    for name in ["fifo", "loop", "huge", "missing", "."] {
        assert_eq!(guest.read(&folder.join(name).to_string_lossy(), 1 << 20)?, None, "{name}");
    }
    assert_eq!(guest.read("/dev/zero", 1 << 20)?, None);
    Ok(())
}
