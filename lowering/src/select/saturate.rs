//! Adds to a graph what rules say is equal.
//!
//! Deviation from egg's own way, which looks for each rule in the whole graph in each iteration: what was found once is
//! found no second time. A chain of sums that a rule takes apart at one link an iteration would be searched as often as it
//! has links.

use super::{
    ITERATIONS, NODES,
    language::{Analysis, Facts, Graph, Node},
    rules,
};
use egg::{
    ENodeOrVar, Id, Language, PatternAst, Rewrite, RewriteScheduler, Runner, RunnerLimits,
    RunnerResult, SearchMatches, StopReason,
};
use qd_dialects::{
    diagnostic::{self, Diagnostic},
    ir::Op,
};
use std::time::Duration;

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
    /// What there was of each class: its nodes and what is known of it.
    before: Vec<Option<(usize, Facts)>>,
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
        let changed = self.changed(graph);
        if self.depths.is_empty() {
            let depths = rewrites.iter().map(|rewrite| depth(pattern(rewrite)));
            self.depths = depths.collect();
        }
        let deepest = self.depths.iter().copied().max();
        let distances = distances(graph, changed, deepest.unwrap_or(0));
        let search = |(rewrite, depth): (&&'a Rewrite<Node, Analysis>, &usize)| {
            matches(rewrite, *depth, graph, &distances)
        };
        Ok(rewrites.iter().zip(&self.depths).map(search).collect())
    }
}

impl News {
    /// The classes that are new, have other nodes, or of which something else is known.
    fn changed(&mut self, graph: &Graph) -> Vec<Id> {
        let mut now = vec![None; graph.nodes().len()];
        for class in graph.classes() {
            now[usize::from(class.id)] = Some((class.nodes.len(), class.data));
        }
        // A class that is gone is part of another one.
        let merged = (self.before.iter().enumerate())
            .filter(|(at, known)| known.is_some() && now[*at].is_none())
            .map(|(at, _)| graph.find(Id::from(at)));
        let own = (now.iter().enumerate())
            .filter(|(at, known)| known.is_some() && self.before.get(*at) != Some(*known))
            .map(|(at, _)| Id::from(at));
        let changed = merged.chain(own).collect();
        self.before = now;
        changed
    }
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

/// Where the graph has what a rule looks for, and did not have it before: what is new of it is no deeper than its pattern.
fn matches<'a>(
    rewrite: &'a Rewrite<Node, Analysis>,
    depth: usize,
    graph: &Graph,
    distances: &[usize],
) -> Vec<SearchMatches<'a, Node>> {
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
        .filter(|root| distances[usize::from(*root)] <= depth)
        // egg makes a machine for each class, and most are not what is looked for.
        .filter(|root| has_shape(pattern, pattern.len() - 1, graph, *root))
        .filter_map(|root| rewrite.searcher.search_eclass(graph, root))
        .collect()
}

/// Whether a class has what a pattern has from one of its nodes downwards, whatever its variables are.
fn has_shape(pattern: &PatternAst<Node>, at: usize, graph: &Graph, class: Id) -> bool {
    let ENodeOrVar::ENode(wanted) = &pattern[Id::from(at)] else {
        return true;
    };
    let is_shaped = |node: &Node| {
        let mut operands = wanted.children().iter().zip(node.children());
        wanted.matches(node)
            && operands.all(|(below, class)| has_shape(pattern, usize::from(*below), graph, *class))
    };
    graph[class].nodes.iter().any(is_shaped)
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
