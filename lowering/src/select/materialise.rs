//! The chosen terms, as IR.
//!
//! Ops are gone through in the order of the body. Where another term was chosen for an op's
//! class than the op itself, a value of that term takes its place: one that is there already,
//! in a block around, or a new one before the op. An op stays as it is where the term cannot
//! be built there: it needs a value that is not there yet, or a collective elsewhere.

use super::{
    extract::Choice,
    import::Body,
    language::{Graph, Head, Node, Reasons},
    price::EXPANSION,
    term::{self, Operand},
};
use egg::{Id, Language};
use qd_dialects::{
    attributes::{self, names},
    builder::Builder,
    interfaces::Collective,
    ir::{Block, Key, Op, OpExt, Value, ValueExt, arguments, context_of, operations},
    melior::ir::attribute::ArrayAttribute,
};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::{cell::OnceCell, collections::BTreeSet};

/// What became of a body.
#[derive(Debug, Default)]
pub struct Outcome<'c> {
    /// The rules by which terms took the place of ops.
    pub rules: BTreeSet<&'static str>,
    /// Ops whose place a term took, each with its rules, if that is to be explained.
    pub replaced: Vec<Replaced>,
    /// Ops that stay although another term was chosen.
    pub kept: usize,
    /// Ops to be expanded although the target has a form of them.
    pub expanded: Vec<Op<'c>>,
    /// Ops to be done by a form of the target, with its name.
    pub native: Vec<(Op<'c>, &'static str)>,
}

/// An op whose place a term took.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// The op, as the IR calls it.
    pub op: String,
    /// Where it stood.
    pub location: String,
    /// The term that is there instead.
    pub term: String,
    /// The rules that led there.
    pub rules: Vec<&'static str>,
}

/// Rewrites a body by a choice.
pub fn materialise<'c>(
    block: Block<'c>,
    body: &Body<'c>,
    choice: &Choice,
    is_explained: bool,
) -> Outcome<'c> {
    let sites = body.sites.iter().enumerate();
    let mut writer = Writer {
        body,
        choice,
        sites: sites.map(|(at, site)| (site.op.key(), at)).collect(),
        scopes: Vec::new(),
        reasons: OnceCell::new(),
        is_explained,
        outcome: Outcome::default(),
        dead: Vec::new(),
    };
    writer.block(block);
    let Writer {
        mut outcome, dead, ..
    } = writer;
    let mut gone = HashSet::default();
    for op in dead.into_iter().rev() {
        if op
            .result_values()
            .iter()
            .all(|value| value.uses().is_empty())
        {
            gone.insert(op.key());
            op.erase();
        }
    }
    outcome.expanded.retain(|op| !gone.contains(&op.key()));
    outcome.native.retain(|(op, _)| !gone.contains(&op.key()));
    outcome
}

impl<'c> Outcome<'c> {
    fn done_by(&mut self, op: Op<'c>, form: &'static str) {
        match form {
            "" => {}
            EXPANSION => self.expanded.push(op),
            native => self.native.push((op, native)),
        }
    }
}

struct Writer<'a, 'c> {
    body: &'a Body<'c>,
    choice: &'a Choice,
    sites: HashMap<Key, usize>,
    /// The values of classes that are there, of the blocks around from the outermost.
    scopes: Vec<HashMap<Id, Value<'c>>>,
    /// Made when something is replaced.
    reasons: OnceCell<Reasons>,
    is_explained: bool,
    outcome: Outcome<'c>,
    /// Terms of the body, in its order: those without users go.
    dead: Vec<Op<'c>>,
}

impl<'c> Writer<'_, 'c> {
    fn graph(&self) -> &Graph {
        &self.body.graph
    }

    fn block(&mut self, block: Block<'c>) {
        self.scopes.push(HashMap::default());
        for argument in arguments(block) {
            self.know(argument);
        }
        for op in operations(block) {
            let Some(site) = self.sites.get(&op.key()).copied() else {
                continue;
            };
            match self.body.sites[site].term {
                Some((class, ref node)) => self.term(op, site, class, node),
                None => {
                    self.skeleton(op, site);
                    for result in op.result_values() {
                        self.know(result);
                    }
                }
            }
        }
        self.scopes.pop();
    }

    /// Says that a value is there.
    fn know(&mut self, value: Value<'c>) {
        if let Some(class) = self.body.classes.get(&value.key()) {
            let class = self.graph().find(*class);
            self.add(class, value);
        }
    }

    fn add(&mut self, class: Id, value: Value<'c>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.entry(class).or_insert(value);
        }
    }

    fn known(&self, class: Id) -> Option<Value<'c>> {
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|scope| scope.get(&class).copied())
    }

    fn skeleton(&mut self, op: Op<'c>, site: usize) {
        if let Some(candidate) = &self.choice.forms[site] {
            self.outcome.done_by(op, candidate.form);
        }
        // A combiner is part of its op.
        if Collective::of(op).is_some() {
            return;
        }
        for region in 0..op.region_count() {
            let mut block = op.region_block(region);
            while let Some(current) = block {
                self.block(current);
                block = current.next_in_region();
            }
        }
    }

    fn term(&mut self, op: Op<'c>, site: usize, class: Id, node: &Node) {
        let (own_class, class) = (class, self.graph().find(class));
        self.dead.push(op);
        let result = op.first_result();
        let Some((chosen, candidate)) = self.choice.terms.get(&class) else {
            return self.know(result);
        };
        let own = node.clone().map_children(|id| self.graph().find(id));
        if let Some(value) = self.known(class) {
            // Another op of the class, or a term of its: equal values, so that this goes.
            if own != *chosen {
                self.note(op, own_class, chosen.clone(), value);
            }
            return result.replace_all_uses(value);
        }
        if own == *chosen {
            self.outcome.done_by(op, candidate.form);
            return self.know(result);
        }
        let token = self.body.sites[site].token;
        if !self.can_build(class, token, &mut HashSet::default()) {
            self.outcome.kept += 1;
            return self.know(result);
        }
        let chosen = chosen.clone();
        let b = Builder::before(op);
        if let Some(value) = self.build(&b, class) {
            self.note(op, own_class, chosen, value);
            result.replace_all_uses(value);
        } else {
            self.know(result);
        }
    }

    /// Whether a class's chosen term can be built where the token is this.
    fn can_build(&self, class: Id, token: u32, seen: &mut HashSet<Id>) -> bool {
        if self.known(class).is_some() || !seen.insert(class) {
            return true;
        }
        let Some((node, _)) = self.choice.terms.get(&class) else {
            return false;
        };
        match node.head {
            Head::Constant(..) => true,
            Head::Op(operator) => {
                let operands = node.children();
                let stands_here = || {
                    let last = operands.last().map(|id| self.graph()[*id].nodes[0].head);
                    last == Some(Head::Token(token))
                };
                (!operator.is_collective() || stands_here())
                    && operands[operator.values()].iter().all(|id| {
                        let id = self.graph().find(*id);
                        self.can_build(id, token, seen)
                    })
            }
            Head::Leaf(_) | Head::Kind(_) | Head::Cluster(_) | Head::Bits(_) | Head::Token(_) => {
                false
            }
        }
    }

    fn build(&mut self, b: &Builder<'c>, class: Id) -> Option<Value<'c>> {
        let class = self.graph().find(class);
        if let Some(value) = self.known(class) {
            return Some(value);
        }
        let (node, candidate) = self.choice.terms.get(&class)?.clone();
        let mut operands = Vec::new();
        for id in node.children() {
            let head = self.graph()[*id].nodes[0].head;
            operands.push(match head {
                Head::Kind(_) => Operand::Kind(head.as_kind()?),
                Head::Cluster(cluster) => Operand::Cluster(cluster),
                Head::Bits(bits) => Operand::Bits(bits),
                Head::Token(_) => Operand::Token,
                _ => Operand::Value(b.v(self.build(b, *id)?)),
            });
        }
        let value = term::insert(b, node.head, &operands)?.value();
        if let Some(op) = value.defining_op() {
            self.outcome.done_by(op, candidate.form);
        }
        self.add(class, value);
        Some(value)
    }

    /// Says that a chosen term's value took an op's place, whose class had this number at the start.
    fn note(&mut self, op: Op<'c>, class: Id, chosen: Node, value: Value<'c>) {
        let mut rules = Vec::new();
        self.rules(class, &mut HashSet::default(), &mut rules);
        if let Some(taken) = value.defining_op()
            && matches!(chosen.head, Head::Op(_))
        {
            let context = context_of(taken);
            let said = taken.attr(names::WHY).map(attributes::elements);
            let mut said = said.unwrap_or_default();
            for rule in rules.iter().map(|rule| attributes::string(context, rule)) {
                if !said.contains(&rule) {
                    said.push(rule);
                }
            }
            taken.set_attr(names::WHY, ArrayAttribute::new(context, &said).into());
        }
        self.outcome.rules.extend(&rules);
        if self.is_explained {
            self.outcome.replaced.push(Replaced {
                op: op.full_name().to_owned(),
                location: op.location().to_string(),
                term: self.spelled(&chosen, 0),
                rules,
            });
        }
    }

    /// The rules that made a class, by a number that it once had, equal to the chosen term, that made this term, and that did
    /// so with what it is made of.
    fn rules(&self, class: Id, seen: &mut HashSet<Id>, to: &mut Vec<&'static str>) {
        let graph = self.graph();
        if !seen.insert(class) {
            return;
        }
        let Some((chosen, _)) = self.choice.terms.get(&graph.find(class)) else {
            return;
        };
        let reasons = self.reasons.get_or_init(|| Reasons::of(graph));
        let joiner = reasons.joiner(graph, class, chosen);
        // What the body has nobody made.
        let made = reasons.maker(graph, chosen);
        for rule in joiner.into_iter().chain(made.map(|(rule, _)| rule)) {
            if !to.contains(&rule) {
                to.push(rule);
            }
        }
        if let Some((_, node)) = made
            && let Head::Op(operator) = node.head
        {
            for id in &node.children()[operator.values()] {
                self.rules(*id, seen, to);
            }
        }
    }

    /// A term as rules have it, to a few levels.
    fn spelled(&self, node: &Node, depth: usize) -> String {
        const MOST: usize = 3;
        let Head::Op(operator) = node.head else {
            return node.to_string();
        };
        let values = node.children()[operator.values()].iter().map(|id| {
            let id = self.graph().find(*id);
            match self.choice.terms.get(&id) {
                Some((node, _)) if depth < MOST => self.spelled(node, depth + 1),
                _ => "…".into(),
            }
        });
        let parts: Vec<String> = [operator.name().to_owned()]
            .into_iter()
            .chain(values)
            .collect();
        match parts.len() {
            1 => parts.concat(),
            _ => format!("({})", parts.join(" ")),
        }
    }
}
