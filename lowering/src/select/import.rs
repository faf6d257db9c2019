//! A body as an e-graph: its ops that are terms, in the order of the body.
//!
//! All blocks of a body enter one graph. What is no term is the *skeleton*: it stays where it
//! is, its operands are roots, its results leaves. Arithmetic that no rule can reach is part of it, too:
//! every rule has a collective, and arithmetic a few ops around it. A body without collectives is all
//! skeleton, and its graph is empty.

use super::{
    language::{Analysis, Facts, Graph, Head, Node, Operator, Type},
    price::is_uniform,
    term,
};
use egg::Id;
use qd_dialects::{
    interfaces::{Collective, Effects, Scope},
    ir::{Block, Key, Op, OpExt, Value, ValueExt, operations},
    melior::ir::ValueLike,
};
use qd_passes::uniformity::Uniformity;
use rustc_hash::FxHashMap as HashMap;

/// Iterations of a loop whose bounds are not known, by how deep it stands; deeper ones as the
/// last.
const ITERATIONS: [f64; 3] = [8.0, 4.0, 2.0];
/// How often a side of a branch is taken: by all lanes or none, and by some.
const TOGETHER: f64 = 0.5;
const APART: f64 = 0.75;

/// How many ops away from a collective a rule reaches: `popcnt (and (ballot ?p) …)` has two, and what
/// a rule makes others begin with.
const REACH: u8 = 4;

/// An op of the body.
pub struct Site<'c> {
    /// It.
    pub op: Op<'c>,
    /// The class of its result and the node that it is, if it is a term.
    pub term: Option<(Id, Node)>,
    /// Where it stands: what a collective that is put in its place has.
    pub token: u32,
    /// The block that it is in, by its place among the body's.
    pub block: usize,
    /// How often it runs, for each time that the body does.
    pub frequency: f64,
    /// Whether its results are the same in a subgroup.
    pub is_uniform: bool,
}

/// A body in a graph.
pub struct Body<'c> {
    /// The graph.
    pub graph: Graph,
    /// Its ops, in pre-order.
    pub sites: Vec<Site<'c>>,
    /// The class of each value that is of a term.
    pub classes: HashMap<Key, Id>,
    /// The values that leaves stand for.
    pub leaves: Vec<Value<'c>>,
}

impl<'c> Body<'c> {
    /// Reads a body. `uniformity` is of the largest subgroup that it may have: what is uniform
    /// in 64 lanes is in 32 of them.
    pub fn read(body: Block<'c>, uniformity: &Uniformity<'c>) -> Self {
        let mut reader = Reader {
            body: Self {
                graph: Graph::new(Analysis::default()),
                sites: Vec::new(),
                classes: HashMap::default(),
                leaves: Vec::new(),
            },
            uniformity,
            terms: reachable(body),
            token: 0,
            blocks: 0,
        };
        reader.block(body, 1.0, 0);
        reader.body.graph.rebuild();
        reader.body
    }
}

struct Reader<'a, 'c> {
    body: Body<'c>,
    uniformity: &'a Uniformity<'c>,
    /// The ops that rules may reach.
    terms: HashMap<Key, Operator>,
    /// The last that was given out.
    token: u32,
    /// Blocks that were entered.
    blocks: usize,
}

impl<'c> Reader<'_, 'c> {
    /// Reads a block. Returns whether threads wait in it, or may.
    fn block(&mut self, block: Block<'c>, frequency: f64, depth: usize) -> bool {
        let number = self.blocks;
        self.blocks += 1;
        self.token += 1;
        let mut token = self.token;
        let mut waits = false;
        for op in operations(block) {
            let term = self.term(op, token);
            let is_term = term.is_some();
            self.body.sites.push(Site {
                op,
                term,
                token,
                block: number,
                frequency,
                is_uniform: is_uniform(op, self.uniformity),
            });
            let mut waits_here = !is_term && is_barrier(op);
            // A combiner is part of its op.
            if op.region_count() > 0 && Collective::of(op).is_none() {
                let (times, deeper) = self.weight(op, depth);
                for region in 0..op.region_count() {
                    let mut inner = op.region_block(region);
                    while let Some(current) = inner {
                        waits_here |= self.block(current, frequency * times, deeper);
                        inner = current.next_in_region();
                    }
                }
            }
            if waits_here {
                waits = true;
                self.token += 1;
                token = self.token;
            }
        }
        waits
    }

    /// How often an op's regions run each time that it does, and how many loops are around
    /// what is in them, given those around it.
    fn weight(&self, op: Op<'c>, depth: usize) -> (f64, usize) {
        let operands = op.operand_values();
        match op.full_name() {
            "scf.for" => {
                let known = |at: usize| self.uniformity.constant(operands[at]);
                let trips = || {
                    let (lower, upper, step) = (known(0)?, known(1)?, known(2)?);
                    let trips = upper.checked_sub(lower)?.max(0) as f64 / step.max(1) as f64;
                    Some(trips.ceil())
                };
                let unknown = ITERATIONS[depth.min(ITERATIONS.len() - 1)];
                (trips().unwrap_or(unknown), depth + 1)
            }
            "scf.while" => (ITERATIONS[depth.min(ITERATIONS.len() - 1)], depth + 1),
            "scf.if" | "scf.index_switch" => {
                let together = self.uniformity.is_uniform(operands[0], Scope::Subgroup);
                (if together { TOGETHER } else { APART }, depth)
            }
            _ => (1.0, depth),
        }
    }

    fn leaf(&mut self, value: Value<'c>) -> Id {
        if let Some(class) = self.body.classes.get(&value.key()) {
            return *class;
        }
        let head = term::constant_of(value).unwrap_or_else(|| {
            self.body.leaves.push(value);
            self.body.graph.analysis.leaves.push(Facts {
                r#type: Type::of(value.r#type()),
                constant: None,
                uniform: self.uniformity.is_uniform(value, Scope::Subgroup),
                mask: false,
            });
            Head::Leaf(self.body.leaves.len() as u32 - 1)
        });
        let class = self.body.graph.add(Node::leaf(head));
        self.body.classes.insert(value.key(), class);
        class
    }

    /// Adds an op if it is a term.
    fn term(&mut self, op: Op<'c>, token: u32) -> Option<(Id, Node)> {
        let operator = *self.terms.get(&op.key())?;
        let values: Vec<Id> = op
            .operand_values()
            .into_iter()
            .map(|v| self.leaf(v))
            .collect();
        let (kind, cluster) = term::details_of(op);
        let graph = &mut self.body.graph;
        let mut leaf = |head| graph.add(Node::leaf(head));
        let mut operands = Vec::with_capacity(5);
        if operator.combines() {
            operands.push(leaf(Head::kind(kind?)));
        }
        operands.extend(values);
        if operator.cluster().is_some() {
            operands.push(leaf(Head::Cluster(cluster)));
        }
        if operator.bits().is_some() {
            operands.push(leaf(Head::Bits(term::bits_of(op))));
        }
        if operator.is_collective() {
            operands.push(leaf(Head::Token(token)));
        }
        let node = Node::new(Head::Op(operator), &operands);
        let class = graph.add(node.clone());
        let result = op.first_result();
        let facts = graph[class].data;
        if !facts.uniform && self.uniformity.is_uniform(result, Scope::Subgroup) {
            let uniform = true;
            graph.set_analysis_data(class, Facts { uniform, ..facts });
        }
        self.body.classes.insert(result.key(), class);
        Some((class, node))
    }
}

/// The ops of a body that are terms and that rules may reach, with what they are: collectives, and
/// arithmetic near them.
fn reachable(body: Block<'_>) -> HashMap<Key, Operator> {
    let mut terms: Vec<(Op<'_>, Operator)> = Vec::new();
    collect(body, &mut terms);
    let mut near: HashMap<Key, u8> = HashMap::default();
    let is_collective = |operator: &Operator| operator.is_collective();
    if !terms.iter().any(|(_, operator)| is_collective(operator)) {
        return HashMap::default();
    }
    // From results to users, and from operands to what makes them.
    let mut behind: HashMap<Key, u8> = HashMap::default();
    for (op, operator) in &terms {
        let nearest = || {
            let operands = op.operand_values().into_iter();
            operands
                .filter_map(|value| behind.get(&value.key()).copied())
                .min()
        };
        let distance = match is_collective(operator) {
            true => Some(0),
            false => nearest().map(|distance| distance + 1),
        };
        if let Some(distance) = distance.filter(|distance| *distance <= REACH) {
            behind.insert(op.first_result().key(), distance);
            near.insert(op.key(), distance);
        }
    }
    let mut before: HashMap<Key, u8> = HashMap::default();
    for (op, operator) in terms.iter().rev() {
        let distance = match is_collective(operator) {
            true => Some(0),
            false => before.get(&op.first_result().key()).copied(),
        };
        // What stands near a collective that uses it has operands which rules look at, too.
        let own = near.get(&op.key()).copied();
        let distance = [distance, own].into_iter().flatten().min();
        if let Some(distance) = distance.filter(|distance| *distance <= REACH) {
            near.insert(op.key(), distance);
            for value in op.operand_values() {
                let known = before.entry(value.key()).or_insert(u8::MAX);
                *known = (*known).min(distance + 1);
            }
        }
    }
    let is_near = |(op, operator): (Op<'_>, Operator)| {
        near.contains_key(&op.key()).then_some((op.key(), operator))
    };
    terms.into_iter().filter_map(is_near).collect()
}

/// The ops below a block that are terms, in pre-order.
fn collect<'c>(block: Block<'c>, to: &mut Vec<(Op<'c>, Operator)>) {
    for op in operations(block) {
        if let Some(operator) = term::operator_of(op) {
            to.push((op, operator));
            continue;
        }
        if op.region_count() == 0 || Collective::of(op).is_some() {
            continue;
        }
        for region in 0..op.region_count() {
            let mut inner = op.region_block(region);
            while let Some(current) = inner {
                collect(current, to);
                inner = current.next_in_region();
            }
        }
    }
}

/// Whether threads wait at an op, or may: a collective that accesses memory, or a call.
fn is_barrier(op: Op<'_>) -> bool {
    let accesses = || Effects::of(op).is_none_or(|effects| effects.reads || !effects.only_reads());
    op.is("func.call") || (Collective::of(op).is_some() && accesses())
}
