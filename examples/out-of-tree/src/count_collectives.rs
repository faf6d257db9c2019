//! `my-count-collectives`: reports for each phase how many collectives it
//! contains, and how many of them are across the block.
//!
//! An analysis: it changes nothing and emits remarks, at the phase. A collective
//! in a loop counts once.

use qd_dialects::{
    attributes,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt},
    options,
    pass::Pass,
};

options! {
    /// Options of `my-count-collectives`.
    pub struct CountOptions {
        /// only report phases with more collectives than this
        more_than: u32 = 0_u32,
    }
}

/// The pass.
pub struct CountCollectives;

impl Pass for CountCollectives {
    type Options = CountOptions;
    const NAME: &'static str = "my-count-collectives";
    const SUMMARY: &'static str = "Remark on the collectives of each phase";

    fn run<'c>(op: Op<'c>, options: &CountOptions) -> Result<'c> {
        for phase in op.nested().into_iter().filter(|op| op.is("qd.grid.phase")) {
            let names: Vec<&str> = phase.nested().into_iter().filter_map(collective).collect();
            let across_the_block = names
                .iter()
                .filter(|name| name.starts_with("block."))
                .count();
            if names.len() > options.more_than as usize {
                let name = phase.attr("name").and_then(attributes::text);
                Diagnostic::remark(
                    phase,
                    format!(
                        "phase '{}': {} collectives, {across_the_block} of them across the block",
                        name.as_deref().unwrap_or("?"),
                        names.len(),
                    ),
                )
                .emit();
            }
        }
        Ok(())
    }
}

/// The op's name within `qd.simt`, if other threads take part in it.
fn collective(op: Op<'_>) -> Option<&str> {
    let name = op.full_name().strip_prefix("qd.simt.")?;
    // What names a lane or a block, and what is memory.
    const ALONE: &[&str] = &[
        "lane_id",
        "subgroup_size",
        "log2_subgroup_size",
        "subgroup_id",
        "num_subgroups",
        "elect",
        "lanemask",
        "mem_fence",
        "block.id",
        "block.dim",
        "block.thread_id",
        "block.mem_fence",
        "block.shared",
        "grid.dim",
    ];
    (!ALONE.contains(&name)).then_some(name)
}
