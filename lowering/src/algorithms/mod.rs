//! Device algorithms by strategy: one folder each.
//!
//! A folder's `mod.rs` says what the algorithm's op holds and which strategies
//! there are, in order of preference; the last runs on every target. Adding an
//! algorithm is one folder and one line in `ALGORITHMS`.

mod chain;
mod checked;
mod chunks;
mod compact;
mod expand;
mod fixed_order;
mod last_block;
mod levels;
mod parallel_sort;
mod partials;
mod partition;
mod reduce;
mod reduce_by_key;
mod scan;
pub mod scratch;
mod select;
mod sort;
mod sweep;
mod tiles;
mod to_grid;
mod tuning;
mod unique;
mod widen;

/// What `cargo xtask new algorithm` generates, unchanged.
#[cfg(test)]
#[path = "../../../tools/xtask/src/new/templates/algorithm/mod.rs"]
mod template;

use crate::targets::{Capabilities, Orientation};
use qd_dialects::{
    attributes,
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, element_type},
    melior::ir::{Type, ValueLike},
    ops::algo,
    pass,
};

pub use expand::{ExpandAlgorithms, ExpandOptions};
pub use to_grid::{ToGrid, ToGridOptions};
pub use tuning::tunings;

/// Every algorithm, one line each.
const ALGORITHMS: &[Algorithm] = &[
    reduce::REDUCE,
    scan::EXCLUSIVE_SCAN,
    scan::INCLUSIVE_SCAN,
    select::SELECT,
    partition::PARTITION,
    sort::SORT,
    reduce_by_key::REDUCE_BY_KEY,
    parallel_sort::PARALLEL_SORT,
    unique::UNIQUE,
];

/// Makes the expansion passes reachable by name.
pub fn register() {
    pass::register::<ExpandAlgorithms>();
    pass::register_pipeline::<ToGrid>();
}

/// The strategies of the op of this name, in order of preference; none if it is no
/// algorithm.
pub fn strategies(op: &str) -> Vec<&'static str> {
    let algorithms = ALGORITHMS.iter().filter(|algorithm| algorithm.op == op);
    let strategies = algorithms.flat_map(|algorithm| algorithm.strategies);
    strategies.map(|strategy| strategy.name).collect()
}

/// An op and the strategies for it.
struct Algorithm {
    /// The op, by full name.
    op: &'static str,
    /// Its table of tunings, for targets without their own.
    tunings: &'static str,
    /// In order of preference. The last runs on every target.
    strategies: &'static [Strategy],
}

/// One way to compute it.
///
/// Each strategy's results depend on the input, the count and the capacity
/// alone, but for the rounding of floats: a look-back's depends on timing, and each
/// strategy and subgroup size has its own. Where `deterministic` fixes
/// [the order](fixed_order), it excludes the strategies that do not keep it.
struct Strategy {
    /// As `strategy = "…"` spells it.
    name: &'static str,
    /// Whether it is the default for this op on a target.
    suits: for<'c> fn(Op<'c>, &Capabilities) -> bool,
    /// Builds the phases. The op has been verified.
    expand: for<'c> fn(&Builder<'c>, Op<'c>, &Capabilities) -> Result<'c>,
}

/// For strategies for latency-oriented targets.
fn latency_oriented(_: Op, capabilities: &Capabilities) -> bool {
    capabilities.orientation == Orientation::Latency
}

/// For the last strategy of each algorithm.
fn always(_: Op, _: &Capabilities) -> bool {
    true
}

impl Algorithm {
    /// The strategy that the op names, or else the first that suits.
    fn choose<'c>(&self, op: Op<'c>, capabilities: &Capabilities) -> Result<'c, &Strategy> {
        let Some(asked) = op.attr("strategy").and_then(attributes::text) else {
            let chosen = self.strategies.iter().find(|s| (s.suits)(op, capabilities));
            return chosen.ok_or_else(|| Diagnostic::at(op, "has no strategy that suits"));
        };
        let named = self.strategies.iter().find(|s| s.name == asked);
        named.ok_or_else(|| {
            let names: Vec<_> = self.strategies.iter().map(|s| s.name).collect();
            let known = match &*asked {
                "staircase" => "it is called 'hierarchical' now".into(),
                _ => format!("expected one of {}", names.join(", ")),
            };
            Diagnostic::at(op, format!("has no strategy '{asked}': {known}"))
        })
    }
}

/// The types of the scalars that a reduction or scan combines.
fn input_types<'c>(op: Op<'c>) -> Vec<Type<'c>> {
    let inputs = algo::Combine::cast(op).inputs();
    let element = |input: Value<'c>| element_type(input.r#type());
    inputs.into_iter().filter_map(element).collect()
}

/// `D`, of the op's capacity `256^D`.
fn depth(op: Op) -> u32 {
    let depth = op.attr("log256_max_n").and_then(attributes::int);
    depth.map_or(1, |depth| depth as u32)
}

/// Whether results, rounding included, may not depend on timing.
fn deterministic(op: Op) -> bool {
    op.attr("deterministic").is_some()
}

#[cfg(test)]
mod tests {
    use super::template::THE_NAME;

    #[test]
    fn the_template_of_an_algorithm_is_one() {
        assert_eq!(THE_NAME.op, "qd.algo.the_name");
        assert_eq!(THE_NAME.strategies.len(), 1);
    }
}
