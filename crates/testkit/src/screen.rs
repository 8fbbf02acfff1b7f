//! What a running command has shown so far, and waiting for more of it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::{DEADLINE, Error, Result};

/// Bytes that one thread collects and another waits for.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    content: Mutex<Content>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    /// How much of it was expected already.
    passed: usize,
    closed: bool,
}

impl Screen {
    pub(crate) fn add(&self, bytes: &[u8]) {
        self.lock().bytes.extend_from_slice(bytes);
        self.changed.notify_all();
    }

    /// Says that there will be no more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    pub(crate) fn closed(&self) -> bool {
        self.lock().closed
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    /// Everything, control characters escaped.
    pub(crate) fn text(&self) -> String {
        self.lock().bytes.escape_ascii().to_string()
    }

    /// Waits for `text` after what was expected before.
    pub(crate) fn expect(&self, text: &str) -> Result<()> {
        let end = Instant::now() + DEADLINE;
        let mut content = self.lock();
        loop {
            let mut fresh = content.bytes[content.passed..].windows(text.len());
            if let Some(at) = fresh.position(|window| window == text.as_bytes()) {
                content.passed += at + text.len();
                return Ok(());
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || content.closed {
                let ending = if content.closed { ", but the output ended" } else { "" };
                let seen = content.bytes.escape_ascii().to_string();
                return Err(Error::Late { what: format!("{text:?}{ending}"), seen });
            }
            content = match self.changed.wait_timeout(content, left) {
                Ok((content, _)) => content,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
