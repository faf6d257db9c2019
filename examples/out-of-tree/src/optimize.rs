//! `my-optimize`: the passes of this crate with upstream's between them, as a
//! list that can be read.

use qd_dialects::pass::Pipeline;

use crate::count_collectives::CountOptions;

/// The pipeline.
pub struct Optimize;

impl Pipeline for Optimize {
    type Options = CountOptions;
    const NAME: &'static str = "my-optimize";
    const SUMMARY: &'static str = "Simplify collectives, then count those that are left";

    fn passes(options: &CountOptions) -> Result<String, String> {
        Ok(format!(
            "canonicalize,\
             my-broadcast-reduced,\
             canonicalize,\
             my-count-collectives{{more-than={}}}",
            options.more_than
        ))
    }
}
