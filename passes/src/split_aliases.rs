//! `qd-split-aliases`: a kernel whose arguments may overlap gets a second form, for calls in which they do not.
//!
//! Each of two arguments that have `qd.may_alias` may be the other, or part of it: launches that write them wait for
//! one another, and a conversion promises nothing of them to its compiler. Most calls pass different buffers.
//! The kernel becomes a dispatch of two: one without the attribute, for calls whose arguments share no byte, and one
//! as it was. The host compares the addresses of each call.
//!
//! Limits: a private kernel stays as it is, since a dispatch has chosen it already, and so does one that only
//! dispatches. Code is compiled twice.
//!
//! Before:
//! ```mlir
//! qd.grid.kernel @k(%a: memref<?xi32> {qd.may_alias}, %b: memref<?xi32> {qd.may_alias}) { STEPS(%a, %b) }
//! ```
//! After:
//! ```mlir
//! qd.grid.kernel private @k_disjoint(%a: memref<?xi32>, %b: memref<?xi32>) { STEPS(%a, %b) }
//! qd.grid.kernel private @k_overlapping(%a: memref<?xi32> {qd.may_alias}, %b: memref<?xi32> {qd.may_alias}) { STEPS(%a, %b) }
//! qd.grid.kernel @k(%a: memref<?xi32> {qd.may_alias}, %b: memref<?xi32> {qd.may_alias}) {
//!   qd.grid.dispatch(%a, %b : memref<?xi32>, memref<?xi32>) {
//!     qd.grid.variant @k_disjoint when { the one ends before the other begins }
//!     qd.grid.variant @k_overlapping
//!   }
//! }
//! ```

use crate::outline_phases::kernels;
use qd_dialects::{
    argument_attributes,
    attributes::{self, names},
    builder::{Builder, V},
    diagnostic::Result,
    ir::{
        self, InsertionPoint, Op, OpExt, Value, arguments, bit_width, context_of, element_type,
        operations,
    },
    melior::{
        dialect::DialectHandle,
        ir::{Region, RegionLike, ShapedTypeLike, ValueLike},
    },
    ops::grid,
    pass::{NoOptions, Pass},
};
use std::collections::HashSet;

/// The pass.
pub struct SplitAliases;

impl Pass for SplitAliases {
    type Options = NoOptions;
    const NAME: &'static str = "qd-split-aliases";
    const SUMMARY: &'static str =
        "Split kernels whose arguments may overlap by whether those of a call do";

    fn dialects() -> Vec<DialectHandle> {
        vec![DialectHandle::arith(), DialectHandle::memref()]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let all = kernels(module);
        let symbols = module.walk_all().into_iter();
        let mut taken: HashSet<String> = symbols.filter_map(name_of).collect();
        for kernel in all {
            let marked = marked(kernel);
            if marked.len() > 1 && !is_chosen_by_dispatch(kernel) && !only_dispatches(kernel) {
                split(kernel, &marked, &mut taken);
            }
        }
        Ok(())
    }
}

/// The buffers that may overlap one another, each with its number among the arguments.
fn marked<'c>(kernel: Op<'c>) -> Vec<(usize, Value<'c>)> {
    let all = kernel.body().map(arguments).unwrap_or_default();
    let is_marked = |(index, value): &(usize, Value<'c>)| {
        element_type(value.r#type()).is_some()
            && argument_attributes::has(kernel, *index, names::MAY_ALIAS)
    };
    all.into_iter().enumerate().filter(is_marked).collect()
}

fn name_of(op: Op<'_>) -> Option<String> {
    op.attr("sym_name").and_then(attributes::text)
}

fn is_chosen_by_dispatch(kernel: Op<'_>) -> bool {
    let visibility = kernel.attr("sym_visibility").and_then(attributes::text);
    visibility.as_deref() == Some("private")
}

fn only_dispatches(kernel: Op<'_>) -> bool {
    let mut steps = crate::outline_phases::steps(kernel).into_iter();
    steps.all(|step| step.is(grid::Dispatch::NAME))
}

fn split<'c>(kernel: Op<'c>, marked: &[(usize, Value<'c>)], taken: &mut HashSet<String>) {
    let disjoint = copy(kernel, "disjoint", taken);
    let overlapping = copy(kernel, "overlapping", taken);
    for (index, _) in marked {
        argument_attributes::set(disjoint, *index, names::MAY_ALIAS, None);
    }
    let body = kernel.body().expect("a kernel's body");
    // What uses a value stands behind it.
    for op in operations(body).into_iter().rev() {
        op.erase();
    }
    let b = Builder::new(
        context_of(kernel),
        kernel.location(),
        InsertionPoint::End(body),
    );
    let dispatch = b.insert(ir::build(
        grid::Dispatch::NAME,
        b.location(),
        &arguments(body),
        &[],
        &[],
        vec![region(&b)],
    ));
    let variants = InsertionPoint::End(dispatch.body().expect("a dispatch's body"));
    let variant = |callee: Op<'c>, regions| {
        let name = name_of(callee).expect("a kernel's name");
        let callee = ("callee", attributes::symbol(b.context(), &name));
        let op = ir::build(
            grid::Variant::NAME,
            b.location(),
            &[],
            &[],
            &[callee],
            regions,
        );
        b.at(variants, || b.insert(op))
    };
    let when = variant(disjoint, vec![region(&b)]);
    let predicate = when.body().expect("a predicate");
    b.at(InsertionPoint::End(predicate), || {
        let holds = are_disjoint(&b, marked);
        b.op("qd.yield", &[holds.value()], &[], &[]);
    });
    variant(overlapping, vec![Region::new()]);
}

fn region<'c>(b: &Builder<'c>) -> Region<'c> {
    let region = Region::new();
    region.append_block(ir::new_block(&[], b.location()));
    region
}

/// A copy that only a dispatch runs, before the kernel.
fn copy<'c>(kernel: Op<'c>, what: &str, taken: &mut HashSet<String>) -> Op<'c> {
    let stem = format!("{}_{what}", name_of(kernel).unwrap_or_default());
    let numbered = (1..).map(|number| format!("{stem}_{number}"));
    let mut names = std::iter::once(stem.clone()).chain(numbered);
    let name = names.find(|name| !taken.contains(name)).expect("a name");
    let copy = InsertionPoint::Before(kernel).insert(kernel.detached_clone());
    let context = context_of(kernel);
    copy.set_attr("sym_name", attributes::string(context, &name));
    copy.set_attr("sym_visibility", attributes::string(context, "private"));
    taken.insert(name);
    copy
}

/// Whether no two of these buffers share a byte.
fn are_disjoint<'b, 'c>(b: &'b Builder<'c>, buffers: &[(usize, Value<'c>)]) -> V<'b, 'c> {
    let ranges: Vec<_> = buffers
        .iter()
        .map(|(_, buffer)| range(b, *buffer))
        .collect();
    let mut holds = None;
    for (i, (begin, end)) in ranges.iter().enumerate() {
        for (other_begin, other_end) in &ranges[i + 1..] {
            let apart = end.le(*other_begin) | other_end.le(*begin);
            holds = Some(holds.map_or(apart, |so_far: V<'b, 'c>| so_far & apart));
        }
    }
    holds.unwrap_or_else(|| b.bool(true))
}

/// Where a buffer begins and where it ends, in bytes.
fn range<'b, 'c>(b: &'b Builder<'c>, buffer: Value<'c>) -> (V<'b, 'c>, V<'b, 'c>) {
    let (value, index) = (b.v(buffer), b.index_type());
    let begin = b.result(
        "memref.extract_aligned_pointer_as_index",
        &[value],
        index,
        &[],
    );
    let memref = ir::as_memref(buffer.r#type()).expect("a buffer");
    let mut bytes = b.index(i64::from(bit_width(memref.element()).div_ceil(8)));
    for dimension in 0..memref.rank() {
        let dimension = b.index(dimension as i64);
        bytes = bytes * b.result("memref.dim", &[value, dimension], index, &[]);
    }
    (begin, begin + bytes)
}
