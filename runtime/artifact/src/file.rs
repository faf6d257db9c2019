//! An artifact as one file, whose modules are used in place:
//!
//! | what | bytes |
//! |---|---|
//! | a line that identifies it | 8 |
//! | how long the manifest is, little-endian | 8 |
//! | the manifest, as JSON: the format, who made it, each section's length and hash | |
//! | the plan, as JSON | from a multiple of 64 on |
//! | each module's code, in the order of the plan | from a multiple of 64 on |
//!
//! The bytes skipped between them are 0, and nothing follows the last one.

use crate::Artifact;
use blake3::Hash;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Counts up whenever older readers would misunderstand the file.
pub const FORMAT: u32 = 9;

/// What every artifact begins with, of whatever format.
pub const MAGIC: &[u8; 8] = b"QDARTIF\n";

/// The alignment of each section in the file.
pub const ALIGNMENT: usize = 64;

/// What every format says of itself.
#[derive(Deserialize)]
struct Made {
    format: u32,
    version: String,
}

#[derive(Serialize, Deserialize)]
struct Manifest {
    format: u32,
    version: String,
    /// The plan, and each module.
    sections: Vec<Section>,
}

/// The hash detects damaged code, which must not run; it does not prevent forgery.
#[derive(Serialize, Deserialize)]
struct Section {
    bytes: usize,
    /// In hexadecimal digits.
    blake3: String,
}

/// Why bytes are not an artifact.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
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

impl FileError {
    /// Whether the file cannot be read; otherwise it is no artifact that this takes.
    pub fn is_of_file(&self) -> bool {
        matches!(self, FileError::Read(_))
    }
}

impl Artifact {
    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let plan = serde_json::to_vec(self).expect("an artifact is plain data");
        let mut parts = vec![(&plan[..], blake3::hash(&plan))];
        parts.extend(self.modules.iter().map(|m| (&m.bytes()[..], m.id())));
        let section = |(bytes, hash): &(&[u8], Hash)| Section {
            bytes: bytes.len(),
            blake3: hash.to_hex().to_string(),
        };
        let manifest = serde_json::to_vec(&Manifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            sections: parts.iter().map(section).collect(),
        });
        let manifest = manifest.expect("a manifest is plain data");
        let mut bytes = MAGIC.to_vec();
        bytes.extend((manifest.len() as u64).to_le_bytes());
        bytes.extend(manifest);
        for (part, _) in parts {
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
            bytes.extend(part);
        }
        bytes
    }

    /// Writes it to a file, as a whole: those that have mapped what was there keep that.
    ///
    /// # Errors
    ///
    /// The file cannot be written: what was there still is.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        crate::replace(path.as_ref(), &self.to_bytes())
    }

    /// Opens a file and maps its modules. To replace an artifact, write another file and
    /// rename it: a change to a mapped file changes the code of those who use it.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no artifact of this format.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let mut file = File::open(path)?;
        if !file.metadata()?.is_file() {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            return Self::from_bytes(bytes);
        }
        // Safety: as said above.
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        Self::from_bytes(Bytes::from_owner(map))
    }

    /// Reads a file's bytes, of which the modules are slices.
    ///
    /// # Errors
    ///
    /// They are no artifact of this format.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Result<Self, FileError> {
        let bytes = bytes.into();
        let rest = bytes.strip_prefix(MAGIC).ok_or(FileError::NotAnArtifact)?;
        let (size, rest) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
        let size = usize::try_from(u64::from_le_bytes(*size)).map_err(|_| cut())?;
        let manifest = rest.get(..size).ok_or_else(cut)?;
        let of_manifest = |e: serde_json::Error| damaged(format!("its manifest: {e}"));
        let made: Made = serde_json::from_slice(manifest).map_err(of_manifest)?;
        if made.format != FORMAT {
            return Err(FileError::OtherVersion {
                found: made.format,
                version: made.version,
            });
        }
        let manifest: Manifest = serde_json::from_slice(manifest).map_err(of_manifest)?;
        let mut sections = Sections {
            at: bytes.len() - rest.len() + size,
            bytes,
        };
        let Some((plan, modules)) = manifest.sections.split_first() else {
            return Err(damaged("its manifest lists no plan".into()));
        };
        let (plan, _) = sections.next(plan, "its plan")?;
        let mut artifact = read_plan(&plan)?;
        if artifact.modules.len() != modules.len() {
            return Err(damaged(format!(
                "its plan has {} modules, and its manifest {}",
                artifact.modules.len(),
                modules.len()
            )));
        }
        for (i, (module, section)) in artifact.modules.iter_mut().zip(modules).enumerate() {
            let (code, id) = sections.next(section, &format!("module {i}"))?;
            module.set_hashed(code, id);
        }
        match sections.bytes.len() - sections.at {
            0 => Ok(artifact),
            more => Err(damaged(format!("{more} bytes too many"))),
        }
    }
}

fn damaged(why: String) -> FileError {
    FileError::Damaged(why)
}

fn cut() -> FileError {
    damaged("it is cut short".into())
}

/// The sections of a file, one after the other.
struct Sections {
    bytes: Bytes,
    /// Where the last one ended.
    at: usize,
}

impl Sections {
    fn next(&mut self, section: &Section, what: &str) -> Result<(Bytes, Hash), FileError> {
        let begin = self.at.next_multiple_of(ALIGNMENT);
        let end = begin.checked_add(section.bytes);
        let end = end
            .filter(|end| *end <= self.bytes.len())
            .ok_or_else(|| damaged(format!("it is cut short: {what} ends beyond it")))?;
        if self.bytes[self.at..begin].iter().any(|byte| *byte != 0) {
            return Err(damaged(format!("what is before {what} is not 0")));
        }
        let bytes = self.bytes.slice(begin..end);
        let hash = blake3::hash(&bytes);
        if *hash.to_hex() != *section.blake3 {
            return Err(damaged(format!(
                "{what}, bytes {begin} to {end}, does not have the hash of its manifest"
            )));
        }
        self.at = end;
        Ok((bytes, hash))
    }
}

/// Brackets within brackets that a plan may have. What can be compiled has four for
/// each level of its source, of which there are at most 1,024, and some hundreds for an
/// expression.
const MOST_NESTED: usize = 4608;

fn read_plan(plan: &[u8]) -> Result<Artifact, FileError> {
    if nesting(plan) > MOST_NESTED {
        let what = format!("its plan is nested more than {MOST_NESTED} levels deep");
        return Err(damaged(what));
    }
    let mut json = serde_json::Deserializer::from_slice(plan);
    // Its own limit is below what there is.
    json.disable_recursion_limit();
    let artifact = Artifact::deserialize(&mut json);
    artifact
        .and_then(|artifact| json.end().map(|()| artifact))
        .map_err(|e| damaged(format!("its plan: {e}")))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Body, BufferRef, Expr, Format, Kernel, Module, Plan, Requirements, Step, StepKind,
    };

    fn plan(steps: Vec<Step>) -> Plan {
        Plan {
            control: 0,
            steps,
            needs: Requirements {
                device: "znver4".into(),
                features: vec!["avx2".into()],
            },
            ..Plan::default()
        }
    }

    fn module(name: &str, bytes: &[u8]) -> Module {
        let name = name.into();
        Module::new(
            0,
            Format::Object,
            vec![Body { name, wave: 32 }],
            bytes.to_vec(),
        )
    }

    fn artifact() -> Artifact {
        Artifact {
            targets: vec!["cpu".into()],
            kernels: vec![Kernel {
                name: "k".into(),
                arguments: Vec::new(),
                plans: vec![Some(plan(Vec::new()))],
            }],
            modules: vec![
                module("a", &[1, 2, 3]),
                module("b", &[]),
                module("c", &[4; 99]),
            ],
            ..Artifact::default()
        }
    }

    #[test]
    fn files_round_trip() {
        let bytes = artifact().to_bytes();
        assert_eq!(Artifact::from_bytes(bytes).expect("readable"), artifact());
    }

    /// Of a mapped file and of bytes: modules are part of what was given.
    #[test]
    fn modules_are_used_in_place() {
        let bytes = Bytes::from(artifact().to_bytes());
        let read = Artifact::from_bytes(bytes.clone()).expect("readable");
        let begin = bytes.as_ptr() as usize;
        for module in &read.modules {
            let at = module.bytes().as_ptr() as usize;
            assert!((begin..=begin + bytes.len()).contains(&at));
            assert_eq!((at - begin) % ALIGNMENT, 0);
            assert_eq!(module.id(), blake3::hash(module.bytes()));
        }

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("k.qdart");
        artifact().save(&path).expect("written");
        let read = Artifact::open(&path).expect("readable");
        // Another one in its place leaves what is mapped as it was.
        Artifact {
            targets: vec!["metal".into()],
            ..artifact()
        }
        .save(&path)
        .expect("written");
        assert_eq!(read, artifact());
        for module in &read.modules {
            assert_eq!(module.bytes().as_ptr() as usize % ALIGNMENT, 0);
        }
        // The map lives as long as one of them.
        let last = read.modules[2].clone();
        drop(read);
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(last.bytes()[..], [4; 99]);
        assert!(matches!(Artifact::open(&path), Err(FileError::Read(_))));
    }

    #[test]
    fn files_of_nothing_and_what_is_no_file_are_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("empty");
        std::fs::write(&path, "").expect("written");
        assert!(matches!(
            Artifact::open(&path),
            Err(FileError::NotAnArtifact)
        ));
        assert!(matches!(
            Artifact::open(folder.path()),
            Err(FileError::Read(_))
        ));
    }

    /// A kernel whose only step is a fill from an expression so deep.
    fn deep(levels: u32) -> Artifact {
        let lower = (0..levels).fold(Expr::Scalar(0), |value, _| Expr::Resize {
            to: 32,
            signed: true,
            value: value.into(),
        });
        let fill = StepKind::Fill {
            buffer: BufferRef {
                argument: 0,
                view: None,
            },
            lower,
            upper: Expr::constant(1),
            value: Expr::constant(2),
        };
        let fill = Step {
            id: 0,
            after: Vec::new(),
            kind: fill,
        };
        let kernel = Kernel {
            name: "k".into(),
            arguments: Vec::new(),
            plans: vec![Some(plan(vec![fill]))],
        };
        Artifact {
            kernels: vec![kernel],
            ..artifact()
        }
    }

    #[test]
    fn expressions_may_be_deep_but_not_too_deep() {
        let bytes = deep(2256).to_bytes();
        assert_eq!(Artifact::from_bytes(bytes).expect("readable"), deep(2256));
        let error = Artifact::from_bytes(deep(2400).to_bytes()).expect_err("too deep");
        assert!(error.to_string().contains("nested more than"), "{error}");
    }

    #[test]
    fn damage_is_an_error_wherever_it_is() {
        let bytes = Bytes::from(artifact().to_bytes());
        for length in 0..bytes.len() {
            assert!(
                Artifact::from_bytes(bytes.slice(..length)).is_err(),
                "{length}"
            );
            let mut flipped = bytes.to_vec();
            flipped[length] ^= 4;
            // Who made it is all that may change.
            let read = Artifact::from_bytes(flipped);
            assert!(
                read.is_err() || read.is_ok_and(|a| a == artifact()),
                "{length}"
            );
        }
        let longer = [&bytes[..], &[0]].concat();
        let error = Artifact::from_bytes(longer).expect_err("too long");
        assert!(error.to_string().contains("1 bytes too many"), "{error}");
    }

    /// The bytes of an artifact with a manifest of our own.
    fn with_manifest(text: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }

    #[test]
    fn other_formats_are_named() {
        for (format, header) in [
            (
                4,
                r#"{"format":4,"version":"0.1.0","binary_bytes":0,"checksum":1}"#,
            ),
            (
                99,
                r#"{"format":99,"version":"9.9","sections":"elsewhere"}"#,
            ),
        ] {
            let error = Artifact::from_bytes(with_manifest(header)).expect_err("another format");
            let message = error.to_string();
            assert!(message.contains(&format!("format {format} ")), "{message}");
            assert!(message.ends_with("compile it again"), "{message}");
        }
    }

    #[test]
    fn manifests_that_lie_are_errors() {
        let empty = blake3::hash(&[]).to_hex();
        for (sections, why) in [
            (String::new(), "lists no plan"),
            (
                r#"{"bytes":18446744073709551615,"blake3":""}"#.into(),
                "cut short",
            ),
            (
                format!(r#"{{"bytes":0,"blake3":"{empty}"}}"#),
                "its plan: EOF",
            ),
            (
                r#"{"bytes":-1,"blake3":""}"#.into(),
                "its manifest: invalid value",
            ),
        ] {
            let manifest = format!(r#"{{"format":{FORMAT},"version":"","sections":[{sections}]}}"#);
            let mut bytes = with_manifest(&manifest);
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
            let error = Artifact::from_bytes(bytes).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
        // More or fewer modules than the plan has.
        let plan = serde_json::to_vec(&artifact()).expect("plain data");
        let section = |bytes: &[u8]| {
            let hash = blake3::hash(bytes).to_hex();
            format!(r#"{{"bytes":{},"blake3":"{hash}"}}"#, bytes.len())
        };
        let sections = section(&plan);
        let mut bytes = with_manifest(&format!(
            r#"{{"format":{FORMAT},"version":"","sections":[{sections}]}}"#
        ));
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        bytes.extend(plan);
        let error = Artifact::from_bytes(bytes)
            .expect_err("no modules")
            .to_string();
        assert!(
            error.contains("its plan has 3 modules, and its manifest 0"),
            "{error}"
        );
    }
}
