//! Plugins: our dialect, and passes, for an `mlir-opt` that was built without
//! them.
//!
//! A plugin is a shared library with two entry points, which [`crate::plugin!`]
//! writes. It must be linked to the libMLIR that its host runs on. It cannot
//! bring a dialect other than `qd`: Rust defines none.

use crate::dialect;
use std::{
    ffi::{CString, c_char, c_void},
    panic::catch_unwind,
    process::abort,
};

/// What MLIR calls the layout of these answers; `MLIR_PLUGIN_API_VERSION` in
/// its `PassPlugin.h`.
pub const API_VERSION: u32 = 1;

/// The answer to `mlirGetDialectPluginInfo`, laid out as MLIR's
/// `DialectPluginLibraryInfo`.
#[repr(C)]
pub struct DialectPluginInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: extern "C" fn(*mut c_void),
}

/// The answer to `mlirGetPassPluginInfo`, laid out as MLIR's
/// `PassPluginLibraryInfo`.
#[repr(C)]
pub struct PassPluginInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: extern "C" fn(),
}

impl DialectPluginInfo {
    /// A plugin that adds the `qd` dialect.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            api_version: API_VERSION,
            name: for_ever(name),
            version: for_ever(version),
            register: insert_dialect,
        }
    }
}

impl PassPluginInfo {
    /// A plugin that adds what `register` registers.
    pub fn new(name: &str, version: &str, register: extern "C" fn()) -> Self {
        Self {
            api_version: API_VERSION,
            name: for_ever(name),
            version: for_ever(version),
            register,
        }
    }
}

/// A copy that the host can keep: a plugin is not unloaded.
fn for_ever(text: &str) -> *const c_char {
    CString::new(text).unwrap_or_default().into_raw()
}

/// Runs a plugin's registration; nothing may unwind into the host.
pub fn guard(register: fn()) {
    if catch_unwind(register).is_err() {
        // The panic has printed its message; the host cannot be told more.
        abort();
    }
}

/// Inserts the dialect into the host's `mlir::DialectRegistry`.
extern "C" fn insert_dialect(registry: *mut c_void) {
    crate::canonical::register();
    let registry = mlir_sys::MlirDialectRegistry { ptr: registry };
    // Safety: the host hands a registry of its own, and keeps it.
    unsafe { mlir_sys::mlirDialectHandleInsertDialect(dialect().to_raw(), registry) }
}

/// Writes the entry points of a plugin: the `qd` dialect, and the passes that
/// `passes` registers. Once in a crate of type `cdylib`.
///
/// ```no_run
/// qd_dialects::plugin! {
///     name: "my-passes",
///     passes: || { /* my_passes::register(); */ },
/// }
/// ```
#[macro_export]
macro_rules! plugin {
    (name: $name:literal, passes: $passes:expr $(,)?) => {
        const _: () = {
            const VERSION: &str = ::std::env!("CARGO_PKG_VERSION");

            /// Asked by `--load-dialect-plugin`.
            #[unsafe(no_mangle)]
            extern "C" fn mlirGetDialectPluginInfo() -> $crate::plugin::DialectPluginInfo {
                $crate::plugin::DialectPluginInfo::new($name, VERSION)
            }

            /// Asked by `--load-pass-plugin`.
            #[unsafe(no_mangle)]
            extern "C" fn mlirGetPassPluginInfo() -> $crate::plugin::PassPluginInfo {
                extern "C" fn register() {
                    // The flag may be given twice; MLIR aborts where a pass is
                    // registered twice.
                    static ONCE: ::std::sync::Once = ::std::sync::Once::new();
                    ONCE.call_once(|| $crate::plugin::guard($passes));
                }
                $crate::plugin::PassPluginInfo::new($name, VERSION, register)
            }
        };
    };
}
