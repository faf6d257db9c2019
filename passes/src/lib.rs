//! Target-neutral rewriting: inlining, verification, planning, subgroup-size selection,
//! expansion.
//!
//! One file per pass, one line here to register it.

pub mod add_checks;
pub mod clean;
pub mod expand_asserts;
pub mod expand_collectives;
pub mod expand_dims;
pub mod expand_for_each;
pub mod expand_math;
pub mod expand_metadata;
pub mod expand_narrow;
pub mod expand_prints;
pub mod expand_scratch;
pub mod expand_swaps;
pub mod expand_views;
pub mod fill_subgroups;
pub mod fuse_phases;
pub mod fuse_producers;
pub mod guard_atan2;
pub mod hoist_invariants;
pub mod inline_functions;
pub mod mark_noalias;
pub mod merge_collectives;
pub mod name_bodies;
pub mod outline_phases;
pub mod plan;
pub mod plan_launches;
pub mod select_subgroup_size;
pub mod separate_bodies;
pub mod share_bodies;
mod sites;
pub mod split_aliases;
pub mod uniformity;
pub mod verify_convergence;
pub mod verify_level;

/// What `cargo xtask new pass` generates, unchanged.
#[cfg(test)]
#[path = "../../tools/xtask/src/new/templates/pass.rs"]
mod template;

use qd_dialects::pass;
use std::sync::Once;

/// Makes every pass of this crate reachable by name. Does so once a process, however often it is
/// called.
pub fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(register_all);
}

fn register_all() {
    pass::register::<add_checks::AddChecks>();
    pass::register::<clean::Clean>();
    pass::register::<expand_asserts::ExpandAsserts>();
    pass::register::<expand_dims::ExpandDims>();
    pass::register::<expand_for_each::ExpandForEach>();
    pass::register::<expand_metadata::ExpandMetadata>();
    pass::register::<expand_narrow::ExpandNarrow>();
    pass::register::<expand_prints::ExpandPrints>();
    pass::register::<expand_scratch::ExpandScratch>();
    pass::register::<expand_swaps::ExpandSwaps>();
    pass::register::<expand_views::ExpandViews>();
    pass::register::<fill_subgroups::FillSubgroups>();
    pass::register::<fuse_phases::FusePhases>();
    pass::register::<fuse_producers::FuseProducers>();
    pass::register::<guard_atan2::GuardAtan2>();
    pass::register::<hoist_invariants::HoistInvariants>();
    pass::register::<inline_functions::InlineFunctions>();
    pass::register::<mark_noalias::MarkNoalias>();
    pass::register::<merge_collectives::MergeCollectives>();
    pass::register::<name_bodies::NameBodies>();
    pass::register::<outline_phases::OutlinePhases>();
    pass::register::<plan_launches::PlanLaunches>();
    pass::register::<separate_bodies::SeparateBodies>();
    pass::register::<share_bodies::ShareBodies>();
    pass::register::<split_aliases::SplitAliases>();
    pass::register::<select_subgroup_size::SelectSubgroupSize>();
    pass::register::<verify_convergence::VerifyConvergence>();
    pass::register::<verify_level::VerifyLevel>();
}

#[cfg(test)]
mod tests {
    use qd_dialects::pass::Pass;

    #[test]
    fn the_template_of_a_pass_is_one() {
        assert_eq!(crate::template::TheName::NAME, "qd-the-name");
    }
}
