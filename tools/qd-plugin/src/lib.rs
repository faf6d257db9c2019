//! Our dialect and passes as a plugin: `libqd_plugin.so` for an `mlir-opt` that
//! was built without them.
//!
//! ```text
//! mlir-opt-22 --load-dialect-plugin=libqd_plugin.so --load-pass-plugin=libqd_plugin.so …
//! ```
//!
//! The host must run on the libMLIR that the plugin is linked to; nothing of
//! MLIR is in the plugin itself.

qd_dialects::plugin! {
    name: "qd",
    passes: qd_lowering::register,
}
