//! Passes of our own, kept outside of `qd`'s repository and written against its
//! public API alone. One file per pass, one line here to register it.

mod broadcast_reduced;
mod count_collectives;
mod optimize;

use qd_dialects::pass;

/// Makes every pass and pipeline of this crate reachable by name. Once a
/// process.
pub fn register() {
    pass::register::<broadcast_reduced::BroadcastReduced>();
    pass::register::<count_collectives::CountCollectives>();
    pass::register_pipeline::<optimize::Optimize>();
}
