//! The attributes that make a function a kernel of a code object.

use super::architecture;
use crate::{
    convert::gpu_to_llvm::{Attributes, Launch, Setting},
    targets::amdgpu::Architecture,
};
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
    let mut all = vec![
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
    ];
    let waves = waves_per_simd(launch, setting.wave as i32, architecture(setting.target));
    if waves > 1 {
        // At least: it bounds the registers of a lane.
        all.push(("rocdl.waves_per_eu", attributes::i32(context, waves)));
    }
    all
}

/// Waves that each SIMD has to have room for, so that a compute unit has room for as many
/// blocks as the body asks for.
fn waves_per_simd(launch: &Launch, wave: i32, architecture: &Architecture) -> i32 {
    let waves = (launch.threads + wave - 1) / wave;
    let simds = architecture.simds as i32;
    let wanted = (launch.blocks_per_core.unwrap_or_default() * waves + simds - 1) / simds;
    wanted.min(architecture.waves_per_simd as i32)
}

#[cfg(test)]
mod tests {
    use super::{Launch, waves_per_simd};
    use crate::targets::amdgpu::{GFX942, GFX1100};

    #[test]
    fn blocks_are_spread_over_simds() {
        let launch = |blocks| Launch {
            threads: 256,
            blocks_per_core: blocks,
            has_shared_arrays: false,
        };
        assert_eq!(waves_per_simd(&launch(None), 64, &GFX942), 0);
        assert_eq!(waves_per_simd(&launch(Some(4)), 64, &GFX942), 4);
        assert_eq!(waves_per_simd(&launch(Some(3)), 64, &GFX1100), 6);
        // No more than there are.
        assert_eq!(waves_per_simd(&launch(Some(32)), 64, &GFX942), 8);
        assert_eq!(waves_per_simd(&launch(Some(4)), 32, &GFX1100), 16);
    }
}
