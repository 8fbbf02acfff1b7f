//! How often a loop goes round.

/// The number of rounds of a kill or race loop: `few`, or what `FLAKE_ROUNDS` says, as `make torture` does.
#[must_use]
pub fn rounds(few: u32) -> u32 {
    std::env::var("FLAKE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(few)
}
