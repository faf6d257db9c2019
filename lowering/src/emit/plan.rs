//! A planned kernel as plain data.

use super::expr::{host_value, unsupported};
use melior::ir::{Type, ValueLike};
use qd_artifact::{
    Argument, ArgumentKind, BufferRef, Comparison, Dtype, Expr, Kernel, Operand, Operation, Role,
    Site, Step, StepKind, Variant, View,
};
use qd_dialects::{
    argument_attributes, attributes,
    attributes::names,
    diagnostic::{Diagnostic, Result},
    ir::{self, Block, Key, Op, OpExt, Value, ValueExt, operations},
    melior,
    ops::{self, algo, grid},
    report,
};

use super::{Setting, effects::Effects, fallible};
use crate::convert::descriptor;
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
};

/// A kernel, and how it is run.
pub struct Planned {
    pub name: String,
    pub arguments: Vec<Argument>,
    /// Control words.
    pub control: u64,
    pub steps: Vec<Step>,
    /// The assertions in what it launches, and where each is.
    pub sites: Vec<(Site, String)>,
    /// Where the steps are that may have no value on the host, by their id.
    pub places: BTreeMap<u64, String>,
}

/// What launches of a body are.
#[derive(Clone, Copy)]
struct Launched {
    /// Of a block.
    threads: u32,
    dynamic_shared_bytes: u32,
}

/// Every kernel of a module at the subgroup level. Before algorithms were expanded they had these signatures; what
/// they do with their arguments is read from the bodies.
pub fn plan<'c>(
    module: Op<'c>,
    signatures: Vec<Kernel>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Planned>> {
    let all = operations(module.body().expect("a module's body"));
    let mut bodies = HashMap::new();
    for op in &all {
        if let (Some(name), Some(threads)) = (
            symbol(*op),
            op.attr(names::THREADS).and_then(attributes::int),
        ) {
            let shared = setting.backend().dynamic_shared_bytes;
            let launched = Launched {
                threads: threads as u32,
                dynamic_shared_bytes: shared(*op, &setting.target)?,
            };
            bodies.insert(name, launched);
        }
    }
    let ops = all.into_iter().filter(|op| op.is(grid::Kernel::NAME));
    let named: Vec<_> = ops.filter_map(|op| Some((symbol(op)?, op))).collect();
    let signatures = signatures.into_iter();
    let mut known: HashMap<_, _> = signatures.map(|k| (k.name, k.arguments)).collect();
    let mut effects = Effects::new(named.iter().cloned().collect());
    let planned = named.into_iter().map(|(name, op)| {
        let mut arguments = match known.remove(&name) {
            Some(arguments) => arguments,
            None => arguments(op)?,
        };
        for (argument, access) in arguments.iter_mut().zip(effects.accesses(&name)) {
            argument.access = access;
        }
        let reader = Reader {
            kernel: op,
            bodies: &bodies,
            controls: controls(op),
            sites: Sites::of(op)?,
            numbered: Cell::new(0),
            places: RefCell::default(),
        };
        Ok(Planned {
            name,
            arguments,
            control: reader.controls.values().map(Words::end).max().unwrap_or(0),
            steps: reader.steps(op.body().expect("a kernel's body"))?,
            sites: reader.sites.all,
            places: reader.places.into_inner(),
        })
    });
    planned.collect()
}

fn symbol(op: Op<'_>) -> Option<String> {
    op.attr("sym_name").and_then(attributes::text)
}

/// A kernel that is read off, and what its steps refer to.
struct Reader<'k, 'c> {
    kernel: Op<'c>,
    /// The module's bodies, by name.
    bodies: &'k HashMap<String, Launched>,
    /// The control words of each op.
    controls: HashMap<Key, Words>,
    sites: Sites,
    /// How many of its steps have a number.
    numbered: Cell<u64>,
    /// Where those are that may have no value on the host.
    places: RefCell<BTreeMap<u64, String>>,
}

/// The order of the steps of one list. Launches name their dependencies; any other step is a
/// barrier.
#[derive(Default)]
struct Order {
    barrier: Option<u64>,
    /// Launches since the barrier, by their number in the module.
    launches: HashMap<i64, u64>,
    /// Steps without dependents: the barrier, and launches since.
    last: Vec<u64>,
}

impl Order {
    /// The dependencies of a launch, which is number `id` of the plan from now on.
    fn launch(&mut self, launch: grid::Launch<'_>, id: u64) -> Vec<u64> {
        let mut after: Vec<u64> = launch
            .after()
            .into_iter()
            .filter_map(|earlier| self.launches.get(&earlier).copied())
            .collect();
        if after.is_empty() {
            after.extend(self.barrier);
        }
        self.last.retain(|earlier| !after.contains(earlier));
        self.last.push(id);
        self.launches.insert(launch.id(), id);
        after
    }

    /// The dependencies of any other step.
    fn barrier(&mut self, id: u64) -> Vec<u64> {
        self.launches.clear();
        self.barrier = Some(id);
        std::mem::replace(&mut self.last, vec![id])
    }
}

/// The reflected arguments of a kernel, at any level.
pub fn arguments<'c>(kernel: Op<'c>) -> Result<'c, Vec<Argument>> {
    let body = kernel.body().expect("a kernel's body");
    ir::arguments(body)
        .iter()
        .enumerate()
        .map(|(i, value)| {
            let text = |name| argument_attributes::get(kernel, i, name).and_then(attributes::text);
            let r#type = value.r#type();
            let scalar = ir::element_type(r#type).unwrap_or(r#type);
            if plain_dtype(scalar).is_err() {
                let why = qd_passes::verify_level::no_data(r#type);
                return Err(Diagnostic::at(kernel, format!("argument {i} {why}")));
            }
            let dtype = dtype(kernel, scalar, text(names::DTYPE).as_deref())?;
            let kind = match descriptor::shape(r#type) {
                Some(shape) => ArgumentKind::Buffer {
                    dtype,
                    shape: shape.iter().map(|e| e.map(|e| e as u64)).collect(),
                },
                None => ArgumentKind::Scalar { dtype },
            };
            let name = text(names::NAME).unwrap_or_else(|| format!("arg{i}"));
            let says = |name| argument_attributes::has(kernel, i, name);
            Ok(Argument {
                role: match says(names::SCRATCH) {
                    true => Role::Scratch,
                    false => Role::Data,
                },
                may_alias: says(names::MAY_ALIAS),
                ..Argument::new(&name, kind)
            })
        })
        .collect()
}

/// The signed type of a scalar's width.
fn plain_dtype(scalar: Type<'_>) -> std::result::Result<Dtype, String> {
    match scalar.to_string().as_str() {
        "index" => Ok(Dtype::I64),
        "i1" => Ok(Dtype::Bool),
        text => text.parse(),
    }
}

/// The reflected type: what the source says, or the signed one of this width.
fn dtype<'c>(op: Op<'c>, r#type: Type<'c>, said: Option<&str>) -> Result<'c, Dtype> {
    let plain = plain_dtype(r#type).map_err(|e| Diagnostic::at(op, e))?;
    let Some(said) = said else {
        return Ok(plain);
    };
    let named: Dtype = said
        .parse()
        .map_err(|e: String| Diagnostic::at(op, format!("'qd.dtype': {e}")))?;
    let is_kind = named.is_float() == plain.is_float() || named.is_half();
    if named.size() != plain.size() || !is_kind {
        return Err(Diagnostic::at(
            op,
            format!("'qd.dtype' is {named}, but the argument holds {plain}"),
        ));
    }
    Ok(named)
}

impl<'c> Reader<'_, 'c> {
    fn steps(&self, block: Block<'c>) -> Result<'c, Vec<Step>> {
        let (mut steps, mut order) = (Vec::new(), Order::default());
        for op in operations(block) {
            if !self.is_step(op)? {
                continue;
            }
            // In the order of the text, also of what is in a step.
            let id = self.numbered.get();
            self.numbered.set(id + 1);
            let after = match grid::Launch::of(op) {
                Some(launch) => order.launch(launch, id),
                None => order.barrier(id),
            };
            let kind = self.kind(op)?;
            if fallible::may_fail(&kind)
                && let Some(span) = report::span_of(op.location())
            {
                self.places.borrow_mut().insert(id, span.to_string());
            }
            steps.push(Step { id, after, kind });
        }
        Ok(steps)
    }

    /// Whether an op of a kernel is a step. Host arithmetic is evaluated where it is
    /// used.
    fn is_step(&self, op: Op<'c>) -> Result<'c, bool> {
        match op.full_name() {
            grid::Launch::NAME
            | grid::Fill::NAME
            | grid::DoWhile::NAME
            | grid::If::NAME
            | grid::Dispatch::NAME => Ok(true),
            grid::View::NAME | grid::Control::NAME | grid::Faults::NAME | grid::Prints::NAME => {
                Ok(false)
            }
            name if name.starts_with(grid::PREFIX) => Err(unsupported(op)),
            name if name.starts_with(algo::PREFIX) => Err(unsupported(op)),
            _ => Ok(false),
        }
    }

    fn kind(&self, op: Op<'c>) -> Result<'c, StepKind> {
        let kernel = self.kernel;
        let inner = || op.body().map_or(Ok(Vec::new()), |body| self.steps(body));
        Ok(match op.full_name() {
            grid::Launch::NAME => self.launch(grid::Launch::cast(op))?,
            grid::Fill::NAME => {
                let fill = grid::Fill::cast(op);
                StepKind::Fill {
                    buffer: buffer(kernel, op, fill.dest())?,
                    // What has no bounds has one element.
                    lower: number_or(kernel, op, fill.lower(), 0)?,
                    upper: number_or(kernel, op, fill.upper(), 1)?,
                    value: host_value(kernel, op, fill.value())?,
                }
            }
            grid::DoWhile::NAME => StepKind::DoWhile {
                flag: self.operand(op, grid::DoWhile::cast(op).flag())?,
                steps: inner()?,
            },
            grid::If::NAME => StepKind::If {
                condition: self.operand(op, grid::If::cast(op).condition())?,
                steps: inner()?,
            },
            _ => self.dispatch(op)?,
        })
    }

    fn launch(&self, launch: grid::Launch<'c>) -> Result<'c, StepKind> {
        let (op, body) = (launch.op(), launch.body());
        let launched = self.bodies.get(&body).copied();
        let launched = launched.ok_or_else(|| {
            Diagnostic::at(
                op,
                format!("launches '{body}', which is not in this module"),
            )
        })?;
        Ok(StepKind::Launch {
            name: op
                .attr(names::PHASE)
                .and_then(attributes::text)
                .unwrap_or_else(|| body.clone()),
            body,
            blocks: host_value(self.kernel, op, launch.blocks())?,
            threads: launched.threads,
            dynamic_shared_bytes: launched.dynamic_shared_bytes,
            arguments: launch
                .args()
                .into_iter()
                .map(|value| self.operand(op, value))
                .collect::<Result<_>>()?,
        })
    }

    fn operand(&self, user: Op<'c>, value: Value<'c>) -> Result<'c, Operand> {
        let made_by = value.defining_op().map(OpExt::key);
        if let Some(words) = made_by.and_then(|op| self.controls.get(&op)) {
            return Ok(Operand::Control {
                first: words.first,
                words: words.elements.min(words.words),
            });
        }
        let site = made_by.and_then(|op| self.sites.first.get(&op));
        match (site, descriptor::shape(value.r#type())) {
            (Some(_), Some(_)) => {
                return Ok(
                    match made_by.is_some_and(|op| self.sites.prints.contains(&op)) {
                        true => Operand::Prints,
                        false => Operand::Faults,
                    },
                );
            }
            (Some(first), None) => return Ok(Operand::Site(*first)),
            (None, _) => {}
        }
        if descriptor::shape(value.r#type()).is_some() {
            Ok(Operand::Buffer(buffer(self.kernel, user, value)?))
        } else {
            Ok(Operand::Scalar(host_value(self.kernel, user, value)?))
        }
    }

    fn dispatch(&self, op: Op<'c>) -> Result<'c, StepKind> {
        let variants = op.body().map(operations).unwrap_or_default();
        Ok(StepKind::Dispatch {
            variants: variants
                .into_iter()
                .filter_map(grid::Variant::of)
                .map(|variant| {
                    let end = variant
                        .predicate()
                        .and_then(|block| operations(block).pop());
                    let predicate = end.map(|end| {
                        let yielded = ops::Yield::cast(end).values()[0];
                        host_value(self.kernel, variant.op(), yielded)
                    });
                    Ok(Variant {
                        kernel: variant.callee(),
                        predicate: predicate.transpose()?,
                    })
                })
                .collect::<Result<_>>()?,
            arguments: op
                .operand_values()
                .into_iter()
                .map(|value| self.operand(op, value))
                .collect::<Result<_>>()?,
        })
    }
}

/// The bodies that kernels launch, each once.
pub fn bodies<'a>(kernels: impl IntoIterator<Item = &'a Planned>) -> BTreeSet<String> {
    let mut bodies = BTreeSet::new();
    for kernel in kernels {
        add_bodies(&kernel.steps, &mut bodies);
    }
    bodies
}

fn add_bodies(steps: &[Step], to: &mut BTreeSet<String>) {
    for step in steps {
        match &step.kind {
            StepKind::Launch { body, .. } => _ = to.insert(body.clone()),
            StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } => add_bodies(steps, to),
            StepKind::Fill { .. } | StepKind::Dispatch { .. } => {}
        }
    }
}

/// Control words of an op.
struct Words {
    first: u64,
    elements: u64,
    words: u64,
}

impl Words {
    fn end(&self) -> u64 {
        self.first + self.words
    }
}

/// The control words of each op; the words of different ops are consecutive, but for one that is left out in front
/// of elements of two words.
fn controls(kernel: Op<'_>) -> HashMap<Key, Words> {
    let mut next = 0;
    let ops = kernel.nested().into_iter();
    ops.filter(|op| op.is(grid::Control::NAME))
        .map(|op| {
            let r#type = op.first_result().r#type();
            let shape = descriptor::shape(r#type);
            let elements = shape.into_iter().flatten().flatten().product::<i64>() as u64;
            let bits = u64::from(ir::element_type(r#type).map_or(32, ir::bit_width));
            let words = Words {
                first: u64::next_multiple_of(next, (bits / 32).max(1)),
                elements,
                // An i1 is a byte.
                words: (elements * bits.max(8)).div_ceil(32),
            };
            next = words.end();
            (op.key(), words)
        })
        .collect()
}

/// The sites of a kernel's launches, in the order of the text.
#[derive(Default)]
struct Sites {
    /// Of each `qd.grid.faults` and `qd.grid.prints`.
    first: HashMap<Key, u64>,
    /// The `qd.grid.prints` among them.
    prints: HashSet<Key>,
    /// Each, and where it is.
    all: Vec<(Site, String)>,
}

impl Sites {
    fn of(kernel: Op<'_>) -> Result<'_, Self> {
        let mut sites = Self::default();
        for op in kernel.nested() {
            let is_print = op.is(grid::Prints::NAME);
            if !is_print && !op.is(grid::Faults::NAME) {
                continue;
            }
            if is_print {
                sites.prints.insert(op.key());
            }
            sites.first.insert(op.key(), sites.all.len() as u64);
            let launch = op.result_values()[0].uses().first().map(|(user, _)| *user);
            let phase = launch.and_then(|launch| launch.attr(names::PHASE));
            let phase = phase.and_then(attributes::text).unwrap_or_default();
            let listed = op.attr("sites").map(attributes::elements);
            for site in listed.unwrap_or_default() {
                let named: HashMap<_, _> = attributes::strings(site).into_iter().collect();
                let text = |name: &str| named.get(name).cloned().unwrap_or_default();
                let relation = named.get("relation").map(|name| {
                    let known = RELATIONS.iter().find(|(known, _)| known == name);
                    known.map(|(_, relation)| *relation).ok_or_else(|| {
                        Diagnostic::at(op, format!("has a site with the relation '{name}'"))
                    })
                });
                let types = text("types");
                let printed = types.split_terminator(',').map(str::parse);
                let printed = printed.collect::<std::result::Result<Vec<_>, String>>();
                let printed = printed.map_err(|why| Diagnostic::at(op, why))?;
                let site = Site {
                    text: text("text"),
                    phase: phase.clone(),
                    relation: relation.transpose()?,
                    printed: is_print.then_some(printed),
                };
                sites.all.push((site, text("at")));
            }
        }
        Ok(sites)
    }
}

/// The predicates of integers, as `arith.cmpi` spells them.
const RELATIONS: [(&str, Comparison); 10] = [
    ("eq", Comparison::Eq),
    ("ne", Comparison::Ne),
    ("slt", Comparison::LtSigned),
    ("sle", Comparison::LeSigned),
    ("sgt", Comparison::GtSigned),
    ("sge", Comparison::GeSigned),
    ("ult", Comparison::LtUnsigned),
    ("ule", Comparison::LeUnsigned),
    ("ugt", Comparison::GtUnsigned),
    ("uge", Comparison::GeUnsigned),
];

/// A number that the host computes, where the op has one.
fn number_or<'c>(
    kernel: Op<'c>,
    user: Op<'c>,
    number: Option<Value<'c>>,
    otherwise: u64,
) -> Result<'c, Expr> {
    let constant = || Ok(Expr::constant(otherwise));
    number.map_or_else(constant, |number| host_value(kernel, user, number))
}

/// A kernel's argument, or a view of one.
fn buffer<'c>(kernel: Op<'c>, user: Op<'c>, value: Value<'c>) -> Result<'c, BufferRef> {
    if let Some((block, argument)) = value.block_argument()
        && kernel.body() == Some(block)
    {
        return Ok(BufferRef {
            argument,
            view: None,
        });
    }
    let op = value.defining_op().ok_or_else(|| unsupported(user))?;
    if op.is("memref.cast") {
        return buffer(kernel, user, op.operand_values()[0]);
    }
    let Some(view) = grid::View::of(op) else {
        return Err(Diagnostic::at(
            user,
            format!(
                "uses a buffer made by '{}', which the launch plan cannot pass",
                op.full_name()
            ),
        )
        .note(op.location(), "made here"));
    };
    let base = buffer(kernel, user, view.source())?;
    let element = ir::element_type(view.source().r#type()).expect("a buffer");
    let bytes = Expr::Binary {
        operation: Operation::Mul,
        width: 64,
        left: host_value(kernel, user, view.offset())?.into(),
        right: Expr::constant(u64::from(ir::bit_width(element).div_ceil(8))).into(),
    };
    let offset_bytes = match base.view {
        None => bytes,
        Some(outer) => Expr::Binary {
            operation: Operation::Add,
            width: 64,
            left: outer.offset_bytes.into(),
            right: bytes.into(),
        },
    };
    let element = ir::element_type(value.r#type()).expect("a buffer");
    Ok(BufferRef {
        argument: base.argument,
        view: Some(View {
            offset_bytes,
            length: view
                .size()
                .map(|size| host_value(kernel, user, size))
                .transpose()?,
            row: ir::row_length(value.r#type()).map(|row| row as u32),
            dtype: dtype(op, element, None)?,
        }),
    })
}
