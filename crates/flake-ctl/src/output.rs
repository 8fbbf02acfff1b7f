//! Tables, JSON, YAML and CSV.

use crate::failure::Failure;
use clap::ValueEnum;
use serde::Serialize;
use std::io::{self, Write};

/// How rows are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns with a heading
    #[default]
    Table,
    /// An array of objects
    Json,
    /// A list of mappings
    Yaml,
    /// RFC 4180, without a heading
    Csv,
}

/// Something that is listed, one row each.
pub(crate) trait Row: Serialize {
    /// The headings of the table.
    const HEADINGS: &'static [&'static str];

    /// The cells, as many as headings; an unknown one is absent.
    fn cells(&self) -> Vec<Option<String>>;

    /// The cells for a person to read, where they are shorter.
    fn short_cells(&self) -> Vec<Option<String>> {
        self.cells()
    }
}

/// Writes rows to standard output.
pub(crate) fn rows<R: Row>(rows: &[R], format: Format) -> Result<(), Failure> {
    let text = match format {
        Format::Table => table(R::HEADINGS, &rows.iter().map(Row::short_cells).collect::<Vec<_>>()),
        Format::Json => serde_json::to_string_pretty(rows)? + "\n",
        Format::Yaml => serde_saphyr::to_string(&rows)?,
        Format::Csv => rows.iter().map(|row| csv(&row.cells())).collect(),
    };
    print(text.as_bytes())
}

/// Writes to standard output. A reader that has gone is not a failure.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| Failure::system("cannot write to standard output", &error)),
    }
}

/// Text from elsewhere made fit for a terminal: nothing that moves the cursor or changes colours or the direction of
/// writing.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|sign| if is_harmless(sign) { sign } else { '\u{fffd}' }).collect()
}

/// The same for a whole text, whose lines and tabs stay.
pub(crate) fn harmless_text(text: &str) -> String {
    let keep = |sign| matches!(sign, '\n' | '\t') || is_harmless(sign);
    text.chars().map(|sign| if keep(sign) { sign } else { '\u{fffd}' }).collect()
}

fn is_harmless(sign: char) -> bool {
    !sign.is_control()
        && !matches!(sign, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn table(headings: &[&str], rows: &[Vec<Option<String>>]) -> String {
    let heading = headings.iter().map(|word| (*word).to_owned()).collect();
    let shown = |cell: &Option<String>| cell.as_deref().map_or_else(|| "-".to_owned(), harmless);
    let lines: Vec<Vec<String>> =
        std::iter::once(heading).chain(rows.iter().map(|row| row.iter().map(shown).collect())).collect();
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn csv(cells: &[Option<String>]) -> String {
    let quoted = |cell: &Option<String>| {
        let cell = cell.as_deref().unwrap_or_default();
        if cell.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.to_owned()
        }
    };
    cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &[&str]) -> Vec<Option<String>> {
        line.iter().map(|cell| Some((*cell).to_owned()).filter(|cell| !cell.is_empty())).collect()
    }

    #[test]
    fn columns_are_aligned_and_unknown_cells_shown() {
        let rows = [cells(&["joe", "", "/usr/bin/joe"]), cells(&["\u{1b}[31m", "podman", "x"])];
        assert_eq!(
            table(&["NAME", "ENGINE", "PATH"], &rows),
            "NAME   ENGINE  PATH\njoe    -       /usr/bin/joe\n\u{fffd}[31m  podman  x\n"
        );
    }

    #[test]
    fn csv_quotes_what_it_has_to() {
        assert_eq!(
            csv(&cells(&["a b", "a,b", "say \"x\"", "", "l\nm"])),
            "a b,\"a,b\",\"say \"\"x\"\"\",,\"l\nm\"\r\n"
        );
    }
}
