//! Which term to take of each class, for subgroups of one size, and what the body takes then.
//!
//! A choice is judged as a whole: what several values share counts once. For the sum of what
//! its terms take, the best one is found [exactly](super::exact). The time of a body is no
//! such sum but the larger of bounds: so the pipe that bounds it weighs twice as much in the
//! next round, and the best of all rounds by time is taken, or the body as it is.
//!
//! Where a body has a part that is too large for the exact search, one class at a time is changed
//! while that helps, from the body as it is and from the cheapest tree of each class: then two
//! changes that help together alone are not found. How often is counted, too. Acyclicity is a
//! condition of each choice.

use super::{
    cost::{Cost, PIPES},
    exact::{self, Way},
    import::{Body, Site},
    language::{Head, Node},
    price::{Candidate, Pricer, Shape, is_beyond, plain_class},
    term::asked_form,
};
use egg::{Id, Language};
use qd_dialects::{
    attributes,
    diagnostic::Result,
    ir::{Key, OpExt, Value, ValueExt},
};
use std::collections::HashMap;

/// Rounds of the exact search, and those in which each class is asked for something better.
const ROUNDS: usize = 3;
/// Classes that are looked at, in all, while one at a time is changed.
const MOST_LOOKS: usize = 250_000;
/// Parts of a cycle in which costs are added up: integers, so that no order of them shows.
const PARTS: f64 = 1024.0;
/// By how much of itself a term has to help to take the place of the body's own.
const LEAST_GAIN: f64 = 0.03;

/// A body's classes with their terms, the same for every size.
pub struct Problem<'a, 'c> {
    body: &'a Body<'c>,
    classes: Vec<Class>,
    /// Of each site, the classes of its operands.
    operands: Vec<Vec<usize>>,
    /// Of each site that is no term, the classes of its results.
    results: Vec<Vec<usize>>,
    /// How often each block runs.
    blocks: Vec<f64>,
    /// How often each class's term runs, wherever it will stand.
    frequencies: Vec<f64>,
    /// Classes of the graph, in front of values that are in none.
    in_graph: usize,
    /// Of each site, as what it costs if it is done in one way alone.
    plain: Vec<Option<Plain>>,
}

/// As what an op costs that is done in one way alone; none: nothing.
type Plain = Option<&'static str>;

struct Class {
    id: Id,
    terms: Vec<Term>,
    /// Where the first op of it stands.
    home: Option<usize>,
    /// The term that this op is.
    original: Option<usize>,
}

struct Term {
    node: Node,
    /// Its values, by class.
    values: Vec<usize>,
    shape: Option<Shape>,
}

impl Class {
    /// The term that the body has: a value that is no term, or else the first op of the class.
    /// An op stands behind the first ones of its operands' classes, so that these go in no circle;
    /// an op that rules say is its own operand would, if it went before the value.
    fn of_body(&self) -> usize {
        let is_value = |term: &Term| matches!(term.node.head, Head::Leaf(_) | Head::Constant(..));
        let value = self.terms.iter().position(is_value);
        value.or(self.original).unwrap_or(0)
    }
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

/// What a body takes, of a lane, in cycles.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// The estimate: the larger of the two bounds, and a quarter of the other.
    pub time: f64,
    /// Bound by issue, of each pipe.
    pub issue: [f64; PIPES.len()],
    /// Bound by latency.
    pub latency: f64,
    /// Subgroups that a scheduler has resident.
    pub resident: f64,
    /// Words of a lane that are live at the same time.
    pub live: u32,
    /// All of it added up: what decides between equal times.
    sum: f64,
}

impl Whole {
    /// The pipe that bounds the time; none if latency does.
    pub fn binding(&self) -> Option<usize> {
        let pipes = self.issue.iter().enumerate();
        let (pipe, most) = pipes.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)))?;
        (*most > self.latency).then_some(pipe)
    }

    fn is_better(&self, other: &Self) -> bool {
        const NOISE: f64 = 1e-9;
        self.time < other.time * (1.0 - NOISE)
            || (self.time <= other.time * (1.0 + NOISE) && self.sum < other.sum * (1.0 - NOISE))
    }
}

impl<'a, 'c> Problem<'a, 'c> {
    /// Of a body whose graph is saturated.
    pub fn new(body: &'a Body<'c>) -> Self {
        let graph = &body.graph;
        let mut ids: Vec<Id> = graph.classes().map(|class| class.id).collect();
        ids.sort();
        let by_id: HashMap<Id, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        let place = |id: Id| by_id[&graph.find(id)];
        let mut homes: HashMap<usize, (usize, Node)> = HashMap::new();
        for (site, Site { term, .. }) in body.sites.iter().enumerate() {
            if let Some((class, node)) = term {
                let canonical = node.clone().map_children(|id| graph.find(id));
                homes.entry(place(*class)).or_insert((site, canonical));
            }
        }
        let classes = ids.iter().enumerate().map(|(at, id)| {
            let home = homes.get(&at);
            let token = home.map(|(site, _)| body.sites[*site].token);
            let mut terms: Vec<Term> = Vec::new();
            let mut original = None;
            for node in &graph[*id].nodes {
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
                    shape: shape_of(body, node),
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
        // Values that no term uses have a place behind the classes, without terms.
        let mut others: HashMap<Key, usize> = HashMap::new();
        let mut all = |values: Vec<Value<'c>>| {
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
            values.into_iter().map(of).collect::<Vec<_>>()
        };
        let (mut operands, mut results) = (Vec::new(), Vec::new());
        let mut plain = Vec::with_capacity(body.sites.len());
        for site in &body.sites {
            operands.push(all(site.op.operand_values()));
            results.push(match site.term {
                None => all(site.op.result_values()),
                Some(_) => Vec::new(),
            });
            plain.push(match site.term {
                None => plain_class(site.op),
                Some(_) => None,
            });
        }
        let count = body.sites.iter().map(|site| site.block + 1).max();
        let mut blocks = vec![0.0; count.unwrap_or(0)];
        for site in &body.sites {
            blocks[site.block] = site.frequency;
        }
        let frequencies = frequencies(body, &classes);
        Self {
            body,
            classes,
            operands,
            results,
            blocks,
            frequencies,
            in_graph,
            plain,
        }
    }

    /// Whether some class has more than one term.
    pub fn has_choice(&self) -> bool {
        self.classes.iter().any(|class| class.terms.len() > 1)
    }

    /// The best choice that the search finds for subgroups of `wave` lanes in blocks of
    /// `threads`, of which so many are resident and so many words are live.
    pub fn choose(
        &self,
        pricer: &mut Pricer<'_, 'c>,
        threads: i64,
        wave: u32,
        (resident, live): (f64, u32),
    ) -> Result<'c, Option<Choice>> {
        let mut costs: Vec<Vec<Option<Candidate>>> = Vec::with_capacity(self.classes.len());
        for class in &self.classes {
            let mut of_class = Vec::with_capacity(class.terms.len());
            for (number, term) in class.terms.iter().enumerate() {
                let best = match &term.shape {
                    Some(shape) if class.original != Some(number) && is_beyond(shape, wave) => None,
                    Some(shape) => cheapest(pricer.term(shape, wave)?, resident),
                    None => Some(FREE),
                };
                of_class.push(best);
            }
            costs.push(of_class);
        }
        let mut skeleton = vec![None; self.body.sites.len()];
        for (at, (site, form)) in self.body.sites.iter().zip(&mut skeleton).enumerate() {
            if let Some(class) = self.plain[at] {
                let cost = class.map_or(Ok(Cost::default()), |class| pricer.class(class, wave))?;
                *form = Some(Candidate { form: "", cost });
            } else if site.term.is_none() {
                let mut all = pricer.op(site.op, threads, wave)?;
                if let Some(asked) = asked_form(site.op).and_then(attributes::text) {
                    all.retain(|candidate| candidate.form == asked);
                }
                *form = cheapest(all, resident);
            }
        }
        let judge = Judge {
            problem: self,
            costs: &costs,
            skeleton: &skeleton,
            wave: wave.into(),
            resident,
            live,
        };
        let original: Vec<usize> = self.classes.iter().map(Class::of_body).collect();
        let Some(before) = judge.whole(&original, &mut judge.nothing_seen()) else {
            return Ok(None);
        };
        let (mut best, mut whole) = (original.clone(), before);
        let mut is_optimal = true;
        if self.has_choice() {
            let mut take = |found: Option<(Vec<usize>, Whole)>| {
                if let Some((found, of_found)) = found
                    && of_found.is_better(&whole)
                {
                    (best, whole) = (found, of_found);
                }
            };
            let mut weights = [1.0; PIPES.len()];
            for round in 0..ROUNDS {
                let mut found = judge.exact(&original, &weights);
                found.choice.resize(original.len(), 0);
                is_optimal &= found.is_optimal;
                let of_found = judge.whole(&found.choice, &mut judge.nothing_seen());
                let binding = of_found.as_ref().and_then(Whole::binding);
                take(of_found.map(|whole| (found.choice, whole)));
                match binding {
                    Some(pipe) if round + 1 < ROUNDS => weights[pipe] *= 2.0,
                    _ => break,
                }
            }
            if !is_optimal {
                take(judge.improved(judge.trees(&original)));
                take(judge.improved(original));
            }
        }
        let terms = self.classes.iter().enumerate().filter_map(|(at, class)| {
            let term = class.terms.get(best[at])?;
            let cost = costs[at][best[at]].clone()?;
            Some((class.id, (term.node.clone(), cost)))
        });
        Ok(Some(Choice {
            wave,
            terms: terms.collect(),
            forms: skeleton,
            whole,
            before,
            is_optimal,
        }))
    }
}

/// How often the term of each class runs: as its first op does, or a collective as its token's
/// block. Another stands where it is used first: it counts as where it runs most often.
fn frequencies(body: &Body<'_>, classes: &[Class]) -> Vec<f64> {
    let mut of_token: HashMap<u32, f64> = HashMap::new();
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

const FREE: Candidate = Candidate {
    form: "",
    cost: Cost {
        uses: [0.0; PIPES.len()],
        latency: 0.0,
    },
};

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
fn sum(cost: &Cost, resident: f64) -> f64 {
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
    let values = operands[operator.values()].iter().map(|id| {
        let facts = graph[*id].data;
        // A constant value is what a shuffle's mask may be; of others it does not matter.
        Some((facts.r#type?, facts.constant))
    });
    Some(Shape {
        head: node.head,
        kind: operator.combines().then(|| head(0).as_kind()).flatten(),
        cluster: match operator.has_clusters().then(|| head(operands.len() - 2)) {
            Some(Head::Cluster(cluster)) => cluster,
            _ => None,
        },
        values: values.collect::<Option<Vec<_>>>()?,
    })
}

/// Judges choices, which say the number of the term of each class.
struct Judge<'a, 'p, 'c> {
    problem: &'a Problem<'p, 'c>,
    costs: &'a [Vec<Option<Candidate>>],
    skeleton: &'a [Option<Candidate>],
    wave: f64,
    resident: f64,
    live: u32,
}

impl Judge<'_, '_, '_> {
    /// The choice whose terms' costs have the least sum, where uses of each pipe weigh as said.
    fn exact(&self, original: &[usize], weights: &[f64; PIPES.len()]) -> exact::Found {
        let problem = self.problem;
        let classes = problem.classes.iter().zip(&problem.frequencies);
        let classes = classes.take(problem.in_graph).enumerate();
        let ways = classes.map(|(at, (class, frequency))| {
            let terms = class.terms.iter().enumerate();
            let ways = terms.filter_map(|(number, term)| {
                let cost = &self.costs[at][number].as_ref()?.cost;
                let uses = cost.uses.iter().zip(weights);
                let uses: f64 = uses.map(|(r#use, weight)| r#use * weight).sum();
                let own = (uses + cost.latency / self.resident) * frequency * PARTS;
                let bias = match class.home.is_some() && number != original[at] {
                    true => 1.0 + LEAST_GAIN,
                    false => 1.0,
                };
                Some(Way {
                    number,
                    cost: (own * bias).round() as u64,
                    needs: term.values.clone(),
                })
            });
            ways.collect()
        });
        let ways: Vec<Vec<Way>> = ways.collect();
        let skeleton = self.skeleton.iter().zip(&problem.operands);
        let roots = skeleton.filter(|(form, _)| form.is_some());
        let roots = roots.flat_map(|(_, operands)| operands).copied();
        let roots: Vec<usize> = roots.filter(|root| *root < ways.len()).collect();
        exact::cheapest(ways, &roots, &original[..problem.in_graph])
    }

    /// The cheapest tree of each class, where there is one; what is shared counts each time.
    fn trees(&self, original: &[usize]) -> Vec<usize> {
        let classes = &self.problem.classes;
        let mut best: Vec<(f64, usize)> = original.iter().map(|at| (f64::INFINITY, *at)).collect();
        // Classes stand behind those of their operands, but for a few.
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (at, class) in classes.iter().enumerate() {
                for (number, term) in class.terms.iter().enumerate() {
                    let Some(candidate) = &self.costs[at][number] else {
                        continue;
                    };
                    let own = sum(&candidate.cost, self.resident);
                    let below: f64 = term.values.iter().map(|value| best[*value].0).sum();
                    if own + below < best[at].0 {
                        best[at] = (own + below, number);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        best.into_iter().map(|(_, at)| at).collect()
    }

    /// A choice, changed where that helps, and what it comes to; none if it is none.
    fn improved(&self, mut choice: Vec<usize>) -> Option<(Vec<usize>, Whole)> {
        // Of the choice, and of one that is tried.
        let (mut seen, mut tried) = (self.nothing_seen(), self.nothing_seen());
        let mut whole = self.whole(&choice, &mut seen)?;
        let mut looks = MOST_LOOKS / self.problem.classes.len().max(1);
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (at, class) in self.problem.classes.iter().enumerate() {
                for number in 0..class.terms.len() {
                    let before = choice[at];
                    // What nobody uses costs nothing.
                    let is_used = matches!(seen[at], Seen::Done { .. });
                    if number == before || !is_used || self.costs[at][number].is_none() {
                        continue;
                    }
                    let Some(left) = looks.checked_sub(1) else {
                        return Some((choice, whole));
                    };
                    looks = left;
                    choice[at] = number;
                    match self.whole(&choice, &mut tried) {
                        Some(found) if self.gains(&whole, &found, at, before) => {
                            (whole, changed) = (found, true);
                            std::mem::swap(&mut seen, &mut tried);
                        }
                        _ => choice[at] = before,
                    }
                }
            }
            if !changed {
                break;
            }
        }
        Some((choice, whole))
    }

    fn nothing_seen(&self) -> Vec<Seen> {
        vec![Seen::No; self.problem.classes.len()]
    }

    fn gains(&self, before: &Whole, after: &Whole, class: usize, number: usize) -> bool {
        let own = self.costs[class][number].as_ref();
        let own = own.map_or(0.0, |candidate| sum(&candidate.cost, self.resident)) / self.wave;
        after.is_better(before) && before.sum - after.sum >= LEAST_GAIN * own
    }

    /// What the body takes, and the classes that it uses; none where the choice is circular, or
    /// there is no way to do a term.
    fn whole(&self, choice: &[usize], seen: &mut [Seen]) -> Option<Whole> {
        let problem = self.problem;
        seen.fill(Seen::No);
        let mut longest = vec![0.0f64; problem.blocks.len()];
        let mut uses = [0.0; PIPES.len()];
        let mut add = |cost: &Cost, frequency: f64| {
            for (total, r#use) in uses.iter_mut().zip(cost.uses) {
                *total += r#use * frequency;
            }
        };
        let mut stack = Vec::new();
        for (at, site) in problem.body.sites.iter().enumerate() {
            let Some(candidate) = &self.skeleton[at] else {
                continue;
            };
            let mut start = 0.0f64;
            for root in &problem.operands[at] {
                // Depth first: a class is left when its values are there.
                stack.push((*root, site.block));
                while let Some((class, block)) = stack.last().copied() {
                    let home = problem.classes[class].home;
                    let block = home.map_or(block, |site| problem.body.sites[site].block);
                    let terms = &problem.classes[class].terms;
                    if terms.is_empty() && !matches!(seen[class], Seen::Done { .. }) {
                        // From outside: it is there.
                        seen[class] = Seen::Done { block, end: 0.0 };
                    }
                    if terms.is_empty() {
                        stack.pop();
                        continue;
                    }
                    let term = terms.get(choice[class])?;
                    match seen[class] {
                        Seen::Done { .. } => {
                            stack.pop();
                        }
                        Seen::No => {
                            seen[class] = Seen::Entered;
                            for value in &term.values {
                                match seen[*value] {
                                    Seen::No => stack.push((*value, block)),
                                    Seen::Entered => return None,
                                    Seen::Done { .. } => {}
                                }
                            }
                        }
                        Seen::Entered => {
                            let cost = &self.costs[class][choice[class]].as_ref()?.cost;
                            add(cost, problem.blocks[block]);
                            let ready = term.values.iter().map(|value| seen[*value].at(block));
                            let end = ready.fold(0.0, f64::max) + cost.latency;
                            longest[block] = longest[block].max(end);
                            seen[class] = Seen::Done { block, end };
                            stack.pop();
                        }
                    }
                }
                start = start.max(seen[*root].at(site.block));
            }
            add(&candidate.cost, site.frequency);
            let end = start + candidate.cost.latency;
            longest[site.block] = longest[site.block].max(end);
            for result in &problem.results[at] {
                let block = site.block;
                seen[*result] = Seen::Done { block, end };
            }
        }
        let issue = uses.map(|r#use| r#use / self.wave);
        let bound = issue.iter().copied().fold(0.0, f64::max);
        let ways = longest.iter().zip(&problem.blocks);
        let way: f64 = ways.map(|(way, frequency)| way * frequency).sum();
        let latency = way / (self.wave * self.resident);
        Some(Whole {
            time: bound.max(latency) + bound.min(latency) / 4.0,
            issue,
            latency,
            resident: self.resident,
            live: self.live,
            sum: issue.iter().sum::<f64>() + latency,
        })
    }
}

/// How far a class is.
#[derive(Clone, Copy)]
enum Seen {
    No,
    Entered,
    /// When its value is there, in a block.
    Done {
        block: usize,
        end: f64,
    },
}

impl Seen {
    /// When the value is there, as a block sees it: from the start, where it is another's.
    fn at(self, block: usize) -> f64 {
        match self {
            Self::Done { block: own, end } if own == block => end,
            _ => 0.0,
        }
    }
}
