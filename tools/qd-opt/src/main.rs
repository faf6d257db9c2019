//! `mlir-opt` with the qd dialect and its passes.
//!
//! Takes every flag of `mlir-opt`, and of its own: `--to=<level>` stops at a
//! rung of the ladder, `--trace=FILE` writes a Chrome trace.

mod levels;

use std::process::ExitCode;

fn main() -> ExitCode {
    let (arguments, own) = match levels::split(std::env::args_os()) {
        Ok(split) => split,
        Err(message) => {
            eprintln!("qd-opt: {message}");
            return ExitCode::FAILURE;
        }
    };
    let _guard = qd_trace::init(own.trace.as_deref());
    qd_passes::register();
    qd_lowering::register();
    match qd_dialects::tools::opt_main(arguments) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
