//! A registry on the loopback of the scratch host, plain HTTP, with Debian's docker-registry.

use std::fs::{self, File};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::Mutex;

use anyhow::{Context as _, Result};
use flake_testkit::{Image, ROOT, ScratchHost, until};

/// Where it listens.
pub(crate) const AT: &str = "localhost:5000";

const CONFIG: &str = "\
version: 0.1
storage: {filesystem: {rootdirectory: /tmp/registry/data}}
http: {addr: '127.0.0.1:5000'}
";
const INSECURE: &str = "[[registry]]\nlocation = \"localhost:5000\"\ninsecure = true\n";

static STARTED: Mutex<bool> = Mutex::new(false);

/// Has it run. It ends with the scratch host.
pub(crate) fn start() -> Result<()> {
    let mut started = STARTED.lock().map_err(|_| anyhow::anyhow!("the registry could not be started"))?;
    if *started {
        return Ok(());
    }
    fs::create_dir_all("/tmp/registry")?;
    fs::write("/tmp/registry/config.yml", CONFIG)?;
    fs::create_dir_all("/etc/containers/registries.conf.d")?;
    fs::write("/etc/containers/registries.conf.d/loopback.conf", INSECURE)?;
    let log = File::create("/tmp/registry/log")?;
    let mut command = ROOT.command("/usr/bin/docker-registry");
    command.args(["serve", "/tmp/registry/config.yml"]).stdin(Stdio::null());
    command.stdout(log.try_clone()?).stderr(log);
    command.spawn().context("start docker-registry; try: apt-get install docker-registry")?;
    let said = || fs::read_to_string("/tmp/registry/log").unwrap_or_default();
    until("the registry", || TcpStream::connect("127.0.0.1:5000").ok(), said)?;
    *started = true;
    Ok(())
}

/// Puts an image there under a name, in place of the one that has it.
pub(crate) fn put(host: &ScratchHost, name: &str, image: &Image) -> Result<()> {
    start()?;
    let local = host.image(&ROOT, image)?;
    host.podman(&ROOT, ["push", "--quiet", &local, &format!("{AT}/{name}")]).check()?;
    Ok(())
}
