//! Which term to take of each class, for subgroups of one size, and what the body takes then.
//!
//! A choice is judged as a whole: what several values share counts once. For the sum of what
//! its terms take, the best one is found [exactly](super::exact). The time of a body is no
//! such sum but the larger of bounds: so the pipe that bounds it weighs twice as much in the
//! next round, and the best of all rounds by time is taken, or the body as it is.
//!
//! Where too many classes depend on one another for that, each of them gets its cheapest tree, if the body
//! takes less then: what is shared counts each time, so that more may be found. Acyclicity is a condition of each choice.

use super::{
    WORTH,
    classes::{in_subgroup, plain_class},
    cost::{Cost, PIPES},
    exact::Needs,
    import::{Body, Site},
    judge::{Judge, Whole},
    language::{Facts, Graph, Head, Node, facts_of, is_whole},
    price::{Candidate, Pricer, Shape, Subject, is_beyond},
    term::asked_form,
};
use egg::{Id, Language};
use qd_dialects::{
    attributes,
    diagnostic::Result,
    ir::{Key, Op, OpExt, Value, ValueExt, Values},
};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::SmallVec;

/// Rounds of the exact choice.
const ROUNDS: usize = 3;

/// A body, the same for every size.
pub struct Problem {
    structure: Structure,
    /// What terms cost by, each once.
    shapes: Vec<Shape>,
    /// Of each site, as what it costs if it is done in one way alone.
    plain: Vec<Option<Plain>>,
}

/// A body's classes with their terms, and where its ops stand: all that a choice is judged by, without the IR, so that
/// sizes are looked at in parallel.
pub(super) struct Structure {
    pub(super) classes: Vec<Class>,
    /// Of each site, the classes of its operands.
    pub(super) operands: Vec<Needs>,
    /// Of each site that is no term, the classes of its results.
    pub(super) results: Vec<Needs>,
    /// Of each site the block that it is in.
    pub(super) block_of: Vec<usize>,
    /// How often each block runs.
    pub(super) blocks: Vec<f64>,
    /// How often each class's term runs, wherever it will stand.
    pub(super) frequencies: Vec<f64>,
    /// Classes of the graph, in front of values that are in none.
    pub(super) in_graph: usize,
    /// Whether the rules might have added more to the graph.
    pub(super) is_cut: bool,
    /// Classes of values that are the same in a subgroup and on which control around collectives depends, in the
    /// order of the body.
    pub(super) deciding: Vec<usize>,
}

/// What terms cost in subgroups of one size.
pub(super) struct Prices {
    /// The cheapest way to do what has a shape, by its place among all shapes.
    of_shape: Vec<Option<Candidate>>,
    /// Whether a shape is beyond what rules may make at this size.
    is_beyond: Vec<bool>,
}

impl Prices {
    /// The cheapest way to do a term of a class; none if there is none.
    pub(super) fn of(&self, class: &Class, number: usize) -> Option<&Candidate> {
        match class.terms[number].shape {
            None => Some(&FREE),
            Some(shape) if self.is_beyond[shape] && class.original != Some(number) => None,
            Some(shape) => self.of_shape[shape].as_ref(),
        }
    }

    /// All there are.
    pub(super) fn all(&self) -> impl Iterator<Item = &Candidate> {
        self.of_shape.iter().flatten()
    }
}

/// As what an op costs that is done in one way alone; none: nothing.
type Plain = Option<&'static str>;

pub(super) struct Class {
    id: Id,
    pub(super) terms: Vec<Term>,
    /// Where the first op of it stands.
    pub(super) home: Option<usize>,
    /// The term that this op is.
    original: Option<usize>,
}

pub(super) struct Term {
    node: Node,
    /// Its values, by class.
    pub(super) values: Needs,
    /// What it costs by, by its place among all shapes.
    shape: Option<usize>,
    /// Whether it is seen to be the same in a subgroup: if none of its values is, and if all of them are. Nobody asks
    /// where nothing decides.
    pub(super) is_uniform: [bool; 2],
}

impl Class {
    /// The term that the body has: a value that is no term, or else the first op of the class.
    /// An op stands after the first ones of its operands' classes, so that these go in no circle;
    /// an op that rules say is its own operand would, if it went before the value.
    fn of_body(&self) -> usize {
        let is_value = |term: &Term| matches!(term.node.head, Head::Leaf(_) | Head::Constant(..));
        let value = self.terms.iter().position(is_value);
        value.or(self.original).unwrap_or(0)
    }
}

/// Of what a choice is made.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Threads of a block.
    pub threads: i64,
    /// Lanes in a subgroup.
    pub wave: u32,
    /// Subgroups that a scheduler has resident.
    pub resident: f64,
    /// Words of a lane that are live at the same time.
    pub live: u32,
    /// Bytes of shared memory that the body leaves to expansions.
    pub shared: i64,
}

/// The choice of a size.
pub struct Choice {
    /// Lanes in a subgroup.
    pub wave: u32,
    /// The term of each class that is used, and the form of it.
    pub terms: HashMap<Id, (Node, Candidate)>,
    /// Of each op that is no term, by its place among the sites.
    pub forms: Vec<Option<Candidate>>,
    /// What the body takes.
    pub whole: Whole,
    /// What it would as it was.
    pub before: Whole,
    /// Whether no choice has a lesser sum of costs.
    pub is_optimal: bool,
}

impl Problem {
    /// Of a body whose graph is saturated, with the ops on which [control](super::control) around collectives depends.
    pub fn new<'c>(body: &Body<'c>, deciding: &HashSet<Key>) -> Self {
        let graph = &body.graph;
        let mut ids: Vec<Id> = graph.classes().map(|class| class.id).collect();
        ids.sort();
        let mut places = vec![usize::MAX; graph.nodes().len()];
        for (at, id) in ids.iter().enumerate() {
            places[usize::from(*id)] = at;
        }
        let place = |id: Id| places[usize::from(graph.find(id))];
        let mut homes: HashMap<usize, (usize, Node)> = HashMap::default();
        for (site, Site { term, .. }) in body.sites.iter().enumerate() {
            if let Some((class, node)) = term {
                let canonical = node.clone().map_children(|id| graph.find(id));
                homes.entry(place(*class)).or_insert((site, canonical));
            }
        }
        let mut shapes: HashMap<Shape, usize> = HashMap::default();
        let classes = ids.iter().enumerate().map(|(at, id)| {
            let home = homes.get(&at);
            let token = home.map(|(site, _)| body.sites[*site].token);
            let nodes = &graph[*id].nodes;
            let mut terms: Vec<Term> = Vec::with_capacity(nodes.len());
            let mut original = None;
            for node in nodes {
                let is_original = home.is_some_and(|(_, known)| known == node);
                // Elsewhere other lanes may be active.
                if !is_original
                    && token.is_some()
                    && token_of(body, node).is_some_and(|t| Some(t) != token)
                {
                    continue;
                }
                let operands = node.children();
                let values = match node.head {
                    Head::Op(operator) => &operands[operator.values()],
                    _ => &[],
                };
                if is_original {
                    original = Some(terms.len());
                }
                terms.push(Term {
                    node: node.clone(),
                    values: values.iter().map(|id| place(*id)).collect(),
                    shape: shape_of(body, node).map(|shape| {
                        let next = shapes.len();
                        *shapes.entry(shape).or_insert(next)
                    }),
                    is_uniform: match deciding.is_empty() {
                        true => [false; 2],
                        false => is_uniform(graph, node),
                    },
                });
            }
            Class {
                id: *id,
                terms,
                home: home.map(|(site, _)| *site),
                original,
            }
        });
        let mut classes: Vec<Class> = classes.collect();
        let in_graph = classes.len();
        let mut shapes: Vec<(Shape, usize)> = shapes.into_iter().collect();
        shapes.sort_by_key(|(_, at)| *at);
        // Values that no term uses have a place after the classes, without terms.
        let mut others: HashMap<Key, usize> = HashMap::default();
        let mut all = |values: Values<'c>| {
            let of = |value: Value<'c>| match body.classes.get(&value.key()) {
                Some(id) => place(*id),
                None => *others.entry(value.key()).or_insert_with(|| {
                    classes.push(Class {
                        id: Id::from(usize::MAX >> 32),
                        terms: Vec::new(),
                        home: None,
                        original: None,
                    });
                    classes.len() - 1
                }),
            };
            values.into_iter().map(of).collect::<Needs>()
        };
        let (mut operands, mut results) = (Vec::new(), Vec::new());
        let mut plain = Vec::with_capacity(body.sites.len());
        for site in &body.sites {
            operands.push(all(site.op.operand_values()));
            results.push(match site.term {
                None => all(site.op.result_values()),
                Some(_) => Needs::new(),
            });
            plain.push(match site.term {
                None => plain_class(site.op)
                    .map(|class| class.map(|class| in_subgroup(class, site.is_uniform))),
                Some(_) => None,
            });
        }
        let count = body.sites.iter().map(|site| site.block + 1).max();
        let mut blocks = vec![0.0; count.unwrap_or(0)];
        for site in &body.sites {
            blocks[site.block] = site.frequency;
        }
        let frequencies = frequencies(body, &classes);
        let decides = |site: &Site<'c>| site.is_uniform && deciding.contains(&site.op.key());
        let deciding = body.sites.iter().filter(|site| decides(site));
        let deciding = deciding.filter_map(|site| Some(place(site.term.as_ref()?.0)));
        let deciding = deciding.collect();
        Self {
            structure: Structure {
                classes,
                operands,
                results,
                block_of: body.sites.iter().map(|site| site.block).collect(),
                blocks,
                frequencies,
                in_graph,
                is_cut: graph.analysis.is_cut,
                deciding,
            },
            shapes: shapes.into_iter().map(|(shape, _)| shape).collect(),
            plain,
        }
    }

    /// What a judge asks the prices of: each shape that may be taken, and each op that may be done in several ways.
    pub fn subjects<'c>(&self, body: &Body<'c>, setting: Setting) -> Vec<Subject<'c>> {
        let Setting { threads, wave, .. } = setting;
        let shapes = self.priced(wave).into_iter();
        let shapes = shapes.map(|at| Subject::Term(self.shapes[at].clone(), wave));
        let ops = self.several(body);
        shapes
            .chain(ops.map(|(_, op)| Subject::Op(op, threads, wave)))
            .collect()
    }

    /// A judge of a body's choices.
    pub fn judge<'c>(
        &self,
        body: &Body<'c>,
        pricer: &mut Pricer<'_, 'c>,
        setting: Setting,
    ) -> Result<'c, Judge<'_>> {
        Ok(Judge {
            structure: &self.structure,
            prices: self.prices(pricer, setting)?,
            skeleton: self.forms(body, pricer, setting)?,
            setting,
        })
    }

    /// The shapes of terms that may be taken in subgroups of `wave`, in the order of the terms.
    fn priced(&self, wave: u32) -> Vec<usize> {
        let mut all = Vec::new();
        let mut is_known = vec![false; self.shapes.len()];
        for class in &self.structure.classes {
            for (number, term) in class.terms.iter().enumerate() {
                let Some(at) = term.shape else { continue };
                let is_out = is_beyond(&self.shapes[at], wave) && class.original != Some(number);
                if !is_out && !std::mem::replace(&mut is_known[at], true) {
                    all.push(at);
                }
            }
        }
        all
    }

    /// The ops that are no terms and may be done in several ways, by their place.
    fn several<'a, 'c>(&'a self, body: &'a Body<'c>) -> impl Iterator<Item = (usize, Op<'c>)> + 'a {
        let sites = body.sites.iter().enumerate();
        let several = sites.filter(|(at, site)| self.plain[*at].is_none() && site.term.is_none());
        several.map(|(at, site)| (at, site.op))
    }

    fn prices<'c>(&self, pricer: &mut Pricer<'_, 'c>, setting: Setting) -> Result<'c, Prices> {
        let Setting { wave, resident, .. } = setting;
        let beyond = self.shapes.iter().map(|shape| is_beyond(shape, wave));
        let mut prices = Prices {
            of_shape: vec![None; self.shapes.len()],
            is_beyond: beyond.collect(),
        };
        for at in self.priced(wave) {
            let mut all = pricer.term(&self.shapes[at], wave)?;
            all.retain(|candidate| candidate.keeps_bits);
            prices.of_shape[at] = cheapest(all, resident);
        }
        Ok(prices)
    }

    /// How each op that is no term is done: the cheapest way that changes no bit, or that which the op asks for.
    fn forms<'c>(
        &self,
        body: &Body<'c>,
        pricer: &mut Pricer<'_, 'c>,
        setting: Setting,
    ) -> Result<'c, Vec<Option<Candidate>>> {
        let Setting { threads, wave, .. } = setting;
        let mut taken = vec![None; body.sites.len()];
        for (taken, class) in taken.iter_mut().zip(&self.plain) {
            if let Some(class) = class {
                let cost = class.map_or(Ok(Cost::default()), |class| pricer.class(class, wave))?;
                *taken = Some(Candidate::plain(cost));
            }
        }
        let mut several = Vec::new();
        for (at, op) in self.several(body) {
            let mut all = pricer.op(op, threads, wave)?;
            match asked_form(op).and_then(attributes::text) {
                Some(asked) => all.retain(|candidate| candidate.form == asked),
                None => all.retain(|candidate| candidate.keeps_bits),
            }
            several.push((at, all));
        }
        // Shared memory that is left where each op is done as usual.
        let usual = several.iter().filter_map(|(_, all)| all.first());
        let mut left = setting.shared - usual.map(|first| first.shared as i64).sum::<i64>();
        for (at, mut all) in several {
            let usual = all.first().map_or(0, |first| first.shared as i64);
            all.retain(|candidate| candidate.shared as i64 - usual <= left.max(0));
            let known = all.first().map(|first| sum(&first.cost, setting.resident));
            if let Some(known) = known {
                let is_worth =
                    |other: &Candidate| sum(&other.cost, setting.resident) < known * WORTH;
                let others = all.split_off(1);
                all.extend(others.into_iter().filter(is_worth));
            }
            taken[at] = cheapest(all, setting.resident);
            left -= taken[at]
                .as_ref()
                .map_or(0, |form| form.shared as i64 - usual);
        }
        Ok(taken)
    }
}

/// The best choice that is found.
pub fn choice(judge: Judge<'_>) -> Option<Choice> {
    let classes = &judge.structure.classes;
    let original: Vec<usize> = classes.iter().map(Class::of_body).collect();
    let before = judge.whole(&original)?;
    let mut best = (original.clone(), before);
    let mut unsure: Vec<usize> = Vec::new();
    if classes.iter().any(|class| class.terms.len() > 1) {
        let mut weights = [1.0; PIPES.len()];
        let rounds = if judge.is_of_one_pipe() { 1 } else { ROUNDS };
        let mut last = Vec::new();
        for round in 0..rounds {
            let mut found = judge.exact(&original, &weights);
            found.choice.resize(original.len(), 0);
            unsure.extend(found.unsure);
            let of_found = judge.whole(&found.choice);
            let binding = of_found.as_ref().and_then(Whole::binding);
            // What twice the weight does not change, four times it hardly does.
            let is_known = round > 0 && found.choice == last;
            last.clone_from(&found.choice);
            take(&mut best, of_found.map(|whole| (found.choice, whole)));
            match binding {
                Some(pipe) if round + 1 < rounds && !is_known => weights[pipe] *= 2.0,
                _ => break,
            }
        }
    }
    if !unsure.is_empty() {
        unsure.sort_unstable();
        unsure.dedup();
        // What was found, with the cheapest trees where the search came to no end.
        let (mut of_trees, trees) = (best.0.clone(), judge.trees(&original));
        unsure.iter().for_each(|at| of_trees[*at] = trees[*at]);
        let found = judge.whole(&of_trees).map(|whole| (of_trees, whole));
        take(&mut best, found);
    }
    let (best, whole) = judge
        .with_deciding(best, &original)
        .unwrap_or((original, before));
    let mut terms = HashMap::with_capacity_and_hasher(classes.len(), Default::default());
    for (class, at) in classes.iter().zip(&best) {
        if let Some(term) = class.terms.get(*at)
            && let Some(candidate) = judge.prices.of(class, *at)
        {
            terms.insert(class.id, (term.node.clone(), candidate.clone()));
        }
    }
    Some(Choice {
        wave: judge.setting.wave,
        terms,
        forms: judge.skeleton,
        whole,
        before,
        is_optimal: unsure.is_empty() && !judge.structure.is_cut,
    })
}

/// Whether a node is seen to be the same in a subgroup, if none of its values is and if all of them are.
fn is_uniform(graph: &Graph, node: &Node) -> [bool; 2] {
    match node.head {
        Head::Leaf(number) => [graph.analysis.leaves[number as usize].uniform; 2],
        Head::Op(operator) => {
            let values = node.children()[operator.values()].iter();
            let mut values: SmallVec<[Facts; 3]> = values.map(|id| graph[*id].data).collect();
            let whole = is_whole(graph, operator, node);
            [false, true].map(|all| {
                values.iter_mut().for_each(|value| value.uniform = all);
                facts_of(operator, &values, whole).uniform
            })
        }
        _ => [true; 2],
    }
}

/// How often the term of each class runs: as its first op does, or a collective as its token's
/// block. Another stands where it is used first: it counts as where it runs most often.
fn frequencies(body: &Body<'_>, classes: &[Class]) -> Vec<f64> {
    let mut of_token: HashMap<u32, f64> = HashMap::default();
    for site in &body.sites {
        of_token.entry(site.token).or_insert(site.frequency);
    }
    let known = classes.iter().map(|class| match class.home {
        Some(home) => Some(body.sites[home].frequency),
        None => {
            let mut tokens = class.terms.iter().map(|term| token_of(body, &term.node));
            tokens
                .next()?
                .and_then(|token| of_token.get(&token).copied())
        }
    });
    let mut all: Vec<Option<f64>> = known.collect();
    let mut from: Vec<usize> = (0..classes.len()).filter(|at| all[*at].is_some()).collect();
    from.sort_by(|a, b| all[*b].unwrap_or(0.0).total_cmp(&all[*a].unwrap_or(0.0)));
    for class in from {
        let mut stack = vec![class];
        while let Some(user) = stack.pop() {
            for value in classes[user].terms.iter().flat_map(|term| &term.values) {
                if all[*value].is_none() {
                    all[*value] = all[class];
                    stack.push(*value);
                }
            }
        }
    }
    all.into_iter().map(|known| known.unwrap_or(1.0)).collect()
}

/// Takes what was found if it is better.
fn take(best: &mut (Vec<usize>, Whole), found: Option<(Vec<usize>, Whole)>) {
    if let Some(found) = found.filter(|(_, whole)| whole.is_better(&best.1)) {
        *best = found;
    }
}

const FREE: Candidate = Candidate::plain(Cost {
    uses: [0.0; PIPES.len()],
    latency: 0.0,
});

/// The candidate that takes least, the first of equal ones.
fn cheapest(candidates: Vec<Candidate>, resident: f64) -> Option<Candidate> {
    let sum = |candidate: &Candidate| sum(&candidate.cost, resident);
    candidates
        .into_iter()
        .reduce(|best, next| match sum(&next) < sum(&best) {
            true => next,
            false => best,
        })
}

/// What a cost adds up to: extraction needs one number.
pub(super) fn sum(cost: &Cost, resident: f64) -> f64 {
    cost.uses.iter().sum::<f64>() + cost.latency / resident
}

fn token_of(body: &Body<'_>, node: &Node) -> Option<u32> {
    match node.head {
        Head::Op(operator) if operator.is_collective() => {
            let last = node.children().last()?;
            match body.graph[*last].nodes[0].head {
                Head::Token(token) => Some(token),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What a term costs by; none of leaves and constants, which cost nothing.
pub fn shape_of(body: &Body<'_>, node: &Node) -> Option<Shape> {
    let Head::Op(operator) = node.head else {
        return None;
    };
    let (graph, operands) = (&body.graph, node.children());
    let head = |at: usize| graph[operands[at]].nodes[0].head;
    let values = &operands[operator.values()];
    let (mut is_uniform, mut is_of_masks) = (!values.is_empty(), false);
    let values = values.iter().map(|id| {
        let facts = graph[*id].data;
        is_uniform &= facts.uniform;
        is_of_masks |= facts.mask;
        // A constant value is what a shuffle's mask may be; of others it does not matter.
        Some((facts.r#type?, facts.constant))
    });
    let values = values.collect::<Option<_>>()?;
    Some(Shape {
        head: node.head,
        kind: operator.combines().then(|| head(0).as_kind()).flatten(),
        cluster: match operator.cluster().map(head) {
            Some(Head::Cluster(cluster)) => cluster,
            _ => None,
        },
        bits: match operator.bits().map(head) {
            Some(Head::Bits(bits)) => bits,
            _ => None,
        },
        values,
        // What collectives cost does not depend on it, nor what lanes have of their own.
        is_uniform: is_uniform && !operator.is_collective(),
        is_of_masks: is_of_masks && !operator.is_collective(),
    })
}
