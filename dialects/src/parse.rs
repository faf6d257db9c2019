//! Modules from text and bytecode.

use melior::{Context, ir::Module};
use mlir_sys::MlirStringRef;
use std::{os::unix::ffi::OsStrExt, path::Path};

/// Parses and verifies a module: text or bytecode, with or without a
/// `builtin.module` around it, nested 1,024 levels deep at most. Errors are reported
/// through the context's diagnostic handlers, with line and column of the file at
/// `path`.
pub fn parse<'c>(context: &'c Context, source: &[u8], path: &Path) -> Option<Module<'c>> {
    let name: &[u8] = match path == Path::new("-") {
        true => b"<stdin>",
        false => path.as_os_str().as_bytes(),
    };
    // Safety: context, source and name outlive the call, and a null module is
    // `None`.
    unsafe {
        let raw = qd_sys::qdParse(context.to_raw(), borrowed(source), borrowed(name));
        Module::from_option_raw(raw)
    }
}

fn borrowed(bytes: &[u8]) -> MlirStringRef {
    MlirStringRef {
        data: bytes.as_ptr().cast(),
        length: bytes.len(),
    }
}
