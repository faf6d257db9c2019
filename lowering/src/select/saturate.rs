//! Adds to a graph what rules say is equal.
//!
//! Deviations from egg's own way, which looks for each rule in the whole graph in each iteration: what was found once is
//! found no second time, if the class that has it has nothing else that is new. A chain of sums that a rule takes apart at
//! one link an iteration would be searched as often as it has links. And egg's machine looks only where there may be several
//! ways to find a rule: most are found in one way, and what that is needs no machine.

use super::{
    ITERATIONS, NODES,
    language::{Analysis, Facts, Graph, Node},
    rules,
};
use egg::{
    ENodeOrVar, Id, Language, PatternAst, Rewrite, RewriteScheduler, Runner, RunnerLimits,
    RunnerResult, SearchMatches, StopReason, Subst, Var,
};
use qd_dialects::{
    diagnostic::{self, Diagnostic},
    ir::Op,
};
use rustc_hash::FxHashSet as HashSet;
use smallvec::SmallVec;
use std::{borrow::Cow, time::Duration};

/// Does what egg takes part in, with a clock that stands still. egg measures its steps, which nobody asks for, and the first
/// look at the clock that it has compares two of the machine's for up to 200 ms.
pub fn without_clock<T>(work: impl FnOnce() -> T) -> T {
    let (clock, _) = quanta::Clock::mock();
    quanta::with_clock(&clock, work)
}

/// A graph of a body of so many ops, with what rules add.
///
/// # Errors
///
/// A rule is wrong.
pub fn saturated<'c>(op: Op<'c>, graph: Graph, ops: usize) -> diagnostic::Result<'c, Graph> {
    let mistake = |message: String| Diagnostic::at(op, message);
    let graph = with_rules(graph, ops, News::default()).map_err(mistake)?;
    match graph.analysis.contradiction {
        Some((a, b)) => Err(mistake(format!(
            "rules say that {a} is {b}: one of them is wrong"
        ))),
        None => Ok(graph),
    }
}

fn with_rules(
    graph: Graph,
    ops: usize,
    scheduler: impl RewriteScheduler<Node, Analysis> + 'static,
) -> Result<Graph, String> {
    let runner = Runner::<_, Analysis>::new(Analysis::default())
        .with_egraph(graph)
        // Counts alone end it: a clock would make the result another one.
        .with_time_limit(Duration::MAX)
        .with_iter_limit(ITERATIONS)
        .with_node_limit(NODES.0 + NODES.1 * ops)
        .with_scheduler(scheduler);
    let done = runner.run(rules::rewrites()?);
    let mut graph = done.egraph;
    graph.analysis.is_cut = !matches!(done.stop_reason, Some(StopReason::Saturated));
    Ok(graph)
}

/// Looks for rules where a graph is not as it was in the iteration before.
#[derive(Default)]
struct News {
    /// What was known of each class; none of numbers that are of no class any more.
    before: Vec<Option<Facts>>,
    /// Of each rule the depth of its pattern.
    depths: Vec<usize>,
}

impl RewriteScheduler<Node, Analysis> for News {
    fn search_rewrites<'a>(
        &mut self,
        iteration: usize,
        graph: &Graph,
        rewrites: &[&'a Rewrite<Node, Analysis>],
        limits: &RunnerLimits,
    ) -> RunnerResult<Vec<Vec<SearchMatches<'a, Node>>>> {
        limits.check_limits(iteration, graph)?;
        if self.depths.is_empty() {
            let depths = rewrites.iter().map(|rewrite| depth(pattern(rewrite)));
            self.depths = depths.collect();
        }
        let deepest = self.depths.iter().copied().max();
        let state = State::new(graph, &mut self.before, deepest.unwrap_or(0));
        let search = |(rewrite, depth): (&&'a Rewrite<Node, Analysis>, &usize)| {
            state.matches(rewrite, *depth)
        };
        Ok(rewrites.iter().zip(&self.depths).map(search).collect())
    }
}

/// A graph as it is in an iteration, and what of it is new.
struct State<'g> {
    graph: &'g Graph,
    /// The nodes of each class by its number.
    nodes: Vec<&'g [Node]>,
    /// Whether a class has others of the iteration before in it, or something else is known of it, or there was none.
    is_changed: Vec<bool>,
    /// Nodes that were added.
    added: HashSet<Node>,
    /// Of each class how many nodes it is above what is new, as far as patterns are deep; above that, `usize::MAX`.
    distances: Vec<usize>,
}

impl<'g> State<'g> {
    /// `before`: what was known of each class in the iteration before, which becomes what is known now.
    fn new(graph: &'g Graph, before: &mut Vec<Option<Facts>>, deepest: usize) -> Self {
        let count = graph.nodes().len();
        let mut nodes: Vec<&[Node]> = vec![&[]; count];
        let mut now = vec![None; count];
        for class in graph.classes() {
            nodes[usize::from(class.id)] = &class.nodes;
            now[usize::from(class.id)] = Some(class.data);
        }
        let mut is_changed = vec![before.is_empty(); count];
        let mut new = Vec::new();
        for (at, known) in before.iter().enumerate() {
            if known.is_some() && now[at] != *known {
                // A class that is gone is part of another one.
                let class = graph.find(Id::from(at));
                is_changed[usize::from(class)] = true;
                new.push(class);
            }
        }
        let numbers = before.len()..count;
        new.extend(numbers.clone().map(|at| graph.find(Id::from(at))));
        let added = graph.nodes()[numbers].iter().cloned();
        let added = added.map(|node| node.map_children(|child| graph.find(child)));
        let added = match before.is_empty() {
            true => HashSet::default(),
            false => added.collect(),
        };
        *before = now;
        Self {
            graph,
            nodes,
            is_changed,
            added,
            distances: distances(graph, new, deepest),
        }
    }

    /// Where the graph has what a rule looks for, and did not have it before: what is new of it is no deeper than its
    /// pattern.
    fn matches<'a>(
        &self,
        rewrite: &'a Rewrite<Node, Analysis>,
        depth: usize,
    ) -> Vec<SearchMatches<'a, Node>> {
        let graph = self.graph;
        let pattern = pattern(rewrite);
        let heads = pattern.iter().filter_map(|node| match node {
            ENodeOrVar::ENode(node) => Some(node.discriminant()),
            ENodeOrVar::Var(_) => None,
        });
        let mut of_heads = heads.map(|head| graph.classes_for_op(&head));
        // That of the pattern as a whole is the last.
        let roots = of_heads.try_fold(None, |_, classes| {
            classes.filter(|classes| classes.len() > 0).map(Some)
        });
        let roots = roots.flatten().into_iter().flatten();
        roots
            .filter(|root| self.distances[usize::from(*root)] <= depth)
            .filter_map(|root| self.matches_in(rewrite, pattern, root))
            .collect()
    }

    /// What a class has of what a rule looks for, if some of it is new.
    fn matches_in<'a>(
        &self,
        rewrite: &'a Rewrite<Node, Analysis>,
        pattern: &'a PatternAst<Node>,
        root: Id,
    ) -> Option<SearchMatches<'a, Node>> {
        let mut found = Found::default();
        if !self.find(pattern, pattern.len() - 1, root, &mut found) || !found.is_new {
            return None;
        }
        if found.is_several {
            // egg says in which order.
            return rewrite.searcher.search_eclass(self.graph, root);
        }
        let mut subst = Subst::with_capacity(found.variables.len());
        for (variable, class) in found.variables {
            let known = subst.insert(variable, class);
            if known.is_some_and(|known| known != class) {
                return None;
            }
        }
        Some(SearchMatches {
            eclass: root,
            substs: vec![subst],
            ast: Some(Cow::Borrowed(pattern)),
        })
    }

    /// Whether a class has what a pattern has from one of its nodes downwards, whatever its variables are.
    fn find(&self, pattern: &PatternAst<Node>, at: usize, class: Id, found: &mut Found) -> bool {
        let number = usize::from(class);
        let is_changed = self.is_changed[number];
        let wanted = match &pattern[Id::from(at)] {
            ENodeOrVar::ENode(wanted) => wanted,
            ENodeOrVar::Var(variable) => {
                found.variables.push((*variable, class));
                found.is_new |= is_changed;
                return true;
            }
        };
        let mut is_there = false;
        let nodes = self.nodes[number].iter();
        for node in nodes.filter(|node| wanted.matches(node)) {
            let known = found.variables.len();
            let mut operands = wanted.children().iter().zip(node.children());
            let has_all = operands
                .all(|(below, class)| self.find(pattern, usize::from(*below), *class, found));
            if is_there || !has_all {
                found.variables.truncate(known);
            }
            if has_all {
                found.is_several |= is_there;
                found.is_new |= is_changed || self.is_added(node, number);
                is_there = true;
            }
        }
        is_there
    }

    /// Whether a node of a class was added.
    fn is_added(&self, node: &Node, class: usize) -> bool {
        self.distances[class] == 0 && self.added.contains(node)
    }
}

/// What a class has of a pattern.
#[derive(Default)]
struct Found {
    /// What variables are where it was found first.
    variables: SmallVec<[(Var, Id); 8]>,
    /// Whether some of it was not there in the iteration before.
    is_new: bool,
    /// Whether there may be several ways to find it.
    is_several: bool,
}

/// Of each class how many nodes it is above what changed, up to `most`; above that, `usize::MAX`.
fn distances(graph: &Graph, changed: Vec<Id>, most: usize) -> Vec<usize> {
    let mut distances = vec![usize::MAX; graph.nodes().len()];
    let mut at = changed;
    for distance in 0..=most {
        at.retain(|class| {
            let known = &mut distances[usize::from(*class)];
            std::mem::replace(known, distance.min(*known)) > distance
        });
        if distance < most {
            let parents = at.iter().flat_map(|class| graph[*class].parents());
            at = parents.map(|parent| graph.find(parent)).collect();
        }
    }
    distances
}

/// What a rule looks for.
fn pattern(rewrite: &Rewrite<Node, Analysis>) -> &PatternAst<Node> {
    let pattern = rewrite.searcher.get_pattern_ast();
    pattern.expect("every rule has two sides")
}

/// How many nodes a pattern has one below the other.
fn depth(pattern: &PatternAst<Node>) -> usize {
    let mut depths: Vec<usize> = Vec::with_capacity(pattern.len());
    for node in pattern.iter() {
        depths.push(match node {
            ENodeOrVar::ENode(node) => {
                let operands = node.children().iter();
                let below = operands.map(|operand| depths[usize::from(*operand)] + 1);
                below.max().unwrap_or(0)
            }
            ENodeOrVar::Var(_) => 0,
        });
    }
    depths.pop().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::language::{Head, Operator, Type};
    use super::*;
    use egg::SimpleScheduler;
    use qd_dialects::attributes::Kind;

    /// How many lanes have a predicate, of several predicates, added up one after another.
    fn counts(predicates: u32) -> Graph {
        let mut graph = Graph::new(Analysis::default());
        let leaf = |graph: &mut Graph, head| graph.add(Node::leaf(head));
        let token = leaf(&mut graph, Head::Token(1));
        let whole = leaf(&mut graph, Head::Cluster(None));
        let add = leaf(&mut graph, Head::kind(Kind::Add));
        let mut sum = None;
        for number in 0..predicates {
            graph.analysis.leaves.push(Facts {
                r#type: Some(Type::I1),
                ..Facts::default()
            });
            let predicate = leaf(&mut graph, Head::Leaf(number));
            let mut term =
                |operator, operands: &[Id]| graph.add(Node::new(Head::Op(operator), operands));
            let count = term(Operator::CountTrue, &[predicate, whole, token]);
            let one = term(Operator::ZeroExtend32, &[predicate]);
            term(Operator::ExclusiveScan, &[add, one, whole, token]);
            sum = Some(match sum {
                Some(sum) => term(Operator::Add, &[sum, count]),
                None => count,
            });
        }
        graph.rebuild();
        graph
    }

    #[test]
    fn what_is_new_is_all_that_rules_find() {
        let graph = counts(9);
        let ops = graph.nodes().len();
        let ours = with_rules(graph.clone(), ops, News::default()).unwrap();
        let eggs = with_rules(graph.clone(), ops, SimpleScheduler).unwrap();
        assert!(ours.total_size() > 2 * graph.total_size());
        let all = |graph: &Graph| {
            let classes = graph.classes();
            let classes = classes.map(|class| (class.id, class.nodes.clone(), class.data));
            classes.collect::<Vec<_>>()
        };
        assert_eq!(all(&ours), all(&eggs));
        assert_eq!(ours.analysis.made, eggs.analysis.made);
        assert_eq!(ours.analysis.joined, eggs.analysis.joined);
    }
}
