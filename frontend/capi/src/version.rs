//! Whether a program, its header and the library are of one version.

use crate::status::{Failure, qd_status, run};
use std::ffi::c_char;

/// As `QD_API_VERSION` of the header.
const API_VERSION: u32 = 1;

/// As `QD_HEADER_HASH` of the header that the library was built with.
fn header_hash() -> u64 {
    u64::from_str_radix(env!("QD_HEADER_HASH"), 16).unwrap_or_default()
}

/// The library's version, as in "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn qd_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Whether a program fits the library, by the version and the hash of the header that it was compiled with:
/// qd_check_header() passes those. A program without the header passes 0 for the hash, and only the version is
/// compared. QD_ERROR_VERSION if they differ; nothing else of the library should be called then.
#[unsafe(no_mangle)]
pub extern "C" fn qd_check(api_version: u32, header_hash: u64) -> qd_status {
    run(|| {
        if api_version != API_VERSION {
            return Err(Failure::version(format!(
                "the program is for version {api_version} of the interface, and this library ({}) has version {API_VERSION}",
                env!("CARGO_PKG_VERSION")
            )));
        }
        if header_hash != 0 && header_hash != self::header_hash() {
            return Err(Failure::version(format!(
                "the program was compiled with another qd.h than that of this library ({}): compile it again",
                env!("CARGO_PKG_VERSION")
            )));
        }
        Ok(())
    })
}
