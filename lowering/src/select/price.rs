//! The ways in which a target does an op, and what each takes: its native form, if it has one,
//! and its expansion.
//!
//! What an expansion takes is not written down: the op is expanded in a function of its own,
//! and what came of it is priced. Of several each is made. Each op is priced once in a process, by what it is; one with
//! regions, or by the costs of a file, once in a module.

use super::{
    classes::{class_of, in_subgroup, neutral_class, plain_class},
    cost::{Cost, Costs, Question},
    language::{Head, Type},
    prices::{self, Known},
    share::Threads,
    term::{self, Operand},
};
use crate::{
    convert::shared,
    emit::handle,
    expand::is_kept,
    targets::{Capabilities, isa::Scalar},
};
use qd_dialects::{
    attributes::{self, Kind, names},
    builder::Builder,
    clone::Mapping,
    diagnostic::{Diagnostic, Result},
    interfaces::{Collective, Scope},
    ir::{self, Block, InsertionPoint, Key, Op, OpExt, Value, ValueExt, bit_width, context_of},
    melior::ir::{
        Module, Region, RegionLike, Type as IrType, TypeLike, ValueLike, attribute::TypeAttribute,
        r#type::FunctionType,
    },
    ops::{ShuffleMode, simt},
};
pub use qd_passes::expand_collectives::EXPANSION;
use qd_passes::{
    expand_collectives::{self, expansions_of, keeps_bits, reason_of},
    uniformity::Uniformity,
};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::SmallVec;

/// One way to do an op.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The form's name, of the target's or of an expansion.
    pub form: &'static str,
    /// What it takes.
    pub cost: Cost,
    /// Bytes of the block's shared memory that it takes.
    pub shared: u64,
    /// Whether each bit is as the target's form has it, or, where it has none, the usual expansion, so that it may
    /// be chosen where nobody asks for it.
    pub keeps_bits: bool,
}

impl Candidate {
    /// The one way to do something that costs as much.
    pub const fn plain(cost: Cost) -> Self {
        Self::native("", cost)
    }

    const fn native(form: &'static str, cost: Cost) -> Self {
        Self {
            form,
            cost,
            shared: 0,
            keeps_bits: true,
        }
    }
}

/// A term, by what it costs depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Its op.
    pub head: Head,
    /// How it combines.
    pub kind: Option<Kind>,
    /// log2 of the lanes in a cluster.
    pub cluster: Option<u32>,
    /// How many bits of its value count, if not all.
    pub bits: Option<u32>,
    /// Its values' types, and the constants among them.
    pub values: SmallVec<[(Type, Option<i64>); 3]>,
    /// Whether its values are the same in a whole subgroup.
    pub is_uniform: bool,
    /// Whether it is made of masks of lanes.
    pub is_of_masks: bool,
}

/// Inserts an op that is given these values.
type Make<'a, 'c> = &'a dyn Fn(&Builder<'c>, &[Value<'c>]) -> Option<Op<'c>>;

/// The ways to do an op.
type Ways<'c> = Result<'c, Vec<Candidate>>;

/// What is priced.
#[derive(Clone)]
pub enum Subject<'c> {
    /// A term, in subgroups of so many lanes.
    Term(Shape, u32),
    /// An op that is no term, in blocks of so many threads and subgroups of so many lanes.
    Op(Op<'c>, i64, u32),
}

/// An op at the end of a function of its own, in a module of its own.
struct Sample<'c> {
    module: Module<'c>,
    function: Op<'c>,
    block: Threads,
}

/// Prices ops for one target.
pub struct Pricer<'a, 'c> {
    module: Op<'c>,
    target: &'a Capabilities,
    pub(super) costs: &'a Costs,
    known: HashMap<Known, Vec<Candidate>>,
    classes: HashMap<(&'static str, u32), Cost>,
}

impl<'a, 'c> Pricer<'a, 'c> {
    /// For bodies of a module.
    pub fn new(module: Op<'c>, target: &'a Capabilities, costs: &'a Costs) -> Self {
        Self {
            module,
            target,
            costs,
            known: HashMap::default(),
            classes: HashMap::default(),
        }
    }

    /// Who says what a form of the target takes.
    pub fn source(&self, form: &str, op: &str, wave: u32) -> Option<&str> {
        self.costs.source(&Question::new(form, op, wave))
    }

    /// Why a form of the target, or an expansion that is one of several, does what its op says.
    pub fn reason(&self, form: &str, op: &str) -> Option<&'static str> {
        let mut own = self.target.forms_of(op);
        let own = own.find_map(|own| (own.name == form).then_some(own.reason));
        own.or_else(|| reason_of(form))
    }

    /// The ways to do a term in subgroups of `wave` lanes, the cheapest first where forms
    /// are equal. None: it has more lanes in a cluster.
    pub fn term(&mut self, shape: &Shape, wave: u32) -> Result<'c, Vec<Candidate>> {
        if has_ways(shape, wave) {
            return self.ways(Subject::Term(shape.clone(), wave));
        }
        if !fits(shape, wave) {
            return Ok(Vec::new());
        }
        let class = match class_of(shape) {
            Some("int64") if shape.is_of_masks => Some("mask"),
            class => class,
        };
        self.one_way(
            class.map(|class| in_subgroup(class, shape.is_uniform)),
            wave,
        )
    }

    /// The ways to do an op that is no term, of a block of `threads`.
    pub fn op(&mut self, op: Op<'c>, threads: i64, wave: u32) -> Result<'c, Vec<Candidate>> {
        match plain_class(op) {
            Some(class) => self.one_way(class, wave),
            None => self.ways(Subject::Op(op, threads, wave)),
        }
    }

    fn one_way(&mut self, class: Option<&'static str>, wave: u32) -> Ways<'c> {
        let cost = class.map_or(Ok(Cost::default()), |class| self.class(class, wave))?;
        Ok(vec![Candidate::plain(cost)])
    }

    fn ways(&mut self, subject: Subject<'c>) -> Ways<'c> {
        let known = Known::of(&subject);
        if let Some(ways) = self.known.get(&known) {
            return Ok(ways.clone());
        }
        self.learn([subject])?;
        Ok(self.known.get(&known).cloned().unwrap_or_default())
    }

    /// Prices all that is not known yet, at once.
    ///
    /// # Errors
    ///
    /// There is no cost of something.
    pub fn learn(&mut self, subjects: impl IntoIterator<Item = Subject<'c>>) -> Result<'c, ()> {
        let has_several = |subject: &Subject<'_>| match subject {
            Subject::Term(shape, wave) => has_ways(shape, *wave),
            Subject::Op(..) => true,
        };
        let (mut asked, mut seen) = (Vec::new(), HashSet::default());
        for subject in subjects.into_iter().filter(has_several) {
            let known = Known::of(&subject);
            if !self.known.contains_key(&known) && seen.insert(known.clone()) {
                asked.push((known, subject));
            }
        }
        if self.costs.are_ours() {
            let asked_for = asked.iter().map(|(known, _)| known);
            self.known
                .extend(prices::found(&self.target.name, asked_for));
            asked.retain(|(known, _)| !self.known.contains_key(known));
        }
        let samples = asked.iter().map(|(_, subject)| self.sample(subject));
        let samples: Vec<_> = samples.collect();
        let _span = tracing::info_span!("price", ops = asked.len()).entered();
        let of_sample = |sample: Option<Sample<'c>>| match sample {
            Some(sample) => ir::edit(|| self.ways_of(&sample)),
            None => Ok(Vec::new()),
        };
        // Safety: a sample is in a module of its own, and what of the pricer is used is only read.
        let ways = unsafe { ir::read_each(samples, of_sample) };
        let ways = ways.into_iter().collect::<Result<'c, Vec<_>>>()?;
        let new = asked.into_iter().map(|(known, _)| known).zip(ways);
        let new: Vec<_> = new.collect();
        if self.costs.are_ours() {
            prices::keep(&self.target.name, &new);
        }
        self.known.extend(new);
        Ok(())
    }

    /// What is priced, in a module of its own.
    fn sample(&self, subject: &Subject<'c>) -> Option<Sample<'c>> {
        match subject {
            Subject::Term(shape, wave) => {
                let Head::Op(operator) = shape.head else {
                    return None;
                };
                let context = context_of(self.module);
                let types = shape.values.iter();
                let types = types.filter_map(|(r#type, _)| IrType::parse(context, r#type.name()));
                let types: Vec<_> = types.collect();
                self.alone(&types, i64::from(*wave), *wave, &|b, arguments| {
                    let values = arguments.iter().zip(&shape.values);
                    let values = values.map(|(argument, (_, constant))| match constant {
                        Some(value) => b.scalar(argument.r#type(), *value),
                        None => b.v(*argument),
                    });
                    let mut operands: Vec<_> = shape.kind.map(Operand::Kind).into_iter().collect();
                    operands.extend(values.map(Operand::Value));
                    if operator.has_clusters() {
                        // As `qd-select-subgroup-size` makes it.
                        let log2 = shape.cluster.unwrap_or(wave.trailing_zeros());
                        operands.push(Operand::Cluster(Some(log2)));
                    }
                    if operator.bits().is_some() {
                        operands.push(Operand::Bits(shape.bits));
                    }
                    operands.push(Operand::Token);
                    let made = term::insert(b, shape.head, &operands)?;
                    made.value().defining_op()
                })
            }
            Subject::Op(op, threads, wave) => {
                let values = op.operand_values();
                let types: Vec<_> = values.iter().map(|v| v.r#type()).collect();
                self.alone(&types, *threads, *wave, &|b, arguments| {
                    let mut mapping = Mapping::new();
                    for (operand, argument) in values.iter().zip(arguments) {
                        mapping.insert(*operand, *argument);
                    }
                    let copy = mapping.clone_op(*op, b.insertion_point());
                    let collective = Collective::of(copy)?;
                    if collective.supports_clusters && collective.log2_cluster_size.is_none() {
                        let log2 = wave.trailing_zeros() as i32;
                        copy.set_attr("tile", attributes::i32(b.context(), log2));
                    }
                    Some(copy)
                })
            }
        }
    }

    /// The op that `make` inserts into a function which takes values of these types.
    fn alone(
        &self,
        types: &[IrType<'c>],
        threads: i64,
        wave: u32,
        make: Make<'_, 'c>,
    ) -> Option<Sample<'c>> {
        let context = context_of(self.module);
        let location = self.module.location();
        let module = Module::new(location);
        let region = Region::new();
        region.append_block(ir::new_block(types, location));
        let r#type = FunctionType::new(context, types, &[]).into();
        let block = Threads {
            threads,
            wave: wave.into(),
        };
        let function = InsertionPoint::End(handle(&module).body()?).insert(ir::build(
            "func.func",
            location,
            &[],
            &[],
            &[
                ("sym_name", attributes::string(context, "qd.priced")),
                ("function_type", TypeAttribute::new(r#type).into()),
                (names::THREADS, attributes::i64(context, block.threads)),
                (names::WAVE, attributes::i64(context, block.wave)),
            ],
            vec![region],
        ));
        let body = function.body()?;
        let b = Builder::new(context, location, InsertionPoint::End(body));
        make(&b, &ir::arguments(body))?;
        Some(Sample {
            module,
            function,
            block,
        })
    }

    /// The ways to do the op of a sample.
    fn ways_of(&self, sample: &Sample<'c>) -> Ways<'c> {
        let Some(op) = sample.function.body().and_then(last_operation) else {
            return Ok(Vec::new());
        };
        let expansions: Vec<_> = expansions_of(op.full_name()).collect();
        let wave = sample.block.wave as u32;
        let mut all = self.native_ways(op, wave, expansions.is_empty())?;
        let changes_order = !all.is_empty() && depends_on_order(op);
        for form in expansions {
            let mut expanded = self.expanded(sample, form)?;
            for candidate in &mut expanded {
                candidate.keeps_bits &= !changes_order;
            }
            all.extend(expanded);
        }
        Ok(all)
    }

    /// The forms of the target that an op may take, and that of a barrier, which every target has. An op has one
    /// if it is `only` done in these ways.
    fn native_ways(&self, op: Op<'c>, wave: u32, only: bool) -> Ways<'c> {
        let fitting = self.target.fitting(op, wave.into()).into_iter();
        let all: Vec<Candidate> = fitting
            .map(|form| {
                Ok(Candidate::native(
                    form.name,
                    self.native(op, form.name, wave)?,
                ))
            })
            .collect::<Result<_>>()?;
        if !all.is_empty() || !only {
            return Ok(all);
        }
        if neutral_class(op).is_some() {
            return Ok(vec![Candidate::plain(self.neutral(op, wave, false)?)]);
        }
        let name = &self.target.name;
        let message = format!("has no form on target '{name}', and no expansion");
        Err(Diagnostic::at(op, message))
    }

    /// A sample's op by an expansion; none if that takes more shared memory than there is.
    fn expanded(&self, sample: &Sample<'c>, form: &'static str) -> Ways<'c> {
        let Some(end) = handle(&sample.module).body() else {
            return Ok(Vec::new());
        };
        let function = InsertionPoint::End(end).insert(sample.function.detached_clone());
        let Some((body, op)) = function
            .body()
            .and_then(|body| Some((body, last_operation(body)?)))
        else {
            return Ok(Vec::new());
        };
        let block = sample.block;
        let keeps_bits = keeps_bits(op, form, block.threads, block.wave);
        op.set_attr(names::FORM, attributes::string(context_of(op), form));
        expand_collectives::expand(function, &|op, wave| is_kept(self.target, op, wave))?;
        let b = Builder::before(function);
        let Ok(arrays) = shared::arrays(&b, function, self.target) else {
            return Ok(Vec::new());
        };
        // Its arguments stand for values of lanes.
        let uniformity = Uniformity::analyse_called(body, block.wave as u32);
        Ok(vec![Candidate {
            form,
            cost: self.block(body, block, &uniformity)?,
            shared: arrays.last().map_or(0, |array| array.end),
            keeps_bits,
        }])
    }

    /// What a block takes: of each pipe the sum, and the longest way through it.
    fn block(
        &self,
        body: Block<'c>,
        block: Threads,
        uniformity: &Uniformity<'c>,
    ) -> Result<'c, Cost> {
        let mut total = Cost::default();
        let mut ready: HashMap<Key, f64> = HashMap::default();
        // When the last barrier lets threads go on.
        let mut released = 0.0f64;
        for op in ir::operations(body) {
            let wave = block.wave as u32;
            let collective = Collective::of(op);
            let mut cost = match self.target.form(op, wave.into()) {
                Some(form) if collective.is_some() && self.is_operand(op, form.name, wave) => {
                    Cost::default()
                }
                Some(form) if collective.is_some() => self.native(op, form.name, wave)?,
                _ => self.neutral(op, wave, is_uniform(op, uniformity))?,
            };
            let inner = match collective {
                None => op.nested(),
                Some(_) => Vec::new(),
            };
            if !inner.is_empty() {
                cost = cost + self.regions(op, block, uniformity)?;
            }
            let used = inner.iter().flat_map(|inner| inner.operand_values());
            let starts = op.operand_values().into_iter().chain(used);
            let starts = starts.filter_map(|value| ready.get(&value.key()).copied());
            let mut ends = starts.fold(released, f64::max) + cost.latency;
            if is_barrier(op) || inner.iter().copied().any(is_barrier) {
                ends = ends.max(total.latency + cost.latency);
                released = ends;
            }
            for result in op.result_values() {
                ready.insert(result.key(), ends);
            }
            let latency = total.latency.max(ends);
            total = total + cost;
            total.latency = latency;
        }
        Ok(total)
    }

    /// What an op's regions take: as often as they run, and of a branch by as many subgroups as take it. Its other
    /// subgroups wait.
    fn regions(&self, op: Op<'c>, block: Threads, uniformity: &Uniformity<'c>) -> Result<'c, Cost> {
        let mut total = Cost::default();
        for region in 0..op.region_count() {
            let Some(inner) = op.region_block(region) else {
                continue;
            };
            let cost = self.block(inner, block, uniformity)?;
            let operands = op.operand_values();
            total = total
                + match op.full_name() {
                    "scf.if" => Cost {
                        latency: cost.latency,
                        ..cost * block.share(operands[0], region == 0)
                    },
                    "scf.for" => cost * block.trips(op).unwrap_or(1.0),
                    _ => cost,
                };
        }
        Ok(total)
    }

    fn native(&self, op: Op<'c>, form: &str, wave: u32) -> Result<'c, Cost> {
        self.ask(&question(op, form, wave))
    }

    /// Whether the instruction that uses what a form moves takes that as its operand.
    fn is_operand(&self, op: Op<'c>, form: &str, wave: u32) -> bool {
        let results = op.result_values();
        let uses: Vec<_> = results.iter().flat_map(|value| value.uses()).collect();
        let [(only, _)] = uses.as_slice() else {
            return false;
        };
        takes_moves(*only) && self.costs.is_operand(&question(op, form, wave))
    }

    /// What an op takes that is no collective, without what is in it.
    fn neutral(&self, op: Op<'c>, wave: u32, is_uniform: bool) -> Result<'c, Cost> {
        match neutral_class(op) {
            Some(class) => self.of_class(in_subgroup(class, is_uniform), wave),
            None => Ok(Cost::default()),
        }
    }

    /// What an op of a class of ops takes.
    pub fn class(&mut self, class: &'static str, wave: u32) -> Result<'c, Cost> {
        if let Some(known) = self.classes.get(&(class, wave)) {
            return Ok(*known);
        }
        let cost = self.of_class(class, wave)?;
        self.classes.insert((class, wave), cost);
        Ok(cost)
    }

    fn of_class(&self, class: &'static str, wave: u32) -> Result<'c, Cost> {
        self.ask(&Question::new(class, "", wave))
    }

    fn ask(&self, question: &Question<'_>) -> Result<'c, Cost> {
        self.costs.cost(question).ok_or_else(|| {
            let (form, wave) = (question.form, question.wave);
            let name = &self.target.name;
            let message = format!("there is no cost of '{form}' at wave {wave} of target '{name}'");
            Diagnostic::at(self.module, message)
        })
    }
}

/// What a form of an op is asked by.
fn question<'a, 'c: 'a>(op: Op<'c>, form: &'a str, wave: u32) -> Question<'a> {
    let operands = op.operand_values();
    let xor = simt::Shuffle::of(op).filter(|s| s.mode() == ShuffleMode::Xor);
    let bits = match operands
        .first()
        .and_then(|value| Scalar::of(value.r#type()))
    {
        Some(Scalar::Int(bits) | Scalar::Float(bits)) => bits,
        None => 32,
    };
    let counting = op.attr("bits").and_then(attributes::int);
    Question {
        form,
        op: op.full_name(),
        wave,
        kind: op.attr("kind").and_then(Kind::of),
        mask: xor.and_then(|s| s.lane().constant_int()),
        words: bits.div_ceil(32),
        bits: counting.map_or(bits, |bits| bits as u32),
    }
}

fn last_operation(block: Block<'_>) -> Option<Op<'_>> {
    ir::operations(block).pop()
}

/// Whether a term has no more lanes in a cluster than a subgroup has.
fn fits(shape: &Shape, wave: u32) -> bool {
    shape.cluster.is_none_or(|log2| 1 << log2 <= wave)
}

/// Whether a term may be done in several ways.
fn has_ways(shape: &Shape, wave: u32) -> bool {
    let is_collective = matches!(shape.head, Head::Op(operator) if operator.is_collective());
    is_collective && fits(shape, wave)
}

/// Whether threads wait at an op for one another.
fn is_barrier(op: Op<'_>) -> bool {
    op.is(simt::BlockSync::NAME) || op.is(simt::Sync::NAME)
}

/// Whether all that an op results in is the same in a whole subgroup.
pub fn is_uniform<'c>(op: Op<'c>, uniformity: &Uniformity<'c>) -> bool {
    let results = op.result_values();
    let mut all = results.iter();
    !results.is_empty() && all.all(|value| uniformity.is_uniform(*value, Scope::Subgroup))
}

/// Whether a term reads a lane that subgroups of `wave` do not have: its value is undefined, and
/// what rules make equal to it need not be.
pub fn is_beyond(shape: &Shape, wave: u32) -> bool {
    use super::language::Operator as Op;
    let reads = matches!(
        shape.head,
        Head::Op(Op::ShuffleIdx | Op::ShuffleXor | Op::Broadcast)
    );
    let lane = shape.values.get(1).and_then(|(_, constant)| *constant);
    reads && lane.is_some_and(|lane| !(0..i64::from(wave)).contains(&lane))
}

/// Whether an op is one instruction of 32 bits that may have an operand from another lane. Minima and maxima of floats
/// look at it twice.
fn takes_moves(op: Op<'_>) -> bool {
    let name = op.full_name();
    let is_simple = [
        "arith.addi",
        "arith.andi",
        "arith.ori",
        "arith.xori",
        "arith.minsi",
        "arith.minui",
        "arith.maxsi",
        "arith.maxui",
        "arith.addf",
        "arith.mulf",
    ]
    .contains(&name);
    is_simple && bit_width(op.first_result().r#type()) == 32
}

/// Whether an op combines values of which another order may make other bits: floats, or what a function combines.
pub(super) fn depends_on_order(op: Op<'_>) -> bool {
    let is_integer = op.result_values().iter().all(|v| v.r#type().is_integer());
    match op.attr("kind") {
        Some(_) => !is_integer,
        None => op.region_count() > 0,
    }
}
