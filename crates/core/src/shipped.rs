//! The registration that an image brings along, `/NAME.yaml` in its root, where NAME is the last part of the image's
//! reference.

use crate::store::{FileInImage, ImageStore, StoreError};
use flake_schema::FlakeName;

/// Larger ones are refused, in bytes.
pub const MOST_BYTES: u64 = 64 << 10;

/// A registration of which nobody should read more.
#[derive(Debug, thiserror::Error)]
pub enum ShippedError {
    /// It is too large.
    #[error("{path} of image {image} is larger than {} KiB", MOST_BYTES / 1024)]
    TooLarge {
        /// The image.
        image: String,
        /// The path in it.
        path: String,
    },
    /// It is no plain file.
    #[error("{path} of image {image} is not a plain file")]
    NotAFile {
        /// The image.
        image: String,
        /// The path in it.
        path: String,
    },
    /// The store's failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The last part of an image's reference, without tag and digest, where a flake can have that name.
#[must_use]
pub fn name_of(image: &str) -> Option<FlakeName> {
    let reference = image.split('@').next().unwrap_or_default();
    let last = reference.rsplit('/').next().unwrap_or_default();
    last.split(':').next().unwrap_or_default().parse().ok()
}

/// Where an image would have its registration.
#[must_use]
pub fn path_of(image: &str) -> Option<String> {
    name_of(image).map(|name| format!("/{}", name.file_name()))
}

/// Reads the registration of an image as it is; nothing when it brings none.
///
/// # Errors
/// [`ShippedError`].
pub fn read(store: &dyn ImageStore, image: &str) -> Result<Option<Vec<u8>>, ShippedError> {
    let Some(name) = name_of(image).map(|name| name.file_name()) else { return Ok(None) };
    let (image, path) = (image.to_owned(), format!("/{name}"));
    match store.read(&image, &name, MOST_BYTES)? {
        FileInImage::Content(content) => Ok(Some(content)),
        FileInImage::Missing => Ok(None),
        FileInImage::TooLarge => Err(ShippedError::TooLarge { image, path }),
        FileInImage::NotAFile => Err(ShippedError::NotAFile { image, path }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_last_part() {
        for (image, path) in [
            ("docker.io/amazon/aws-cli", Some("/aws-cli.yaml")),
            ("localhost:5000/joe:1.2", Some("/joe.yaml")),
            ("joe@sha256:0123", Some("/joe.yaml")),
            ("x/.hidden", None),
            ("x/", None),
            ("", None),
        ] {
            assert_eq!(path_of(image).as_deref(), path, "{image}");
        }
    }
}
