//! The library for C: `libqd.so`, whose header `include/qd.h` is made of this crate. Rules that all functions
//! share are at the head of it, from `cbindgen.toml`.
//!
//! Each function does what the one of `qd_frontend` does that it is named after. What is added here is what C
//! needs: handles, status codes with a message, and data as structures. Doc comments become the header's, so they
//! are written for readers of C.
//!
//! `qd_mlir.h` is beside it, by hand, for programs that build IR with MLIR's C API, which the library exports.
#![allow(
    non_camel_case_types,
    reason = "the names are those of the header, so that one finds them here"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "what callers promise is the same everywhere, and at the head of the header"
)]

mod argument;
mod artifact;
mod buffer;
mod compile;
mod device;
mod diagnostics;
mod dispatch;
mod event;
mod handle;
mod kernel;
mod mlir;
mod pinned;
mod profiler;
mod recording;
mod session;
mod status;
mod store;
mod stream;
mod version;

pub use argument::*;
pub use artifact::*;
pub use buffer::*;
pub use compile::*;
pub use device::*;
pub use diagnostics::*;
pub use dispatch::*;
pub use event::*;
pub use kernel::*;
pub use mlir::*;
pub use pinned::*;
pub use profiler::*;
pub use recording::*;
pub use session::*;
pub use status::*;
pub use store::*;
pub use stream::*;
pub use version::*;
