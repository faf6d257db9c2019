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
        let differs = |thread| value_in(condition, thread, self.wave) == Some(i64::from(!is));
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
        let subgroups = (self.threads / self.wave).max(1);
        let of_subgroup = |subgroup: i64| {
            let of = |at: usize| value_in(bounds[at], subgroup * self.wave, self.wave);
            let (lower, upper, step) = (of(0)?, of(1)?, of(2)?);
            Some((upper - lower).max(0) as f64 / step.max(1) as f64)
        };
        let trips = (0..subgroups).map(|subgroup| of_subgroup(subgroup).map(f64::ceil));
        let all: f64 = trips.sum::<Option<f64>>()?;
        Some(all / subgroups as f64)
    }
}

/// What a value is in a thread, where the thread's number alone says that.
fn value_in(value: Value<'_>, thread: i64, wave: i64) -> Option<i64> {
    if let Some(constant) = value.constant_int() {
        return Some(constant);
    }
    let op = value.defining_op()?;
    let operands = op.operand_values();
    let of = |at: usize| value_in(operands[at], thread, wave);
    Some(match op.full_name() {
        simt::BlockThreadId::NAME => thread,
        simt::LaneId::NAME => thread % wave,
        simt::SubgroupId::NAME => thread / wave,
        "arith.index_cast" | "arith.index_castui" | "arith.extui" => of(0)?,
        "arith.addi" => of(0)?.checked_add(of(1)?)?,
        "arith.subi" => of(0)?.checked_sub(of(1)?)?,
        "arith.muli" => of(0)?.checked_mul(of(1)?)?,
        "arith.andi" => match (of(0), of(1)) {
            // Whatever the other is.
            (Some(0), _) | (_, Some(0)) => 0,
            (a, b) => a? & b?,
        },
        "arith.xori" => of(0)? ^ of(1)?,
        "arith.cmpi" => {
            let (a, b) = (of(0)?, of(1)?);
            let (unsigned_a, unsigned_b) = (a as u64, b as u64);
            let holds = match op.attr("predicate").and_then(attributes::int)? {
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
            i64::from(holds)
        }
        _ => return None,
    })
}
