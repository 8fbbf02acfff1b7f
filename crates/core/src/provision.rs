//! Provisioning: the scripts of a flake, run in an instance when it is made and when it is started.
//!
//! All scripts of root come first, then all of the application's user, each in the order of the flake file. The first
//! that fails ends it. Whatever the image brings, a new instance has had no script run.

mod error;
mod record;
#[cfg(test)]
mod tests;

pub(crate) use error::Said;
pub use error::{Cause, ProvisionError};

use crate::guest::{Guest, GuestError, Heard, Lines, Script, ScriptEnd, variables};
use flake_schema::{Period, ProvisionMode, ProvisionRun, ProvisionStep};
use record::{Mark, Record};
use std::collections::BTreeMap;

/// What has just happened to the instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It was made, and is up for the first time: every script runs.
    Made,
    /// It was started again, with its data: scripts with `run: start` run, and those with `run: change` that are not
    /// what ran in it last.
    Started,
}

/// Runs what of the scripts is due. `report` is given each line of their output as it comes, with the script's place
/// in front; `params` are their variables, named `PARAM_NAME` there.
///
/// # Errors
/// [`ProvisionError`], which says whether a new instance is half-made.
pub fn run(
    guest: &mut dyn Guest,
    steps: &[ProvisionStep],
    params: &BTreeMap<String, String>,
    moment: Moment,
    report: &mut dyn FnMut(&str),
) -> Result<(), ProvisionError> {
    let mut run = Run { guest, steps, env: variables(params), record: None, report };
    let mut pending: Vec<usize> = match moment {
        Moment::Made => {
            steps.iter().enumerate().filter(|(_, step)| is_once(step)).map(|(at, _)| at).collect()
        }
        Moment::Started => Vec::new(),
    };
    run.all(moment, &mut pending).map_err(|cause| ProvisionError { cause, half_made: !pending.is_empty() })
}

fn is_once(step: &ProvisionStep) -> bool {
    step.run == ProvisionRun::Once
}

struct Run<'a> {
    guest: &'a mut dyn Guest,
    steps: &'a [ProvisionStep],
    env: Vec<(String, String)>,
    /// What ran last of the scripts with `run: change`; absent where there are none.
    record: Option<Record>,
    report: &'a mut dyn FnMut(&str),
}

impl Run<'_> {
    /// Runs what is due; `pending` loses what a new instance needs and has.
    fn all(&mut self, moment: Moment, pending: &mut Vec<usize>) -> Result<(), Cause> {
        self.open_record(moment)?;
        for mode in [ProvisionMode::System, ProvisionMode::User] {
            let steps = self.steps.iter().enumerate().filter(|(_, step)| step.mode == mode);
            for (index, step) in steps {
                let mark = Mark::of(step, &self.env);
                let is_due = match step.run {
                    ProvisionRun::Once => moment == Moment::Made,
                    ProvisionRun::Start => true,
                    ProvisionRun::Change => self.record.as_ref().is_none_or(|record| !record.has(mark)),
                };
                if !is_due {
                    continue;
                }
                self.script(index, step)?;
                pending.retain(|at| *at != index);
                if step.run == ProvisionRun::Change {
                    self.note(mark)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the record. Of what it has, only that stays which is still among the scripts: when one that was
    /// replaced comes back, it is a change again, also when the one between has failed.
    fn open_record(&mut self, moment: Moment) -> Result<(), Cause> {
        let changing = self.steps.iter().filter(|step| step.run == ProvisionRun::Change);
        let marks: Vec<Mark> = changing.map(|step| Mark::of(step, &self.env)).collect();
        if marks.is_empty() {
            return Ok(());
        }
        let found = match moment {
            Moment::Made => Record::default(),
            Moment::Started => {
                let content = self.guest.read(record::PATH, record::MOST).map_err(Cause::Record)?;
                content.and_then(|content| Record::parse(&content)).unwrap_or_default()
            }
        };
        let kept = found.only(&marks);
        if kept != found || moment == Moment::Made {
            self.guest.write(record::PATH, kept.to_text().as_bytes()).map_err(Cause::Record)?;
        }
        self.record = Some(kept);
        Ok(())
    }

    fn note(&mut self, mark: Mark) -> Result<(), Cause> {
        let Some(record) = &mut self.record else { return Ok(()) };
        record.add(mark);
        self.guest.write(record::PATH, record.to_text().as_bytes()).map_err(Cause::Record)
    }

    fn script(&mut self, index: usize, step: &ProvisionStep) -> Result<(), Cause> {
        let script = Script {
            text: &step.script,
            mode: step.mode,
            env: &self.env,
            timeout: step.timeout.map(Period::get),
        };
        let report = &mut *self.report;
        let mut each = |line: &str| report(&format!("provision[{index}]: {line}"));
        let mut lines = Lines::default();
        let ended = self.guest.run(&script, &mut |heard| {
            if let Heard::Output(bytes) = heard {
                lines.push(bytes, &mut each);
            }
        });
        let said = lines.finish(&mut each);
        match ended {
            Ok(ScriptEnd::Exited(0)) => Ok(()),
            Ok(end) => Err(Cause::Script { index, mode: step.mode, end, said }),
            Err(GuestError::Gone) => Err(Cause::Gone { index, mode: step.mode, said }),
            Err(source) => Err(Cause::Guest { index, mode: step.mode, source }),
        }
    }
}
