//! Targets, by name.

use crate::Format;
use std::{fmt, str::FromStr};

/// A target as `--target=` spells it: a name, an architecture after a colon if it has some, and
/// options after commas, as in `cpu`, `nvptx:sm_90`, `vulkan:1.3,subgroup=8`.
///
/// It requires neither device nor driver: the compiler checks that the target exists, and the
/// runtime that a device for it does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TargetSpec {
    name: String,
    options: Vec<String>,
}

impl TargetSpec {
    /// A target without options: neither commas are in its name nor spaces around it.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            options: Vec::new(),
        }
    }

    /// With one more option, such as `subgroup=8`, of which the same is true.
    pub fn with(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// What is before the first comma: `vulkan:1.3`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The form of its code, which follows from what is before a colon; none if there is no such target.
    pub fn format(&self) -> Option<Format> {
        match self.name.split(':').next()? {
            "any" | "cpu" => Some(Format::Object),
            "nvptx" => Some(Format::Ptx),
            "amdgpu" => Some(Format::Hsaco),
            "vulkan" | "metal" => Some(Format::Spirv),
            _ => None,
        }
    }

    /// The text after each comma: `subgroup=8`.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.options.iter().map(String::as_str)
    }
}

/// Why a text is no target, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(String);

impl FromStr for TargetSpec {
    type Err = TargetError;

    /// Spaces around names and options are left out.
    ///
    /// # Errors
    ///
    /// There is no name, or nothing after a comma.
    fn from_str(text: &str) -> Result<Self, TargetError> {
        let mut parts = text.split(',').map(|part| part.trim().to_string());
        let name = parts.next().unwrap_or_default();
        let options: Vec<_> = parts.collect();
        if name.is_empty() {
            return Err(TargetError(format!(
                "target '{text}' has no name: expected one as in 'cpu' or 'nvptx:sm_90'"
            )));
        }
        if options.iter().any(String::is_empty) {
            return Err(TargetError(format!(
                "target '{text}' has an empty option: expected NAME=VALUE after each comma"
            )));
        }
        Ok(Self { name, options })
    }
}

impl fmt::Display for TargetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.options().try_for_each(|option| write!(f, ",{option}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_spelled_as_it_was_read() {
        for text in [
            "cpu",
            "nvptx:sm_90",
            "vulkan:1.3,subgroup=8",
            "abacus,a,b=c",
        ] {
            let target: TargetSpec = text.parse().expect("a target");
            assert_eq!(target.to_string(), text);
        }
        let spaced: TargetSpec = " cpu , wave=8".parse().expect("a target");
        assert_eq!(spaced.to_string(), "cpu,wave=8");
        assert_eq!(spaced.name(), "cpu");
        assert!(spaced.options().eq(["wave=8"]));
        assert_eq!(spaced, TargetSpec::new("cpu").with("wave=8"));
    }

    #[test]
    fn what_is_empty_is_no_target() {
        let message = |text: &str| {
            let error = text.parse::<TargetSpec>().expect_err("empty");
            error.to_string()
        };
        for text in ["", " ", ",cpu"] {
            let expected = "has no name: expected one as in 'cpu' or 'nvptx:sm_90'";
            assert_eq!(message(text), format!("target '{text}' {expected}"));
        }
        for text in ["cpu,", "cpu,,wave=8", "cpu,wave=8,", "cpu, "] {
            let expected = "has an empty option: expected NAME=VALUE after each comma";
            assert_eq!(message(text), format!("target '{text}' {expected}"));
        }
    }
}
