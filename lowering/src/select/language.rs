//! The terms of the e-graph, and what is known of the values that they stand for.
//!
//! A term stands for a value in each lane of a subgroup of any size: the size is the term
//! `width`. A collective's last operand is its *token*: the block of the body and the stretch
//! between barriers in which it stands. Collectives of different tokens are different terms,
//! so that none moves to where other lanes are active.
//!
//! Left out: floats' arithmetic, `index`, combiner regions, ops with several results. What is
//! no term is a leaf, a value of the body.

use egg::{DidMerge, EGraph, Id, Language};
use qd_dialects::{
    attributes::Kind,
    ir::{bit_width, is_float},
    melior::ir::{self, TypeLike},
};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::{
    fmt,
    hash::{Hash, Hasher},
    mem,
};

/// The type of a value that a term can stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Type {
    I1,
    I32,
    I64,
    F32,
    F64,
}

impl Type {
    const ALL: [(Self, &'static str); 5] = [
        (Self::I1, "i1"),
        (Self::I32, "i32"),
        (Self::I64, "i64"),
        (Self::F32, "f32"),
        (Self::F64, "f64"),
    ];

    /// Of a type of the IR; none of others.
    pub fn of(r#type: ir::Type<'_>) -> Option<Self> {
        match (is_float(r#type), bit_width(r#type)) {
            (true, 32) => Some(Self::F32),
            (true, 64) => Some(Self::F64),
            (false, 1) if r#type.is_integer() => Some(Self::I1),
            (false, 32) if r#type.is_integer() => Some(Self::I32),
            (false, 64) if r#type.is_integer() => Some(Self::I64),
            _ => None,
        }
    }

    /// Its spelling in the IR.
    pub fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(known, _)| *known == self);
        named.map_or("", |(_, name)| name)
    }

    /// Whether it is an integer of more than a bit.
    pub fn is_integer(self) -> bool {
        matches!(self, Self::I32 | Self::I64)
    }

    /// An integer as the type keeps it: one bit as 0 or 1, and more with their sign.
    fn wrapped(self, value: i64) -> i64 {
        match self {
            Self::I1 => value & 1,
            Self::I32 => value as i32 as i64,
            _ => value,
        }
    }
}

macro_rules! operators {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal / $arity:literal),* $(,)?) => {
        /// An op that rules know.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Operator { $($(#[doc = $doc])* $name),* }

        impl Operator {
            /// Each with its spelling in rules and the number of its operands, in the order of the operators.
            pub const ALL: &'static [(Self, &'static str, usize)] =
                &[$((Self::$name, $text, $arity)),*];
        }
    };
}

operators! {
    /// Sum of integers.
    Add = "add" / 2,
    /// Difference of integers.
    Sub = "sub" / 2,
    /// Product of integers.
    Mul = "mul" / 2,
    /// Bitwise.
    And = "and" / 2,
    /// Bitwise.
    Or = "or" / 2,
    /// Bitwise.
    Xor = "xor" / 2,
    /// Whether integers are equal.
    Equal = "eq" / 2,
    /// Whether they are not.
    NotEqual = "ne" / 2,
    /// Zero-extended to 32 bits.
    ZeroExtend32 = "zext.i32" / 1,
    /// Zero-extended to 64 bits.
    ZeroExtend64 = "zext.i64" / 1,
    /// Sign-extended from 32 to 64 bits.
    SignExtend64 = "sext.i64" / 1,
    /// The low 32 of 64 bits.
    Truncate32 = "trunc.i32" / 1,
    /// The second if the first, a predicate, holds; else the third.
    Select = "select" / 3,
    /// Set bits, an `i32`.
    PopulationCount = "popcnt" / 1,
    /// The lane's number.
    Lane = "lane" / 0,
    /// Lanes in a subgroup.
    Width = "width" / 0,
    /// Mask of the lanes below one, an `i64`.
    LanesBelow = "below" / 1,
    /// Mask of the lanes up to one, an `i64`.
    LanesUpTo = "upto" / 1,
    /// The highest set bit of an `i64`, an `i32`: -1 if there is none.
    LastSet = "last" / 1,
    /// Cluster: mask of the lanes of the lane's own, an `i64`.
    ClusterLanes = "lanes" / 1,
    /// Value, lane, token.
    ShuffleIdx = "shuffle.idx" / 3,
    /// Value, mask, token.
    ShuffleXor = "shuffle.xor" / 3,
    /// Value, lane, token.
    Broadcast = "broadcast" / 3,
    /// Value, token.
    BroadcastFirst = "broadcast_first" / 2,
    /// Predicate, token.
    Ballot = "ballot" / 2,
    /// Value, bits that count, token.
    MatchAny = "match_any" / 3,
    /// Predicate, cluster, token.
    Any = "any" / 3,
    /// Predicate, cluster, token.
    All = "all" / 3,
    /// Value, cluster, token.
    AllEqual = "all_equal" / 3,
    /// Predicate, cluster, token.
    CountTrue = "count_true" / 3,
    /// Kind, value, cluster, token: in lane 0 of each cluster, undefined elsewhere.
    Reduce = "reduce" / 4,
    /// Kind, value, cluster, token.
    ReduceAll = "reduce_all" / 4,
    /// Kind, value, cluster, token.
    InclusiveScan = "inclusive_scan" / 4,
    /// Kind, value, cluster, token.
    ExclusiveScan = "exclusive_scan" / 4,
    /// Kind, value, head, cluster, token.
    SegmentedReduce = "segmented_reduce" / 5,
}

impl Operator {
    /// Its spelling in rules.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Whether lanes execute it together: its last operand is a token.
    pub fn is_collective(self) -> bool {
        self as usize >= Self::ShuffleIdx as usize
    }

    /// Whether its first operand is the kind that it combines by.
    pub fn combines(self) -> bool {
        self as usize >= Self::Reduce as usize
    }

    /// Whether it works on clusters: the operand in front of the token says which.
    pub fn has_clusters(self) -> bool {
        self as usize >= Self::Any as usize
    }

    /// Which of its operands says what its clusters are, if one does.
    pub fn cluster(self) -> Option<usize> {
        match self {
            Self::ClusterLanes => Some(0),
            _ => self.has_clusters().then(|| self.arity() - 2),
        }
    }

    /// Which of its operands says how many bits count, if one does.
    pub fn bits(self) -> Option<usize> {
        (self == Self::MatchAny).then_some(1)
    }

    fn arity(self) -> usize {
        Self::ALL[self as usize].2
    }

    /// Where its values stand among its operands.
    pub fn values(self) -> std::ops::Range<usize> {
        let says_more = self.cluster().is_some() || self.bits().is_some();
        let others = usize::from(self.is_collective()) + usize::from(says_more);
        usize::from(self.combines())..self.arity() - others
    }
}

/// What a node is, without its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Head {
    /// An integer constant.
    Constant(i64, Type),
    /// A value of the body, by its number.
    Leaf(u32),
    /// How values are combined, by its number in [`KINDS`](qd_dialects::attributes::KINDS).
    Kind(u8),
    /// log2 of the lanes in a cluster; none: the whole subgroup.
    Cluster(Option<u32>),
    /// How many bits of a value count; none: all.
    Bits(Option<u32>),
    /// Where a collective stands.
    Token(u32),
    /// An op.
    Op(Operator),
}

impl Head {
    /// Of a kind.
    pub fn kind(kind: Kind) -> Self {
        let all = qd_dialects::attributes::KINDS;
        let at = all.iter().position(|(known, _)| *known == kind);
        Self::Kind(at.map_or(0, |at| at as u8))
    }

    /// The kind that it is.
    pub fn as_kind(self) -> Option<Kind> {
        match self {
            Self::Kind(at) => Some(qd_dialects::attributes::KINDS[usize::from(at)].0),
            _ => None,
        }
    }
}

/// The most operands of a node.
const MOST: usize = 5;

/// A node of the e-graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// What it is.
    pub head: Head,
    operands: [Id; MOST],
    count: u8,
}

impl Node {
    /// A node with at most five operands.
    pub fn new(head: Head, operands: &[Id]) -> Self {
        let mut all = [Id::from(0); MOST];
        all[..operands.len()].copy_from_slice(operands);
        Self {
            head,
            operands: all,
            count: operands.len() as u8,
        }
    }

    /// A node without operands.
    pub fn leaf(head: Head) -> Self {
        Self::new(head, &[])
    }
}

/// Two operands at a time: nodes are looked up all the time.
impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.head.hash(state);
        let [a, b, c, d, e] = self.operands.map(|id| usize::from(id) as u64);
        state.write_u64(a | b << 32);
        state.write_u64(c | d << 32);
        state.write_u64(e | u64::from(self.count) << 32);
    }
}

impl egg::Language for Node {
    type Discriminant = Head;

    fn discriminant(&self) -> Head {
        self.head
    }

    fn matches(&self, other: &Self) -> bool {
        self.head == other.head && self.count == other.count
    }

    fn children(&self) -> &[Id] {
        &self.operands[..usize::from(self.count)]
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.operands[..usize::from(self.count)]
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.head {
            Head::Constant(value, r#type) => write!(f, "{value}:{}", r#type.name()),
            Head::Leaf(number) => write!(f, "v{number}"),
            Head::Kind(_) => match self.head.as_kind() {
                Some(kind) => write!(f, "{kind}"),
                None => Ok(()),
            },
            Head::Cluster(None) => f.write_str("whole"),
            Head::Cluster(Some(log2)) => write!(f, "cluster{log2}"),
            Head::Bits(None) => f.write_str("every_bit"),
            Head::Bits(Some(bits)) => write!(f, "bits{bits}"),
            Head::Token(number) => write!(f, "token{number}"),
            Head::Op(operator) => f.write_str(operator.name()),
        }
    }
}

/// Reads what [`Display`](fmt::Display) writes: `(add ?x 1:i32)`, `(any ?p whole ?t)`. A kind
/// is a name without operands, and an op of the same name has some.
impl egg::FromOp for Node {
    type Error = String;

    fn from_op(text: &str, operands: Vec<Id>) -> Result<Self, String> {
        let of =
            |(_, name, arity): &&(Operator, &str, usize)| *name == text && *arity == operands.len();
        if let Some((operator, ..)) = Operator::ALL.iter().find(of) {
            return Ok(Self::new(Head::Op(*operator), &operands));
        }
        let number = |prefix: &str| text.strip_prefix(prefix)?.parse::<u32>().ok();
        let constant = || {
            let (value, r#type) = text.split_once(':')?;
            let r#type = Type::ALL.iter().find(|(_, name)| *name == r#type)?.0;
            Some(Head::Constant(value.parse().ok()?, r#type))
        };
        let head = match text {
            _ if !operands.is_empty() => None,
            "whole" => Some(Head::Cluster(None)),
            "every_bit" => Some(Head::Bits(None)),
            _ => (text.parse().ok().map(Head::kind))
                .or_else(constant)
                .or_else(|| number("cluster").map(|log2| Head::Cluster(Some(log2))))
                .or_else(|| number("bits").map(|bits| Head::Bits(Some(bits))))
                .or_else(|| number("token").map(Head::Token))
                .or_else(|| number("v").map(Head::Leaf)),
        };
        let no = || format!("there is no term '{text}' of {} operands", operands.len());
        head.map(Self::leaf).ok_or_else(no)
    }
}

/// What is known of a class's value, wherever it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its type; none of kinds, clusters and tokens.
    pub r#type: Option<Type>,
    /// The only value it has.
    pub constant: Option<i64>,
    /// Whether it is the same in all lanes of a subgroup, at the largest size that is
    /// considered and so at each.
    pub uniform: bool,
    /// Whether it is made of masks of lanes.
    pub mask: bool,
}

/// The analysis of an e-graph, and who made what in it.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Of each leaf, by its number.
    pub leaves: Vec<Facts>,
    /// Two different constants that rules made equal: a mistake in a rule.
    pub contradiction: Option<(i64, i64)>,
    /// Nodes by their number, each with the rule that made it.
    pub made: Vec<(Id, &'static str)>,
    /// Classes of which a rule said that they are one, by their numbers then, in its order.
    pub joined: Vec<(Id, Id, &'static str)>,
    /// Whether rules would have added more, and a limit ended it.
    pub is_cut: bool,
}

/// The e-graph of a body.
pub type Graph = EGraph<Node, Analysis>;

impl egg::Analysis<Node> for Analysis {
    type Data = Facts;

    fn make(graph: &mut Graph, node: &Node, _: Id) -> Facts {
        let of = |id: Id| graph[id].data;
        let operands = node.children();
        match node.head {
            Head::Constant(value, r#type) => Facts {
                r#type: Some(r#type),
                constant: Some(r#type.wrapped(value)),
                uniform: true,
                mask: false,
            },
            Head::Leaf(number) => graph.analysis.leaves[number as usize],
            Head::Kind(_) | Head::Cluster(_) | Head::Bits(_) | Head::Token(_) => Facts::default(),
            Head::Op(operator) => {
                let values = operands[operator.values()].iter().map(|id| of(*id));
                let values: SmallVec<[Facts; MOST]> = values.collect();
                facts_of(operator, &values, is_whole(graph, operator, node))
            }
        }
    }

    fn merge(&mut self, to: &mut Facts, from: Facts) -> DidMerge {
        let before = *to;
        if let (Some(a), Some(b)) = (to.constant, from.constant)
            && a != b
        {
            self.contradiction.get_or_insert((a, b));
        }
        to.r#type = to.r#type.or(from.r#type);
        to.constant = to.constant.or(from.constant);
        to.uniform |= from.uniform;
        to.mask |= from.mask;
        DidMerge(*to != before, *to != from)
    }

    fn modify(graph: &mut Graph, id: Id) {
        let facts = graph[id].data;
        if let (Some(value), Some(r#type)) = (facts.constant, facts.r#type) {
            let constant = graph.add(Node::leaf(Head::Constant(value, r#type)));
            graph.union(id, constant);
        }
    }
}

/// Whether an op works on whole subgroups, where it has clusters.
pub fn is_whole(graph: &Graph, operator: Operator, node: &Node) -> Option<bool> {
    let cluster = |at: usize| graph[node.children()[at]].nodes[0].head;
    operator
        .cluster()
        .map(|at| cluster(at) == Head::Cluster(None))
}

/// Of an op's result. `whole`: whether it works on whole subgroups, where it has clusters.
pub fn facts_of(operator: Operator, values: &[Facts], whole: Option<bool>) -> Facts {
    use Operator as Op;
    let first = values.first().copied().unwrap_or_default();
    let r#type = match operator {
        Op::Equal | Op::NotEqual | Op::Any | Op::All | Op::AllEqual => Some(Type::I1),
        Op::ZeroExtend32 | Op::PopulationCount | Op::Lane | Op::Width | Op::CountTrue => {
            Some(Type::I32)
        }
        Op::LastSet | Op::Truncate32 => Some(Type::I32),
        Op::ZeroExtend64 | Op::SignExtend64 => Some(Type::I64),
        Op::LanesBelow | Op::LanesUpTo | Op::ClusterLanes => Some(Type::I64),
        Op::Ballot | Op::MatchAny => Some(Type::I64),
        Op::Select => values.get(1).and_then(|value| value.r#type),
        _ => first.r#type,
    };
    let all_uniform = values.iter().all(|value| value.uniform);
    let uniform = match operator {
        Op::Lane => false,
        Op::Width | Op::Broadcast | Op::BroadcastFirst | Op::Ballot => true,
        Op::Any | Op::All | Op::AllEqual | Op::CountTrue | Op::ReduceAll => {
            whole == Some(true) || all_uniform
        }
        Op::ClusterLanes => whole == Some(true),
        // In lane 0 alone it is anything, and below a lane there is another number of lanes.
        Op::Reduce | Op::InclusiveScan | Op::ExclusiveScan | Op::SegmentedReduce => false,
        Op::ShuffleIdx => first.uniform || values.get(1).is_some_and(|lane| lane.uniform),
        Op::ShuffleXor => first.uniform,
        _ => all_uniform,
    };
    let constant = r#type.and_then(|r#type| {
        let number = |at: usize| values.get(at)?.constant;
        let folded = match (operator, number(0)?) {
            (Op::ZeroExtend32 | Op::ZeroExtend64, a) => zero_extended(a, first.r#type?),
            // What is truncated is wrapped below.
            (Op::SignExtend64 | Op::Truncate32, a) => a,
            (Op::PopulationCount, a) => zero_extended(a, first.r#type?).count_ones().into(),
            (Op::Add, a) => a.wrapping_add(number(1)?),
            (Op::Sub, a) => a.wrapping_sub(number(1)?),
            (Op::Mul, a) => a.wrapping_mul(number(1)?),
            (Op::And, a) => a & number(1)?,
            (Op::Or, a) => a | number(1)?,
            (Op::Xor, a) => a ^ number(1)?,
            (Op::Equal, a) => i64::from(a == number(1)?),
            (Op::NotEqual, a) => i64::from(a != number(1)?),
            _ => return None,
        };
        Some(r#type.wrapped(folded))
    });
    let mask = match operator {
        Op::Ballot | Op::MatchAny | Op::LanesBelow | Op::LanesUpTo | Op::ClusterLanes => true,
        Op::And | Op::Or | Op::Xor | Op::Select => values.iter().any(|value| value.mask),
        _ => false,
    };
    Facts {
        r#type,
        constant,
        uniform,
        mask,
    }
}

fn zero_extended(value: i64, from: Type) -> i64 {
    match from {
        Type::I32 => i64::from(value as u32),
        _ => value,
    }
}

/// Which rules made what in a graph, and made it equal.
#[derive(Debug, Default)]
pub struct Reasons {
    /// The number of each node, and the rule that made it; none if the body has it.
    nodes: HashMap<Node, (usize, Option<&'static str>)>,
    /// Of each number the one that it was joined to, and when: a forest in which ways to the root are short. A root was
    /// joined to itself, never.
    above: Vec<(usize, usize)>,
    /// The rules that joined, from 1 on.
    rules: Vec<&'static str>,
}

impl Reasons {
    /// Of a graph in which nothing is added any more.
    pub fn of(graph: &Graph) -> Self {
        let count = graph.nodes().len();
        let mut makers = vec![None; count];
        for (id, rule) in &graph.analysis.made {
            makers[usize::from(*id)] = Some(*rule);
        }
        let mut reasons = Self {
            nodes: HashMap::with_capacity_and_hasher(count, Default::default()),
            above: (0..count).map(|id| (id, usize::MAX)).collect(),
            rules: Vec::with_capacity(graph.analysis.joined.len()),
        };
        let mut sizes = vec![1; count];
        for (id, node) in graph.nodes().iter().enumerate() {
            let node = node.clone().map_children(|child| graph.find(child));
            let known = reasons.nodes.entry(node).or_insert((id, makers[id])).0;
            // Terms of equal values are equal, whatever made these so.
            reasons.join(&mut sizes, [id, known], 0);
        }
        for (a, b, rule) in &graph.analysis.joined {
            reasons.rules.push(rule);
            let time = reasons.rules.len();
            reasons.join(&mut sizes, [*a, *b].map(usize::from), time);
        }
        reasons
    }

    fn join(&mut self, sizes: &mut [usize], ids: [usize; 2], time: usize) {
        let [mut a, mut b] = ids.map(|id| self.root(id));
        if a == b {
            return;
        }
        if sizes[a] > sizes[b] {
            (a, b) = (b, a);
        }
        sizes[b] += sizes[a];
        self.above[a] = (b, time);
    }

    fn root(&self, mut id: usize) -> usize {
        while self.above[id].0 != id {
            id = self.above[id].0;
        }
        id
    }

    /// The rule that made a node, and the node as it made it; none if the body has it.
    pub fn maker<'g>(&self, graph: &'g Graph, node: &Node) -> Option<(&'static str, &'g Node)> {
        let node = node.clone().map_children(|child| graph.find(child));
        let (id, rule) = self.nodes.get(&node)?;
        Some(((*rule)?, &graph.nodes()[*id]))
    }

    /// The rule without which a class, by a number that it once had, would not be equal to a node.
    pub fn joiner(&self, graph: &Graph, class: Id, node: &Node) -> Option<&'static str> {
        let node = node.clone().map_children(|child| graph.find(child));
        let (mut a, mut b) = (usize::from(class), self.nodes.get(&node)?.0);
        // Nearer to the root joins are later: the last of the way is the one that is looked for.
        let mut last = 0;
        while a != b {
            if self.above[a].1 > self.above[b].1 {
                (a, b) = (b, a);
            }
            let (above, time) = self.above[a];
            if above == a {
                return None;
            }
            (a, last) = (above, last.max(time));
        }
        self.rules.get(last.checked_sub(1)?).copied()
    }
}

impl Analysis {
    /// Notes what a rule added since there were `before` nodes.
    pub fn note(graph: &mut Graph, before: usize, rule: &'static str) {
        let after = graph.nodes().len();
        let mut made = mem::take(&mut graph.analysis.made);
        made.extend((before..after).map(|id| (Id::from(id), rule)));
        graph.analysis.made = made;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_the_rule_without_which_two_terms_would_not_be_equal() {
        let mut graph = Graph::new(Analysis::default());
        graph.analysis.leaves = vec![Facts::default(); 6];
        let leaves = [0, 1, 2, 3, 4, 5].map(|number| graph.add(Node::leaf(Head::Leaf(number))));
        let node = |operands: &[Id]| Node::new(Head::Op(Operator::Add), operands);
        // Three terms of the body, and one that a rule makes.
        let terms = [0, 1, 2].map(|at| node(&leaves[at..at + 2]));
        let [a, b, c] = terms.clone().map(|term| graph.add(term));
        let before = graph.nodes().len();
        let made = node(&leaves[3..5]);
        let d = graph.add(made.clone());
        Analysis::note(&mut graph, before, "made");
        for (one, other, rule) in [(b, c, "late"), (a, d, "made"), (c, a, "last")] {
            let joined = (graph.find(one), graph.find(other), rule);
            assert!(graph.union(one, other));
            graph.analysis.joined.push(joined);
        }
        graph.rebuild();
        let reasons = Reasons::of(&graph);
        let joiner = |class, term| reasons.joiner(&graph, class, term);
        assert_eq!(joiner(b, &terms[2]), Some("late"));
        assert_eq!(joiner(a, &made), Some("made"));
        assert_eq!(joiner(b, &terms[0]), Some("last"));
        assert_eq!(joiner(c, &made), Some("last"));
        assert_eq!(joiner(a, &terms[0]), None);
        assert_eq!(joiner(leaves[5], &made), None);
        assert_eq!(reasons.maker(&graph, &made), Some(("made", &made)));
        assert_eq!(reasons.maker(&graph, &terms[1]), None);
    }

    #[test]
    fn terms_of_what_is_equal_are_equal_for_no_reason_of_their_own() {
        let mut graph = Graph::new(Analysis::default());
        graph.analysis.leaves = vec![Facts::default(); 4];
        let leaves = [0, 1, 2, 3].map(|number| graph.add(Node::leaf(Head::Leaf(number))));
        let node = |operands: [Id; 2]| Node::new(Head::Op(Operator::Add), &operands);
        let [x, y, z, other] = leaves;
        let (of_x, of_y, third) = (node([x, z]), node([y, z]), node([other, z]));
        let [a, _, c] = [of_x, of_y.clone(), third.clone()].map(|term| graph.add(term));
        let joins = [(x, y, "leaves"), (graph.add(of_y), c, "terms")];
        for (one, other, rule) in joins {
            graph.analysis.joined.push((one, other, rule));
            graph.union(one, other);
        }
        graph.rebuild();
        let reasons = Reasons::of(&graph);
        assert_eq!(reasons.joiner(&graph, a, &third), Some("terms"));
    }
}
