//! Code of bodies that is kept between compilations, so that an edit of one body converts and emits
//! that one.
//!
//! A body is looked up at the subgroup level, by a hash of all that it is there. What its conversion would
//! say is not kept, nor are reasons of its requirements, which have places: a body with either is made again.

use super::Setting;
use qd_artifact::{Origins, Requirements};
use qd_dialects::ir::Op;
use qd_passes::name_bodies;

/// Code of bodies that was made before, by the text of all that it follows from besides the compiler.
pub trait KeptCode {
    /// The code, if it is kept.
    fn get(&self, from: &str) -> Option<Vec<u8>>;
    /// Keeps it. `label` says what it is to people.
    fn put(&self, from: &str, label: &str, code: &[u8]);
}

/// What becomes of a part.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Made {
    pub code: Vec<u8>,
    pub needs: Requirements,
    pub origins: Origins,
}

impl Made {
    /// The bytes that are kept: how long the requirements are, little-endian; those, as JSON; the code. None if
    /// there is more to it.
    fn to_bytes(&self) -> Option<Vec<u8>> {
        if !self.origins.reasons.is_empty() {
            return None;
        }
        let needs = serde_json::to_vec(&self.needs).ok()?;
        let length = (needs.len() as u64).to_le_bytes();
        Some([&length, &needs[..], &self.code].concat())
    }

    /// Reads those bytes; none of anything else.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (needs, code) = rest.split_at_checked(length)?;
        Some(Self {
            code: code.to_vec(),
            needs: serde_json::from_slice(needs).ok()?,
            origins: Origins::default(),
        })
    }
}

/// Where parts are kept that are made in one setting.
pub struct KeptParts<'a> {
    kept: &'a dyn KeptCode,
    /// What all of them follow from.
    setting: String,
    label: String,
}

impl<'a> KeptParts<'a> {
    /// None where more takes part than is known.
    pub fn of(kept: &'a dyn KeptCode, setting: &Setting<'_>) -> Option<Self> {
        let options = setting.options.concerning(setting.backend().format)?;
        Some(Self {
            kept,
            setting: format!("{}\n{options}\n", setting.spec),
            label: setting.spec.to_string(),
        })
    }

    /// What a part at the subgroup level is kept by.
    pub fn key(&self, part: Op<'_>) -> String {
        format!("{}{}", self.setting, name_bodies::hash(part))
    }

    pub fn find(&self, key: &str) -> Option<Made> {
        Made::from_bytes(&self.kept.get(key)?)
    }

    pub fn keep<'n>(&self, key: &str, names: impl IntoIterator<Item = &'n String>, made: &Made) {
        let Some(bytes) = made.to_bytes() else { return };
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        let label = format!("code of {} for {}", names.join(", "), self.label);
        self.kept.put(key, &label, &bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_needs_are_kept_and_places_are_not() {
        let needs = Requirements {
            device: "znver4".into(),
            features: vec!["avx2".into()],
        };
        let mut made = Made {
            code: vec![1, 2, 3],
            needs,
            origins: Origins::default(),
        };
        let bytes = made.to_bytes().expect("it can be kept");
        assert_eq!(Made::from_bytes(&bytes), Some(made));
        for length in 0..bytes.len() - 3 {
            assert_eq!(Made::from_bytes(&bytes[..length]), None);
        }
        made = Made::default();
        let reasons = &mut made.origins.reasons;
        reasons.insert("Float64".into(), "arith.addf at k.mlir:3:4".into());
        assert_eq!(made.to_bytes(), None);
    }
}
