//! Files as text, without a file system.

use crate::document::{Document, place};
use crate::error::{Diagnostics, WriteError};
use crate::flake::FlakeFile;
use crate::resolve::Flake;
use crate::section::KeyDoc;
use crate::settings::SettingsFile;
use crate::yaml;
use serde::Serialize;
use serde::de::DeserializeOwned;

impl FlakeFile {
    /// Reads one text strictly; rules that cross keys are not checked, see [`FlakeFile::check_yaml`].
    ///
    /// `origin` stands for the path in errors.
    pub fn from_yaml(text: &str, origin: &str) -> Result<Self, Diagnostics> {
        Document::parse(origin, text.as_bytes())?.read(Self::reference)
    }

    /// Reads one text strictly and checks the rules that cross keys: the file, and what it means.
    pub fn check_yaml(text: &str, origin: &str) -> Result<(Self, Flake), Diagnostics> {
        let document = Document::parse(origin, text.as_bytes())?;
        document.must_say_something()?;
        let file: Self = document.read(Self::reference)?;
        match file.resolve() {
            Ok(flake) => Ok((file, flake)),
            Err(problems) => Err(place(&[document], &problems)),
        }
    }

    /// As YAML text: keys in a fixed order, unset ones left out. It reads back equal, or this is an error.
    pub fn to_yaml(&self) -> Result<String, WriteError> {
        write(self, Self::reference)
    }
}

impl SettingsFile {
    /// Reads one text strictly; `origin` stands for the path in errors.
    pub fn from_yaml(text: &str, origin: &str) -> Result<Self, Diagnostics> {
        Document::parse(origin, text.as_bytes())?.read(Self::reference)
    }

    /// As YAML text: keys in a fixed order, unset ones left out. It reads back equal, or this is an error.
    pub fn to_yaml(&self) -> Result<String, WriteError> {
        write(self, Self::reference)
    }
}

fn write<T>(value: &T, keys: fn() -> Vec<KeyDoc>) -> Result<String, WriteError>
where
    T: Serialize + DeserializeOwned + Default + PartialEq,
{
    let text = yaml::write(value).map_err(WriteError)?;
    let back: Result<T, Diagnostics> =
        Document::parse("the text written", text.as_bytes()).and_then(|document| document.read(keys));
    match back {
        Ok(back) if back == *value => Ok(text),
        Ok(_) => Err(WriteError("a value would not read back as it is".to_owned())),
        Err(error) => {
            let reason = error.iter().map(|d| d.message.clone()).next();
            Err(WriteError(reason.unwrap_or_default()))
        }
    }
}
