//! Kernels whose host computes with the subgroup size, for a grid that follows it.
//!
//! Their bodies have one size, which is known before anything is chosen: that which one of them says, or else the
//! target's default. The form of each op is chosen as in other bodies.

use super::default_wave;
use crate::targets::Target;
use qd_dialects::{
    attributes::{self, names},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, context_of},
    ops::{grid, simt},
};
use qd_passes::{
    outline_phases::kernels,
    select_subgroup_size::{bodies, fold_size, wave_at},
};
use std::collections::HashMap;

/// Makes constants of the sizes that hosts ask for, and gives them to bodies.
pub(super) fn settle<'c>(module: Op<'c>, target: &Target) -> Result<'c> {
    let is_size = |op: &Op| op.is(simt::SubgroupSize::NAME) || op.is(simt::Log2SubgroupSize::NAME);
    let all_bodies: Vec<_> = bodies(module).into_iter().map(|(body, _)| body).collect();
    let named = |op: &Op<'c>| Some((op.attr("sym_name").and_then(attributes::text)?, *op));
    let by_name: HashMap<String, Op<'c>> = all_bodies.iter().filter_map(named).collect();
    for kernel in kernels(module) {
        let all = kernel.nested();
        let sizes: Vec<_> = all.iter().copied().filter(is_size).collect();
        let Some(first) = sizes.first() else { continue };
        // A kernel that another dispatches to may have been given what that one computed.
        let bodies: Vec<_> = match all.iter().any(|op| op.is(grid::Dispatch::NAME)) {
            true => all_bodies.clone(),
            false => all
                .into_iter()
                .filter_map(grid::Launch::of)
                .filter_map(|launch| by_name.get(&launch.body()).copied())
                .collect(),
        };
        let mut said = bodies.iter().filter_map(|body| wave_at(*body));
        let wave = said.next();
        if let Some(other) = said.find(|other| Some(*other) != wave) {
            let wave = wave.unwrap_or(other);
            let message =
                format!("is {wave} in one of the kernel's phases, and {other} in another");
            return Err(Diagnostic::at(*first, message));
        }
        let wave = wave.unwrap_or(default_wave(target).into());
        for body in bodies {
            body.set_attr(names::WAVE, attributes::i64(context_of(body), wave));
        }
        sizes.into_iter().for_each(|op| fold_size(op, wave));
    }
    Ok(())
}
