//! The algebra of collectives, as data: a file per family. The law for adding a rule is the
//! README beside them.

mod moves;
mod narrow;
mod scans;
mod segments;
mod votes;

use super::language::{Analysis, Graph, Head, Node, Operator, Type};
use egg::{
    Applier, ENodeOrVar, Id, Language, Pattern, PatternAst, Rewrite, Searcher, Subst, Symbol, Var,
};
use qd_dialects::attributes::Kind;
use smallvec::SmallVec;
use std::sync::LazyLock;

/// A table for each file.
const FAMILIES: &[&[Rule]] = &[
    moves::RULES,
    narrow::RULES,
    votes::RULES,
    scans::RULES,
    segments::RULES,
];

/// Two terms that are equal, and what has to be so.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// What explanations call it.
    pub name: &'static str,
    /// What it finds.
    pub left: &'static str,
    /// What it adds to the same class.
    pub right: &'static str,
    /// Whether it finds the right side, too, and adds the left.
    pub both_ways: bool,
    /// What has to be so of variables.
    pub guards: &'static [Guard],
    /// Why it is right, in a line.
    pub reason: &'static str,
    /// What its variables stand for in proofs; what is not listed is by [`Domain::of`].
    pub proof: &'static [(&'static str, Domain)],
}

/// A condition on what a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// It is the same in all lanes of a subgroup.
    Uniform(&'static str),
    /// It is a constant.
    Constant(&'static str),
    /// It is an integer of 32 or 64 bits.
    Integer(&'static str),
    /// It is an `i32`.
    Word(&'static str),
    /// It is one of these kinds.
    OneOf(&'static str, &'static [Kind]),
    /// It is of fewer lanes than a subgroup may have.
    Cluster(&'static str),
    /// It is no predicate that was extended: of these masks say all there is, and more terms only take time.
    Number(&'static str),
}

/// What a variable stands for in a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// A value of any type that collectives move.
    Scalar,
    /// An integer of 32 or 64 bits.
    Integer,
    /// An `i32`.
    Word,
    /// An `i64`.
    Long,
    /// An `i1`.
    Predicate,
    /// An `i32` below the lanes of a subgroup.
    Lane,
    /// How values are combined.
    Kind,
    /// The lanes of a cluster.
    Cluster,
    /// How many bits of a value count.
    Bits,
    /// Where a collective stands: one place, in a proof.
    Token,
}

impl Domain {
    /// By the letter that rules have for it.
    pub fn of(variable: &str) -> Self {
        match variable {
            "?p" | "?q" | "?h" => Self::Predicate,
            "?b" => Self::Bits,
            "?i" | "?j" => Self::Lane,
            "?o" => Self::Kind,
            "?c" => Self::Cluster,
            "?t" => Self::Token,
            _ => Self::Scalar,
        }
    }
}

impl Rule {
    /// With nothing asked of its variables, one way.
    const fn new(name: &'static str, left: &'static str, right: &'static str) -> Self {
        Self {
            name,
            left,
            right,
            both_ways: false,
            guards: &[],
            reason: "",
            proof: &[],
        }
    }

    const fn both_ways(self) -> Self {
        Self {
            both_ways: true,
            ..self
        }
    }

    const fn when(self, guards: &'static [Guard]) -> Self {
        Self { guards, ..self }
    }

    const fn because(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }

    const fn proved_for(self, proof: &'static [(&'static str, Domain)]) -> Self {
        Self { proof, ..self }
    }

    /// What a variable stands for in a proof.
    pub fn domain(&self, variable: &str) -> Domain {
        let listed = self.proof.iter().find(|(name, _)| *name == variable);
        listed.map_or_else(|| Domain::of(variable), |(_, domain)| *domain)
    }

    /// Its sides, parsed.
    ///
    /// # Errors
    ///
    /// A side is no term: a message that names the rule.
    pub fn sides(&self) -> Result<(Pattern<Node>, Pattern<Node>), String> {
        let parse = |text: &str| {
            let parsed = text.parse::<Pattern<Node>>();
            parsed.map_err(|error| format!("rule '{}': {text}: {error}", self.name))
        };
        Ok((parse(self.left)?, parse(self.right)?))
    }

    /// As egg has it.
    ///
    /// # Errors
    ///
    /// As of [`sides`](Self::sides), and where a side has a variable that the other lacks.
    pub fn rewrites(&self) -> Result<Vec<Rewrite<Node, Analysis>>, String> {
        let (left, right) = self.sides()?;
        let mut all = vec![self.rewrite(self.name.into(), &left, &right)?];
        if self.both_ways {
            let back = format!("{}, back", self.name);
            all.push(self.rewrite(back, &right, &left)?);
        }
        Ok(all)
    }

    fn rewrite(
        &self,
        name: String,
        from: &Pattern<Node>,
        to: &Pattern<Node>,
    ) -> Result<Rewrite<Node, Analysis>, String> {
        let guards = self.guards.iter().map(|guard| {
            let (variable, holds) = guard.condition();
            let variable = variable.parse::<Var>();
            Ok((
                variable.map_err(|e| format!("rule '{}': {e}", self.name))?,
                holds,
            ))
        });
        let applier = Guarded {
            rule: self.name,
            to: to.clone(),
            guards: guards.collect::<Result<_, String>>()?,
        };
        Rewrite::new(name, from.clone(), applier)
    }
}

/// What is asked of a class.
type Condition = Box<dyn Fn(&Graph, Id) -> bool + Send + Sync>;

impl Guard {
    fn condition(self) -> (&'static str, Condition) {
        match self {
            Self::Uniform(v) => (v, Box::new(|graph, id| graph[id].data.uniform)),
            Self::Constant(v) => (v, Box::new(|graph, id| graph[id].data.constant.is_some())),
            Self::Integer(v) => (
                v,
                Box::new(|graph, id| graph[id].data.r#type.is_some_and(|t| t.is_integer())),
            ),
            Self::Word(v) => (
                v,
                Box::new(|graph, id| graph[id].data.r#type == Some(Type::I32)),
            ),
            Self::Cluster(v) => (
                v,
                Box::new(|graph, id| graph[id].nodes[0].head != Head::Cluster(None)),
            ),
            Self::Number(v) => (
                v,
                Box::new(|graph, id| {
                    let extended = Head::Op(Operator::ZeroExtend32);
                    graph[id].nodes.iter().all(|node| node.head != extended)
                }),
            ),
            Self::OneOf(v, kinds) => (
                v,
                Box::new(|graph, id| {
                    let kind = graph[id].nodes[0].head.as_kind();
                    kind.is_some_and(|kind| kinds.contains(&kind))
                }),
            ),
        }
    }
}

/// The right side of a rule, where the guards hold.
struct Guarded {
    rule: &'static str,
    to: Pattern<Node>,
    guards: Vec<(Var, Condition)>,
}

impl Applier<Node, Analysis> for Guarded {
    fn apply_one(
        &self,
        graph: &mut Graph,
        class: Id,
        subst: &Subst,
        _: Option<&PatternAst<Node>>,
        _: Symbol,
    ) -> Vec<Id> {
        let holds = |(variable, holds): &(Var, Condition)| holds(graph, subst[*variable]);
        if !self.guards.iter().all(holds) {
            return Vec::new();
        }
        let before = graph.nodes().len();
        let equal = added(graph, &self.to.ast, subst);
        Analysis::note(graph, before, self.rule);
        let joined = (graph.find(class), graph.find(equal), self.rule);
        if !graph.union(class, equal) {
            return Vec::new();
        }
        graph.analysis.joined.push(joined);
        vec![class]
    }

    fn vars(&self) -> Vec<Var> {
        Searcher::<Node, Analysis>::vars(&self.to)
    }
}

/// Adds what a pattern is for these values.
fn added(graph: &mut Graph, pattern: &PatternAst<Node>, subst: &Subst) -> Id {
    let mut ids: SmallVec<[Id; 24]> = SmallVec::new();
    for node in pattern.iter() {
        ids.push(match node {
            ENodeOrVar::Var(variable) => subst[*variable],
            ENodeOrVar::ENode(node) => {
                graph.add(node.clone().map_children(|child| ids[usize::from(child)]))
            }
        });
    }
    *ids.last().expect("a pattern has a node")
}

/// Every rule, by family.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().copied().flatten()
}

/// All of them as egg has them, made once a process.
///
/// # Errors
///
/// As of [`Rule::rewrites`]: a mistake in a rule.
pub fn rewrites() -> Result<&'static [Rewrite<Node, Analysis>], String> {
    type Made = Result<Vec<Rewrite<Node, Analysis>>, String>;
    static MADE: LazyLock<Made> = LazyLock::new(|| {
        let made: Result<Vec<_>, _> = all().map(Rule::rewrites).collect();
        Ok(made?.into_iter().flatten().collect())
    });
    MADE.as_deref().map_err(Clone::clone)
}
