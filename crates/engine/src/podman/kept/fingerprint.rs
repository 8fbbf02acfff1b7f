//! Whether two lists of words are the same, without keeping them.

/// A fingerprint of words: the same for every release, unlike the standard library's hashes.
pub(super) fn fingerprint<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    format!("{:032x}", fnv(parts.flat_map(|part| part.iter().copied().chain([0]))))
}

/// FNV-1a of 128 bits (draft-eastlake-fnv).
fn fnv(bytes: impl Iterator<Item = u8>) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_tells_words_apart() {
        let of = |words: &[&str]| fingerprint(words.iter().map(|word| word.as_bytes()));
        // The vector of the draft.
        assert_eq!(fnv(b"a".iter().copied()), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_ne!(of(&["a", "b"]), of(&["ab"]));
        assert_ne!(of(&["a", "b"]), of(&["b", "a"]));
    }
}
