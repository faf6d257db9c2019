//! The drivers behind `qd-opt`, `qd-lsp-server`, `qd-reduce` and `qd-query`.

use crate::{parse, registry, spans};
use melior::StringRef;
use std::ffi::{CString, c_char};

/// Upstream's flag for errors that print the operation they are about.
const PRINT_OP: &str = "mlir-print-op-on-diagnostic";

/// Runs an `mlir-opt` over every upstream dialect and pass, ours, and whatever
/// has been registered since. Returns the exit code.
pub fn opt_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    exit_on_fatal_errors("qd-opt");
    melior::utility::register_all_passes();
    let registry = registry();
    let mut arguments: Vec<String> = arguments.into_iter().collect();
    // The place says which operation it is. Upstream prints it again, and values
    // that are not in it as UNKNOWN.
    if !arguments.iter().any(|argument| argument.contains(PRINT_OP)) {
        arguments.insert(arguments.len().min(1), format!("--{PRINT_OP}=false"));
    }
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

/// Reduces a module to what a test script still finds interesting, with every
/// upstream dialect and pass, ours, and whatever has been registered since.
/// Returns the exit code.
pub fn reduce_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    exit_on_fatal_errors("qd-reduce");
    melior::utility::register_all_passes();
    let context = crate::context();
    // Upstream prints no warnings, and says in one why it reduces nothing.
    parse::print_diagnostics(&context);
    with_argv(arguments, |argc, argv| {
        // Safety: as above.
        unsafe { qd_sys::qdReduceMain(argc, argv, context.to_raw()) }
    })
}

/// Answers queries about a module, over the same dialects. Returns the exit
/// code.
pub fn query_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    exit_on_fatal_errors("qd-query");
    let context = crate::context();
    parse::print_diagnostics(&context);
    with_argv(arguments, |argc, argv| {
        // Safety: as above.
        unsafe { qd_sys::qdQueryMain(argc, argv, context.to_raw()) }
    })
}

/// From here on an error that LLVM does not return from is a message of the
/// tool's and exit code 1, instead of `LLVM ERROR` and an abort. For programs:
/// a library has no business with it.
pub fn exit_on_fatal_errors(tool: &str) {
    // Safety: the name is copied.
    unsafe { qd_sys::qdExitOnFatalErrors(StringRef::new(tool).to_raw()) }
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
