//! How long a kernel's buffers must at least be, as far as its algorithms say:
//! scratch by the sizing functions, workspace and outputs by their inputs.

use melior::ir::ValueLike;
use qd_artifact::{Expr, Operation, Role};
use qd_dialects::{
    argument_attributes, attributes,
    ir::{Block, Op, OpExt, Value, ValueExt, arguments, operations},
    melior,
};
use std::collections::{HashMap, HashSet};

/// What is known of an argument.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// A buffer's minimal length.
    pub minimum: Option<Expr>,
    /// A length that will do: the minimal one, and of `qd.scratch` that of what is put there
    /// element by element.
    pub length: Option<Expr>,
    /// A live count's largest value.
    pub limit: Option<Expr>,
    /// Whether algorithms work in it, and nothing else touches it.
    is_workspace: bool,
}

impl Bounds {
    /// What the argument is for.
    pub fn role(&self) -> Role {
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
        .filter(|op| op.is("qd.grid.kernel"))
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

fn binary(operation: Operation, left: Expr, right: Expr) -> Expr {
    Expr::Binary {
        operation,
        width: 64,
        left: left.into(),
        right: right.into(),
    }
}

fn ceil_256(x: Expr) -> Expr {
    binary(Operation::CeilDivUnsigned, x, Expr::constant(256))
}

/// The bounds of one thing as one.
fn merged(bounds: Vec<Expr>, operation: Operation) -> Option<Expr> {
    let both = |left, right| binary(operation, left, right);
    bounds.into_iter().reduce(both)
}

/// `⌈n/256⌉ + ⌈⌈n/256⌉/256⌉ + …`, so many terms.
fn sum_ceilings(n: Expr, terms: i64) -> Expr {
    let mut level = n;
    let mut sum = Expr::constant(0);
    for _ in 0..terms {
        level = ceil_256(level);
        sum = binary(Operation::Add, sum, level.clone());
    }
    sum
}

/// The slots of the op's page, at least 1. What `select` needs above its first
/// level ends where a level has one block: three more cover 2^32 elements.
fn slots(algorithm: &str, n: Expr, depth: i64) -> Expr {
    let slots = match algorithm {
        "reduce" | "exclusive_scan" | "inclusive_scan" => sum_ceilings(n, depth - 1),
        "sort" => {
            let histograms = binary(Operation::Mul, Expr::constant(256), ceil_256(n));
            binary(
                Operation::Add,
                histograms.clone(),
                sum_ceilings(histograms, depth - 1),
            )
        }
        "reduce_by_key" => Expr::Select {
            condition: Expr::Compare {
                comparison: qd_artifact::Comparison::LeUnsigned,
                width: 64,
                left: n.clone().into(),
                right: Expr::constant(256).into(),
            }
            .into(),
            then: n.clone().into(),
            otherwise: slots("select", n, depth).into(),
        },
        _ => {
            let blocks = ceil_256(n.clone());
            let mut sum = binary(Operation::Add, n, blocks.clone());
            let mut level = blocks;
            for _ in 0..3 {
                level = ceil_256(level);
                // A level of one block is not stored.
                let stored = Expr::Select {
                    condition: Expr::Compare {
                        comparison: qd_artifact::Comparison::GtUnsigned,
                        width: 64,
                        left: level.clone().into(),
                        right: Expr::constant(1).into(),
                    }
                    .into(),
                    then: level.clone().into(),
                    otherwise: Expr::constant(0).into(),
                };
                sum = binary(Operation::Add, sum, stored);
            }
            sum
        }
    };
    binary(Operation::MaxUnsigned, slots, Expr::constant(1))
}

impl<'c> Kernel<'c> {
    fn of(op: Op<'c>) -> Self {
        let body = op.body().expect("a kernel's body");
        let mut kernel = Self {
            body,
            lengths: vec![All::default(); arguments(body).len()],
        };
        for inner in op.nested() {
            if inner.is("qd.grid.for_each") {
                kernel.elementwise(op, inner);
            }
            if let Some(algorithm) = inner.full_name().strip_prefix("qd.algo.") {
                kernel.algorithm(algorithm, inner);
            }
            kernel.roles(inner);
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
        let (_, argument) = value.block_argument()?;
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
            return Some(Expr::Scalar(value.block_argument()?.1));
        };
        let buffer = *op.operand_values().first()?;
        let shape = crate::convert::descriptor::shape(buffer.r#type())?;
        (op.is("memref.dim") && shape.len() == 1).then(|| Self::length(buffer))?
    }

    /// Notes scratch that an elementwise phase sets at each of its indices.
    fn elementwise(&mut self, kernel: Op<'c>, phase: Op<'c>) {
        let extent = phase.operand_values().first().copied();
        let (Some(extent), Some(body)) = (extent.and_then(Self::extent), phase.body()) else {
            return;
        };
        let index = arguments(body).first().copied();
        for store in operations(body) {
            let operands = store.operand_values();
            let to = operands.get(1).and_then(|to| to.block_argument());
            if let Some((block, argument)) = to
                && store.is("memref.store")
                && block == self.body
                && operands.get(2).copied() == index
                && argument_attributes::has(kernel, argument, "qd.scratch")
                && extent != Expr::Length(argument, 0)
                && !self.lengths[argument].extents.contains(&extent)
            {
                self.lengths[argument].extents.push(extent.clone());
            }
        }
    }

    fn need(&mut self, value: Value<'_>, length: Expr) {
        let Some((_, argument)) = value.block_argument() else {
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

    /// A live count is at most the capacity and the length of what it counts.
    fn count(&mut self, value: Value<'_>, length: Expr, depth: i64) {
        let Some((_, argument)) = value.block_argument() else {
            return;
        };
        let capacity = Expr::constant(1 << (8 * depth));
        let limit = binary(Operation::MinUnsigned, length, capacity);
        let all = &mut self.lengths[argument];
        if all.seen.insert(format!("max {limit:?}")) {
            all.limits.push(limit);
        }
    }

    /// Notes what is a workspace to an op, and what is something else.
    fn roles(&mut self, op: Op<'_>) {
        let workspaces: &[usize] = match op.full_name() {
            "memref.dim" => return,
            "qd.algo.reduce" | "qd.algo.exclusive_scan" | "qd.algo.inclusive_scan" => &[2],
            "qd.algo.select" | "qd.algo.partition" => &[4],
            "qd.algo.sort" => &[1, 3, 4],
            "qd.algo.reduce_by_key" => &[5],
            _ => &[],
        };
        for (i, group) in op.operand_segments().into_iter().enumerate() {
            for value in group {
                if let Some((block, argument)) = value.block_argument()
                    && block == self.body
                {
                    let works_in = workspaces.contains(&i);
                    self.lengths[argument].works_in[usize::from(works_in)] = true;
                }
            }
        }
    }

    fn algorithm(&mut self, name: &str, op: Op<'_>) {
        let depth = op
            .attr("log256_max_n")
            .and_then(attributes::int)
            .unwrap_or(1);
        let groups = op.operand_segments();
        let flat = op.operand_values();
        match name {
            "reduce" | "exclusive_scan" | "inclusive_scan" => {
                let [inputs, outputs, scratch, count] = &groups[..] else {
                    return;
                };
                // The live count counts all inputs.
                if let Some(n) = Self::length(inputs[0]) {
                    for input in &inputs[1..] {
                        self.need(*input, n.clone());
                    }
                }
                for ((input, output), scratch) in inputs.iter().zip(outputs).zip(scratch) {
                    let Some(n) = Self::length(*input) else {
                        continue;
                    };
                    let output_length = if name == "reduce" {
                        Expr::constant(1)
                    } else {
                        n.clone()
                    };
                    self.count(count[0], n.clone(), depth);
                    self.need(*output, output_length);
                    self.need(*scratch, slots(name, n, depth));
                }
            }
            "select" | "partition" => {
                if let Some(n) = Self::length(flat[0]) {
                    self.need(flat[1], n.clone());
                    self.need(flat[2], n.clone());
                    self.count(flat[5], n.clone(), depth);
                    self.need(flat[4], slots(name, n, depth));
                }
            }
            "sort" => {
                if let Some(n) = Self::length(flat[0]) {
                    for group in &groups[1..4] {
                        for value in group {
                            self.need(*value, n.clone());
                        }
                    }
                    self.count(groups[5][0], n.clone(), depth);
                    self.need(groups[4][0], slots(name, n, depth));
                }
            }
            "reduce_by_key" => {
                if let Some(n) = Self::length(flat[0]) {
                    for value in &flat[1..4] {
                        self.need(*value, n.clone());
                    }
                    self.count(flat[6], n.clone(), depth);
                    self.need(flat[5], slots(name, n, depth));
                }
            }
            _ => {}
        }
    }
}
