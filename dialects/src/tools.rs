//! The drivers behind `qd-opt`, `qd-lsp-server`, `qd-reduce` and `qd-query`.

use crate::{registry, report, spans};
use melior::StringRef;
use std::{
    ffi::{CString, OsString, c_char},
    os::unix::ffi::OsStringExt,
    panic::resume_unwind,
    thread,
};

/// Upstream's flag for errors that print the operation they are about.
const PRINT_OP: &str = "mlir-print-op-on-diagnostic";

/// Runs an `mlir-opt` over every upstream dialect and pass, ours, and whatever
/// has been registered since. Returns the exit code.
pub fn opt_main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let arguments: Vec<_> = arguments.into_iter().collect();
    on_a_large_stack(|| opt_main_here(arguments))
}

fn opt_main_here(mut arguments: Vec<OsString>) -> i32 {
    exit_on_fatal_errors("qd-opt");
    melior::utility::register_all_passes();
    let registry = registry();
    // The place says which operation it is. Upstream prints it again, and values
    // that are not in it as UNKNOWN.
    let names = |argument: &OsString| argument.to_string_lossy().contains(PRINT_OP);
    if !arguments.iter().any(names) {
        let flag = format!("--{PRINT_OP}=false");
        arguments.insert(arguments.len().min(1), flag.into());
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

/// Reduces a module to what a test script still finds interesting, with every
/// upstream dialect and pass, ours, and whatever has been registered since.
/// Returns the exit code.
pub fn reduce_main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    exit_on_fatal_errors("qd-reduce");
    melior::utility::register_all_passes();
    let context = crate::context();
    // Upstream prints no warnings, and says in one why it reduces nothing.
    report::print_diagnostics(&context);
    with_argv(arguments.into_iter().collect(), |argc, argv| {
        // Safety: as above.
        unsafe { qd_sys::qdReduceMain(argc, argv, context.to_raw()) }
    })
}

/// Answers queries about a module, over the same dialects. Returns the exit
/// code.
pub fn query_main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    exit_on_fatal_errors("qd-query");
    let context = crate::context();
    report::print_diagnostics(&context);
    with_argv(arguments.into_iter().collect(), |argc, argv| {
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
