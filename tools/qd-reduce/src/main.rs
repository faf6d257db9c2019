//! `mlir-reduce` with the qd dialect and its passes: makes a module smaller for
//! as long as a test script, given the file, exits with another code than 0.

use std::process::ExitCode;

fn main() -> ExitCode {
    qd_lowering::register();
    match qd_dialects::tools::reduce_main(std::env::args_os()) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
