//! An entry as a file:
//!
//! | what | bytes |
//! |---|---|
//! | a line that identifies it | 8 |
//! | its key | 32 |
//! | the BLAKE3 hash of all that follows | 32 |
//! | how long the label is, little-endian | 4 |
//! | the label, for people: `flights for cpu` | |
//! | the contents | |
//!
//! The key is in the file so that an entry under another's name is seen to be that.

use crate::Key;

const MAGIC: &[u8; 8] = b"QDSTORE\n";
/// What is before the label.
const HEADER: usize = 8 + 32 + 32 + 4;

/// What an entry holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is, for people.
    pub label: String,
    /// What was put.
    pub contents: Vec<u8>,
}

impl Entry {
    /// The file's bytes.
    pub(crate) fn to_bytes(key: &Key, label: &str, contents: &[u8]) -> Vec<u8> {
        let length = u32::try_from(label.len()).expect("a label is short");
        let mut rest = length.to_le_bytes().to_vec();
        rest.extend(label.as_bytes());
        rest.extend(contents);
        [
            &MAGIC[..],
            key.as_bytes(),
            blake3::hash(&rest).as_bytes(),
            &rest,
        ]
        .concat()
    }

    /// Whether these bytes are what was written for this key.
    #[cfg(feature = "remote")]
    pub(crate) fn is_whole(key: &Key, bytes: &[u8]) -> bool {
        Self::label_of(key.as_bytes(), bytes).is_some()
    }

    /// Reads a file's bytes; none if they are not what was written for this key.
    pub(crate) fn from_bytes(key: &[u8], mut bytes: Vec<u8>) -> Option<Self> {
        let label = Self::label_of(key, &bytes)?.to_owned();
        bytes.drain(..HEADER + label.len());
        Some(Self {
            label,
            contents: bytes,
        })
    }

    /// The label of a file's bytes, if they are whole.
    fn label_of<'a>(key: &[u8], bytes: &'a [u8]) -> Option<&'a str> {
        let header = bytes.get(..HEADER)?;
        let (magic, header) = header.split_at(MAGIC.len());
        let (found, header) = header.split_at(32);
        let (hash, length) = header.split_at(32);
        let is_its = magic == MAGIC && found == key;
        if !is_its || blake3::hash(&bytes[HEADER - 4..]).as_bytes() != hash {
            return None;
        }
        let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
        let label = bytes.get(HEADER..HEADER.checked_add(length)?)?;
        std::str::from_utf8(label).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_anywhere_is_seen() {
        let key = Key::of([&b"k"[..]]);
        let bytes = Entry::to_bytes(&key, "k for cpu", b"contents");
        let read = |bytes: &[u8]| Entry::from_bytes(key.as_bytes(), bytes.into());
        let entry = read(&bytes).expect("it is whole");
        assert_eq!(
            (&*entry.label, &*entry.contents),
            ("k for cpu", &b"contents"[..])
        );
        for at in 0..bytes.len() {
            assert_eq!(read(&bytes[..at]), None, "cut at {at}");
            let mut flipped = bytes.clone();
            flipped[at] ^= 4;
            assert_eq!(read(&flipped), None, "flipped at {at}");
        }
        assert_eq!(read(&[&bytes[..], b"!"].concat()), None);
        let other = Key::of([&b"l"[..]]);
        assert_eq!(Entry::from_bytes(other.as_bytes(), bytes), None);
    }
}
