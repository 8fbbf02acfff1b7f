//! The one table of all figures.

use crate::pairs::Pairs;

#[expect(clippy::print_stdout, reason = "the figures are the output")]
pub(crate) fn heading() {
    println!("{:<42} {:>10} {:>10} {:>7} {:>6}", "", "ms", "beside ms", "figure", "bar");
}

/// A figure that is the ratio of two times.
pub(crate) fn ratio(what: &str, pairs: &Pairs, bar: f64) {
    figure(what, Some(pairs), pairs.ratio(), bar);
}

/// Any figure, which is not to be over its bar.
#[expect(clippy::print_stdout, reason = "the figures are the output")]
pub(crate) fn figure(what: &str, pairs: Option<&Pairs>, figure: f64, bar: f64) {
    let verdict = if figure <= bar { "" } else { "  over the bar" };
    let times = pairs.map_or_else(
        || format!("{:>10} {:>10}", "", ""),
        |pairs| {
            let (subject, control) = pairs.medians();
            format!("{subject:>10.2} {control:>10.2}")
        },
    );
    println!("{what:<42} {times} {figure:>7.3} {bar:>6}{verdict}");
}
