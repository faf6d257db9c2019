//! Sources of a compilation, as data.

use crate::diagnostic::{Diagnostic, Diagnostics, Stage};
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

/// A module that is yet to be read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Text, and its name in diagnostics: no file of that name has to exist.
    Text {
        /// Such as `sum.mlir`.
        name: String,
        /// MLIR, with or without a `builtin.module` around it.
        text: Arc<str>,
    },
    /// MLIR's binary form.
    Bytecode(Arc<[u8]>),
    /// A module that was built in this process.
    Module(ModuleBytes),
    /// The contents of a file, text or bytecode: MLIR tells them apart.
    File {
        /// Its path, for diagnostics; `-` is standard input.
        path: PathBuf,
        /// All of it.
        bytes: Arc<[u8]>,
    },
}

impl Source {
    /// A text, and its name in diagnostics.
    pub fn text(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self::Text {
            name: name.into(),
            text: text.into(),
        }
    }

    /// Reads a file; `-` is standard input. It is opened once, as a pipe can only be read once.
    ///
    /// # Errors
    ///
    /// It cannot be read; the message names it.
    pub fn read(path: &Path) -> Result<Self, Diagnostics> {
        let bytes = read(path).map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::NotFound => "there is no such file".into(),
                io::ErrorKind::IsADirectory => "it is a folder".into(),
                _ => error.to_string(),
            };
            Diagnostic::error(Stage::Request, format!("{}: {why}", path.display()))
        })?;
        Ok(Self::File {
            path: path.into(),
            bytes: bytes.into(),
        })
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Source::Text { text, .. } => text.as_bytes(),
            Source::Bytecode(bytes) | Source::File { bytes, .. } => bytes,
            Source::Module(module) => &module.0,
        }
    }

    /// Its name in diagnostics.
    pub fn path(&self) -> &Path {
        match self {
            Source::Text { name, .. } => Path::new(name),
            Source::Bytecode(_) => Path::new("<bytecode>"),
            Source::Module(_) => Path::new("<module>"),
            Source::File { path, .. } => path,
        }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match path == Path::new("-") {
        true => io::stdin().read_to_end(&mut bytes)?,
        false => File::open(path)?.read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}

/// No kernels.
impl Default for Source {
    fn default() -> Self {
        Self::text("<empty>", "")
    }
}

/// A module that was built in memory, as bytecode, which outlives its context.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleBytes(Arc<[u8]>);

impl ModuleBytes {
    /// Bytecode that was made in this process.
    pub fn new(bytecode: impl Into<Arc<[u8]>>) -> Self {
        Self(bytecode.into())
    }
}

impl From<ModuleBytes> for Source {
    fn from(module: ModuleBytes) -> Self {
        Self::Module(module)
    }
}
