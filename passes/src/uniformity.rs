//! Which values, and which control flow, are the same in all threads of a
//! subgroup, a block or a grid.
//!
//! An analysis of the body of a phase, or of an outlined body, for one wave
//! size: whether `thread_id < 32` is uniform in a subgroup depends on it. Values
//! are followed as `base + stride · rank` ([`Shape`]) and as small ranges, which
//! is enough for the comparisons with aligned bounds that kernels make. Loops
//! are iterated to a fixed point.
//!
//! Assumptions:
//! - arguments of the body, and values from outside it, are uniform: the host
//!   computed them;
//! - a load from a uniform address yields a uniform value. That holds where the
//!   program has no data race and the location is not handed over between the
//!   threads' loads by atomics; atomic loads themselves vary, and so does memory
//!   of one thread (`memref.alloca`);
//! - inside a branch that is not uniform, "uniform" is said of the threads that
//!   take it.
//!
//! What the analysis does not know counts as varying: results of calls (inline
//! first), and everything in a region of an unknown op.

mod explain;
mod range;
mod shape;
mod transfer;

pub use explain::Step;
pub use qd_dialects::interfaces::Scope;
pub use shape::Shape;

use qd_dialects::{
    interfaces::Collective,
    ir::{Block, Key, Op, OpExt, Value, ValueExt, Values, arguments, block_key, operations},
    ops::simt,
};
use range::Range;
use rustc_hash::FxHashMap as HashMap;
use transfer::Origin;

/// Iterations over a loop's body after which alignments and ranges are widened to unknown.
const SETTLES_IN: usize = 3;

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fact {
    shapes: [Shape; 3],
    range: Range,
}

impl Fact {
    const UNIFORM: Self = Self {
        shapes: [Shape::UNIFORM; 3],
        range: None,
    };
    const VARYING: Self = Self {
        shapes: [Shape::Varying; 3],
        range: None,
    };

    fn constant(value: i64) -> Self {
        Self {
            shapes: [Shape::constant(value); 3],
            range: range::range(value, value),
        }
    }

    fn join(self, other: Self) -> Self {
        Self {
            shapes: std::array::from_fn(|s| self.shapes[s].join(other.shapes[s])),
            range: range::join(self.range, other.range),
        }
    }

    fn widened(self) -> Self {
        Self {
            shapes: self.shapes.map(Shape::widened),
            range: None,
        }
    }

    /// Widens to varying at the scopes in which the choice between several values varies.
    fn chosen_by(mut self, uniform: [bool; 3]) -> Self {
        for (shape, uniform) in self.shapes.iter_mut().zip(uniform) {
            if !uniform && range::single(self.range).is_none() {
                *shape = Shape::Varying;
            }
        }
        self
    }
}

/// The result of the analysis of one body.
pub struct Uniformity<'c> {
    body: Key,
    threads: i64,
    wave: u32,
    facts: HashMap<Key, Fact>,
    /// For each block of a region, whether all threads that reach the region's
    /// op enter the block together, by scope.
    entered: HashMap<Key, [bool; 3]>,
    lifetime: std::marker::PhantomData<Op<'c>>,
}

impl<'c> Uniformity<'c> {
    /// Analyses a body that blocks of `threads` threads run, in subgroups of
    /// `wave` lanes.
    pub fn analyse(body: Block<'c>, threads: i64, wave: u32) -> Self {
        Self::with(body, threads, wave, Fact::UNIFORM)
    }

    /// Analyses the body of a function that is called from bodies of blocks of
    /// any size, with arguments that may vary.
    pub fn analyse_called(body: Block<'c>, wave: u32) -> Self {
        Self::with(body, 0, wave, Fact::VARYING)
    }

    fn with(body: Block<'c>, threads: i64, wave: u32, argument: Fact) -> Self {
        let mut analysis = Self {
            body: block_key(body),
            threads,
            wave,
            facts: HashMap::default(),
            entered: HashMap::default(),
            lifetime: std::marker::PhantomData,
        };
        for value in arguments(body) {
            analysis.set(value, argument);
        }
        // Unstructured control flow: the active threads are unknown.
        let mut rest = body.next_in_region();
        if rest.is_some() {
            analysis.entered.insert(analysis.body, [false; 3]);
        }
        analysis.walk(body);
        while let Some(block) = rest {
            analysis.walk_unknown(block);
            rest = block.next_in_region();
        }
        analysis
    }

    /// Threads in a block; 0 if that is not known.
    pub fn threads(&self) -> i64 {
        self.threads
    }

    /// Lanes in a subgroup.
    pub fn wave(&self) -> u32 {
        self.wave
    }

    /// Whether a value is the same in all threads of the scope.
    pub fn is_uniform(&self, value: Value<'c>, scope: Scope) -> bool {
        self.shape(value, scope).is_uniform()
    }

    /// How a value differs between the threads of the scope. `Strided` with a
    /// `log2_stride` of 0 is a number that neighbours have consecutively.
    pub fn shape(&self, value: Value<'c>, scope: Scope) -> Shape {
        self.fact(value).shapes[scope as usize]
    }

    /// The only value an integer has in any thread, where that is known.
    pub fn constant(&self, value: Value<'c>) -> Option<i64> {
        range::single(self.fact(value).range)
    }

    /// Whether all threads of the scope that run the body execute `op` together.
    pub fn is_convergent(&self, op: Op<'c>, scope: Scope) -> bool {
        self.divergence(op, scope).is_none()
    }

    /// Whether all threads of the scope that reach `op` enter its regions together,
    /// and as often.
    pub fn enters_together(&self, op: Op<'c>, scope: Scope) -> bool {
        let block = op.region_block(0).map(block_key);
        block
            .and_then(|block| self.entered.get(&block))
            .is_some_and(|entered| entered[scope as usize])
    }

    /// Whether an op computes its results from its operands and what it reads at
    /// their addresses alone, by itself in each thread.
    pub fn is_function(&self, op: Op<'c>) -> bool {
        Collective::of(op).is_none() && self.origin(op) == Origin::Operands
    }

    /// The innermost op around `op` whose regions the threads of the scope do
    /// not enter together, or whose control flow is unstructured.
    pub fn divergence(&self, op: Op<'c>, scope: Scope) -> Option<Op<'c>> {
        let mut op = op;
        loop {
            let block = block_key(op.block()?);
            let together = self.entered.get(&block).is_none_or(|e| e[scope as usize]);
            op = op.parent()?;
            if !together {
                return Some(op);
            }
            if block == self.body {
                return None;
            }
        }
    }

    /// log2 of the number of threads in a group of the scope, if it is known
    /// and a power of two.
    fn group(&self, scope: Scope) -> Option<u32> {
        let size = match scope {
            Scope::Subgroup => i64::from(self.wave),
            Scope::Block => self.threads,
            Scope::Grid => return None,
        };
        (size.count_ones() == 1).then(|| size.trailing_zeros())
    }

    fn fact(&self, value: Value<'c>) -> Fact {
        if let Some(fact) = self.facts.get(&value.key()) {
            return *fact;
        }
        // From outside the body: the host's.
        value.constant_int().map_or(Fact::UNIFORM, Fact::constant)
    }

    fn set(&mut self, value: Value<'c>, fact: Fact) {
        self.facts.insert(value.key(), fact);
    }

    fn facts(&self, values: &[Value<'c>]) -> Vec<Fact> {
        values.iter().map(|v| self.fact(*v)).collect()
    }

    fn uniform(&self, value: Value<'c>) -> [bool; 3] {
        self.fact(value).shapes.map(Shape::is_uniform)
    }

    fn walk(&mut self, block: Block<'c>) {
        for op in operations(block) {
            self.visit(op);
        }
    }

    fn visit(&mut self, op: Op<'c>) {
        match op.full_name() {
            "scf.if" => self.visit_if(op),
            "scf.index_switch" => self.visit_switch(op),
            "scf.for" => self.visit_for(op),
            "scf.while" => self.visit_while(op),
            "scf.execute_region" | "memref.alloca_scope" => self.visit_once(op),
            _ if op.region_count() == 0 || is_isolated(op) => {
                for (value, fact) in op.result_values().into_iter().zip(self.transfer(op)) {
                    self.set(value, fact);
                }
            }
            _ => self.visit_unknown(op),
        }
    }

    /// Walks a region of one block that is entered as `uniform` says, and
    /// returns what its terminator yields.
    fn region(&mut self, op: Op<'c>, index: usize, uniform: [bool; 3]) -> Values<'c> {
        let Some(block) = op.region_block(index) else {
            return Values::new();
        };
        let single = block.next_in_region().is_none();
        self.entered
            .insert(block_key(block), uniform.map(|u| u && single));
        self.walk(block);
        block
            .terminator()
            .map(|end| end.operand_values())
            .unwrap_or_default()
    }

    fn visit_if(&mut self, op: Op<'c>) {
        let condition = op.operand_values()[0];
        let uniform = self.uniform(condition);
        let then = self.region(op, 0, uniform);
        let otherwise = self.region(op, 1, uniform);
        let taken = self.constant(condition);
        for (index, result) in op.result_values().into_iter().enumerate() {
            let (a, b) = (then[index], otherwise[index]);
            let fact = match taken {
                Some(0) => self.fact(b),
                Some(_) => self.fact(a),
                None if a.key() == b.key() => self.fact(a),
                None => self.fact(a).join(self.fact(b)).chosen_by(uniform),
            };
            self.set(result, fact);
        }
    }

    fn visit_switch(&mut self, op: Op<'c>) {
        let uniform = self.uniform(op.operand_values()[0]);
        let cases: Vec<_> = (0..op.region_count())
            .map(|index| self.region(op, index, uniform))
            .collect();
        for (index, result) in op.result_values().into_iter().enumerate() {
            let fact = cases
                .iter()
                .map(|case| self.fact(case[index]))
                .reduce(Fact::join)
                .unwrap_or(Fact::VARYING)
                .chosen_by(uniform);
            self.set(result, fact);
        }
    }

    fn visit_once(&mut self, op: Op<'c>) {
        let single = op
            .region_block(0)
            .is_some_and(|block| block.next_in_region().is_none());
        let yielded = self.region(op, 0, [true; 3]);
        for (index, result) in op.result_values().into_iter().enumerate() {
            let fact = match yielded.get(index) {
                Some(value) if single => self.fact(*value),
                _ => Fact::VARYING,
            };
            self.set(result, fact);
        }
        if !single {
            self.visit_rest(op);
        }
    }

    fn visit_for(&mut self, op: Op<'c>) {
        let operands = op.operand_values();
        let Some(block) = op.body() else { return };
        let arguments = arguments(block);
        let (lower, upper, step) = (operands[0], operands[1], operands[2]);

        let induction = self.induction(lower, upper, step);
        self.set(arguments[0], induction);
        let uniform: [bool; 3] = std::array::from_fn(|s| {
            let lower = self.fact(lower).shapes[s];
            let upper = self.fact(upper).shapes[s];
            let step = self.fact(step).shapes[s];
            (lower.is_uniform() && upper.is_uniform() && step.is_uniform())
                || transfer::compare_shapes(
                    2,
                    (induction.shapes[s], None),
                    (upper, self.constant(operands[1])),
                    self.group(Scope::ALL[s]),
                )
                .is_uniform()
        });
        let carried = self.fixpoint(&arguments[1..], &operands[3..], |this| {
            this.region(op, 0, uniform)
        });
        for (result, fact) in op.result_values().into_iter().zip(carried) {
            self.set(result, fact.chosen_by(uniform));
        }
    }

    /// The induction variable of `scf.for`.
    fn induction(&self, lower: Value<'c>, upper: Value<'c>, step: Value<'c>) -> Fact {
        let (lower, upper, step) = (self.fact(lower), self.fact(upper), self.fact(step));
        let shapes = std::array::from_fn(|s| {
            if step.shapes[s].is_uniform() {
                // `lower + k · step`: aligned as both are.
                lower.shapes[s].plus(step.shapes[s])
            } else {
                Shape::Varying
            }
        });
        let range = lower
            .range
            .zip(upper.range)
            .and_then(|(low, high)| range::range(low.0, (high.1 - 1).max(low.0)));
        Fact { shapes, range }
    }

    fn visit_while(&mut self, op: Op<'c>) {
        let operands = op.operand_values();
        let (Some(before), Some(after)) = (op.region_block(0), op.region_block(1)) else {
            return;
        };
        let (before, after) = (arguments(before), arguments(after));
        // Optimistic at first, as the values that a loop carries are.
        let entered = op.region_block(0).map(block_key);
        let known = entered.and_then(|key| self.entered.get(&key).copied());
        let mut uniform = known.unwrap_or([true; 3]);
        loop {
            let mut passed = Vec::new();
            self.fixpoint(&before, &operands, |this| {
                let end = this.region(op, 0, uniform);
                let Some((condition, values)) = end.split_first() else {
                    return Values::new();
                };
                let now = this.uniform(*condition);
                uniform = std::array::from_fn(|s| uniform[s] && now[s]);
                passed = this.facts(values);
                for (argument, fact) in after.iter().zip(&passed) {
                    this.set(*argument, *fact);
                }
                this.region(op, 1, uniform)
            });
            for (result, fact) in op.result_values().into_iter().zip(&passed) {
                self.set(result, fact.chosen_by(uniform));
            }
            // The first block runs again as often as the condition says.
            if entered.and_then(|key| self.entered.get(&key)).copied() == Some(uniform) {
                return;
            }
        }
    }

    /// Iterates over a loop's body until the facts of its carried values reach a fixed
    /// point, and returns them.
    ///
    /// An inner loop is visited in each iteration of the outer one, and continues from
    /// its previous fixed point: facts only ever weaken, and starting over would take
    /// time exponential in the depth of the nesting.
    fn fixpoint(
        &mut self,
        carried: &[Value<'c>],
        initial: &[Value<'c>],
        mut body: impl FnMut(&mut Self) -> Values<'c>,
    ) -> Vec<Fact> {
        let mut facts = self.facts(initial);
        for (fact, value) in facts.iter_mut().zip(carried) {
            if let Some(known) = self.facts.get(&value.key()) {
                *fact = fact.join(*known);
            }
        }
        let mut rounds = 0;
        loop {
            for (value, fact) in carried.iter().zip(&facts) {
                self.set(*value, *fact);
            }
            let yielded = body(self);
            let mut next: Vec<Fact> = facts
                .iter()
                .zip(&yielded)
                .map(|(fact, value)| fact.join(self.fact(*value)))
                .collect();
            if next == facts {
                return facts;
            }
            rounds += 1;
            if rounds >= SETTLES_IN {
                next = next.into_iter().map(Fact::widened).collect();
            }
            facts = next;
        }
    }

    /// Everything in an op that the analysis does not know counts as varying.
    fn visit_unknown(&mut self, op: Op<'c>) {
        for index in 0..op.region_count() {
            if let Some(block) = op.region_block(index) {
                for argument in arguments(block) {
                    self.set(argument, Fact::VARYING);
                }
            }
            self.region(op, index, [false; 3]);
        }
        self.visit_rest(op);
        for result in op.result_values() {
            self.set(result, Fact::VARYING);
        }
    }

    /// Every block of a region but the first, which vary.
    fn visit_rest(&mut self, op: Op<'c>) {
        for index in 0..op.region_count() {
            let mut block = op.region_block(index).and_then(|b| b.next_in_region());
            while let Some(current) = block {
                self.walk_unknown(current);
                block = current.next_in_region();
            }
        }
    }

    /// Walks a block whose active threads are unknown.
    fn walk_unknown(&mut self, block: Block<'c>) {
        for argument in arguments(block) {
            self.set(argument, Fact::VARYING);
        }
        self.entered.insert(block_key(block), [false; 3]);
        self.walk(block);
    }
}

/// Whether an op's regions are its own: combiners, which hold no collectives.
fn is_isolated(op: Op<'_>) -> bool {
    op.full_name().starts_with(simt::PREFIX)
}
