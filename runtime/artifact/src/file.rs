//! An artifact as one file: a line that identifies it, the plan as JSON, the
//! binary.

use crate::Artifact;
use serde::{Deserialize, Serialize};

/// Counts up whenever older readers would misunderstand the file.
pub const FORMAT: u32 = 4;

const MAGIC: &[u8; 8] = b"QDARTIF\n";

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    version: String,
    binary_bytes: usize,
    #[serde(default)]
    checksum: u64,
}

/// FNV-1a. Code that was damaged must not run; nobody is kept from forging it.
fn checksum(parts: &[&[u8]]) -> u64 {
    parts
        .iter()
        .flat_map(|part| part.iter())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Why bytes are not an artifact.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// No artifact at all.
    #[error("not a qd artifact")]
    NotAnArtifact,
    /// Made by another version of the tools.
    #[error("artifact of format {found} (made by qd {version}); this is qd {}, which reads format {FORMAT}: compile it again", env!("CARGO_PKG_VERSION"))]
    OtherVersion {
        /// The format it has.
        found: u32,
        /// The version that made it.
        version: String,
    },
    /// Cut short or damaged.
    #[error("the artifact is damaged: {0}")]
    Damaged(String),
}

impl Artifact {
    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let plan = serde_json::to_vec(self).expect("an artifact is plain data");
        let header = Header {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            binary_bytes: self.binary.len(),
            checksum: checksum(&[&plan, &self.binary]),
        };
        let header = serde_json::to_vec(&header).expect("a header is plain data");
        let mut bytes = MAGIC.to_vec();
        for part in [header, plan] {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part);
        }
        bytes.extend(&self.binary);
        bytes
    }

    /// Reads a file's bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(FileError::NotAnArtifact)?;
        let (header, rest) = part(rest)?;
        let header: Header =
            serde_json::from_slice(header).map_err(|e| FileError::Damaged(e.to_string()))?;
        if header.format != FORMAT {
            return Err(FileError::OtherVersion {
                found: header.format,
                version: header.version,
            });
        }
        let (plan, binary) = part(rest)?;
        if binary.len() != header.binary_bytes {
            return Err(FileError::Damaged(format!(
                "{} bytes of binary instead of {}",
                binary.len(),
                header.binary_bytes
            )));
        }
        if checksum(&[plan, binary]) != header.checksum {
            return Err(FileError::Damaged("its checksum is wrong".into()));
        }
        let mut artifact = read_plan(plan)?;
        artifact.binary = binary.to_vec();
        Ok(artifact)
    }
}

/// Brackets within brackets that a plan may have. What can be compiled has some
/// hundreds: steps are nested as their source is, and expressions are deep.
const MOST_NESTED: usize = 2048;

fn read_plan(plan: &[u8]) -> Result<Artifact, FileError> {
    if nesting(plan) > MOST_NESTED {
        let what = format!("its plan is nested more than {MOST_NESTED} levels deep");
        return Err(FileError::Damaged(what));
    }
    let mut json = serde_json::Deserializer::from_slice(plan);
    // Its own limit is below what there is.
    json.disable_recursion_limit();
    let artifact = Artifact::deserialize(&mut json);
    artifact
        .and_then(|artifact| json.end().map(|()| artifact))
        .map_err(|e| FileError::Damaged(e.to_string()))
}

/// How deep brackets of JSON are nested.
fn nesting(json: &[u8]) -> usize {
    let (mut depth, mut most, mut in_string) = (0_usize, 0, false);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => drop(bytes.next()),
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

fn part(bytes: &[u8]) -> Result<(&[u8], &[u8]), FileError> {
    let short = || FileError::Damaged("it is cut short".into());
    let (size, rest) = bytes.split_first_chunk::<8>().ok_or_else(short)?;
    let size = usize::try_from(u64::from_le_bytes(*size)).map_err(|_| short())?;
    rest.split_at_checked(size).ok_or_else(short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BufferRef, Expr, Kernel, Requirements, Step};

    fn artifact() -> Artifact {
        Artifact {
            target: "cpu".into(),
            wave: 32,
            requirements: Requirements {
                device: "znver4".into(),
                features: vec!["avx2".into()],
                ..Requirements::default()
            },
            kernels: Vec::new(),
            binary: vec![1, 2, 3],
        }
    }

    #[test]
    fn files_round_trip() {
        let bytes = artifact().to_bytes();
        assert_eq!(Artifact::from_bytes(&bytes).expect("readable"), artifact());
    }

    /// A kernel whose only step is a fill from an expression so deep.
    fn deep(levels: u32) -> Artifact {
        let lower = (0..levels).fold(Expr::Scalar(0), |value, _| Expr::Resize {
            to: 32,
            signed: true,
            value: value.into(),
        });
        let fill = Step::Fill {
            buffer: BufferRef {
                argument: 0,
                view: None,
            },
            lower,
            upper: Expr::constant(1),
            value: Expr::constant(2),
        };
        let kernel = Kernel {
            name: "k".into(),
            arguments: Vec::new(),
            control: 0,
            steps: vec![fill],
        };
        Artifact {
            kernels: vec![kernel],
            ..artifact()
        }
    }

    #[test]
    fn expressions_may_be_deep_but_not_too_deep() {
        let bytes = deep(256).to_bytes();
        assert_eq!(Artifact::from_bytes(&bytes).expect("readable"), deep(256));
        let error = Artifact::from_bytes(&deep(2000).to_bytes()).expect_err("too deep");
        assert!(error.to_string().contains("nested more than"), "{error}");
    }

    #[test]
    fn damage_is_an_error_wherever_it_is() {
        let bytes = artifact().to_bytes();
        for length in 0..bytes.len() {
            assert!(Artifact::from_bytes(&bytes[..length]).is_err(), "{length}");
            let mut flipped = bytes.clone();
            flipped[length] ^= 4;
            // Who made it is all that may change.
            let read = Artifact::from_bytes(&flipped);
            assert!(
                read.is_err() || read.is_ok_and(|a| a == artifact()),
                "{length}"
            );
        }
    }

    #[test]
    fn another_format_is_named() {
        let text = br#"{"format":99,"version":"9.9","binary_bytes":0}"#;
        let mut bytes = MAGIC.to_vec();
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
        let error = Artifact::from_bytes(&bytes).expect_err("another format");
        assert!(error.to_string().contains("format 99"), "{error}");
    }
}
