//! A page that no parser's definition gives.

use clap_mangen::roff::{Roff, bold, italic, roman};

/// A page being written.
pub(super) struct Page(Roff);

impl Page {
    /// Begins a page with its name and what it is about.
    pub(super) fn new(name: &str, section: &str, about: &str) -> Self {
        let product = concat!("flake-pilot ", env!("CARGO_PKG_VERSION"));
        let mut page = Roff::new();
        page.control("TH", [name, section, "", product, "Flake Pilot"]);
        page.control("SH", ["NAME"]);
        page.text([roman(format!("{name} - {about}"))]);
        Self(page)
    }

    pub(super) fn section(mut self, heading: &str) -> Self {
        self.0.control("SH", [heading]);
        self
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.0.control("PP", []);
        self.0.text([roman(text)]);
        self
    }

    /// A term and what it means.
    pub(super) fn item(mut self, term: &str, text: &str) -> Self {
        self.0.control("TP", []);
        self.0.text([bold(term)]);
        self.0.text([roman(text)]);
        self
    }

    /// A command line with what stands for something else.
    pub(super) fn synopsis(mut self, command: &str, words: &str) -> Self {
        self.0.control("PP", []);
        self.0.text([bold(command), roman(" "), italic(words)]);
        self
    }

    /// Lines as they are.
    pub(super) fn example(mut self, text: &str) -> Self {
        self.0.control("PP", []);
        self.0.control("nf", []);
        for line in text.lines() {
            self.0.text([roman(line)]);
        }
        self.0.control("fi", []);
        self
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0.render().into_bytes()
    }
}

/// A text as it stands in a page.
#[cfg(test)]
pub(super) fn escaped(text: &str) -> String {
    text.replace('-', "\\-")
}
