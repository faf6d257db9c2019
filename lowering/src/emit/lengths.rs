//! Minimum lengths of a kernel's buffers, from its algorithms and loops: scratch by the sizing functions,
//! workspace and outputs by their inputs, and of two that are swapped each by the other.

use melior::ir::ValueLike;
use qd_artifact::{Comparison, Expr, Operation};
use qd_dialects::{
    algorithm::{Algorithm, Role},
    argument_attributes, attributes,
    attributes::names,
    interfaces::before_swaps,
    ir::{Block, Op, OpExt, Value, ValueExt, arguments, operations},
    melior,
    ops::grid,
    scratch::{BLOCK, Number},
};
use std::{
    collections::{HashMap, HashSet},
    ops::Add,
};

/// What is known of an argument.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// A buffer's minimal length.
    pub minimum: Option<Expr>,
    /// A sufficient length: the minimal one, and for `qd.scratch` also that of its elementwise
    /// writes.
    pub length: Option<Expr>,
    /// A live count's largest value.
    pub limit: Option<Expr>,
    /// Whether algorithms work in it, and nothing else touches it.
    is_workspace: bool,
}

impl Bounds {
    /// What the argument is for.
    pub fn role(&self) -> qd_artifact::Role {
        use qd_artifact::Role;
        match self {
            Self { limit: Some(_), .. } => Role::Count,
            Self { is_workspace, .. } if *is_workspace => Role::Scratch,
            _ => Role::Data,
        }
    }
}

/// What is known of each argument, by kernel.
pub type Lengths = HashMap<String, Vec<Bounds>>;

/// Reads the lengths off a module whose algorithms have not been expanded.
pub fn lengths(module: Op<'_>) -> Lengths {
    let body = module.body().expect("a module's body");
    operations(body)
        .into_iter()
        .filter(|op| op.is(grid::Kernel::NAME))
        .map(|kernel| {
            let name = kernel
                .attr("sym_name")
                .and_then(attributes::text)
                .unwrap_or_default();
            (name, Kernel::of(kernel).bounds())
        })
        .collect()
}

struct Kernel<'c> {
    body: Block<'c>,
    lengths: Vec<All>,
}

/// All bounds of an argument, each once and in the order they were found.
#[derive(Clone, Default)]
struct All {
    minima: Vec<Expr>,
    /// Lengths that are no minima: a live count may be less.
    extents: Vec<Expr>,
    limits: Vec<Expr>,
    seen: HashSet<String>,
    /// Of ops that use it, whether some or others work in it.
    works_in: [bool; 2],
}

/// An operation on 64 bits.
pub(super) fn binary(operation: Operation, left: Expr, right: Expr) -> Expr {
    Expr::Binary {
        operation,
        width: 64,
        left: left.into(),
        right: right.into(),
    }
}

/// The bounds of one thing as one.
fn merged(bounds: Vec<Expr>, operation: Operation) -> Option<Expr> {
    let both = |left, right| binary(operation, left, right);
    bounds.into_iter().reduce(both)
}

/// What an expression of the plan counts.
#[derive(Clone)]
struct Counted(Expr);

impl Counted {
    fn with(self, operation: Operation, right: u64) -> Self {
        Self(binary(operation, self.0, Expr::constant(right)))
    }

    fn select(self, comparison: Comparison, bound: u64, otherwise: Self) -> Self {
        Self(Expr::Select {
            condition: Expr::Compare {
                comparison,
                width: 64,
                left: self.0.clone().into(),
                right: Expr::constant(bound).into(),
            }
            .into(),
            then: self.0.into(),
            otherwise: otherwise.0.into(),
        })
    }
}

impl Add for Counted {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(binary(Operation::Add, self.0, other.0))
    }
}

impl Number for Counted {
    fn zero(&self) -> Self {
        Self(Expr::constant(0))
    }
    fn tiles(self) -> Self {
        self.with(Operation::CeilDivUnsigned, BLOCK)
    }
    fn times_block(self) -> Self {
        self.with(Operation::Mul, BLOCK)
    }
    fn at_least_one(self) -> Self {
        self.with(Operation::MaxUnsigned, 1)
    }
    fn if_several(self) -> Self {
        let none = self.zero();
        self.select(Comparison::GtUnsigned, 1, none)
    }
    fn up_to_block_or(self, more: Self) -> Self {
        self.select(Comparison::LeUnsigned, BLOCK, more)
    }
}

impl<'c> Kernel<'c> {
    fn of(op: Op<'c>) -> Self {
        let body = op.body().expect("a kernel's body");
        let mut kernel = Self {
            body,
            lengths: vec![All::default(); arguments(body).len()],
        };
        for inner in op.nested() {
            if inner.is(grid::ForEach::NAME) {
                kernel.elementwise(op, inner);
            }
            if let Some(around) = grid::DoWhile::of(inner) {
                kernel.swaps(around);
            }
            match Algorithm::of(inner) {
                Some(algorithm) => kernel.algorithm(&algorithm),
                None => kernel.uses(inner),
            }
        }
        kernel
    }

    fn bounds(self) -> Vec<Bounds> {
        let bounds = |all: All| Bounds {
            length: merged(
                [&all.minima[..], &all.extents].concat(),
                Operation::MaxUnsigned,
            ),
            minimum: merged(all.minima, Operation::MaxUnsigned),
            limit: merged(all.limits, Operation::MinUnsigned),
            is_workspace: all.works_in == [false, true],
        };
        self.lengths.into_iter().map(bounds).collect()
    }

    fn length(value: Value<'_>) -> Option<Expr> {
        let (_, argument) = before_swaps(value).block_argument()?;
        let shape = crate::convert::descriptor::shape(value.r#type())?;
        Some(match shape.first()? {
            Some(extent) => Expr::constant(*extent as u64),
            None => Expr::Length(argument, 0),
        })
    }

    /// How many indices an elementwise phase has, where that is a buffer's length or a number that
    /// the kernel is given.
    fn extent(value: Value<'_>) -> Option<Expr> {
        let Some(op) = value.defining_op() else {
            return Some(Expr::Scalar(before_swaps(value).block_argument()?.1));
        };
        let buffer = *op.operand_values().first()?;
        let shape = crate::convert::descriptor::shape(buffer.r#type())?;
        (op.is("memref.dim") && shape.len() == 1).then(|| Self::length(buffer))?
    }

    /// Notes scratch that an elementwise phase sets at each of its indices.
    fn elementwise(&mut self, kernel: Op<'c>, phase: Op<'c>) {
        let phase = grid::ForEach::cast(phase);
        let (Some(extent), body) = (Self::extent(phase.extent()), phase.body()) else {
            return;
        };
        let index = arguments(body).first().copied();
        for store in operations(body) {
            let operands = store.operand_values();
            let to = operands
                .get(1)
                .and_then(|to| before_swaps(*to).block_argument());
            if let Some((block, argument)) = to
                && store.is("memref.store")
                && block == self.body
                && operands.get(2).copied() == index
                && argument_attributes::has(kernel, argument, names::SCRATCH)
                && extent != Expr::Length(argument, 0)
                && !self.lengths[argument].extents.contains(&extent)
            {
                self.lengths[argument].extents.push(extent.clone());
            }
        }
    }

    fn need(&mut self, value: Value<'_>, length: Expr) {
        let Some((_, argument)) = before_swaps(value).block_argument() else {
            return;
        };
        // A buffer's own length says nothing about it.
        if length == Expr::Length(argument, 0) {
            return;
        }
        let all = &mut self.lengths[argument];
        if all.seen.insert(format!("min {length:?}")) {
            all.minima.push(length);
        }
    }

    /// Buffers that are exchanged are of one length.
    fn swaps(&mut self, around: grid::DoWhile<'_>) {
        for pair in around.swap().chunks_exact(2) {
            for (one, other) in [(pair[0], pair[1]), (pair[1], pair[0])] {
                if let Some(length) = Self::length(other) {
                    self.need(one, length);
                }
            }
        }
    }

    /// A live count is at most the capacity and the length of what it counts.
    fn count(&mut self, value: Value<'_>, length: Expr, depth: u32) {
        let Some((_, argument)) = before_swaps(value).block_argument() else {
            return;
        };
        let capacity = Expr::constant(1 << (8 * depth));
        let limit = binary(Operation::MinUnsigned, length, capacity);
        let all = &mut self.lengths[argument];
        if all.seen.insert(format!("max {limit:?}")) {
            all.limits.push(limit);
        }
    }

    /// Notes whether something works in a buffer, or does something else with it.
    fn use_of(&mut self, value: Value<'_>, works_in: bool) {
        if let Some((block, argument)) = before_swaps(value).block_argument()
            && block == self.body
        {
            self.lengths[argument].works_in[usize::from(works_in)] = true;
        }
    }

    fn uses(&mut self, op: Op<'_>) {
        if op.is("memref.dim") {
            return;
        }
        for value in op.operand_values() {
            self.use_of(value, false);
        }
    }

    fn algorithm(&mut self, algorithm: &Algorithm<'_>) {
        let depth = algorithm.log256_capacity.unwrap_or(1);
        for operand in &algorithm.operands {
            self.use_of(operand.value, operand.role.is_workspace());
            let counted = algorithm.counted_for(operand);
            let Some(n) = counted.and_then(|counted| Self::length(counted)) else {
                continue;
            };
            match operand.role {
                Role::Count => {
                    for n in algorithm.counted().filter_map(|value| Self::length(value)) {
                        self.count(operand.value, n, depth);
                    }
                }
                Role::Scratch => {
                    if let Some(formula) = algorithm.scratch {
                        self.need(operand.value, formula.slots(Counted(n), depth).0);
                    }
                }
                // What has no dimension has its one element.
                Role::Total if Self::length(operand.value).is_none() => {}
                Role::Total => self.need(operand.value, Expr::constant(1)),
                Role::Input | Role::Output | Role::Key | Role::Value | Role::Workspace => {
                    self.need(operand.value, n);
                }
            }
        }
    }
}
