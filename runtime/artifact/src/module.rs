//! Code for a device, with the bodies in it.

use blake3::Hash;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Code that a device's driver takes as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Module {
    /// Which of the artifact's targets it is for.
    pub target: usize,
    /// What its bytes are.
    pub format: Format,
    /// The bodies that can be launched.
    pub bodies: Vec<Body>,
    /// Not of the plan: a section of the file.
    #[serde(skip)]
    code: Code,
}

/// What the bytes of a module are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A relocatable object of the host's.
    Object,
    /// PTX as NUL-terminated text.
    Ptx,
    /// An AMD code object: an ELF file, as HIP loads it.
    Hsaco,
    /// The words of a SPIR-V module, little-endian.
    Spirv,
}

/// A body of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Hash)]
pub struct Body {
    /// Its symbol.
    pub name: String,
    /// Lanes in a subgroup.
    pub wave: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct Code {
    id: Hash,
    bytes: Bytes,
}

impl Code {
    fn new(bytes: Bytes) -> Self {
        Self {
            id: blake3::hash(&bytes),
            bytes,
        }
    }
}

impl Default for Code {
    fn default() -> Self {
        Self::new(Bytes::new())
    }
}

impl Module {
    /// A module of these bytes.
    pub fn new(target: usize, format: Format, bodies: Vec<Body>, bytes: impl Into<Bytes>) -> Self {
        Self {
            target,
            format,
            bodies,
            code: Code::new(bytes.into()),
        }
    }

    /// The BLAKE3 hash of its bytes: modules of one id and format are the same code.
    pub fn id(&self) -> Hash {
        self.code.id
    }

    /// The code. Clones share it, with the file if it is mapped.
    pub fn bytes(&self) -> &Bytes {
        &self.code.bytes
    }

    /// Gives it other code.
    pub fn set_bytes(&mut self, bytes: impl Into<Bytes>) {
        self.code = Code::new(bytes.into());
    }

    /// Bytes whose hash is known.
    pub(crate) fn set_hashed(&mut self, bytes: Bytes, id: Hash) {
        self.code = Code { id, bytes };
    }
}
