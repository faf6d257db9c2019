//! Language server for MLIR with the qd dialect: diagnostics, hover and
//! go-to-definition in any editor that speaks the protocol.

use std::process::ExitCode;

fn main() -> ExitCode {
    match qd_dialects::tools::lsp_main(std::env::args_os()) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
