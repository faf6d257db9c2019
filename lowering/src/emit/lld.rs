//! Linking, by LLVM's linker in a process of its own, as MLIR's `gpu-module-to-binary` does it:
//! Debian's LLVM library has none.

use super::{CompileError, llvm::failed};
use qd_artifact::{LLD, Options};
use std::{ffi::OsString, fs, io::ErrorKind, process::Command};

/// One shared object of relocatable ones.
///
/// # Errors
///
/// There is no linker, or it fails: what it says.
pub fn link(objects: &[Vec<u8>], options: &Options) -> Result<Vec<u8>, CompileError> {
    let _span = tracing::info_span!("link").entered();
    let folder = tempfile::tempdir().map_err(|e| failed("linking", &e))?;
    let linked = folder.path().join("linked");
    let mut arguments: Vec<OsString> = ["-shared", "--no-undefined", "-o"].map(Into::into).into();
    arguments.push(linked.clone().into());
    for (i, object) in objects.iter().enumerate() {
        let path = folder.path().join(format!("{i}.o"));
        fs::write(&path, object).map_err(|e| failed("linking", &e))?;
        arguments.push(path.into());
    }
    run(&arguments, options)?;
    fs::read(&linked).map_err(|e| failed("linking", &e))
}

fn run(arguments: &[OsString], options: &Options) -> Result<(), CompileError> {
    let names = options.linkers();
    for name in &names {
        match Command::new(name).args(arguments).output() {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => return Err(failed("linking", &String::from_utf8_lossy(&output.stderr))),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&name.to_string_lossy(), &error)),
        }
    }
    let name = names[0].display();
    let what = format!("{name} was not found: install lld-22, or set {LLD}");
    Err(failed("linking", &what))
}
