//! The drivers behind `qd-opt` and `qd-lsp-server`.

use crate::{registry, spans};
use melior::StringRef;
use std::ffi::{CString, c_char};

/// Runs an `mlir-opt` over every upstream dialect and pass, ours, and whatever
/// has been registered since. Returns the exit code.
pub fn opt_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    melior::utility::register_all_passes();
    let registry = registry();
    with_argv(arguments, |argc, argv| {
        // Safety: the arguments live through the call.
        unsafe {
            qd_sys::qdOptMain(
                argc,
                argv,
                StringRef::new("qd optimizer driver\n").to_raw(),
                registry.to_raw(),
                spans::wanted().map_or(std::ptr::null(), std::ptr::from_ref),
            )
        }
    })
}

/// Runs a language server over the same dialects, on standard input and
/// output. Returns the exit code.
pub fn lsp_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    let registry = registry();
    with_argv(arguments, |argc, argv| {
        // Safety: as above.
        unsafe { qd_sys::qdLspServerMain(argc, argv, registry.to_raw()) }
    })
}

fn with_argv(
    arguments: impl IntoIterator<Item = String>,
    main: impl FnOnce(i32, *mut *mut c_char) -> i32,
) -> i32 {
    let owned: Vec<CString> = arguments
        .into_iter()
        .map(|a| CString::new(a).unwrap_or_default())
        .collect();
    let mut argv: Vec<*mut c_char> = owned.iter().map(|a| a.as_ptr().cast_mut()).collect();
    let argc = argv.len() as i32;
    argv.push(std::ptr::null_mut());
    main(argc, argv.as_mut_ptr())
}
