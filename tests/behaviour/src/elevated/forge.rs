//! A caller's side that is not the product's: it answers the privileged launcher whatever it is told to.

use std::fs;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use flake_sys::fdpass;
use flake_testkit::{ADA, Call, DEADLINE, Outcome, ScratchHost, User, until};
use flake_wire::{Decoder, Frame, Handed, Handoff, Source, Stream, encode};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

/// The launcher that sudo starts.
pub(super) const LAUNCHER: &str = "/usr/bin/podman-pilot";

/// A listening socket that a user made.
pub(super) struct Rendezvous {
    pub(super) listener: UnixListener,
    pub(super) path: PathBuf,
}

impl Rendezvous {
    pub(super) fn of(host: &ScratchHost, user: &'static User) -> Result<Self> {
        let dir = PathBuf::from(format!("/tmp/forged-{}", host.mark()));
        fs::create_dir(&dir)?;
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700))?;
        chown(&dir, Some(user.id), Some(user.id))?;
        let path = dir.join("socket");
        let listener = with_rights_of(user, || UnixListener::bind(&path).context("make a socket"))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, path })
    }

    /// The privileged launcher, when it comes.
    pub(super) fn accept(&self) -> Result<UnixStream> {
        let (socket, _) =
            until("the privileged launcher", || self.listener.accept().ok(), || "nobody came".to_owned())?;
        socket.set_nonblocking(false)?;
        socket.set_read_timeout(Some(DEADLINE))?;
        Ok(socket)
    }
}

/// Does something with a user's rights, on a thread of its own: the kernel keeps them by thread.
pub(super) fn with_rights_of<T: Send>(
    user: &'static User,
    act: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    let body = || {
        let (uid, gid) = (Uid::from_raw(user.id), Gid::from_raw(user.id));
        set_thread_groups(&[gid])?;
        set_thread_res_gid(gid, gid, gid)?;
        set_thread_res_uid(uid, uid, uid)?;
        act()
    };
    thread::scope(|scope| {
        scope.spawn(body).join().map_err(|_| anyhow!("a thread with the rights of {user:?}"))?
    })
}

/// `sudo -- podman-pilot NAME SOCKET WORDS...` by ada.
pub(super) fn privileged(name: &str, socket: &Path, words: &[&str]) -> Call {
    let mut command = ADA.command("/usr/bin/sudo");
    command.args(["--non-interactive", "--", LAUNCHER, name]).arg(socket).args(words);
    Call::new(command)
}

/// What a launcher would send for a call with these descriptors as 0, 1 and so on, and no working directory.
pub(super) fn handoff(passed: u16) -> Handoff {
    Handoff {
        env: Vec::new(),
        has_cwd: false,
        umask: 0o022,
        ignored: 0,
        blocked: 0,
        streams: (0..passed).map(|number| Stream { number, source: Source::Passed }).collect(),
        terminal: None,
        modes: None,
        given_up: None,
    }
}

/// Calls flake `name` with a forged message and gives the answer, once the privileged launcher has ended.
pub(super) fn call(
    host: &ScratchHost,
    name: &str,
    words: &[&str],
    handoff: &Handoff,
    beside: &[OwnedFd],
) -> Result<Answer> {
    let rendezvous = Rendezvous::of(host, &ADA)?;
    let mut bytes = Vec::new();
    encode(handoff, &mut bytes)?;
    thread::scope(|scope| {
        let sudo = scope.spawn(|| privileged(name, &rendezvous.path, words).run());
        let answer = rendezvous.accept().and_then(|socket| {
            let beside: Vec<_> = beside.iter().map(OwnedFd::as_fd).collect();
            let sent = fdpass::send(&socket, &bytes, &beside)?;
            ensure!(sent == bytes.len(), "the message did not fit");
            answer(&socket)
        });
        let ended = sudo.join().map_err(|_| anyhow!("sudo"))??;
        let (handed, connection) = answer.with_context(|| ended.to_string())?;
        Ok(Answer { handed, connection, ended })
    })
}

/// What came of a forged call.
#[derive(Debug)]
pub(super) struct Answer {
    handed: Handed,
    connection: Option<OwnedFd>,
    ended: Outcome,
}

impl Answer {
    /// It was refused in one line that has these words in it.
    pub(super) fn refused(&self, named: &str) -> Result<()> {
        let Handed::Refused { message } = &self.handed else { bail!("a session: {self:?}") };
        ensure!(message.contains(named) && message.lines().count() == 1, "{message:?}");
        ensure!(self.connection.is_none(), "a connection came beside the refusal");
        ensure!(self.ended.success() && self.ended.err().is_empty(), "{}", self.ended);
        Ok(())
    }

    /// A session came of it; waits for the end of the command.
    pub(super) fn session(self) -> Result<()> {
        ensure!(matches!(self.handed, Handed::Session { .. }), "{self:?}");
        let connection = UnixStream::from(self.connection.context("no connection")?);
        connection.set_read_timeout(Some(DEADLINE))?;
        (&connection).read_to_end(&mut Vec::new()).context("the end of the session")?;
        Ok(())
    }
}

fn answer(socket: &UnixStream) -> Result<(Handed, Option<OwnedFd>)> {
    let (mut decoder, mut beside) = (Decoder::default(), Vec::new());
    let mut buffer = vec![0; 64 << 10];
    loop {
        if let Some(frame) = decoder.next_frame()? {
            let Frame::Message(handed) = frame else { bail!("data instead of a message") };
            return Ok((handed, beside.into_iter().next()));
        }
        let length = fdpass::receive(socket, &mut buffer, &mut beside)?;
        ensure!(length > 0, "the privileged launcher went without an answer");
        decoder.push(&buffer[..length]);
    }
}
