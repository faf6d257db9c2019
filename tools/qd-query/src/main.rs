//! `mlir-query` with the qd dialect: finds operations by matchers such as
//! `hasOpName("qd.simt.reduce")`.

use std::process::ExitCode;

fn main() -> ExitCode {
    match qd_dialects::tools::query_main(std::env::args_os()) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
