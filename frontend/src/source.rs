//! What sources have to do with MLIR: modules as sources, and which bytes it can read.

use crate::diagnostic::{Diagnostic, Diagnostics, Stage};
use qd_artifact::MAGIC;
use qd_dialects::{
    ir::{Op, OpExt},
    melior::ir::Module,
    report::{Span, span_of},
    serialize::{self, BytecodeHeader},
};
use qd_request::{ModuleBytes, Source};

/// That it is neither an artifact nor bytecode of a version that cannot be read.
pub fn check_form(source: &Source) -> Result<(), Diagnostics> {
    let Some(message) = unreadable(source) else {
        return Ok(());
    };
    let at = Some(Span {
        file: source.path().display().to_string(),
        line: 0,
        column: 0,
    });
    let error = Diagnostic::error(Stage::Parse, message);
    Err(Diagnostic { at, ..error }.into())
}

/// Why MLIR need not try.
fn unreadable(source: &Source) -> Option<String> {
    if source.bytes().starts_with(MAGIC) {
        return Some("is an artifact, which has been compiled: give its module".into());
    }
    let header = BytecodeHeader::of(source.bytes())?;
    (header.version > serialize::BYTECODE_VERSION).then(|| {
        format!(
            "bytecode of version {} (made by {}); this reads versions up to {}: write it again",
            header.version,
            header.producer,
            serialize::BYTECODE_VERSION,
        )
    })
}

/// A module of one of [`context`](crate::context)'s contexts. It is verified when it is read.
///
/// # Errors
///
/// Its context lacks a dialect of its operations, as another context may: an unregistered
/// operation would be read as a different one here.
pub fn module_bytes(module: &Module<'_>) -> Result<ModuleBytes, Diagnostics> {
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
        let at = span_of(op.location());
        return Err(Diagnostic { at, ..error }.into());
    }
    let bytes = serialize::bytecode(module);
    let bytes =
        bytes.ok_or_else(|| Diagnostic::error(Stage::Request, "the module has no binary form"))?;
    Ok(ModuleBytes::new(bytes))
}
