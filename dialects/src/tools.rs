//! The drivers behind `qd-opt` and `qd-lsp-server`.

use crate::{registry, spans};
use melior::StringRef;
use std::{
    ffi::{CString, OsString, c_char},
    os::unix::ffi::OsStringExt,
    panic::resume_unwind,
    thread,
};

/// Runs an `mlir-opt` over every upstream dialect and pass, ours, and whatever
/// has been registered since. Returns the exit code.
pub fn opt_main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let arguments: Vec<_> = arguments.into_iter().collect();
    on_a_large_stack(|| opt_main_here(arguments))
}

fn opt_main_here(arguments: Vec<OsString>) -> i32 {
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
pub fn lsp_main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let arguments: Vec<_> = arguments.into_iter().collect();
    on_a_large_stack(|| lsp_main_here(arguments))
}

fn lsp_main_here(arguments: Vec<OsString>) -> i32 {
    let registry = registry();
    with_argv(arguments, |argc, argv| {
        // Safety: as above.
        unsafe { qd_sys::qdLspServerMain(argc, argv, registry.to_raw()) }
    })
}

/// Address space, of which as much becomes memory as is used.
const STACK: usize = 512 << 20;

/// Upstream reads what is nested by calling itself. In text that `qd-opt` reads the
/// depth has a limit; bytecode, and what an editor sends, go straight to upstream.
fn on_a_large_stack(main: impl FnOnce() -> i32 + Send) -> i32 {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(scope, main) {
            Ok(main) => main.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(error) => {
                eprintln!("no thread with {STACK} bytes of stack: {error}");
                1
            }
        }
    })
}

fn with_argv(arguments: Vec<OsString>, main: impl FnOnce(i32, *mut *mut c_char) -> i32) -> i32 {
    let owned: Vec<CString> = arguments
        .into_iter()
        .map(|a| CString::new(a.into_vec()).unwrap_or_default())
        .collect();
    let mut argv: Vec<*mut c_char> = owned.iter().map(|a| a.as_ptr().cast_mut()).collect();
    let argc = argv.len() as i32;
    argv.push(std::ptr::null_mut());
    main(argc, argv.as_mut_ptr())
}
