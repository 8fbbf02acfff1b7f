//! How many kept instances a user may have, and which of them have been idle for too long.

use crate::instance::Instance;
use flake_schema::Settings;
use std::fmt;
use std::time::{Duration, SystemTime};

/// The most instances that a refusal lists.
const LISTED: usize = 10;

/// What of the settings is about the number of instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// The most of one user.
    most: usize,
    /// Idle for longer means outdated; none means never.
    timeout: Option<Duration>,
    /// The words that remove one, but for its name.
    remove: String,
}

/// An instance that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// Which.
    pub instance: Instance,
    /// The flake that it was made by, as `flake-ctl` knows it.
    pub flake: String,
    /// When it was made.
    pub created: SystemTime,
    /// When it was last used, as far as is noted.
    pub last_use: Option<SystemTime>,
    /// Whether something runs in it now.
    pub in_use: bool,
}

impl Counted {
    /// Since when it has been idle.
    #[must_use]
    pub fn idle_since(&self) -> SystemTime {
        self.last_use.unwrap_or(self.created)
    }

    /// How `flake-ctl` calls it: `APP`, or `APP@NAME`.
    #[must_use]
    pub fn name(&self) -> String {
        self.instance.called_by(&self.flake)
    }
}

/// One more instance would be too many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaError {
    most: usize,
    there: usize,
    /// Names and idle times of those that could go, the longest idle first.
    idle: Vec<(String, Duration)>,
    remove: String,
}

impl Quota {
    /// The quota of these settings. For instances of a user in root's store `lent_to` is the user's name.
    #[must_use]
    pub fn new(settings: &Settings, lent_to: Option<&str>) -> Self {
        let timeout = settings.instances_timeout;
        Self {
            most: usize::try_from(settings.instances_per_user).unwrap_or(usize::MAX),
            timeout: (!timeout.is_zero()).then_some(timeout.get()),
            remove: lent_to
                .map_or_else(|| "flake-ctl rm".to_owned(), |user| format!("sudo flake-ctl rm --user {user}")),
        }
    }

    /// Those that have been idle for longer than the settings allow, the longest idle first. What runs is not idle.
    #[must_use]
    pub fn outdated<'a>(&self, there: &'a [Counted], now: SystemTime) -> Vec<&'a Counted> {
        let Some(timeout) = self.timeout else { return Vec::new() };
        let mut outdated = idle(there);
        outdated.retain(|one| idle_for(one, now) > timeout);
        outdated
    }

    /// Whether a user who has these may have one more.
    ///
    /// # Errors
    /// [`QuotaError`], which says what could go.
    pub fn admit(&self, there: &[Counted], now: SystemTime) -> Result<(), QuotaError> {
        if there.len() < self.most {
            return Ok(());
        }
        let idle = idle(there).into_iter().map(|one| (one.name(), idle_for(one, now))).collect();
        Err(QuotaError { most: self.most, there: there.len(), idle, remove: self.remove.clone() })
    }
}

/// Those in which nothing runs, the longest idle first.
fn idle(there: &[Counted]) -> Vec<&Counted> {
    let mut idle: Vec<_> = there.iter().filter(|one| !one.in_use).collect();
    idle.sort_by_key(|one| (one.idle_since(), one.name()));
    idle
}

/// A clock that was set back makes nothing old.
fn idle_for(one: &Counted, now: SystemTime) -> Duration {
    now.duration_since(one.idle_since()).unwrap_or_default()
}

impl std::error::Error for QuotaError {}

impl fmt::Display for QuotaError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { most, there, idle, remove } = self;
        let noun = if *there == 1 { "instance is" } else { "instances are" };
        write!(formatter, "{there} {noun} kept, and instances-per-user allows {most}")?;
        let Some((oldest, _)) = idle.first() else {
            let what = if *there == 0 { "none can be made" } else { "all are in use" };
            return write!(formatter, "; {what}; see: flake-ctl ps");
        };
        formatter.write_str("; what could go, the longest idle first:")?;
        let width = idle.iter().take(LISTED).map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, time) in idle.iter().take(LISTED) {
            write!(formatter, "\n  {name:<width$}  idle for {}", rough(*time))?;
        }
        if idle.len() > LISTED {
            write!(formatter, "\n  and {} more; see: flake-ctl ps", idle.len() - LISTED)?;
        }
        write!(formatter, "\nhint: {remove} {oldest}")
    }
}

/// A length of time in its largest unit.
#[must_use]
pub fn rough(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")];
    let (length, unit) = units.into_iter().find(|(length, _)| seconds >= *length).unwrap_or((1, "second"));
    let count = seconds / length;
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flake_schema::Period;

    const DAY: Duration = Duration::from_secs(86_400);

    fn quota(most: u32, timeout: &str) -> Quota {
        let timeout: Period = timeout.parse().unwrap();
        let settings =
            Settings { instances_per_user: most, instances_timeout: timeout, ..Settings::default() };
        Quota::new(&settings, None)
    }

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + DAY * 20_000
    }

    /// Of the group `dev`: how many days ago it was made, and used.
    fn one(name: &str, created: u32, last_use: Option<u32>) -> Counted {
        let name = (!name.is_empty()).then(|| name.parse().unwrap());
        Counted {
            instance: Instance::new(7, "dev", name),
            flake: "dev".to_owned(),
            created: now() - DAY * created,
            last_use: last_use.map(|days| now() - DAY * days),
            in_use: false,
        }
    }

    fn names(found: &[&Counted]) -> Vec<String> {
        found.iter().map(|one| one.name()).collect()
    }

    #[test]
    fn the_outdated_have_been_idle_for_longer() {
        let there =
            [one("", 90, Some(61)), one("a", 90, Some(60)), one("b", 62, None), one("c", 400, Some(1))];
        assert_eq!(names(&quota(1, "60 d").outdated(&there, now())), ["dev@b", "dev"]);
        assert_eq!(names(&quota(1, "59d").outdated(&there, now())), ["dev@b", "dev", "dev@a"]);
        assert!(quota(1, "0s").outdated(&there, now()).is_empty());
        assert!(quota(1, "60d").outdated(&there, now() - DAY * 365).is_empty());
    }

    #[test]
    fn what_runs_is_not_outdated_and_counts() {
        let busy = Counted { in_use: true, ..one("", 90, Some(90)) };
        assert!(quota(1, "60d").outdated(std::slice::from_ref(&busy), now()).is_empty());
        assert_eq!(
            quota(1, "60d").admit(&[busy], now()).unwrap_err().to_string(),
            "1 instance is kept, and instances-per-user allows 1; all are in use; see: flake-ctl ps"
        );
    }

    #[test]
    fn a_refusal_says_what_could_go() {
        let there = [one("new", 3, Some(0)), one("", 90, Some(2)), one("x", 4, None)];
        assert_eq!(quota(4, "60d").admit(&there, now()), Ok(()));
        let refused = quota(3, "60d").admit(&there, now()).unwrap_err().to_string();
        assert_eq!(
            refused,
            "3 instances are kept, and instances-per-user allows 3; what could go, the longest idle first:\n  \
             dev@x    idle for 4 days\n  dev      idle for 2 days\n  dev@new  idle for 0 seconds\n\
             hint: flake-ctl rm dev@x"
        );
        let many: Vec<_> = (0..12).map(|number| one(&format!("n{number}"), 100 - number, None)).collect();
        let quota = Quota::new(&Settings { instances_per_user: 3, ..Settings::default() }, Some("ada"));
        let refused = quota.admit(&many, now()).unwrap_err().to_string();
        assert!(
            refused.ends_with("\n  and 2 more; see: flake-ctl ps\nhint: sudo flake-ctl rm --user ada dev@n0")
        );
        assert_eq!(refused.lines().count(), 13);
    }

    #[test]
    fn none_may_be_allowed() {
        let refused = quota(0, "60d").admit(&[], now()).unwrap_err().to_string();
        assert_eq!(
            refused,
            "0 instances are kept, and instances-per-user allows 0; none can be made; see: flake-ctl ps"
        );
    }

    #[test]
    fn lengths_are_rough() {
        let said =
            [0, 1, 59, 61, 7200, 86_399, 86_400 * 60].map(|seconds| rough(Duration::from_secs(seconds)));
        assert_eq!(
            said,
            ["0 seconds", "1 second", "59 seconds", "1 minute", "2 hours", "23 hours", "60 days"]
        );
    }
}
