//! Measuring two things in turn, so that a machine that slows down slows both.

use std::time::{Duration, Instant};

/// Two things measured in turn.
#[derive(Debug, Clone)]
pub(crate) struct Pairs(Vec<(Duration, Duration)>);

/// Takes times of `subject` and `control` in turn, `rounds` times each, after one round that does not count.
///
/// # Errors
/// The first error of either.
pub(crate) fn in_turn<E>(
    rounds: usize,
    mut subject: impl FnMut() -> Result<Duration, E>,
    mut control: impl FnMut() -> Result<Duration, E>,
) -> Result<Pairs, E> {
    let mut pairs = Vec::with_capacity(rounds);
    for round in 0..=rounds {
        let pair = (subject()?, control()?);
        if round > 0 {
            pairs.push(pair);
        }
    }
    Ok(Pairs(pairs))
}

/// How long something takes.
///
/// # Errors
/// Its own.
pub(crate) fn timed<E>(action: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
    let start = Instant::now();
    action()?;
    Ok(start.elapsed())
}

impl Pairs {
    /// The median of the ratios of each pair.
    #[must_use]
    pub(crate) fn ratio(&self) -> f64 {
        median(self.0.iter().map(|(subject, control)| subject.as_secs_f64() / control.as_secs_f64()))
    }

    /// The median of the differences of each pair, in seconds.
    #[must_use]
    pub(crate) fn difference(&self) -> f64 {
        median(self.0.iter().map(|(subject, control)| subject.as_secs_f64() - control.as_secs_f64()))
    }

    /// The medians of both sides, in milliseconds.
    #[must_use]
    pub(crate) fn medians(&self) -> (f64, f64) {
        let milliseconds = |side: fn(&(Duration, Duration)) -> Duration| {
            median(self.0.iter().map(|pair| side(pair).as_secs_f64() * 1000.0))
        };
        (milliseconds(|pair| pair.0), milliseconds(|pair| pair.1))
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_of_pairs_and_the_median_is_robust() {
        let pair = |subject, control| (Duration::from_millis(subject), Duration::from_millis(control));
        let pairs = Pairs(vec![pair(20, 10), pair(400, 10), pair(10, 10)]);
        assert!((pairs.ratio() - 2.0).abs() < 1e-9);
        assert!((pairs.medians().0 - 20.0).abs() < 1e-9);
        assert!((pairs.difference() - 0.01).abs() < 1e-9);
        assert!((median([1.0, 3.0].into_iter()) - 2.0).abs() < 1e-9);
    }
}
