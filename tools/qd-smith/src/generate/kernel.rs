//! A whole kernel: phases, elementwise phases, fills, algorithms, and loops and
//! choices around them, on counts that the device computes.

use super::{Buffer, Generator, Phase, Role};
use crate::{
    forms::Forms,
    program::{Comparison, Contents, Node, Program, Value},
    types::{Class, Level, Ty},
};

/// The program of a seed.
pub fn generate(seed: u64, forms: &mut Forms) -> Program {
    let mut generator = Generator::new(seed, forms);
    generator.functions();
    generator.buffers();
    let items = generator.random.usize(1..6);
    generator.items(items, true);
    let is_dispatched = generator.one_in(12);
    let program = generator.finish(seed);
    match is_dispatched {
        true => dispatched(program),
        false => program,
    }
}

/// The same program behind a dispatch: `@main` passes its arguments on.
fn dispatched(mut program: Program) -> Program {
    let arguments: Vec<Value> = program.parameters.iter().map(|p| p.value).collect();
    let body = std::mem::take(&mut program.body);
    let kernel = program.kernel("work", body);
    program.symbols.push(kernel);
    let node = |op: &str, properties: &str, operands: Vec<Value>, nodes: Vec<Node>| Node {
        op: op.into(),
        properties: properties.into(),
        operands,
        results: Vec::new(),
        regions: vec![crate::program::Block {
            arguments: Vec::new(),
            nodes,
        }],
    };
    let variant = node("qd.grid.variant", "callee = @work", Vec::new(), Vec::new());
    program.body = vec![node("qd.grid.dispatch", "", arguments, vec![variant])];
    program
}

impl Generator<'_> {
    /// Buffers of each type with an element for each thread, and flags.
    fn buffers(&mut self) {
        let length = Some(self.length);
        for ty in Ty::ELEMENTS {
            for _ in 0..self.random.usize(1..=3) {
                let contents = match self.random.usize(0..4) {
                    0 => Contents::Extreme,
                    1 => Contents::Runs,
                    _ => Contents::Plain,
                };
                let value = self.parameter(ty, length, contents, Comparison::Same);
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
            match self.random.usize(0..16) {
                0..=6 => self.phase(),
                7..=8 => self.for_each(),
                9..=12 => self.algorithm(),
                13 => self.fill(),
                14 if is_outermost => self.repeated(),
                15 if is_outermost => self.chosen(),
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
                Role::Elements if is_written => writes.push(i),
                Role::Counters(_) if is_left => {}
                Role::Loose | Role::Marks(_) => {}
                _ => reads.push(i),
            }
        }
        self.phase.reads = reads;
        self.phase.writes = writes;
    }

    fn phase(&mut self) {
        let most = (self.length / 64).min(4);
        let threads = 64 << self.random.usize(0..=usize::from(most >= 2));
        let blocks = self.random.usize(1..=(self.length / threads).max(1));
        let number = self.constant(Ty::Index, blocks as i64);
        let outside = std::mem::take(&mut self.scope);
        self.phase = Phase {
            threads: threads as i64,
            budget: self.random.usize(6..40),
            block: self.blocks.len(),
            ..Phase::default()
        };
        self.share_out();
        let body = self.region(&[], |this| {
            let thread = this.varying("qd.simt.block.thread_id", Ty::Index);
            let block = this.op("qd.simt.block.id", "", &[], Ty::Index);
            let dim = this.constant(Ty::Index, threads as i64);
            let first = this.op("arith.muli", "", &[block, dim], Ty::Index);
            let place = this.op("arith.addi", "", &[first, thread], Ty::Index);
            this.phase.place = Some(place);
            let number = this.op("arith.index_castui", "", &[place], Ty::I32);
            this.scope.push(number);
            this.load();
            this.load();
            this.statements(Level::Block, 30);
            this.store();
            this.store();
        });
        self.scope = outside;
        let properties = format!("threads = {threads} : i64");
        self.push_with("qd.grid.phase", &properties, &[number], &[], vec![body]);
    }

    fn for_each(&mut self) {
        let extent = match self.random.bool() {
            true => self.constant(Ty::Index, self.length as i64),
            false => {
                let zero = self.constant(Ty::Index, 0);
                let memory = self.buffers[0].value;
                self.op("memref.dim", "", &[memory, zero], Ty::Index)
            }
        };
        let outside = std::mem::take(&mut self.scope);
        self.phase = Phase {
            budget: self.random.usize(3..16),
            block: self.blocks.len(),
            is_for_each: true,
            ..Phase::default()
        };
        self.share_out();
        let mut operands = vec![extent];
        if self.one_in(3) {
            operands.push(self.live_count());
        }
        let index = self.scalar(Ty::Index, Level::Varying, Class::Integer);
        let body = self.region(&[index], |this| {
            this.phase.place = Some(index);
            let number = this.op("arith.index_castui", "", &[index], Ty::I32);
            this.scope.push(number);
            this.load();
            this.statements(Level::Varying, 12);
            this.store();
        });
        self.scope = outside;
        self.push_with("qd.grid.for_each", "", &operands, &[], vec![body]);
    }

    /// A count up to the buffers' length: as it arrives, or computed here.
    pub(super) fn live_count(&mut self) -> Value {
        let most = self.length as i64;
        let edges = [0, 1, 2, 31, 64, most - 1, most];
        let number = edges[self.random.usize(0..edges.len())].min(most);
        let count = self.parameter(Ty::I32, None, Contents::Constant(number), Comparison::Same);
        if self.random.bool() {
            self.compute_word(count, most + 1);
        }
        count
    }

    /// Has the device set a word to some number of its buffers, below a bound.
    fn compute_word(&mut self, word: Value, bound: i64) {
        let of: Vec<usize> = (0..self.buffers.len())
            .filter(|i| self.buffers[*i].ty == Ty::I32 && self.buffers[*i].role == Role::Elements)
            .collect();
        let Some(buffer) = self.pick(&of) else {
            return;
        };
        let memory = self.buffers[buffer].value;
        let one = self.constant(Ty::Index, 1);
        let index = self.scalar(Ty::Index, Level::Varying, Class::Integer);
        let body = self.region(&[index], |this| {
            let read = this.op("memref.load", "", &[memory, index], Ty::I32);
            let bound = this.constant(Ty::I32, bound);
            let number = this.op("arith.remui", "", &[read, bound], Ty::I32);
            this.push("memref.store", "", &[number, word], &[]);
        });
        self.push_with("qd.grid.for_each", "", &[one], &[], vec![body]);
    }

    fn fill(&mut self) {
        let buffer = self.random.usize(0..self.buffers.len());
        let Buffer {
            value,
            ty,
            role,
            class,
        } = self.buffers[buffer].clone();
        if role != Role::Elements {
            return;
        }
        let from = self.random.usize(0..self.length);
        let to = self.random.usize(from..=self.length);
        let lower = self.constant(Ty::Index, from as i64);
        let upper = self.constant(Ty::Index, to as i64);
        let number = self.random.i64(0..8);
        let filler = self.constant(ty, number);
        self.buffers[buffer].class = class.join(self.of(filler).class);
        self.push("qd.grid.fill", "", &[value, lower, upper, filler], &[]);
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
        let flag = self.parameter(Ty::I32, None, Contents::Constant(rounds), Comparison::Same);
        self.forget_classes();
        let count = self.random.usize(1..3);
        let body = self.region(&[], |this| {
            this.items(count, false);
            let one = this.constant(Ty::Index, 1);
            let index = this.scalar(Ty::Index, Level::Varying, Class::Integer);
            let less = this.region(&[index], |this| {
                let left = this.op("memref.load", "", &[flag], Ty::I32);
                let one = this.constant(Ty::I32, 1);
                let zero = this.constant(Ty::I32, 0);
                let less = this.op("arith.subi", "", &[left, one], Ty::I32);
                let least = this.op("arith.maxsi", "", &[less, zero], Ty::I32);
                this.push("memref.store", "", &[least, flag], &[]);
            });
            this.push_with("qd.grid.for_each", "", &[one], &[], vec![less]);
        });
        self.push_with("qd.grid.do_while", "", &[flag], &[], vec![body]);
    }

    fn chosen(&mut self) {
        if self.random.bool() {
            return self.chosen_by_control();
        }
        let given = self.random.i64(-1..2);
        let flag = self.parameter(Ty::I32, None, Contents::Constant(given), Comparison::Same);
        if self.random.bool() {
            self.compute_word(flag, 2);
        }
        let count = self.random.usize(1..3);
        let body = self.region(&[], |this| this.items(count, false));
        self.push_with("qd.grid.if", "", &[flag], &[], vec![body]);
    }

    /// A choice by a word of the runtime's own, which is 0 again at the end.
    fn chosen_by_control(&mut self) {
        let word = self.memory("memref<1xi32>");
        self.push("qd.grid.control", "", &[], &[word]);
        let number = self.random.i64(0..2);
        self.set_word(word, number);
        let count = self.random.usize(1..3);
        let body = self.region(&[], |this| this.items(count, false));
        self.push_with("qd.grid.if", "", &[word], &[], vec![body]);
        self.set_word(word, 0);
    }

    fn set_word(&mut self, word: Value, number: i64) {
        let one = self.constant(Ty::Index, 1);
        let index = self.scalar(Ty::Index, Level::Varying, Class::Integer);
        let body = self.region(&[index], |this| {
            let number = this.constant(Ty::I32, number);
            this.push("memref.store", "", &[number, word, index], &[]);
        });
        self.push_with("qd.grid.for_each", "", &[one], &[], vec![body]);
    }
}
