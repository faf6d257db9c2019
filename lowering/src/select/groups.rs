//! Wave groups: bodies that have to have the same subgroup size.
//!
//! One body may write what another reads as its own subgroups lay it out: a mask for each
//! subgroup, a value for each lane 0. Values that depend on the size are followed through a
//! body: lanes' and subgroups' numbers and counts, results of collectives of the subgroup, and
//! what is computed of them or under branches on them. If such a value is written, as what is
//! stored or as where, then each body that may access that memory is of the group; and what it
//! reads there depends on the size, too.
//!
//! Too large a group costs freedom and never correctness: what a body writes otherwise than by
//! its arguments is memory that any body may access; bodies that call functions are one group,
//! and where a kernel dispatches another, all bodies are.
//!
//! Left out: memory that one kernel of a program leaves for another. To the host the size shows
//! as well, and a phase whose results are read elsewhere by subgroups has to say `qd.wave`.

use super::price::depends_on_order;
use qd_dialects::{
    attributes::{self, names},
    interfaces::{Collective, Effects, Scope, Use, view_source},
    ir::{Block, Key, Op, OpExt, Value, ValueExt, arguments, element_type, operations},
    melior::ir::ValueLike,
    ops::{grid, simt},
};
use qd_passes::{
    outline_phases::kernels,
    plan::access::{Accesses, Effect, Functions, Root},
};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// A body's access to memory of a kernel.
struct Link<'c> {
    kernel: usize,
    root: Root,
    body: usize,
    /// The memory as the body knows it; none if it was not given it.
    inside: Option<Value<'c>>,
}

impl Link<'_> {
    fn may_overlap(&self, other: &Self) -> bool {
        self.kernel == other.kernel && self.root.may_overlap(other.root)
    }
}

/// The groups of bodies, each in the order of the bodies; and how often each body is launched.
pub fn groups<'c>(module: Op<'c>, bodies: &[Op<'c>]) -> (Vec<Vec<usize>>, Vec<f64>) {
    let mut sets = Sets((0..bodies.len()).collect());
    let (links, launches, is_closed) = links(module, bodies);
    let calls = |body: &Op<'c>| body.nested().into_iter().any(|op| op.is("func.call"));
    let together: Vec<usize> = match is_closed {
        true => (0..bodies.len()).filter(|at| calls(&bodies[*at])).collect(),
        false => (0..bodies.len()).collect(),
    };
    together
        .windows(2)
        .for_each(|pair| sets.join(pair[0], pair[1]));

    let flows = bodies.iter().map(|body| body.body().map(Flow::of));
    let flows: Vec<Flow> = flows.map(Option::unwrap_or_default).collect();
    // What one body writes by its subgroups, another may pass on.
    let mut shows = vec![false; links.len()];
    loop {
        let overlaps = |link: &Link<'c>| {
            let mut shown = links.iter().zip(&shows).filter(|(_, shows)| **shows);
            shown.any(|(other, _)| link.may_overlap(other))
        };
        let mut given: Vec<Vec<Value<'c>>> = vec![Vec::new(); bodies.len()];
        for link in links.iter().filter(|link| overlaps(link)) {
            given[link.body].extend(link.inside);
        }
        let flows = flows.iter().zip(&given);
        let shown: Vec<Shown> = flows.map(|(flow, given)| Shown::of(flow, given)).collect();
        let now = links.iter().map(|link| shown[link.body].shows(link.inside));
        let now: Vec<bool> = now.collect();
        if now == shows {
            break;
        }
        shows = now;
    }
    for (link, _) in links.iter().zip(&shows).filter(|(_, shows)| **shows) {
        let others = links.iter().filter(|other| link.may_overlap(other));
        others.for_each(|other| sets.join(link.body, other.body));
    }

    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_set: HashMap<usize, usize> = HashMap::default();
    for at in 0..bodies.len() {
        let set = sets.find(at);
        let group = *by_set.entry(set).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(at);
    }
    (groups, launches)
}

/// Which bodies access which memory of which kernel; how often each is launched; and whether no
/// kernel hands its memory to another.
fn links<'c>(module: Op<'c>, bodies: &[Op<'c>]) -> (Vec<Link<'c>>, Vec<f64>, bool) {
    let places = bodies.iter().enumerate().map(|(at, body)| (body.key(), at));
    let places: HashMap<Key, usize> = places.collect();
    let mut links: Vec<Link<'c>> = Vec::new();
    let mut launches = vec![0.0f64; bodies.len()];
    let mut is_closed = true;
    let mut functions = Functions::default();
    for (number, kernel) in kernels(module).into_iter().enumerate() {
        let mut accesses = Accesses::new(kernel, &mut functions);
        let mut known = HashSet::default();
        for op in kernel.nested() {
            is_closed &= !op.is(grid::Dispatch::NAME);
            let (body, passed) = match grid::Launch::of(op) {
                Some(launch) => match accesses.of_passed(launch) {
                    Some(known) => known,
                    None => continue,
                },
                None if op.is(grid::Phase::NAME) => (op, accesses.of_captured(op)),
                None => continue,
            };
            let Some(body) = places.get(&body.key()).copied() else {
                continue;
            };
            launches[body] += 1.0;
            for (inside, access) in passed {
                let mut is_new = || known.insert((body, inside.map(|v| v.key()), access.root));
                if access.effect != Effect::NONE && is_new() {
                    links.push(Link {
                        kernel: number,
                        root: access.root,
                        body,
                        inside,
                    });
                }
            }
        }
    }
    (links, launches, is_closed)
}

/// Disjoint sets: of each member another one, or itself.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&self, mut at: usize) -> usize {
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        // The first stands for all, so that no order of joining shows.
        self.0[a.max(b)] = a.min(b);
    }
}

/// A block as values flow through it, read from the IR once: the search for what shows the size goes through it often.
#[derive(Default)]
struct Flow {
    arguments: Vec<Key>,
    ops: Vec<OpFlow>,
    /// What its terminator is given.
    ends: Vec<Key>,
}

struct OpFlow {
    operands: Vec<Key>,
    results: Vec<Key>,
    is_source: bool,
    regions: Vec<Flow>,
    written: Vec<Written>,
}

/// Memory that an op writes.
struct Written {
    /// The views by which it is written.
    views: Vec<Key>,
    root: Key,
    owner: Owner,
}

#[derive(Clone, Copy, PartialEq)]
enum Owner {
    /// The body, which has made it.
    Body,
    /// Who gives it to the body, as an argument.
    Giver,
    /// A phase has it from the kernel around it, or it is a global.
    Outside,
}

fn keys<'c>(values: impl IntoIterator<Item = Value<'c>>) -> Vec<Key> {
    values.into_iter().map(|value| value.key()).collect()
}

impl Flow {
    fn of(block: Block<'_>) -> Self {
        let end = block.terminator();
        Self {
            arguments: keys(arguments(block)),
            ops: operations(block).into_iter().map(OpFlow::of).collect(),
            ends: keys(end.into_iter().flat_map(|end| end.operand_values())),
        }
    }
}

impl OpFlow {
    fn of(op: Op<'_>) -> Self {
        let collective = Collective::of(op);
        let mut regions = Vec::new();
        // A combiner has nothing from outside.
        if collective.is_none() {
            for region in 0..op.region_count() {
                let blocks =
                    std::iter::successors(op.region_block(region), |block| block.next_in_region());
                regions.extend(blocks.map(Flow::of));
            }
        }
        Self {
            operands: keys(op.operand_values()),
            results: keys(op.result_values()),
            is_source: is_source(op, collective),
            written: match regions.is_empty() {
                true => written(op, collective.is_some()),
                false => Vec::new(),
            },
            regions,
        }
    }
}

fn written(op: Op<'_>, is_collective: bool) -> Vec<Written> {
    let is_memory = |value: &Value<'_>| element_type(value.r#type()).is_some();
    let operands = op.operand_values().into_iter().enumerate();
    let memory: Vec<_> = operands.filter(|(_, value)| is_memory(value)).collect();
    if memory.is_empty() || (!is_collective && Effects::of(op).is_some_and(Effects::only_reads)) {
        return Vec::new();
    }
    let is_written = |at: usize| match Use::of(op, at) {
        Use::Access(effects) => effects.writes,
        Use::View => false,
        Use::Unknown => true,
    };
    let memory = memory.into_iter().filter(|(at, _)| is_written(*at));
    memory
        .map(|(_, operand)| {
            let mut views = Vec::new();
            let mut root = operand;
            while let Some(source) = root.defining_op().and_then(view_source) {
                views.push(root.key());
                root = source;
            }
            let owner = match root.defining_op() {
                None => Owner::Giver,
                Some(made) if made.is("memref.alloca") || made.is(simt::BlockShared::NAME) => {
                    Owner::Body
                }
                Some(_) => Owner::Outside,
            };
            Written {
                views,
                root: root.key(),
                owner,
            }
        })
        .collect()
}

/// What a body writes by its subgroups.
#[derive(Default)]
struct Shown {
    /// Values that depend on the size, and memory that holds some.
    values: HashSet<Key>,
    /// Memory from outside to which they are written, as the body knows it.
    memory: HashSet<Key>,
    /// Whether they are written to memory that the body was not given.
    elsewhere: bool,
    changed: bool,
}

impl Shown {
    /// Of a body that finds such values in some of the memory that it is given.
    fn of(body: &Flow, given: &[Value<'_>]) -> Self {
        let mut shown = Self {
            values: given.iter().map(|value| value.key()).collect(),
            ..Self::default()
        };
        loop {
            shown.changed = false;
            shown.block(body, false);
            if !shown.changed {
                return shown;
            }
        }
    }

    /// Whether what is written by the memory that the body knows as `inside` shows the size.
    fn shows(&self, inside: Option<Value<'_>>) -> bool {
        match inside {
            Some(value) => self.memory.contains(&value.key()),
            None => self.elsewhere,
        }
    }

    fn add(&mut self, value: Key) {
        self.changed |= self.values.insert(value);
    }

    fn has_any(&self, values: &[Key]) -> bool {
        values.iter().any(|value| self.values.contains(value))
    }

    /// Goes through a block; `under`: whether a branch on such a value is around.
    fn block(&mut self, block: &Flow, under: bool) {
        for op in &block.ops {
            self.op(op, under);
        }
    }

    fn op(&mut self, op: &OpFlow, under: bool) {
        let any = self.has_any(&op.operands);
        let depends = any || op.is_source;
        let mut yields = false;
        for block in &op.regions {
            self.block(block, under || any);
            let of_end = self.has_any(&block.ends);
            yields |= of_end;
            if any || of_end {
                block.arguments.iter().for_each(|value| self.add(*value));
            }
        }
        if depends || yields || (!op.regions.is_empty() && under) {
            op.results.iter().for_each(|value| self.add(*value));
        }
        if depends || under {
            op.written.iter().for_each(|memory| self.write(memory));
        }
    }

    /// What an op writes holds such a value, or stands where one says.
    fn write(&mut self, memory: &Written) {
        // Loads see it by any view.
        memory.views.iter().for_each(|view| self.add(*view));
        self.add(memory.root);
        if memory.owner != Owner::Body {
            self.changed |= self.memory.insert(memory.root);
        }
        if memory.owner == Owner::Outside {
            self.changed |= !std::mem::replace(&mut self.elsewhere, true);
        }
    }
}

/// Whether results of a body may show the size to those who read them: it has an op of subgroups, or one of blocks
/// that combines in another order at another size, or it calls functions. Not so where it says that any size will do.
pub fn uses_subgroups(body: Op<'_>) -> bool {
    let says_any = body.attr(names::WAVE).and_then(attributes::text).as_deref() == Some("any");
    let uses = |op: Op<'_>| {
        let collective = Collective::of(op);
        op.is("func.call")
            || is_source(op, collective)
            || collective.is_some() && depends_on_order(op)
    };
    !says_any && body.nested().into_iter().any(uses)
}

/// Whether an op's results depend on the size by themselves.
fn is_source(op: Op<'_>, collective: Option<Collective<'_>>) -> bool {
    let named = [
        simt::LaneId::NAME,
        simt::SubgroupId::NAME,
        simt::SubgroupSize::NAME,
        simt::Log2SubgroupSize::NAME,
        simt::NumSubgroups::NAME,
        simt::Elect::NAME,
    ];
    named.contains(&op.full_name())
        || collective.is_some_and(|collective| collective.scope == Scope::Subgroup)
}
