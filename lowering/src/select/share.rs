//! How much of what an expansion does a subgroup of a block does: a branch that some subgroups take, and a loop that goes
//! around as often as the thread's number says.
//!
//! Expansions are asked for, not programs: what they branch on is a few ops away from a thread's number. What depends
//! on values may hold in every thread.

use qd_dialects::{
    attributes,
    ir::{Op, OpExt, Value, ValueExt},
    ops::simt,
};

/// A block, by its threads and the lanes of its subgroups.
#[derive(Clone, Copy)]
pub struct Threads {
    pub threads: i64,
    pub wave: i64,
}

impl Threads {
    /// Of the subgroups, which part has a thread in which a condition may be what is asked for.
    pub fn share(self, condition: Value<'_>, is: bool) -> f64 {
        let condition = Formula::of(condition);
        if let Formula::Unknown = condition {
            return 1.0;
        }
        let differs = |thread| condition.at(thread, self.wave) == Some(i64::from(!is));
        let subgroups = (self.threads / self.wave).max(1);
        let taking = (0..subgroups).filter(|subgroup| {
            let first = subgroup * self.wave;
            let mut lanes = first..(first + self.wave).min(self.threads.max(self.wave));
            lanes.any(|thread| !differs(thread))
        });
        taking.count() as f64 / subgroups as f64
    }

    /// How often a loop goes around, on average of the subgroups, whose first thread goes around most often; none if
    /// that is not known.
    pub fn trips(self, op: Op<'_>) -> Option<f64> {
        let bounds = op.operand_values();
        let bounds = [0, 1, 2].map(|at| Formula::of(bounds[at]));
        let subgroups = (self.threads / self.wave).max(1);
        let of_subgroup = |subgroup: i64| {
            let of = |bound: &Formula| bound.at(subgroup * self.wave, self.wave);
            let [lower, upper, step] = &bounds;
            let (lower, upper, step) = (of(lower)?, of(upper)?, of(step)?);
            Some((upper - lower).max(0) as f64 / step.max(1) as f64)
        };
        let trips = (0..subgroups).map(|subgroup| of_subgroup(subgroup).map(f64::ceil));
        let all: f64 = trips.sum::<Option<f64>>()?;
        Some(all / subgroups as f64)
    }
}

/// A value as the thread's number says it, read from the IR once and asked for many threads.
enum Formula {
    /// Something else says it.
    Unknown,
    Constant(i64),
    ThreadId,
    LaneId,
    SubgroupId,
    Of(Operator, Box<[Formula; 2]>),
}

#[derive(Clone, Copy)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    And,
    Xor,
    /// By the number of its predicate.
    Compare(i64),
}

impl Formula {
    fn of(value: Value<'_>) -> Self {
        Self::read(value).unwrap_or(Self::Unknown)
    }

    fn read(value: Value<'_>) -> Option<Self> {
        if let Some(constant) = value.constant_int() {
            return Some(Self::Constant(constant));
        }
        let op = value.defining_op()?;
        let operator = match op.full_name() {
            simt::BlockThreadId::NAME => return Some(Self::ThreadId),
            simt::LaneId::NAME => return Some(Self::LaneId),
            simt::SubgroupId::NAME => return Some(Self::SubgroupId),
            "arith.index_cast" | "arith.index_castui" | "arith.extui" => {
                return Self::read(op.operand_values()[0]);
            }
            "arith.addi" => Operator::Add,
            "arith.subi" => Operator::Subtract,
            "arith.muli" => Operator::Multiply,
            "arith.andi" => Operator::And,
            "arith.xori" => Operator::Xor,
            "arith.cmpi" => Operator::Compare(op.attr("predicate").and_then(attributes::int)?),
            _ => return None,
        };
        let operands = op.operand_values();
        let pair = [Self::of(operands[0]), Self::of(operands[1])];
        match (&pair, operator) {
            ([Self::Unknown, Self::Unknown], _) => None,
            // A mask of nothing is nothing, whatever the other is.
            ([Self::Unknown, _] | [_, Self::Unknown], Operator::And) => {
                Some(Self::Of(operator, pair.into()))
            }
            ([Self::Unknown, _] | [_, Self::Unknown], _) => None,
            _ => Some(Self::Of(operator, pair.into())),
        }
    }

    /// What it is in a thread, in subgroups of `wave` lanes.
    fn at(&self, thread: i64, wave: i64) -> Option<i64> {
        let (operator, [a, b]) = match self {
            Self::Unknown => return None,
            Self::Constant(value) => return Some(*value),
            Self::ThreadId => return Some(thread),
            Self::LaneId => return Some(thread % wave),
            Self::SubgroupId => return Some(thread / wave),
            Self::Of(operator, pair) => (*operator, &**pair),
        };
        let (a, b) = (a.at(thread, wave), b.at(thread, wave));
        if let (Operator::And, (Some(0), _) | (_, Some(0))) = (operator, (a, b)) {
            return Some(0);
        }
        let (a, b) = (a?, b?);
        match operator {
            Operator::Add => a.checked_add(b),
            Operator::Subtract => a.checked_sub(b),
            Operator::Multiply => a.checked_mul(b),
            Operator::And => Some(a & b),
            Operator::Xor => Some(a ^ b),
            Operator::Compare(predicate) => {
                let (unsigned_a, unsigned_b) = (a as u64, b as u64);
                let holds = match predicate {
                    0 => a == b,
                    1 => a != b,
                    2 => a < b,
                    3 => a <= b,
                    4 => a > b,
                    5 => a >= b,
                    6 => unsigned_a < unsigned_b,
                    7 => unsigned_a <= unsigned_b,
                    8 => unsigned_a > unsigned_b,
                    9 => unsigned_a >= unsigned_b,
                    _ => return None,
                };
                Some(i64::from(holds))
            }
        }
    }
}
