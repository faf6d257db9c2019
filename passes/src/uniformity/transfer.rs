//! The transfer function of each op.

use super::{
    Fact, Scope, Uniformity, range,
    shape::{Relation, Shape},
};
use qd_dialects::{
    attributes::{self, names},
    interfaces::{Collective, Effects, ResultUniformity},
    ir::{Op, OpExt, Value, ValueExt, bit_width},
    melior::ir::{TypeLike, ValueLike},
    ops::{grid, math, simt},
};

/// How an op's result comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Of the operands, by arithmetic: uniform where they all are.
    Operands,
    /// By itself: a thread's, a lane's, a block's number; memory of one thread;
    /// atomics; unknown ops.
    Source,
    /// Of all threads of a scope together: the same in each.
    Uniform(Scope),
    /// Of several threads together, but not the same in each.
    Varying,
}

/// By what the shape of a result is found.
#[derive(Clone, Copy)]
enum Rule {
    /// By this predicate, of operands that may be constants.
    Comparison(i64, [Option<i64>; 2]),
    Cast {
        widens: bool,
    },
    Choice {
        is_same: bool,
    },
    Binary,
    /// It is uniform where all operands are.
    None,
}

/// Families whose ops without regions compute each result from the operands, and
/// from what they read at their operands' address, unless they have other effects.
const FAMILIES: &[&str] = &[
    "arith.",
    "math.",
    "index.",
    "ub.",
    "complex.",
    "vector.",
    "memref.",
    math::PREFIX,
];

/// Ops of other families that do.
const OTHERS: &[&str] = &[
    "builtin.unrealized_conversion_cast",
    grid::View::NAME,
    simt::Lanemask::NAME,
    simt::GridDim::NAME,
    simt::BlockDim::NAME,
    simt::SubgroupSize::NAME,
    simt::Log2SubgroupSize::NAME,
    simt::NumSubgroups::NAME,
];

impl<'c> Uniformity<'c> {
    /// How the result of an op without known regions comes about.
    pub(super) fn origin(&self, op: Op<'c>) -> Origin {
        if op.attr(names::SAME_IN_BLOCK).is_some() {
            return Origin::Uniform(Scope::Block);
        }
        if let Some(collective) = Collective::of(op) {
            return self.origin_of_collective(collective);
        }
        let name = op.full_name();
        let is_function = FAMILIES.iter().any(|family| name.starts_with(family))
            && Effects::of(op).is_some_and(Effects::only_reads);
        if is_function || OTHERS.contains(&name) {
            Origin::Operands
        } else {
            Origin::Source
        }
    }

    fn origin_of_collective(&self, collective: Collective<'c>) -> Origin {
        let scope = collective.scope;
        if let Some(lane) = collective.source_lane {
            // Each lane has its own value where that lane is absent.
            if !self.is_present(lane) {
                return Origin::Operands;
            }
            if self.is_uniform(lane, scope) {
                return Origin::Uniform(scope);
            }
        }
        match collective.result_uniformity {
            ResultUniformity::Varying => Origin::Varying,
            ResultUniformity::FromOperands => Origin::Operands,
            ResultUniformity::Uniform if self.is_one_cluster(collective) => Origin::Uniform(scope),
            // All clusters compute the same of the same.
            ResultUniformity::Uniform => Origin::Operands,
        }
    }

    /// Whether each subgroup of the block has the lane with this number, if it is in a subgroup at all.
    fn is_present(&self, lane: Value<'c>) -> bool {
        let in_last = self.threads() % i64::from(self.wave());
        in_last == 0
            || self
                .known(lane)
                .is_some_and(|lane| (0..in_last).contains(&lane))
    }

    /// Whether the lanes of a subgroup are one cluster to a collective.
    fn is_one_cluster(&self, collective: Collective<'c>) -> bool {
        let log2 = collective.log2_cluster_size;
        log2.is_none_or(|log2| 1 << log2 >= self.wave())
    }

    /// What is known of an op's results. For ops without known regions.
    pub(super) fn transfer(&self, op: Op<'c>) -> Vec<Fact> {
        if let Some(fact) = self.id_or_constant(op) {
            return vec![fact];
        }
        let operands = op.operand_values();
        let facts = self.facts(&operands);
        let all = |s: usize| facts.iter().all(|f| f.shapes[s].is_uniform());
        let plain = |shapes: [bool; 3]| Fact {
            shapes: shapes.map(|u| if u { Shape::UNIFORM } else { Shape::Varying }),
            range: None,
        };
        let fact = match self.origin(op) {
            Origin::Source | Origin::Varying => Fact::VARYING,
            Origin::Uniform(scope) => {
                let known = Scope::ALL.map(|other| other <= scope);
                plain([0, 1, 2].map(|s| known[s] || all(s)))
            }
            Origin::Operands => {
                let uniform = plain([all(0), all(1), all(2)]);
                return op
                    .result_values()
                    .into_iter()
                    .map(|result| self.arithmetic(op, result, &operands, &facts, uniform))
                    .collect();
            }
        };
        vec![fact; op.result_count()]
    }

    /// Constants, and thread and lane ids.
    fn id_or_constant(&self, op: Op<'c>) -> Option<Fact> {
        let wave = i64::from(self.wave());
        let threads = self.threads();
        // None, if the size of the block is not known.
        let subgroups = threads / wave + i64::from(threads % wave != 0);
        let count = |n: i64| match threads {
            0 => Fact::UNIFORM,
            _ => Fact::constant(n),
        };
        let strided = |align| Shape::Strided {
            log2_stride: 0,
            align,
        };
        let below = |count: i64| range::range(0, count - 1);
        let in_block = match self.group(Scope::Block) {
            Some(_) => strided(64),
            None => Shape::Varying,
        };
        let fact = match op.full_name() {
            "arith.constant" => {
                return op
                    .attr("value")
                    .and_then(attributes::int)
                    .map(Fact::constant)
                    .or(Some(Fact::UNIFORM));
            }
            simt::BlockDim::NAME => count(threads),
            simt::SubgroupSize::NAME => Fact::constant(wave),
            simt::Log2SubgroupSize::NAME => Fact::constant(wave.trailing_zeros().into()),
            simt::NumSubgroups::NAME => count(subgroups),
            simt::LaneId::NAME => Fact {
                shapes: [
                    strided(64),
                    if subgroups == 1 {
                        in_block
                    } else {
                        Shape::Varying
                    },
                    Shape::Varying,
                ],
                range: below(wave),
            },
            simt::BlockThreadId::NAME => Fact {
                shapes: [strided(wave.trailing_zeros()), in_block, Shape::Varying],
                range: below(threads),
            },
            simt::SubgroupId::NAME => {
                if subgroups == 1 {
                    return Some(Fact::constant(0));
                }
                Fact {
                    shapes: [Shape::UNIFORM, Shape::Varying, Shape::Varying],
                    range: below(subgroups),
                }
            }
            simt::BlockId::NAME => Fact {
                shapes: [Shape::UNIFORM, Shape::UNIFORM, Shape::Varying],
                range: None,
            },
            // One array for each block.
            simt::BlockShared::NAME => Fact {
                shapes: [Shape::UNIFORM, Shape::UNIFORM, Shape::Varying],
                range: None,
            },
            _ => return None,
        };
        Some(fact)
    }

    fn arithmetic(
        &self,
        op: Op<'c>,
        result: Value<'c>,
        operands: &[Value<'c>],
        facts: &[Fact],
        uniform: Fact,
    ) -> Fact {
        let name = op.full_name();
        let range_of = |operand: usize| facts[operand].range;
        let width = bit_width(result.r#type());
        let index = result.r#type().is_index();
        let fits = |high: i64| index || width >= 32 || high < 1 << (width - u32::from(width > 1));
        let (range, rule) = match name {
            "arith.cmpi" => {
                let predicate = op.attr("predicate").and_then(attributes::int).unwrap_or(-1);
                let decided = range::decide(predicate, range_of(0), range_of(1)).map(i64::from);
                let constants = [self.known(operands[0]), self.known(operands[1])];
                (
                    decided.map_or(range::range(0, 1), |v| range::range(v, v)),
                    Rule::Comparison(predicate, constants),
                )
            }
            "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui"
            | "arith.trunci" => {
                let from = bit_width(operands[0].r#type());
                // The sign bit of what is extended is not known to be clear.
                let signed = matches!(name, "arith.index_cast" | "arith.extsi");
                let range = range_of(0).filter(|r| !(signed && from == 1 && r.1 > 0));
                let widens = width > from || index;
                (range, Rule::Cast { widens })
            }
            "arith.select" => (
                range::of(name, facts.iter().map(|fact| fact.range)),
                Rule::Choice {
                    is_same: operands[1].key() == operands[2].key(),
                },
            ),
            "memref.load" | "memref.dim" => (None, Rule::None),
            _ => (
                range::of(name, facts.iter().map(|fact| fact.range)),
                Rule::Binary,
            ),
        };
        let range = range.filter(|(_, high)| fits(*high));
        if let Some(value) = range::single(range) {
            return Fact::constant(value);
        }
        let shape = |s: usize| {
            let group = || self.group(Scope::ALL[s]);
            match rule {
                Rule::Comparison(predicate, [left, right]) => {
                    let left = (facts[0].shapes[s], left);
                    let right = (facts[1].shapes[s], right);
                    Some(compare_shapes(predicate, left, right, group()))
                }
                Rule::Cast { widens } => {
                    let shape = facts[0].shapes[s];
                    let kept = !widens
                        || facts[0].range.is_some()
                        || shape.is_aligned(group(), 64)
                        || shape.is_uniform();
                    kept.then_some(shape)
                }
                Rule::Choice { is_same: true } => Some(facts[1].shapes[s]),
                Rule::Choice { is_same: false } => {
                    let joined = facts[1].shapes[s].join(facts[2].shapes[s]);
                    facts[0].shapes[s].is_uniform().then_some(joined)
                }
                Rule::Binary => self.binary(name, operands, facts, s),
                Rule::None => None,
            }
        };
        let shapes = std::array::from_fn(|s| {
            let shape = shape(s).unwrap_or(uniform.shapes[s]);
            match shape {
                // In a narrow type a group may wrap around.
                Shape::Strided { .. } if !index && width < 32 => Shape::Varying,
                _ => shape,
            }
        });
        Fact { shapes, range }
    }

    /// A binary op's shape at the scope numbered `s`, if it has a rule.
    fn binary(
        &self,
        name: &str,
        operands: &[Value<'c>],
        facts: &[Fact],
        s: usize,
    ) -> Option<Shape> {
        let [a, b] = facts else { return None };
        let (x, y) = (a.shapes[s], b.shapes[s]);
        let (left, right) = (self.known(operands[0]), self.known(operands[1]));
        let group = self.group(Scope::ALL[s]);
        let shift = right.filter(|k| (0..31).contains(k));
        Some(match name {
            "arith.addi" => x.plus(y),
            "arith.subi" => x.minus(y),
            "arith.muli" if x.is_uniform() => y.mul(x, left),
            "arith.muli" => x.mul(y, right),
            "arith.shli" => match shift {
                Some(k) => x.mul(Shape::constant(1 << k), Some(1 << k)),
                None => return None,
            },
            "arith.divui" => x.div(y, right, group),
            // Towards a negative divisor, or from both sides of 0, a quotient
            // changes within a group.
            "arith.floordivsi" if right.is_some_and(|c| c > 0) => x.div(y, right, group),
            "arith.divsi" if a.range.is_some() && right.is_some_and(|c| c > 0) => {
                x.div(y, right, group)
            }
            "arith.shrui" | "arith.shrsi" => match shift {
                Some(k) => x.div(Shape::constant(1 << k), Some(1 << k), group),
                None => return None,
            },
            "arith.remui" => x.rem(y, group),
            "arith.remsi" if a.range.is_some() => x.rem(y, group),
            "arith.andi" if x.is_uniform() => y.and(x, left, group),
            "arith.andi" => x.and(y, right, group),
            "arith.ori" | "arith.xori" => x.or(y, group),
            _ => return None,
        })
    }

    /// The value of a constant, negative ones included.
    fn known(&self, value: Value<'c>) -> Option<i64> {
        value.constant_int().or_else(|| self.constant(value))
    }
}

/// `arith.cmpi` on shapes, each with its value if that is a constant.
pub(super) fn compare_shapes(
    predicate: i64,
    left: (Shape, Option<i64>),
    right: (Shape, Option<i64>),
    group: Option<u32>,
) -> Shape {
    // Read from right to left, `<` is `>`, and `<=` is `>=`.
    let (left, right, predicate) = if left.0.is_uniform() {
        let mirrored = match predicate {
            2 | 6 => predicate + 2,
            3 | 7 => predicate + 2,
            4 | 8 => predicate - 2,
            5 | 9 => predicate - 2,
            other => other,
        };
        (right, left, mirrored)
    } else {
        (left, right, predicate)
    };
    let relation = match predicate {
        0 | 1 => Relation::Equality,
        2 | 5 | 6 | 9 => Relation::Below,
        _ => Relation::UpTo,
    };
    let next = right.1.and_then(|c| c.checked_add(1)).map(Shape::constant);
    left.0.compare(relation, right.0, next, group)
}
