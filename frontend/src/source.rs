//! Sources of a compilation, as data.

use crate::diagnostic::{Diagnostic, Diagnostics, Stage};
use qd_artifact::MAGIC;
use qd_dialects::{
    ir::{Op, OpExt},
    melior::ir::Module,
    parse,
    report::Span,
    serialize::{self, BytecodeHeader},
};
use std::{
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
        let bytes = parse::read(path).map_err(|why| Diagnostic::error(Stage::Request, why))?;
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
    pub(crate) fn path(&self) -> &Path {
        match self {
            Source::Text { name, .. } => Path::new(name),
            Source::Bytecode(_) => Path::new("<bytecode>"),
            Source::Module(_) => Path::new("<module>"),
            Source::File { path, .. } => path,
        }
    }

    /// That it is neither an artifact nor bytecode of a version that cannot be read.
    pub(crate) fn check_form(&self) -> Result<(), Diagnostics> {
        let Some(message) = self.unreadable() else {
            return Ok(());
        };
        let at = Some(Span {
            file: self.path().display().to_string(),
            line: 0,
            column: 0,
        });
        let error = Diagnostic::error(Stage::Parse, message);
        Err(Diagnostic { at, ..error }.into())
    }

    /// Why MLIR need not try.
    fn unreadable(&self) -> Option<String> {
        if self.bytes().starts_with(MAGIC) {
            return Some("is an artifact, which has been compiled: give its module".into());
        }
        let header = BytecodeHeader::of(self.bytes())?;
        (header.version > serialize::BYTECODE_VERSION).then(|| {
            format!(
                "bytecode of version {} (made by {}); this reads versions up to {}: write it again",
                header.version,
                header.producer,
                serialize::BYTECODE_VERSION,
            )
        })
    }
}

/// No kernels.
impl Default for Source {
    fn default() -> Self {
        Self::text("<empty>", "")
    }
}

/// A module that was built in memory, in a form that outlives its context.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleBytes(Arc<[u8]>);

impl ModuleBytes {
    /// A module of one of [`context`](crate::context)'s contexts. It is verified when it is read.
    ///
    /// # Errors
    ///
    /// Its context lacks a dialect of its operations, as another context may: an unregistered
    /// operation would be read as a different one here.
    pub fn of(module: &Module<'_>) -> Result<Self, Diagnostics> {
        // Safety: the handle is used while the module lives.
        let root: Op<'_> = unsafe { Op::from_raw(module.as_operation().to_raw()) };
        // Not by `context_of`, which loads our dialect.
        let context = module.context();
        // Safety: the context is used while the module lives.
        let context = unsafe { context.to_ref() };
        let is_foreign = |op: &&Op<'_>| !context.is_registered_operation(op.full_name());
        if let Some(op) = root.nested().iter().find(is_foreign) {
            let error = Diagnostic::error(
                Stage::Request,
                format!(
                    "'{}' is of a dialect that the module's context does not know: build modules in \
                     a context of qd_frontend::context()",
                    op.full_name()
                ),
            );
            let at = Span::of(op.location());
            return Err(Diagnostic { at, ..error }.into());
        }
        let bytes = serialize::bytecode(module);
        let bytes = bytes
            .ok_or_else(|| Diagnostic::error(Stage::Request, "the module has no binary form"))?;
        Ok(Self(bytes.into()))
    }
}

impl From<ModuleBytes> for Source {
    fn from(module: ModuleBytes) -> Self {
        Self::Module(module)
    }
}
