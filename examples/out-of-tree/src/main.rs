//! `my-opt`: an `mlir-opt` with the qd dialect, its passes, and ours.

use std::process::ExitCode;

fn main() -> ExitCode {
    qd_passes::register();
    my_passes::register();
    match qd_dialects::tools::opt_main(std::env::args_os()) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
