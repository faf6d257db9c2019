//! What makes a function a kernel of a code object.

use crate::convert::gpu_to_llvm::{Attributes, Launch, Setting};
use qd_dialects::{
    attributes::{self, names},
    ir::Context,
};

/// A kernel for blocks of that many threads. The subgroup size stays with it: whether code is
/// for 32 or 64 lanes is a feature of what LLVM compiles for.
pub(super) fn attributes<'c>(
    context: &'c Context,
    launch: &Launch,
    setting: &Setting<'_>,
) -> Attributes<'c> {
    let threads = format!("{0},{0}", launch.threads);
    vec![
        ("rocdl.kernel", attributes::unit(context)),
        (
            "rocdl.flat_work_group_size",
            attributes::string(context, &threads),
        ),
        (names::WAVE, attributes::i64(context, setting.wave)),
        (
            names::THREADS,
            attributes::i64(context, launch.threads.into()),
        ),
    ]
}
