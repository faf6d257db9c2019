//! Modules from files and from memory.

use melior::{Context, ir::Module};
use mlir_sys::MlirStringRef;
use std::{
    fs::File,
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::Path,
};

/// The contents of a file; `-` is standard input. It is opened once, as a pipe can
/// only be read once.
///
/// # Errors
///
/// The file cannot be read: the reason, as text.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true => io::stdin().read_to_end(&mut bytes),
        false => File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    let why = match read {
        Ok(_) => return Ok(bytes),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".into(),
            io::ErrorKind::IsADirectory => "it is a folder".into(),
            _ => error.to_string(),
        },
    };
    Err(format!("{}: {why}", path.display()))
}

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
