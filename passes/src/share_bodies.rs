//! `qd-share-bodies`: phases of a kernel that differ only in parameters share one body.
//!
//! Two outlined bodies are unified if they are the same up to integer constants: the same ops on
//! the same values. Constants that differ become arguments of the shared body, and each launch
//! passes its own. A shift or an exclusive or that one body lacks was folded away there, and is one
//! by 0. So the digit passes of a radix sort are one body with the shift as an argument.
//!
//! Only some constants may become arguments: operands of plain arithmetic, indices and stored
//! values. Divisors, loop bounds, sizes and the operands of collectives stay constants, which makes
//! better code, and so do constants that decide whether a branch around a collective is uniform. No
//! more than five arguments are added to a body.
//!
//! Bodies with assertions are not shared: each has places of its own. Those that are equal are merged when they are
//! named, as others are.
//!
//! The result for a kernel does not depend on other kernels of its module: equal bodies of several
//! kernels are merged when they are named (`qd-name-bodies`).
//!
//! Limits: bodies whose arguments are in another order are not recognised as equal.
//!
//! Before:
//! ```mlir
//! func.func private @k_a_0(%x: memref<?xi32>) attributes {qd.threads = 256 : i64} { ... shrui %v, %c8 ... }
//! func.func private @k_b_1(%x: memref<?xi32>) attributes {qd.threads = 256 : i64} { ... shrui %v, %c16 ... }
//! qd.grid.launch 0 @k_a_0 blocks(%g) args(%p : memref<?xi32>)
//! qd.grid.launch 1 @k_b_1 blocks(%g) args(%q : memref<?xi32>) after [0]
//! ```
//! After:
//! ```mlir
//! func.func private @k_a_0(%x: memref<?xi32>, %s: i32) attributes {qd.threads = 256 : i64} { ... shrui %v, %s ... }
//! qd.grid.launch 0 @k_a_0 blocks(%g) args(%p, %c8 : memref<?xi32>, i32)
//! qd.grid.launch 1 @k_a_0 blocks(%g) args(%q, %c16 : memref<?xi32>, i32) after [0]
//! ```

mod arguments;
mod shape;
mod unify;

use crate::{expand_asserts::ASSERT, expand_prints::PRINT};
use arguments::Arguments;
use qd_dialects::{
    argument_attributes, attributes,
    attributes::names,
    builder::Builder,
    diagnostic::Result,
    ir::{
        self, InsertionPoint, Key, Op, OpExt, Value, ValueExt, arguments, context_of, operations,
    },
    melior::{
        dialect::DialectHandle,
        ir::{
            Attribute, Type, TypeLike, ValueLike, attribute::TypeAttribute, r#type::FunctionType,
        },
    },
    ops::grid,
    pass::{NoOptions, Pass},
};
use shape::shape;
use std::{cell::OnceCell, collections::HashMap};
use unify::{Slot, slots, unify};

/// Arguments added to a body at most.
const MAX_PARAMETERS: usize = 5;

/// The most bodies of one shape, each different, that a body of that shape is compared with: the
/// last ones.
const MAX_CLUSTERS: usize = 64;

/// The pass.
pub struct ShareBodies;

impl Pass for ShareBodies {
    type Options = NoOptions;
    const NAME: &'static str = "qd-share-bodies";
    const SUMMARY: &'static str = "Let phases that differ only in parameters share one body";

    fn dialects() -> Vec<DialectHandle> {
        vec![DialectHandle::arith(), DialectHandle::func()]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        // All modules are found before any is changed.
        let mut modules = module.walk_all();
        modules.retain(|op| op.is("builtin.module"));
        for module in modules {
            share(module);
        }
        Ok(())
    }
}

/// Bodies that are equal but for constants.
struct Cluster<'c> {
    /// The body that the others are unified with.
    template: Op<'c>,
    slots: Vec<Slot<'c>>,
    /// Each body, and its constants in the template's slots. The first body is the
    /// template.
    members: Vec<(Op<'c>, Vec<i64>)>,
    columns: Columns,
    /// Where the template may have arguments, once computed.
    arguments: OnceCell<Arguments>,
}

/// Which of a template's slots hold the same constants in every member.
#[derive(Default)]
struct Columns {
    /// For each slot the number of its column: slots of one type that hold the same
    /// have the same.
    of: Vec<usize>,
    /// For each column, whether the constant is not the same in all members.
    varies: Vec<bool>,
}

impl Columns {
    /// With one more member's constants.
    fn with(&self, slots: &[Slot], first: &[i64], values: &[i64]) -> Self {
        let mut known: HashMap<(usize, i64), usize> = HashMap::new();
        let mut columns = Self::default();
        for (index, value) in values.iter().enumerate() {
            let before = match self.of.get(index) {
                Some(column) => *column,
                None => slots[index].r#type().to_raw().ptr as usize,
            };
            let column = *known.entry((before, *value)).or_insert_with(|| {
                let varied = self
                    .of
                    .get(index)
                    .is_some_and(|column| self.varies[*column]);
                columns.varies.push(varied || *value != first[index]);
                columns.varies.len() - 1
            });
            columns.of.push(column);
        }
        columns
    }
}

/// Slots of a template that hold different constants, with those of each
/// member. Slots that always hold the same are one parameter.
struct Parameter {
    slots: Vec<usize>,
    values: Vec<i64>,
}

impl<'c> Cluster<'c> {
    fn empty(template: Op<'c>) -> Self {
        Self {
            template,
            slots: slots(template),
            members: Vec::new(),
            columns: Columns::default(),
            arguments: OnceCell::new(),
        }
    }

    fn new(body: Op<'c>) -> Self {
        let mut cluster = Self::empty(body);
        let own = cluster.own();
        cluster.add(body, own);
        cluster
    }

    /// The template's own constants.
    fn own(&self) -> Vec<i64> {
        self.slots.iter().map(|slot| slot.value).collect()
    }

    /// Adds one more body, if it can be unified with the template.
    fn take(&mut self, body: Op<'c>) -> bool {
        if let Some(laid) = unify(self.template, body) {
            return self.add(body, laid.at(&self.slots));
        }
        // The new body may have a step that was folded away in all others.
        let over = |(member, _): &(Op<'c>, _)| Some((*member, unify(body, *member)?));
        let laid: Option<Vec<_>> = self.members.iter().map(over).collect();
        let Some(laid) = laid else {
            return false;
        };
        let mut larger = Self::empty(body);
        for (member, laid) in laid {
            let values = laid.at(&larger.slots);
            if !larger.add(member, values) {
                return false;
            }
        }
        let own = larger.own();
        let is_same = larger.add(body, own);
        if is_same {
            *self = larger;
        }
        is_same
    }

    /// Adds a member, if what differs then may become arguments.
    fn add(&mut self, body: Op<'c>, values: Vec<i64>) -> bool {
        let first = self.members.first().map_or(&values, |(_, first)| first);
        let columns = self.columns.with(&self.slots, first, &values);
        // Asked first, for it is easily answered.
        if columns.varies.iter().filter(|varies| **varies).count() > MAX_PARAMETERS {
            return false;
        }
        let varying = self.slots.iter().zip(&columns.of);
        let varying = varying.filter(|(_, column)| columns.varies[**column]);
        for (slot, _) in varying {
            let arguments = self.arguments.get_or_init(|| Arguments::of(self.template));
            if !arguments.may_be(slot) {
                return false;
            }
        }
        self.columns = columns;
        self.members.push((body, values));
        true
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut of_columns: HashMap<usize, usize> = HashMap::new();
        for (index, column) in self.columns.of.iter().enumerate() {
            if !self.columns.varies[*column] {
                continue;
            }
            let next = parameters.len();
            match *of_columns.entry(*column).or_insert(next) {
                known if known < next => parameters[known].slots.push(index),
                _ => parameters.push(Parameter {
                    slots: vec![index],
                    values: self.members.iter().map(|(_, v)| v[index]).collect(),
                }),
            }
        }
        parameters
    }
}

/// Shares the bodies of the launches of each of a module's kernels. Returns how many were removed.
pub fn share(module: Op) -> usize {
    let Some(block) = module.body() else { return 0 };
    let mut clusters: Vec<Cluster> = Vec::new();
    let launches = launches_by_body(module);
    // Those of one kernel and shape, in the order of the text.
    let mut alike: HashMap<(Key, u64), Vec<usize>> = HashMap::new();
    for op in operations(block) {
        let Some(kernel) = kernel_of(op, &launches, module) else {
            continue;
        };
        let known = alike.entry((kernel, shape(op))).or_default();
        let recent = known.len().saturating_sub(MAX_CLUSTERS);
        if !known[recent..].iter().any(|i| clusters[*i].take(op)) {
            known.push(clusters.len());
            clusters.push(Cluster::new(op));
        }
    }
    let mut gone = 0;
    for cluster in clusters {
        gone += cluster.members.len() - 1;
        merge(&cluster, &launches);
    }
    gone
}

fn is_private_body(op: Op) -> bool {
    op.is("func.func")
        && op.attr(names::THREADS).is_some()
        && name_of(op, "sym_visibility").as_deref() == Some("private")
        && op.body().is_some_and(|b| b.next_in_region().is_none())
        && !op
            .nested()
            .into_iter()
            .any(|inner| inner.is(ASSERT) || inner.is(PRINT))
}

/// The kernel that is the only one to launch a body; the module if there are no launches of it.
fn kernel_of<'c>(
    body: Op<'c>,
    launches: &HashMap<String, Vec<Op<'c>>>,
    module: Op<'c>,
) -> Option<Key> {
    if !is_private_body(body) {
        return None;
    }
    let launches = launches.get(&name_of(body, "sym_name")?);
    let launches = launches.map_or(&[][..], Vec::as_slice).iter();
    let mut kernels = launches.filter_map(|launch| kernel_around(*launch));
    let kernel = kernels.next().unwrap_or(module.key());
    kernels.all(|other| other == kernel).then_some(kernel)
}

fn kernel_around(launch: Op) -> Option<Key> {
    let mut around = launch.parent()?;
    while !around.is(grid::Kernel::NAME) {
        around = around.parent()?;
    }
    Some(around.key())
}

fn name_of(op: Op, attribute: &str) -> Option<String> {
    op.attr(attribute).and_then(attributes::text)
}

/// A module's launches, by their body's symbol.
pub(crate) fn launches_by_body<'c>(module: Op<'c>) -> HashMap<String, Vec<Op<'c>>> {
    let mut all: HashMap<String, Vec<Op>> = HashMap::new();
    for launch in module.nested().into_iter().filter_map(grid::Launch::of) {
        all.entry(launch.body()).or_default().push(launch.op());
    }
    all
}

fn merge<'c>(cluster: &Cluster<'c>, launches: &HashMap<String, Vec<Op<'c>>>) {
    if cluster.members.len() < 2 {
        return;
    }
    let parameters = cluster.parameters();
    let context = context_of(cluster.template);
    let first = cluster.members[0].0;
    let Some(name) = name_of(first, "sym_name") else {
        return;
    };
    for (place, (member, _)) in cluster.members.iter().enumerate() {
        let own = name_of(*member, "sym_name").unwrap_or_default();
        for launch in launches.get(&own).into_iter().flatten() {
            let b = Builder::before(*launch);
            let mut operands = launch.operand_values();
            for parameter in &parameters {
                let r#type = cluster.slots[parameter.slots[0]].r#type();
                operands.push(b.int(r#type, parameter.values[place]).value());
            }
            relaunch(*launch, &name, &operands);
        }
    }
    add_parameters(cluster, &parameters);
    for (member, _) in &cluster.members {
        if member.key() != cluster.template.key() {
            member.erase();
        }
    }
    cluster
        .template
        .set_attr("sym_name", attributes::string(context, &name));
}

/// Replaces a launch by one of another body with other operands.
pub(crate) fn relaunch<'c>(launch: Op<'c>, body: &str, operands: &[Value<'c>]) {
    let context = context_of(launch);
    let named: Vec<(String, Attribute<'c>)> = launch
        .attributes()
        .filter_map(|(name, value)| {
            let name = name.as_string_ref().as_str().ok()?.to_string();
            Some(match name.as_str() {
                "body" => (name, attributes::symbol(context, body)),
                _ => (name, value),
            })
        })
        .collect();
    let named: Vec<_> = named.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    InsertionPoint::Before(launch).insert(ir::build(
        grid::Launch::NAME,
        launch.location(),
        operands,
        &[],
        &named,
        Vec::new(),
    ));
    launch.erase();
}

/// Makes arguments of a template's slots.
fn add_parameters(cluster: &Cluster, parameters: &[Parameter]) {
    let template = cluster.template;
    let Some(entry) = template.body() else { return };
    for parameter in parameters {
        let r#type = cluster.slots[parameter.slots[0]].r#type();
        let argument = entry.add_argument(r#type, template.location());
        for slot in &parameter.slots {
            let slot = &cluster.slots[*slot];
            slot.op.set_operand_at(slot.operand, argument);
        }
    }
    sign(template);
    // Constants that nothing uses any more.
    for op in operations(entry) {
        if op.is("arith.constant") && op.first_result().uses().is_empty() {
            op.erase();
        }
    }
}

/// Gives a body the signature of its arguments, some of which were added.
pub(crate) fn sign(body: Op<'_>) {
    let entry = body.body().map(arguments).unwrap_or_default();
    let types: Vec<Type> = entry.iter().map(|v| v.r#type()).collect();
    let signature = FunctionType::new(context_of(body), &types, &[]);
    body.set_attr("function_type", TypeAttribute::new(signature.into()).into());
    argument_attributes::extend(body);
}
