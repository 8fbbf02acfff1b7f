//! Probes: waiting until an instance is ready, and what says whether it still works.
//!
//! They run as the application's user, since that is whom a call runs as.

mod error;
mod liveness;
#[cfg(test)]
mod tests;

pub use error::{Cause, ProbeError};
pub use liveness::{Check, liveness};

use crate::guest::{Guest, GuestError, Heard, Lines, Script, ScriptEnd, variables};
use flake_schema::{Decides, ProbeStep, ProvisionMode};
use flake_sys::interrupt;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long a first try may take before it is said what is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a request to stop may go unnoticed between two tries.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Waits until each readiness probe has passed, one after the other. `report` is given lines to show: what is waited
/// for and the hint, as soon as one does not pass at once. `params` are the variables of the scripts.
///
/// # Errors
/// [`ProbeError`].
pub fn await_ready(
    guest: &mut dyn Guest,
    probes: &[ProbeStep],
    params: &BTreeMap<String, String>,
    report: &mut dyn FnMut(&str),
) -> Result<(), ProbeError> {
    let env = variables(params);
    for (index, probe) in probes.iter().enumerate() {
        if let Decides::Ready(deadline) = probe.decides {
            let mut waiting =
                Waiting { index, probe, env: &env, began: Instant::now(), has_told: false, report };
            let description = probe.description.clone();
            waiting.wait(guest, deadline.get()).map_err(|cause| ProbeError {
                index,
                description,
                hint: probe.hint.clone(),
                cause,
            })?;
        }
    }
    Ok(())
}

/// One probe that is waited for.
struct Waiting<'a> {
    index: usize,
    probe: &'a ProbeStep,
    env: &'a [(String, String)],
    began: Instant,
    has_told: bool,
    report: &'a mut dyn FnMut(&str),
}

impl Waiting<'_> {
    fn wait(&mut self, guest: &mut dyn Guest, deadline: Duration) -> Result<(), Cause> {
        let (timeout, interval) = (self.probe.timeout.get(), self.probe.interval.get());
        let mut before = None;
        let mut is_last = false;
        loop {
            let limit = timeout.min(deadline.saturating_sub(self.began.elapsed()));
            let (end, said) = self.try_once(guest, limit)?;
            if end.is_success() {
                return Ok(());
            }
            self.tell(Some(&end));
            let left = deadline.saturating_sub(self.began.elapsed());
            if is_last || left.is_zero() {
                // A try that the deadline cut short tells less than the one before it.
                let is_cut = limit < timeout && matches!(end, ScriptEnd::TimedOut(_));
                let (last, said) = before.filter(|_| is_cut).unwrap_or((end, said));
                return Err(Cause::NotReady { deadline, last, said });
            }
            before = Some((end, said));
            // The last try is to have some time too.
            is_last = interval >= left;
            pause(if is_last { left / 2 } else { interval })?;
        }
    }

    fn try_once(
        &mut self,
        guest: &mut dyn Guest,
        limit: Duration,
    ) -> Result<(ScriptEnd, Vec<String>), GuestError> {
        let script = Script {
            text: &self.probe.script,
            mode: ProvisionMode::User,
            env: self.env,
            timeout: Some(limit),
        };
        let mut lines = Lines::default();
        let end = guest.run(&script, &mut |heard| {
            if let Heard::Output(bytes) = heard {
                lines.push(bytes, &mut |_| {});
            }
            if self.began.elapsed() >= PATIENCE {
                self.tell(None);
            }
        })?;
        Ok((end, lines.finish(&mut |_| {})))
    }

    /// Says once what is waited for, and where to look if that is for nothing.
    fn tell(&mut self, end: Option<&ScriptEnd>) {
        if std::mem::replace(&mut self.has_told, true) {
            return;
        }
        let index = self.index;
        let what = self.probe.description.as_deref().unwrap_or("it to pass");
        let end = end.map(|end| format!(" ({end})")).unwrap_or_default();
        let what = format!("waiting for {what}{end}");
        let hint = self.probe.hint.as_deref().unwrap_or_default();
        for line in what.lines().chain(hint.lines()) {
            (self.report)(&format!("probes[{index}]: {line}"));
        }
    }
}

/// Waits, unless this process is asked to stop.
fn pause(time: Duration) -> Result<(), GuestError> {
    let end = Instant::now() + time;
    loop {
        if let Some(signal) = interrupt::pending() {
            return Err(GuestError::Interrupted(signal));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(LOOK_AGAIN));
    }
}
