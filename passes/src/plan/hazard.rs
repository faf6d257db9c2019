//! Which step has to wait for which: a graph over the steps of a sequence.
//!
//! Two steps are ordered if they may touch the same memory and one of them
//! writes it. Loops and `if`s are steps of the sequence around them and have a
//! graph of their own inside: an iteration ends before the next begins.

use super::access::{Access, Accesses};
use crate::outline_phases::steps;
use petgraph::{
    adj::UnweightedList,
    algo::tred::{dag_to_toposorted_adjacency_list, dag_transitive_reduction_closure},
    graph::{DiGraph, NodeIndex},
    visit::IntoNeighbors,
};
use qd_dialects::ir::{Op, OpExt};

/// Why a step waits for another.
#[derive(Clone, Debug)]
pub struct Hazard {
    /// Which step it waits for, by its place in the sequence.
    pub on: usize,
    /// What for, in words.
    pub why: String,
}

/// The steps of one sequence and what each truly waits for.
pub struct Sequence<'c> {
    /// The steps in program order.
    pub steps: Vec<Op<'c>>,
    /// For each step, what it waits for: the transitive reduction.
    pub waits: Vec<Vec<Hazard>>,
    /// For each step, the launches it waits for, directly or through steps that
    /// are no launches; reduced transitively.
    pub launches: Vec<Vec<usize>>,
}

/// Finds the hazards between the steps of a kernel or a loop.
pub fn analyse<'c>(sequence: Op<'c>, accesses: &mut Accesses<'c>) -> Sequence<'c> {
    let steps = steps(sequence);
    let touched: Vec<Vec<Access>> = steps.iter().map(|step| accesses.of(*step)).collect();
    let mut graph = Graph::default();
    steps.iter().for_each(|_| _ = graph.add_node(()));
    for (later, writes) in touched.iter().enumerate() {
        for (earlier, before) in touched[..later].iter().enumerate() {
            if let Some(why) = conflict(before, writes) {
                graph.add_edge(earlier.into(), later.into(), why);
            }
        }
    }
    let (reduced, closure) = reduce(&graph);
    let why = |on: usize, later: usize| {
        let edge = graph.find_edge(on.into(), later.into());
        edge.map(|edge| graph[edge].clone()).unwrap_or_default()
    };
    let hazards = |later: usize| {
        let on = reduced[later].iter();
        on.map(|on| Hazard {
            on: *on,
            why: why(*on, later),
        })
        .collect()
    };
    let waits = (0..steps.len()).map(hazards).collect();

    // Launches, and one step at a time that may be none.
    let mut between = Graph::default();
    steps.iter().for_each(|_| _ = between.add_node(()));
    for (later, before) in closure.iter().enumerate() {
        for on in before.iter().filter(|on| steps[**on].is("qd.grid.launch")) {
            between.add_edge((*on).into(), later.into(), String::new());
        }
    }
    let (launches, _) = reduce(&between);
    Sequence {
        steps,
        waits,
        launches,
    }
}

type Graph = DiGraph<(), String, usize>;
/// For each node, the nodes before it.
type Before = Vec<Vec<usize>>;

/// The transitive reduction and closure of a graph whose nodes are in order.
fn reduce(graph: &Graph) -> (Before, Before) {
    let order: Vec<NodeIndex<usize>> = graph.node_indices().collect();
    let (list, places) = dag_to_toposorted_adjacency_list::<_, usize>(graph, &order);
    let (reduction, closure) = dag_transitive_reduction_closure(&list);
    let before = |list: &UnweightedList<usize>| {
        let mut before = vec![Vec::new(); order.len()];
        for from in &order {
            for to in list.neighbors(places[from.index()]) {
                // Nodes were in topological order already, and keep their places.
                before[to].push(from.index());
            }
        }
        before
    };
    (before(&reduction), before(&closure))
}

/// Why accesses `later` have to wait for accesses `before`.
pub fn conflict(before: &[Access], later: &[Access]) -> Option<String> {
    later.iter().find_map(|b| {
        let a = before.iter().find(|a| a.conflicts(b))?;
        let what = match (a.effect.writes, b.effect.writes) {
            (true, false) => "reads what it writes",
            (false, _) => "writes what it reads",
            (true, true) if b.effect.reads => "reads what it writes",
            (true, true) => "writes what it writes",
        };
        Some(format!("{what}: {}", b.root))
    })
}
