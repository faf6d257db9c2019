//! `qd-add-checks`: what is undefined where it goes wrong becomes an assertion, and defined.
//!
//! | checked | where it goes wrong |
//! |---|---|
//! | each index of a load, a store or an atomic, against the extent | a load or an atomic yields 0, and nothing is written |
//! | a `memref.subview` or a `memref.reinterpret_cast`, against its buffer | as an index: what is accessed by it |
//! | the divisor of an integer division or remainder, against 0 | the divisor is 1 |
//! | a signed division of the least number, by −1 | the divisor is 1 |
//! | these in a combiner: nothing is asserted, as which elements meet depends on the lowering | the divisor is 1 |
//! | the digit of a `qd.simt.block.radix_rank`, against `2^radix_bits` | its low bits are ranked |
//! | the extent and the live count of a `qd.grid.for_each`, against 0 | they are taken as 0, as ever |
//! | the elements of `subgroups(full)`, against the subgroup size | lanes beyond them run the body |
//! | the buffers that a `qd.grid.do_while` swaps: their extents, and that they do not overlap | what both have is exchanged |
//! | algorithms: they become `checked`, which `qd-expand-algorithms` does | |
//!
//! Runs on phases once functions are inlined, and before algorithms are expanded: what is made of these is not
//! checked. The interpreter needs none of it.
//!
//! An index that is within the extent whatever the data is not checked: a constant, the index of a
//! `qd.grid.for_each` to that extent without `subgroups(full)`, a `thread_id` of no more threads than there are elements. An index of a buffer
//! that an op before in the same block has is checked there.
//!
//! Limits: steps that the host evaluates are checked by the runtime. Prefetches may be anywhere.
//!
//! Before:
//! ```mlir
//! %x = memref.load %a[%i] : memref<?xf32>
//! ```
//! After:
//! ```mlir
//! %extent = memref.dim %a, %c0 : memref<?xf32>
//! %inside = arith.cmpi ult, %i, %extent : index
//! cf.assert %inside, "index 0 of 'memref.load' is within the extent"
//! %x = scf.if %inside -> f32 {
//!   %0 = memref.load %a[%i] : memref<?xf32>
//!   scf.yield %0 : f32
//! } else {
//!   scf.yield %zero : f32
//! }
//! ```

use crate::{
    expand_asserts::ASSERT,
    expand_for_each::may_be_negative,
    select_subgroup_size::{bodies, threads_of},
};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    clone::Mapping,
    diagnostic::Result,
    interfaces::accessed,
    ir::{
        Key, Op, OpExt, Value, ValueExt, as_memref, bit_width, block_key, element_type, operations,
    },
    melior::{
        dialect::DialectHandle,
        ir::{ShapedTypeLike, ValueLike, r#type::DimSize},
    },
    ops::{SubgroupFill, algo, grid, simt},
    pass::{NoOptions, Pass},
};
use std::collections::HashMap;
use views::Views;

mod parts;
mod views;

pub use parts::Buffers;

/// The pass.
pub struct AddChecks;

impl Pass for AddChecks {
    type Options = NoOptions;
    const NAME: &'static str = "qd-add-checks";
    const SUMMARY: &'static str = "Add assertions of indices, divisors, counts and promises";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::cf(),
            DialectHandle::memref(),
            DialectHandle::scf(),
        ]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let all = module.nested();
        let mut bodies: Vec<_> = bodies(module).into_iter().map(|(body, _)| body).collect();
        let mut views = Views::default();
        for op in all {
            views.check(op);
            if op.is(grid::ForEach::NAME) {
                bodies.push(op);
                elements(grid::ForEach::cast(op));
            } else if let Some(repeated) = grid::DoWhile::of(op) {
                parts::swap(repeated);
            } else if op.full_name().starts_with(algo::PREFIX) && op.result_count() == 0 {
                op.set_attr("checked", attributes::unit(qd_dialects::ir::context_of(op)));
                combiner(op);
            } else if op.full_name().starts_with(simt::PREFIX) {
                combiner(op);
            }
        }
        for body in bodies {
            let mut checks = Checks::of(body, &views);
            if let Some(block) = body.body() {
                checks.ops(operations(block));
            }
        }
        Ok(())
    }
}

/// Checks the extent and the live count of a phase, and its promise to fill subgroups, in a phase before it.
fn elements<'c>(for_each: grid::ForEach<'c>) {
    let op = for_each.op();
    let is_full = for_each.subgroups() == Some(SubgroupFill::Full);
    let is_signed = may_be_negative(for_each.extent());
    if for_each.count().is_none() && !is_full && !is_signed {
        return;
    }
    let b = Builder::before(op);
    let extent = b.v(for_each.extent());
    let count = for_each.count().map(|count| b.v(count));
    let count = count.map(|count| (count, b.count_limit(count, extent)));
    let name = for_each.name().unwrap_or_else(|| "for_each".into());
    b.phase(&format!("{name} checked"), b.index(1), 1, || {
        if is_signed {
            assert(
                extent.sge(0),
                "the extent of 'qd.grid.for_each' is not negative",
            );
        }
        if let Some((count, _)) = count {
            assert(
                count.first().sge(0),
                "the count of 'qd.grid.for_each' is not negative",
            );
        }
        if is_full {
            let live = match count {
                Some((count, limit)) => b.live_count(count, limit),
                None => extent,
            };
            let rest = live % b.subgroup_size().to_index();
            assert(
                rest.eq(0),
                "the elements of 'qd.grid.for_each' fill subgroups",
            );
        }
    });
}

/// Says that a condition holds.
pub fn assert(holds: V<'_, '_>, text: &str) {
    let b = holds.builder();
    let text = attributes::string(b.context(), text);
    b.op(ASSERT, &[holds.value()], &[], &[("msg", text)]);
}

/// The checks of one body.
struct Checks<'v, 'c> {
    body: Op<'c>,
    views: &'v Views<'c>,
    /// In which block a dimension of a buffer is known to have an index, by what condition.
    known: HashMap<(Key, Key, Key, usize), Value<'c>>,
}

impl<'v, 'c> Checks<'v, 'c> {
    fn of(body: Op<'c>, views: &'v Views<'c>) -> Self {
        Self {
            body,
            views,
            known: HashMap::new(),
        }
    }

    fn ops(&mut self, ops: Vec<Op<'c>>) {
        for op in ops {
            // A combiner is pure: it asserts nothing.
            let is_structured = op.full_name().starts_with("scf.");
            for block in (0..).map_while(|region| op.region_block(region)) {
                if is_structured {
                    self.ops(operations(block));
                }
            }
            self.op(op);
        }
    }

    fn op(&mut self, op: Op<'c>) {
        if let Some(buffer) = accessed(op).filter(|_| !op.is("memref.prefetch")) {
            self.access(op, buffer);
            return;
        }
        division(op, assert);
        if let Some(rank) = simt::BlockRadixRank::of(op) {
            digit(rank);
        }
    }

    /// Checks an access whose buffer is that operand, and whose indices are those behind it.
    fn access(&mut self, op: Op<'c>, buffer: usize) {
        let b = Builder::before(op);
        let operands = op.operand_values();
        let (memref, indices) = (operands[buffer], &operands[buffer + 1..]);
        let Some(block) = op.block() else { return };
        let mut inside = self.views.hold(&b, memref);
        for (dimension, index) in indices.iter().enumerate() {
            if self.is_within(memref, dimension, *index) {
                continue;
            }
            let place = (block_key(block), memref.key(), index.key(), dimension);
            let holds = match self.known.get(&place) {
                Some(known) => b.v(*known),
                None => {
                    let extent = extent(b.v(memref), dimension);
                    let holds = b.v(*index).lt(extent);
                    let name = op.full_name();
                    assert(
                        holds,
                        &format!("index {dimension} of '{name}' is within the extent"),
                    );
                    self.known.insert(place, holds.value());
                    holds
                }
            };
            inside = Some(inside.map_or(holds, |others| others & holds));
        }
        let Some(inside) = inside else { return };
        let copy = || Mapping::new().clone_op(op, b.insertion_point());
        if op.result_count() == 0 {
            b.if_(inside, || _ = copy());
            op.erase();
            return;
        }
        let r#type = op.first_result().r#type();
        let value = b.if_else(inside, || [b.v(copy().first_result())], || [b.zero(r#type)]);
        op.replace_with(&[value[0].value()]);
    }

    /// Whether an index is within a dimension whatever the data.
    fn is_within(&self, memref: Value<'c>, dimension: usize, index: Value<'c>) -> bool {
        let fixed = fixed_extent(memref, dimension);
        if let Some((number, extent)) = index.constant_int().zip(fixed) {
            return (0..extent).contains(&number);
        }
        if index
            .defining_op()
            .is_some_and(|op| op.is(simt::BlockThreadId::NAME))
        {
            let threads = threads_of(self.body);
            return threads
                .zip(fixed)
                .is_some_and(|(threads, extent)| threads <= extent);
        }
        // The index of an elementwise phase.
        let Some(for_each) = grid::ForEach::of(self.body) else {
            return false;
        };
        // Lanes beyond elements that break the promise to fill subgroups run the body.
        if for_each.subgroups() == Some(SubgroupFill::Full)
            || index.block_argument().map(|(block, _)| block) != self.body.body()
        {
            return false;
        }
        let until = for_each.extent();
        match (until.constant_int(), fixed) {
            (Some(until), Some(extent)) => (0..=extent).contains(&until),
            _ => until.defining_op().is_some_and(|op| {
                let of = op.is("memref.dim").then(|| op.operand_values());
                of.is_some_and(|of| {
                    of[0] == memref && of[1].constant_int() == i64::try_from(dimension).ok()
                })
            }),
        }
    }
}

fn fixed_extent(memref: Value<'_>, dimension: usize) -> Option<i64> {
    match as_memref(memref.r#type())?.dim_size(dimension) {
        Ok(DimSize::Static(extent)) => i64::try_from(extent).ok(),
        _ => None,
    }
}

fn extent<'b, 'c>(memref: V<'b, 'c>, dimension: usize) -> V<'b, 'c> {
    let b = memref.builder();
    match fixed_extent(memref.value(), dimension) {
        Some(extent) => b.index(extent),
        None => b.result(
            "memref.dim",
            &[memref, b.index(dimension as i64)],
            b.index_type(),
            &[],
        ),
    }
}

/// Makes the divisors in a combiner ones that have a quotient, and tells nobody: which elements meet depends on the
/// lowering, and lanes that hold none are combined, too.
fn combiner(op: Op<'_>) {
    for op in op.nested() {
        division(op, |_, _| {});
    }
}

/// Checks an op if it is an integer division, whose divisor becomes one that has a quotient.
fn division<'c>(op: Op<'c>, assert: impl Fn(V<'_, 'c>, &str)) {
    let is_signed = match op.full_name() {
        "arith.divui" | "arith.remui" | "arith.ceildivui" | "index.divu" | "index.remu"
        | "index.ceildivu" => false,
        "arith.divsi" | "arith.remsi" | "arith.ceildivsi" | "arith.floordivsi" | "index.divs"
        | "index.rems" | "index.ceildivs" | "index.floordivs" => true,
        _ => return,
    };
    let known = op.operand_values()[1].constant_int();
    let r#type = op.first_result().r#type();
    if element_type(r#type).is_some()
        || known.is_some_and(|known| known != 0 && (known != -1 || !is_signed))
    {
        return;
    }
    let b = Builder::before(op);
    let (number, divisor) = (b.v(op.operand_values()[0]), b.v(op.operand_values()[1]));
    let name = op.full_name();
    let mut holds = divisor.ne(0);
    assert(holds, &format!("the divisor of '{name}' is not 0"));
    if is_signed {
        let is_above_least = match number.ty() == b.index_type() {
            // How wide an index is depends on the target: but for 0 the least alone is its own negative.
            true => number.ne(number.same(0) - number) | number.eq(0),
            false => number.ne(number.same(i64::MIN >> (64 - bit_width(number.ty())))),
        };
        let fits = is_above_least | divisor.ne(-1);
        assert(fits, &format!("'{name}' does not overflow"));
        holds = holds & fits;
    }
    let safe = holds.select(divisor, divisor.same(1));
    op.set_operand_at(1, safe.value());
}

/// Checks the digit of a thread that is ranked.
fn digit(rank: simt::BlockRadixRank<'_>) {
    let b = Builder::before(rank.op());
    let digit = b.v(rank.digit());
    let digits = 1 << rank.radix_bits();
    let fits = digit.lt(digits);
    let holds = match rank.valid() {
        Some(valid) => fits | b.v(valid).eq(0),
        None => fits,
    };
    assert(
        holds,
        "the digit of 'qd.simt.block.radix_rank' is below 2^radix_bits",
    );
    let low = digit & (digits - 1);
    rank.op().set_operand_at(0, low.value());
}
