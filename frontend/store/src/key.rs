//! Keys: hashes of everything that an entry follows from.

use blake3::{Hash, Hasher};
use std::fmt;

/// The name of an entry: a hash of all that its contents follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(Hash);

impl Key {
    /// A key of these parts, in this order. Each counts with its length, so that `["ab", "c"]` is
    /// not `["a", "bc"]`.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize())
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.to_hex().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_parts_end_counts() {
        let of = |parts: &[&str]| Key::of(parts.iter().map(|part| part.as_bytes()));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["ab"]), of(&["ab", ""]));
    }
}
