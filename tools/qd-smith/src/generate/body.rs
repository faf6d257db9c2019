//! Bodies: statements of a phase, and control flow around them.

use super::Generator;
use crate::{
    program::{Block, Value},
    types::{Class, Level, Ty},
};
use qd_dialects::ops::simt;

/// The text of an assertion that may fail.
pub const DOUBTFUL: &str = "one is no more than the other";
/// How deep control is nested at most.
const DEEPEST: usize = 3;

impl Generator<'_> {
    /// Some statements, under control that is the same between threads as
    /// `control` says.
    pub(super) fn statements(&mut self, control: Level, most: usize) {
        for _ in 0..self.random.usize(1..=most) {
            if self.phase.budget == 0 {
                return;
            }
            self.phase.budget -= 1;
            self.statement(control);
        }
    }

    fn statement(&mut self, control: Level) {
        let is_phase = !self.phase.is_for_each;
        let meets = self.phase.meets();
        match self.random.usize(0..31) {
            0..=5 => self.scalar_op(),
            6..=9 | 24..=27 if meets => self.collective_op(control),
            10..=11 => self.load(),
            12 => self.store(),
            13 if is_phase && control == Level::Block => self.exchange(),
            14 if !self.phase.is_function => self.count(),
            15 => self.private(),
            16 => self.hint(control),
            20 => self.call(),
            21 if !self.phase.is_function => self.mark(),
            22 if is_phase && control == Level::Block && self.one_in(2) => self.rank(),
            23 if self.phase.depth < DEEPEST => self.other_region(control),
            17 if self.phase.depth < DEEPEST => self.branch(control),
            18 if self.phase.depth < DEEPEST => self.for_loop(control),
            19 if self.phase.depth < DEEPEST => self.while_loop(control),
            28 if meets && control >= Level::Subgroup => self.parting(),
            29 if self.phase.is_function => self.scalar_op(),
            29 if self.phase.depth == 0 && self.may_print() && self.one_in(3) => self.print(),
            29 if self.may_go_wrong(2) => self.division(),
            29 if self.one_in(2) => self.assertion(),
            30 if self.one_in(3) => self.sizing(),
            _ => self.scalar_op(),
        }
    }

    fn nested(&mut self, arguments: &[Value], write: impl FnOnce(&mut Self)) -> Block {
        self.phase.depth += 1;
        let block = self.region(arguments, write);
        self.phase.depth -= 1;
        block
    }

    /// Control for what is to be nested: a level that it may have here.
    fn inner_level(&mut self, control: Level) -> Level {
        let levels = [Level::Varying, Level::Subgroup, Level::Block];
        let level = levels[self.random.usize(0..3)];
        level.min(control)
    }

    /// Types of values that leave control flow.
    fn result_types(&mut self) -> Vec<Ty> {
        let count = self.random.usize(0..3);
        let types = [Ty::I1, Ty::I32, Ty::I64, Ty::F32, Ty::F64];
        let mut all = Vec::new();
        for _ in 0..count {
            let ty = types[self.random.usize(0..5)];
            all.push(self.had(ty));
        }
        if count == 2 && self.random.bool() {
            all[1] = all[0];
        }
        all
    }

    /// What a loop hands on: its own arguments exchanged, if they are of one type, or
    /// anything.
    fn handed_on(&mut self, types: &[Ty], levels: &[Level], arguments: &[Value]) -> Vec<Value> {
        if let ([a, b], [x, y]) = (types, arguments)
            && a == b
            && self.level(*x) == self.level(*y)
            && self.random.bool()
        {
            return vec![*y, *x];
        }
        let pairs = types.iter().zip(levels);
        pairs.map(|(ty, level)| self.find(*ty, *level)).collect()
    }

    fn yields(&mut self, types: &[Ty], level: Level) -> Vec<Value> {
        types.iter().map(|ty| self.find(*ty, level)).collect()
    }

    /// Whether what a check finds wrong in some thread may be made here, once in a program, in one of so many places.
    pub(super) fn may_go_wrong(&mut self, places: usize) -> bool {
        !self.phase.is_function && !self.phase.is_plain && self.may_fail(places)
    }

    /// The same, of what is between phases.
    pub(super) fn may_fail(&mut self, places: usize) -> bool {
        let does = self.is_checked && !self.has_doubt && self.one_in(places);
        self.has_doubt |= does;
        does
    }

    /// By a number that may be 0, or −1.
    fn division(&mut self) {
        let ops = [
            "divui",
            "remui",
            "ceildivui",
            "divsi",
            "remsi",
            "ceildivsi",
            "floordivsi",
        ];
        let op = format!("arith.{}", ops[self.random.usize(0..ops.len())]);
        let types = [Ty::I8, Ty::I16, Ty::I32, Ty::I64];
        let ty = types[self.random.usize(0..types.len())];
        let [one, other] = [(); 2].map(|()| self.find(ty, Level::Varying));
        let result = self.op(&op, "", &[one, other], ty);
        self.scope.push(result);
    }

    /// What holds in every thread, though not for a reason that the compiler knows, or once in a program what may not.
    fn assertion(&mut self) {
        let [one, other] = [(); 2].map(|()| self.find(Ty::I32, Level::Varying));
        let is_doubtful = !self.has_doubt && self.one_in(8);
        let (compared, text) = match is_doubtful {
            true => (other, DOUBTFUL),
            false => (
                self.op("arith.minui", "", &[one, other], Ty::I32),
                "the least is no more",
            ),
        };
        self.has_doubt |= is_doubtful;
        let at_most_unsigned = "predicate = 7 : i64";
        let holds = self.op("arith.cmpi", at_most_unsigned, &[compared, one], Ty::I1);
        self.push("cf.assert", &format!("msg = \"{text}\""), &[holds], &[]);
    }

    /// A device keeps so many prints and no more: one of each thread of a phase, and not of the longest.
    fn may_print(&self) -> bool {
        !self.has_print && self.length < 1_000
    }

    /// Numbers that each thread prints, once in a program.
    fn print(&mut self) {
        self.has_print = true;
        let formats = [
            (Ty::I1, "%d"),
            (Ty::I8, "%hhd"),
            (Ty::I16, "%hu"),
            (Ty::I32, "%d"),
            (Ty::I32, "%08x"),
            (Ty::I64, "%lld"),
        ];
        let mut format = String::from("of %d");
        let mut printed = vec![self.phase.place.expect("a phase's")];
        for _ in 0..self.random.usize(1..4) {
            let (ty, of_one) = formats[self.random.usize(0..formats.len())];
            printed.push(self.find(ty, Level::Varying));
            format += &format!(" {of_one}");
        }
        let format = format!("format = \"{format}\\0A\"");
        self.push("gpu.printf", &format, &printed, &[]);
    }

    /// Whether a thread is among the first so many, or an element.
    fn some_threads(&mut self) -> Value {
        let thread = match self.phase.place {
            Some(place) if self.phase.is_for_each => place,
            _ => self.varying(simt::BlockThreadId::NAME, Ty::Index),
        };
        let first = self.random.i64(1..128);
        let first = self.constant(Ty::Index, first);
        let less_unsigned = "predicate = 6 : i64";
        self.op("arith.cmpi", less_unsigned, &[thread, first], Ty::I1)
    }

    fn vote(&mut self, predicate: Value) -> Value {
        let vote = [simt::Any::NAME, simt::All::NAME][self.random.usize(0..2)];
        let voted = self.op(vote, "", &[predicate], Ty::I1);
        self.info[voted as usize].level = Level::Subgroup;
        voted
    }

    /// Subgroups that go different ways, with a collective on each. What lanes compute
    /// mostly has the same outcome in all subgroups; where a thread is does not.
    fn parting(&mut self) {
        let predicate = self.some_threads();
        let condition = self.vote(predicate);
        let arms = [(); 2].map(|()| {
            self.nested(&[], |this| {
                let outside = this.scope.len();
                this.collective_op(Level::Subgroup);
                let digest = this.digest(outside);
                this.push("scf.yield", "", &[digest], &[]);
            })
        });
        let result = self.scalar(Ty::I64, Level::Varying, Class::Integer);
        self.push_with("scf.if", "", &[condition], &[result], arms.into());
        self.scope.push(result);
    }

    fn branch(&mut self, control: Level) {
        let level = self.inner_level(control);
        let condition = match level {
            // A vote, so that it is not simply the same in the whole block.
            Level::Subgroup if self.random.bool() && self.phase.meets() => {
                let predicate = self.find(Ty::I1, Level::Varying);
                self.vote(predicate)
            }
            _ => self.find(Ty::I1, level),
        };
        let types = self.result_types();
        let has_else = !types.is_empty() || self.random.bool();
        let mut yielded: Vec<Vec<Value>> = Vec::new();
        let mut regions = Vec::new();
        for arm in 0..2 {
            if arm == 1 && !has_else {
                regions.push(Block::default());
                break;
            }
            regions.push(self.nested(&[], |this| {
                this.statements(level, 4);
                let values = this.yields(&types, Level::Varying);
                this.push("scf.yield", "", &values, &[]);
                yielded.push(values);
            }));
        }
        let mut results = Vec::new();
        for (i, ty) in types.iter().enumerate() {
            let arms: Vec<_> = yielded.iter().map(|values| self.of(values[i])).collect();
            let level = arms.iter().map(|info| info.level).min().unwrap_or(level);
            let class = arms[0].class.join(arms[1].class);
            results.push(self.scalar(*ty, level.min(self.level(condition)), class));
        }
        self.push_with("scf.if", "", &[condition], &results, regions);
        self.scope.extend(results);
    }

    /// A region that is executed once, or one of several by a number.
    fn other_region(&mut self, control: Level) {
        let level = self.inner_level(control);
        let types = self.result_types();
        let is_switch = self.random.bool();
        let level = if is_switch { level } else { control };
        let mut regions = Vec::new();
        for _ in 0..if is_switch { 3 } else { 1 } {
            regions.push(self.nested(&[], |this| {
                this.statements(level, 3);
                let values = this.yields(&types, Level::Varying);
                this.push("scf.yield", "", &values, &[]);
            }));
        }
        let levels = vec![Level::Varying; types.len()];
        let results = self.results_of(&types, &levels);
        match is_switch {
            true => {
                let number = self.find(Ty::I32, level);
                let number = self.masked(number, 3);
                let number = self.op("arith.index_castui", "", &[number], Ty::Index);
                let cases = "cases = array<i64: 0, 2>";
                self.push_with("scf.index_switch", cases, &[number], &results, regions);
            }
            false => self.push_with("scf.execute_region", "", &[], &results, regions),
        }
        self.scope.extend(results);
    }

    /// A number of rounds from 0 to 3.
    fn rounds(&mut self, level: Level) -> Value {
        if level == Level::Block && self.random.bool() {
            let number = self.random.i64(0..4);
            return self.constant(Ty::I32, number);
        }
        let any = self.find(Ty::I32, level);
        self.masked(any, 3)
    }

    /// Values that loops carry: the same between so many threads.
    fn carried(&mut self, control: Level) -> (Vec<Ty>, Vec<Value>, Vec<Value>, Vec<Level>) {
        let types = self.result_types();
        let (mut initial, mut arguments, mut levels) = (Vec::new(), Vec::new(), Vec::new());
        for ty in &types {
            let level = self.inner_level(control);
            let value = match (level, &initial[..]) {
                // Of two that are alike it would not show that they are exchanged.
                (Level::Varying, [_]) => self.own_number(*ty),
                _ => None,
            };
            initial.push(value.unwrap_or_else(|| self.find(*ty, level)));
            // Rounds add up to what no one knows.
            let class = if ty.is_float() {
                Class::Rounded
            } else {
                Class::Integer
            };
            arguments.push(self.scalar(*ty, level, class));
            levels.push(level);
        }
        (types, initial, arguments, levels)
    }

    fn for_loop(&mut self, control: Level) {
        let level = self.inner_level(control);
        let rounds = self.rounds(level);
        let upper = self.op("arith.index_castui", "", &[rounds], Ty::Index);
        let (lower, step) = (self.constant(Ty::Index, 0), self.constant(Ty::Index, 1));
        let (types, initial, arguments, levels) = self.carried(level);
        let induction = self.scalar(Ty::Index, level, Class::Integer);
        let mut inside = vec![induction];
        inside.extend(&arguments);
        let budget = self.phase.budget;
        let body = self.nested(&inside, |this| {
            this.phase.budget = budget.min(6);
            this.statements(level, 4);
            let values = this.handed_on(&types, &levels, &arguments);
            this.push("scf.yield", "", &values, &[]);
        });
        self.phase.budget = budget.saturating_sub(4);
        let mut operands = vec![lower, upper, step];
        operands.extend(initial);
        let results = self.results_of(&types, &levels);
        self.push_with("scf.for", "", &operands, &results, vec![body]);
        self.scope.extend(&results);
        if results.len() > 1 {
            results.iter().for_each(|result| self.store_of(*result));
        }
    }

    fn results_of(&mut self, types: &[Ty], levels: &[Level]) -> Vec<Value> {
        let mut results = Vec::new();
        for (ty, level) in types.iter().zip(levels) {
            let class = if ty.is_float() {
                Class::Rounded
            } else {
                Class::Integer
            };
            results.push(self.scalar(*ty, *level, class));
        }
        results
    }

    /// Counts a number down to 0, or until a vote ends it.
    fn while_loop(&mut self, control: Level) {
        let level = self.inner_level(control);
        let by_vote = level == Level::Subgroup && self.random.bool();
        let rounds = self.rounds(if by_vote { Level::Varying } else { level });
        let (mut types, mut initial, arguments, mut levels) = self.carried(level);
        types.insert(0, Ty::I32);
        initial.insert(0, rounds);
        levels.insert(0, if by_vote { Level::Varying } else { level });
        let state = |this: &mut Self| -> Vec<Value> {
            let left = this.scalar(Ty::I32, levels[0], Class::Integer);
            let mut all = vec![left];
            for value in &arguments {
                let info = this.of(*value);
                all.push(this.scalar(info.ty.expect("a scalar"), info.level, info.class));
            }
            all
        };
        let (before, after) = (state(self), state(self));
        let budget = self.phase.budget;
        let first = self.nested(&before, |this| {
            this.phase.budget = budget.min(2);
            this.statements(level, 2);
            let zero = this.constant(Ty::I32, 0);
            let mut goes_on = this.op(
                "arith.cmpi",
                "predicate = 4 : i64",
                &[before[0], zero],
                Ty::I1,
            );
            if by_vote {
                goes_on = this.op(simt::Any::NAME, "", &[goes_on], Ty::I1);
                this.info[goes_on as usize].level = Level::Subgroup;
            }
            let mut operands = vec![goes_on];
            operands.extend(&before);
            this.push("scf.condition", "", &operands, &[]);
        });
        let second = self.nested(&after, |this| {
            this.phase.budget = budget.min(5);
            this.statements(level, 3);
            let one = this.constant(Ty::I32, 1);
            let left = this.op("arith.subi", "", &[after[0], one], Ty::I32);
            let mut values = vec![left];
            values.extend(this.handed_on(&types[1..], &levels[1..], &after[1..]));
            this.push("scf.yield", "", &values, &[]);
        });
        self.phase.budget = budget.saturating_sub(4);
        let results = self.results_of(&types, &levels);
        self.push_with("scf.while", "", &initial, &results, vec![first, second]);
        self.scope.extend(results);
    }
}
