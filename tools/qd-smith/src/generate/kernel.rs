//! A whole kernel: phases, elementwise phases, fills, algorithms, and loops and branches
//! around them, on counts that the device computes.

use super::{Buffer, Generator, Has, Phase, Role};
use crate::{
    forms::Forms,
    program::{Block, Comparison, Contents, Node, Program, Value},
    types::{Class, Level, Ty},
};
use qd_dialects::ops::{Yield, grid, simt};

/// The program of a seed, for targets that have these.
pub fn generate(seed: u64, has: Has, forms: &mut Forms) -> Program {
    let mut generator = Generator::new(seed, has, forms);
    generator.functions();
    generator.buffers();
    let items = generator.random.usize(1..6);
    generator.items(items, true);
    match generator.one_in(5) {
        true => generator.dispatched(seed),
        false => generator.finish(seed),
    }
}

impl Generator<'_> {
    /// The same program behind a dispatch: `@main` passes its arguments on, by what is
    /// said of a length to a kernel that does the work or to one that does nothing.
    fn dispatched(mut self, seed: u64) -> Program {
        let (holds, predicate) = self.predicate();
        let mut program = self.finish(seed);
        let arguments: Vec<Value> = program.parameters.iter().map(|p| p.value).collect();
        let body = std::mem::take(&mut program.body);
        let kernels = [
            program.kernel("work", body),
            program.kernel("idle", Vec::new()),
        ];
        program.symbols.extend(kernels);
        let variant = |name: &str, predicate: Block| Node {
            op: grid::Variant::NAME.into(),
            properties: format!("callee = @{name}"),
            operands: Vec::new(),
            results: Vec::new(),
            regions: vec![predicate],
        };
        let (first, second) = match holds {
            true => ("work", "idle"),
            false => ("idle", "work"),
        };
        let variants = vec![variant(first, predicate), variant(second, Block::default())];
        program.body = vec![Node {
            op: grid::Dispatch::NAME.into(),
            properties: String::new(),
            operands: arguments,
            results: Vec::new(),
            regions: vec![Block {
                arguments: Vec::new(),
                nodes: variants,
            }],
        }];
        program
    }

    /// Something about the length of a buffer, and whether it holds.
    fn predicate(&mut self) -> (bool, Block) {
        let length = self.length as i64;
        let number = self.random.i64(1..5);
        let (op, least): (&str, i64) = match self.random.usize(0..5) {
            0 => ("arith.addi", length + number),
            1 => ("arith.muli", length * number),
            2 => ("arith.divui", length / number),
            3 => ("arith.remui", length % number),
            _ => ("arith.ceildivui", (length + number - 1) / number),
        };
        let near = [0, 0, 1, -1][self.random.usize(0..4)];
        let compared = least + near;
        let comparison = self.random.usize(0..10);
        // As `arith.cmpi` numbers them; of small numbers the sign says nothing but of −1.
        let (a, b) = (least as u64, compared as u64);
        let holds = match comparison {
            0 => least == compared,
            1 => least != compared,
            2 => least < compared,
            3 => least <= compared,
            4 => least > compared,
            5 => least >= compared,
            6 => a < b,
            7 => a <= b,
            8 => a > b,
            _ => a >= b,
        };
        let block = self.region(&[], |this| {
            let extent = this.dim();
            let number = this.constant(Ty::Index, number);
            let computed = this.op(op, "", &[extent, number], Ty::Index);
            let compared = this.constant(Ty::Index, compared);
            let predicate = format!("predicate = {comparison} : i64");
            let holds = this.op("arith.cmpi", &predicate, &[computed, compared], Ty::I1);
            this.push(Yield::NAME, "", &[holds], &[]);
        });
        (holds, block)
    }

    /// The length of the buffers as the host sees it.
    pub(super) fn dim(&mut self) -> Value {
        let zero = self.constant(Ty::Index, 0);
        let memory = self.buffers[0].value;
        self.op("memref.dim", "", &[memory, zero], Ty::Index)
    }

    /// Buffers of each type with an element for each thread, and flags.
    fn buffers(&mut self) {
        let length = Some(self.length);
        // A program has a few buffers of narrow elements.
        let narrow = (0..2).filter_map(|_| self.pick(&Ty::NARROW));
        let all: Vec<Ty> = narrow.collect::<Vec<_>>();
        let may_alias = self.one_in(5);
        for ty in Ty::WIDE.into_iter().chain(all) {
            let ty = self.had(ty);
            for _ in 0..self.random.usize(1..=3) {
                let contents = match self.random.usize(0..4) {
                    0 => Contents::Extreme,
                    1 => Contents::Runs,
                    _ => Contents::Plain,
                };
                let value = self.parameter(ty, length, contents, Comparison::Same);
                if let Some(parameter) = self.parameters.last_mut() {
                    parameter.may_alias = may_alias && self.random.bool();
                }
                let class = match contents {
                    _ if !ty.is_float() => Class::Integer,
                    Contents::Extreme => Class::Rounded,
                    _ => Class::Exact { mag: 4, frac: 2 },
                };
                self.buffers.push(Buffer {
                    value,
                    ty,
                    class,
                    role: Role::Elements,
                });
            }
        }
        if may_alias {
            self.overlapping();
        }
        if self.one_in(3) {
            self.rows();
        }
        let value = self.parameter(Ty::I32, length, Contents::Flags, Comparison::Same);
        self.buffers.push(Buffer {
            value,
            ty: Ty::I32,
            class: Class::Integer,
            role: Role::Flags,
        });
    }

    /// What stands in a kernel, a loop or a choice.
    fn items(&mut self, count: usize, is_outermost: bool) {
        for _ in 0..count {
            self.exchange_names();
            match self.random.usize(0..20) {
                0..=6 => self.phase(),
                7..=8 => self.for_each(),
                9..=11 => self.algorithm(),
                12 => {
                    let buffer = self.random.usize(0..self.buffers.len());
                    self.fill(buffer);
                }
                13..=14 if is_outermost => self.repeated(),
                15..=16 if is_outermost => self.chosen(),
                17 if is_outermost => match self.random.usize(0..5) {
                    0 => self.view(),
                    1 => self.strided(),
                    2 => self.table(),
                    3 => self.collapsed(),
                    _ => self.copied(),
                },
                18..=19 if is_outermost => self.produce(),
                _ => self.phase(),
            }
        }
    }

    /// What a phase reads, and what it writes at each thread's own place.
    fn share_out(&mut self) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for i in 0..self.buffers.len() {
            let (is_written, is_left) = (self.one_in(3), self.random.bool());
            match self.buffers[i].role {
                Role::Elements | Role::Rows { .. } if is_written => writes.push(i),
                // Views come after what they are of.
                Role::View { of, .. } if self.is_among(of, &writes) => {}
                Role::View { of, .. } if is_written => {
                    reads.retain(|read| !self.is_among(of, &[*read]));
                    writes.push(i);
                }
                Role::Counters(_) if is_left => {}
                Role::Loose | Role::Marks(_) => {}
                _ => reads.push(i),
            }
        }
        self.phase.reads = reads;
        self.phase.writes = writes;
    }

    fn phase(&mut self) {
        let threads = match self.one_in(3) {
            true => self.uneven_block(),
            false => 64 << self.random.usize(0..=self.doublings()),
        };
        let blocks = self.random.usize(1..=(self.length / threads).max(1));
        // Neighbours of one shape may become one.
        let again = self.last_shape.filter(|_| self.random.bool());
        let (threads, blocks) = again.unwrap_or((threads, blocks));
        self.last_shape = Some((threads, blocks));
        let mut number = self.constant(Ty::Index, blocks as i64);
        if self.one_in(8) {
            // At most as many as a subgroup has lanes.
            let size = self.op(simt::SubgroupSize::NAME, "", &[], Ty::I32);
            let size = self.op("arith.index_castui", "", &[size], Ty::Index);
            number = self.op("arith.minui", "", &[number, size], Ty::Index);
        }
        let outside = std::mem::take(&mut self.scope);
        self.phase = Phase {
            threads: threads as i64,
            invocations: threads * blocks,
            budget: self.random.usize(2..40),
            block: self.blocks.len(),
            ..Phase::default()
        };
        self.share_out();
        let body = self.region(&[], |this| {
            let thread = this.varying(simt::BlockThreadId::NAME, Ty::Index);
            let block = this.op(simt::BlockId::NAME, "", &[], Ty::Index);
            let dim = this.constant(Ty::Index, threads as i64);
            let first = this.op("arith.muli", "", &[block, dim], Ty::Index);
            let place = this.op("arith.addi", "", &[first, thread], Ty::Index);
            this.phase.place = Some(place);
            let number = this.op("arith.index_castui", "", &[place], Ty::I32);
            this.scope.push(number);
            this.load();
            this.load();
            this.statements(Level::Block, 30);
            if this.random.bool() {
                this.store_digest();
            }
            this.store();
            this.store();
        });
        self.scope = outside;
        let properties = format!("threads = {threads} : i64");
        self.push_with(grid::Phase::NAME, &properties, &[number], &[], vec![body]);
    }

    /// How often 64 threads are doubled at most.
    fn doublings(&self) -> usize {
        match self.length {
            0..128 => 0,
            128..1024 => 1,
            _ => 4,
        }
    }

    /// A number of threads that may leave lanes of the last subgroup out: one thread, some about the sizes of
    /// subgroups, and any.
    fn uneven_block(&mut self) -> usize {
        let most = self.length.min(1024);
        let edges = [1, 2, 3, 5, 31, 33, 63, 65, 100, 513, 1023];
        let drawn = match self.random.bool() {
            true => edges[self.random.usize(0..edges.len())],
            false => self.random.usize(1..=most),
        };
        drawn.min(most)
    }

    fn for_each(&mut self) {
        self.share_out();
        self.elementwise(true);
    }

    /// Scratch of which each element is computed by itself, and an algorithm that reads it,
    /// maybe once what it was computed of has been overwritten.
    fn produce(&mut self) {
        let ty = self.element();
        let length = Some(self.length);
        let value = self.parameter(ty, length, Contents::Scratch, Comparison::Ignored);
        let produced = self.buffers.len();
        let class = match ty.is_float() {
            true => Class::Exact { mag: 0, frac: 0 },
            false => Class::Integer,
        };
        self.buffers.push(Buffer {
            value,
            ty,
            class,
            role: Role::Produced,
        });
        let source = self.random.usize(0..produced);
        self.phase = Phase {
            writes: vec![produced],
            reads: (self.buffers[source].role == Role::Elements)
                .then_some(source)
                .into_iter()
                .collect(),
            ..Phase::default()
        };
        self.elementwise(false);
        if self.random.bool() {
            self.fill(source);
        }
        self.reading(produced);
    }

    /// A `for_each` over the buffers that have been shared out, maybe up to a count.
    fn elementwise(&mut self, may_be_counted: bool) {
        let chosen = self.random.usize(0..5);
        let is_whole = !(chosen == 0 && may_be_counted);
        let extent = match chosen {
            0 if may_be_counted => {
                let few = self.random.i64(1..=self.length as i64);
                self.constant(Ty::Index, few)
            }
            0..=2 => self.constant(Ty::Index, self.length as i64),
            _ => self.dim(),
        };
        let outside = std::mem::take(&mut self.scope);
        let Phase { reads, writes, .. } = std::mem::take(&mut self.phase);
        let is_plain = !may_be_counted;
        self.phase = Phase {
            reads,
            writes,
            invocations: self.length,
            budget: self.random.usize(3..16),
            block: self.blocks.len(),
            is_for_each: true,
            has_subgroups: !is_plain && self.one_in(3),
            is_plain,
            ..Phase::default()
        };
        let control = match self.phase.has_subgroups {
            true => Level::Subgroup,
            false => Level::Varying,
        };
        let is_counted = may_be_counted && self.random.bool();
        // A subgroup has 64 lanes at most.
        let fills = is_whole && !is_counted && self.length.is_multiple_of(64);
        let is_full =
            self.phase.has_subgroups && ((fills && self.random.bool()) || self.may_fail(2));
        let mut properties = Vec::new();
        if self.one_in(3) {
            let threads = match is_full {
                true => [64, 128, 1024][self.random.usize(0..3)],
                false => [1, 16, 33, 96, 250, 1024][self.random.usize(0..6)],
            };
            properties.push(format!("threads = {threads} : i64"));
        }
        if self.phase.has_subgroups {
            let fill = if is_full { "full" } else { "partial" };
            properties.push(format!("subgroups = #qd.subgroup_fill<{fill}>"));
        }
        let mut operands = vec![extent];
        if is_counted {
            // One above the extent is the extent.
            let count = match self.one_in(4) {
                true => {
                    let ty = self.count_type();
                    let above = [self.length as i64 + 1, i64::MAX >> (64 - ty.bits())];
                    let above = Contents::Constant(above[self.random.usize(0..2)]);
                    self.word(ty, above)
                }
                false => self.live_count(),
            };
            operands.push(count);
        }
        let index = self.scalar(Ty::Index, Level::Varying, Class::Integer);
        let body = self.region(&[index], |this| {
            this.phase.place = Some(index);
            let number = this.op("arith.index_castui", "", &[index], Ty::I32);
            this.scope.push(number);
            this.load();
            match is_plain {
                true => (0..this.random.usize(0..5)).for_each(|_| this.scalar_op()),
                false => this.statements(control, 12),
            }
            this.store();
        });
        self.scope = outside;
        self.push_with(
            grid::ForEach::NAME,
            &properties.join(", "),
            &operands,
            &[],
            vec![body],
        );
    }

    /// A count up to the buffers' length: as it arrives, or computed here.
    pub(super) fn live_count(&mut self) -> Value {
        let most = self.most() as i64;
        let edges = [0, 1, 2, 31, 64, most - 1, most];
        let number = edges[self.random.usize(0..edges.len())].min(most);
        let ty = self.count_type();
        if self.may_fail(8) {
            let wrong = wrong_counts(ty, most);
            let wrong = wrong[self.random.usize(0..wrong.len())];
            return self.word(ty, Contents::Constant(wrong));
        }
        match self.random.usize(0..12) {
            0 | 1 => {
                let count = self.parameter(ty, None, Contents::Constant(0), Comparison::Same);
                let number = self.constant(ty, number);
                let unbounded = "operandSegmentSizes = array<i32: 1, 0, 0, 1>";
                self.push(grid::Fill::NAME, unbounded, &[count, number], &[]);
                return count;
            }
            2 => return self.reduced_count(),
            _ => {}
        }
        let count = self.word(ty, Contents::Constant(number));
        if self.random.bool() {
            self.compute_word(count, ty, most + 1);
        }
        count
    }

    /// How many elements an algorithm or a phase at hand may be of.
    pub(super) fn most(&self) -> usize {
        self.part.unwrap_or(self.length)
    }

    /// A type of counts, of which most are words.
    fn count_type(&mut self) -> Ty {
        match self.one_in(4) {
            true => Ty::I64,
            false => Ty::I32,
        }
    }

    /// One element: a buffer of rank 0 or of one element, or an element of a longer one.
    pub(super) fn word(&mut self, ty: Ty, contents: Contents) -> Value {
        let may_be_rank_0 = matches!(ty, Ty::I32 | Ty::I64);
        match (self.random.usize(0..5), contents) {
            (0, _) => {
                let many = self.random.usize(1..6);
                let buffer = self.parameter(ty, Some(many), contents, Comparison::Same);
                let place = self.random.usize(0..many);
                let place = self.constant(Ty::Index, place as i64);
                let element = self.memory(format!("memref<{ty}>"));
                self.push(grid::View::NAME, "", &[buffer, place], &[element]);
                element
            }
            (1 | 2, _) if may_be_rank_0 => self.parameter(ty, None, contents, Comparison::Same),
            // The runtime's own, which holds nothing before.
            (4, Contents::Constant(number)) => {
                let word = self.memory(format!("memref<1x{ty}>"));
                self.push(grid::Scratch::NAME, "", &[], &[word]);
                self.set_word_to(word, |this, _| this.constant(ty, number));
                word
            }
            _ => self.fixed_parameter(ty, 1, contents, Comparison::Same),
        }
    }

    /// Has the device set a word to some number of its buffers, below a bound.
    fn compute_word(&mut self, word: Value, ty: Ty, bound: i64) {
        let of: Vec<usize> = (0..self.buffers.len())
            .filter(|i| self.buffers[*i].ty == ty && self.buffers[*i].role == Role::Elements)
            .collect();
        let Some(buffer) = self.pick(&of) else {
            return;
        };
        let memory = self.buffers[buffer].value;
        self.set_word_to(word, |this, first| {
            let read = this.op("memref.load", "", &[memory, first], ty);
            this.below(read, bound)
        });
    }

    /// An integer as a number below a bound.
    fn below(&mut self, number: Value, bound: i64) -> Value {
        let ty = self.ty(number);
        let bound = self.constant(ty, bound);
        self.op("arith.remui", "", &[number, bound], ty)
    }

    /// Brings a word of any number below a bound.
    pub(super) fn limit_word(&mut self, word: Value, ty: Ty, bound: i64) {
        self.set_word_to(word, |this, first| {
            let at = this.at_word(word, first);
            let read = this.op("memref.load", "", &at, ty);
            this.below(read, bound)
        });
    }

    /// Has one thread set a word to what is made with the index 0.
    fn set_word_to(&mut self, word: Value, make: impl FnOnce(&mut Self, Value) -> Value) {
        let one = self.constant(Ty::Index, 1);
        let index = self.scalar(Ty::Index, Level::Varying, Class::Integer);
        let body = self.region(&[index], |this| {
            let number = make(this, index);
            let operands = [vec![number], this.at_word(word, index)].concat();
            this.push("memref.store", "", &operands, &[]);
        });
        self.push_with(grid::ForEach::NAME, "", &[one], &[], vec![body]);
    }

    /// Where a word is: in memory of rank 0, or the first of its elements.
    fn at_word(&self, word: Value, first: Value) -> Vec<Value> {
        match self.types[word as usize].starts_with("memref<1x") {
            true => vec![word, first],
            false => vec![word],
        }
    }

    fn fill(&mut self, buffer: usize) {
        let Buffer {
            value, ty, role, ..
        } = self.buffers[buffer];
        let (of, length) = match role {
            Role::Elements => (buffer, self.length),
            // Another name of what an argument holds.
            Role::View { of, length, .. } if self.parameters.iter().any(|p| p.value == value) => {
                (of, length)
            }
            _ => return,
        };
        let class = self.buffers[of].class;
        let from = self.random.usize(0..length);
        let to = self.random.usize(from..=length);
        let lower = self.constant(Ty::Index, from as i64);
        let upper = self.constant(Ty::Index, to as i64);
        let number = self.random.i64(0..8);
        let filler = self.constant(ty, number);
        self.buffers[of].class = class.join(self.of(filler).class);
        let bounded = "operandSegmentSizes = array<i32: 1, 1, 1, 1>";
        let operands = [value, lower, upper, filler];
        self.push(grid::Fill::NAME, bounded, &operands, &[]);
    }

    /// Floats may grow with each round.
    fn forget_classes(&mut self) {
        for buffer in &mut self.buffers {
            if buffer.ty.is_float() {
                buffer.class = Class::Rounded;
            }
        }
    }

    fn repeated(&mut self) {
        let rounds = self.random.i64(0..4);
        let flag = self.word(Ty::I32, Contents::Constant(rounds));
        self.forget_classes();
        let count = self.random.usize(1..3);
        let swapped = match self.random.bool() {
            true => self.pair().unwrap_or_default(),
            false => Vec::new(),
        };
        let outside: Vec<Value> = swapped.iter().map(|i| self.buffers[*i].value).collect();
        let names: Vec<Value> = outside
            .iter()
            .map(|value| self.memory(self.types[*value as usize].clone()))
            .collect();
        for (buffer, name) in swapped.iter().zip(&names) {
            self.buffers[*buffer].value = *name;
        }
        self.is_repeated = true;
        let body = self.region(&names, |this| {
            this.items(count, false);
            this.set_word_to(flag, |this, first| {
                let at = this.at_word(flag, first);
                let left = this.op("memref.load", "", &at, Ty::I32);
                let one = this.constant(Ty::I32, 1);
                let zero = this.constant(Ty::I32, 0);
                let less = this.op("arith.subi", "", &[left, one], Ty::I32);
                this.op("arith.maxsi", "", &[less, zero], Ty::I32)
            });
        });
        self.is_repeated = false;
        for (buffer, value) in swapped.iter().zip(&outside) {
            self.buffers[*buffer].value = *value;
        }
        let operands = [vec![flag], outside].concat();
        self.push_with(grid::DoWhile::NAME, "", &operands, &[], vec![body]);
    }

    /// Two buffers of one type, of which there are no views, to be exchanged.
    fn pair(&mut self) -> Option<Vec<usize>> {
        let first = self.whole()?;
        let ty = self.buffers[first].ty;
        let is_seen = |i: usize| {
            let mut roles = self.buffers.iter().map(|buffer| buffer.role);
            roles.any(|role| matches!(role, Role::View { of, .. } if of == i))
        };
        let mut found: Vec<usize> = (0..self.buffers.len())
            .filter(|i| self.buffers[*i].ty == ty && self.buffers[*i].role == Role::Elements)
            .filter(|i| !is_seen(*i))
            .collect();
        found.retain(|i| *i != first);
        (!is_seen(first))
            .then(|| self.pick(&found))?
            .map(|second| vec![first, second])
    }

    fn chosen(&mut self) {
        if self.random.bool() {
            return self.chosen_by_control();
        }
        let given = self.random.i64(-1..2);
        let flag = self.word(Ty::I32, Contents::Constant(given));
        if self.random.bool() {
            self.compute_word(flag, Ty::I32, 2);
        }
        let count = self.random.usize(1..3);
        let body = self.region(&[], |this| this.items(count, false));
        self.push_with(grid::If::NAME, "", &[flag], &[], vec![body]);
    }

    /// A choice by a word of the runtime's own, which is 0 again at the end.
    fn chosen_by_control(&mut self) {
        let (other, word) = (self.memory("memref<1xi32>"), self.memory("memref<1xi32>"));
        self.push(grid::Control::NAME, "", &[], &[other]);
        self.push(grid::Control::NAME, "", &[], &[word]);
        let number = self.random.i64(0..2);
        self.set_word(word, number);
        self.set_word(other, 1 - number);
        let count = self.random.usize(1..3);
        let body = self.region(&[], |this| this.items(count, false));
        self.push_with(grid::If::NAME, "", &[word], &[], vec![body]);
        self.set_word(word, 0);
        self.set_word(other, 0);
    }

    fn set_word(&mut self, word: Value, number: i64) {
        self.set_word_to(word, |this, _| this.constant(Ty::I32, number));
    }
}

/// Counts that are not: negative, or above a number.
fn wrong_counts(ty: Ty, most: i64) -> Vec<i64> {
    let mut wrong = vec![-1, i32::MIN.into(), most + 1, i32::MAX.into()];
    if ty == Ty::I64 {
        // As words these are right.
        wrong.extend([1 << 32, (1 << 40) + most, i64::MIN]);
    }
    wrong
}
