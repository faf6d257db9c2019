//! Device algorithms on the existing buffers.

use super::{Buffer, Generator, Role};
use crate::{
    ods::BY_ROLES,
    program::{Block, Comparison, Contents, Value},
    types::{Class, Level, Ty},
};
use qd_dialects::ops::{algo, grid};
use qd_lowering::algorithms::scratch;

/// The largest capacity, as a logarithm.
const LARGEST: u32 = 4;
/// Algorithms that have scratch.
const SIZED: [&str; 8] = [
    algo::Reduce::NAME,
    algo::ExclusiveScan::NAME,
    algo::InclusiveScan::NAME,
    algo::Select::NAME,
    algo::Partition::NAME,
    algo::Unique::NAME,
    algo::Sort::NAME,
    algo::ReduceByKey::NAME,
];

impl Generator<'_> {
    /// A buffer of elements of this type that is none of these, and of which none of these is a view.
    fn elements(&mut self, ty: Ty, none_of: &[usize]) -> Option<usize> {
        let found: Vec<usize> = (0..self.buffers.len())
            .filter(|i| {
                let Buffer { ty: of, role, .. } = self.buffers[*i];
                of == ty && role == Role::Elements && !self.is_among(*i, none_of)
            })
            .collect();
        self.pick(&found)
    }

    /// A reduction or a scan of a buffer.
    pub(super) fn reading(&mut self, buffer: usize) {
        let ops = [
            algo::Reduce::NAME,
            algo::InclusiveScan::NAME,
            algo::ExclusiveScan::NAME,
        ];
        let op = ops[self.random.usize(0..3)];
        self.by_kind(op, buffer, None);
    }

    /// A buffer that is only read, of this type and none of these.
    fn input(&mut self, ty: Ty, none_of: &[usize]) -> Option<usize> {
        let read: Vec<usize> = (0..self.buffers.len())
            .filter(|i| self.buffers[*i].ty == ty && self.is_only_read(*i))
            .filter(|i| !none_of.contains(i))
            .collect();
        if self.random.bool()
            && let Some(found) = self.pick(&read)
        {
            if let Role::View { of, .. } = self.buffers[found].role {
                self.buffers[found].class = self.buffers[of].class;
            }
            return Some(found);
        }
        self.elements(ty, none_of)
    }

    /// Whether it is scratch that has been written, or a view that algorithms take, that is long enough, and for which
    /// there is scratch. An argument has to be as long as the others.
    fn is_only_read(&self, buffer: usize) -> bool {
        let Buffer {
            value, ty, role, ..
        } = self.buffers[buffer];
        match role {
            Role::Produced => true,
            Role::View { length, .. } => {
                let is_contiguous = self.types[value as usize] == format!("memref<?x{ty}>");
                let is_argument = self.parameters.iter().any(|p| p.value == value);
                let least = if is_argument {
                    self.length
                } else {
                    self.most()
                };
                is_contiguous && (least..=self.length).contains(&length)
            }
            _ => false,
        }
    }

    /// As [`Self::elements`], or a new one.
    fn output(&mut self, ty: Ty, none_of: &[usize]) -> usize {
        if let Some(found) = self.elements(ty, none_of) {
            return found;
        }
        let contents = Contents::Constant(0);
        let value = self.parameter(ty, Some(self.length), contents, Comparison::Same);
        let class = match ty.is_float() {
            true => Class::Exact { mag: 0, frac: 0 },
            false => Class::Integer,
        };
        self.buffers.push(Buffer {
            value,
            ty,
            class,
            role: Role::Elements,
        });
        self.buffers.len() - 1
    }

    /// Where an algorithm writes a result of a class: a buffer that is none of those used, or of a reduction a word.
    fn result_of(&mut self, op: &str, ty: Ty, class: Class, used: &mut Vec<usize>) -> Value {
        if op == algo::Reduce::NAME && self.random.bool() {
            return self.word(ty, Contents::Constant(-1));
        }
        let output = self.output(ty, used);
        used.push(output);
        self.buffers[output].class = self.buffers[output].class.join(class);
        self.memory_of(output)
    }

    /// A buffer as an operand, or a part of it that is as long as the algorithm needs.
    fn memory_of(&mut self, buffer: usize) -> Value {
        let Buffer { value, role, .. } = self.buffers[buffer];
        let Some(length) = self.part.filter(|_| self.random.bool()) else {
            return value;
        };
        match role {
            Role::Elements | Role::Produced | Role::Flags => self.part_at_hand(buffer),
            Role::Rows {
                row: [columns],
                is_open: false,
            } => self.some_rows(buffer, length, *columns),
            _ => value,
        }
    }

    /// As many elements of a buffer as the algorithm is of, where these are not all.
    fn part_at_hand(&mut self, buffer: usize) -> Value {
        let Buffer { value, ty, .. } = self.buffers[buffer];
        let Some(length) = self.part else {
            return value;
        };
        let first = self.random.usize(0..=self.length - length);
        let [first, length] = [first, length].map(|n| self.constant(Ty::Index, n as i64));
        self.part_of(value, ty, first, length)
    }

    /// A capacity that holds all of a buffer.
    fn depth(&mut self) -> u32 {
        let least = if self.length > 256 { 2 } else { 1 };
        self.random.u32(least..=3)
    }

    /// Scratch of an algorithm's: one more buffer, so that what it held does not matter. It has as many slots as are
    /// needed at the capacity or at any, and may be passed as a part whose length an op says.
    fn scratch(&mut self, op: &str, ty: Ty, depth: u32) -> Value {
        let capacity = (!self.one_in(8)).then_some(depth);
        let length = Some(self.slots(op, capacity) as usize);
        let scratch = self.parameter(ty, length, Contents::Scratch, Comparison::Ignored);
        if !self.one_in(3) {
            return scratch;
        }
        let n = self.dim();
        let slots = self.scratch_slots(op, n, capacity);
        let first = self.constant(Ty::Index, 0);
        self.part_of(scratch, ty, first, slots)
    }

    /// The number of slots of scratch as an op.
    pub(super) fn scratch_slots(&mut self, op: &str, n: Value, capacity: Option<u32>) -> Value {
        let algorithm = op.strip_prefix(algo::PREFIX).unwrap_or_default();
        let mut properties = format!("algorithm = #qd.algorithm<{algorithm}>");
        if let Some(depth) = capacity {
            properties += &format!(", log256_max_n = {depth} : i32");
        }
        self.op(algo::ScratchSlots::NAME, &properties, &[n], Ty::Index)
    }

    /// How much scratch an algorithm would need for some number of elements.
    pub(super) fn sizing(&mut self) {
        let op = SIZED[self.random.usize(0..SIZED.len())];
        let capacity = self.random.bool().then(|| self.depth());
        let number = self.find(Ty::I32, Level::Varying);
        let n = self.place_of(number, self.length as i64);
        let slots = self.scratch_slots(op, n, capacity);
        let slots = self.op("arith.index_castui", "", &[slots], Ty::I32);
        self.scope.push(slots);
    }

    /// Scratch of each type, and a live count; or once in a checked program one slot too few for all elements.
    fn scratch_and_count(&mut self, op: &str, types: &[Ty], depth: u32) -> (Vec<Value>, Value) {
        let mut scratch = Vec::new();
        for ty in types {
            scratch.push(self.scratch(op, *ty, depth));
        }
        let slots = self.slots(op, Some(depth));
        if slots < 2 || self.part.is_some() || !self.may_fail(4) {
            return (scratch, self.live_count());
        }
        let [first, few] = [0, slots as i64 - 1].map(|n| self.constant(Ty::Index, n));
        scratch[0] = self.part_of(scratch[0], types[0], first, few);
        let all = Contents::Constant(self.length as i64);
        let count = self.parameter(Ty::I32, None, all, Comparison::Same);
        (scratch, count)
    }

    /// One algorithm, of all elements or of parts of buffers.
    pub(super) fn algorithm(&mut self) {
        self.part = match self.one_in(3) {
            true => Some(self.random.usize(1..=self.length)),
            false => None,
        };
        self.any_algorithm();
        self.part = None;
    }

    fn any_algorithm(&mut self) {
        match self.random.usize(0..15) {
            0 | 6 => self.combining(algo::Reduce::NAME),
            1 | 7 => self.combining(algo::InclusiveScan::NAME),
            2 | 8 => self.combining(algo::ExclusiveScan::NAME),
            3 | 9 | 13 | 14 => self.by_roles(),
            4 | 10 => self.sort(),
            5 => self.parallel_sort(),
            _ => self.reduce_by_key(),
        }
    }

    /// A kind that an element type has, and the class of the result; the bits of
    /// the result must not depend on the order, unless that is a promise.
    fn kind(&mut self, ty: Ty, class: Class, promise: &str) -> Option<(&'static str, Class)> {
        let kinds: &[&str] = match ty.is_float() {
            true => &["add", "minnumf", "maxnumf"],
            false => &[
                "add", "mul", "minsi", "minui", "maxsi", "maxui", "and", "or", "xor",
            ],
        };
        let kind = self.pick(kinds)?;
        if !ty.is_float() {
            return Some((kind, Class::Integer));
        }
        match kind {
            "add" if !promise.is_empty() => Some((kind, Class::Rounded)),
            "add" => match class.summed(self.log_length()).fitted(ty) {
                Class::Rounded => None,
                exact => Some((kind, exact)),
            },
            // An identity is infinite.
            _ => Some((kind, Class::Rounded)),
        }
    }

    fn slots(&self, op: &str, capacity: Option<u32>) -> u64 {
        let n = self.length as u64;
        let depth = capacity.or(Some(LARGEST));
        let slots = match op {
            algo::Reduce::NAME => scratch::reduce_scratch_slots(n, depth),
            algo::InclusiveScan::NAME | algo::ExclusiveScan::NAME => {
                scratch::scan_scratch_slots(n, depth)
            }
            algo::Sort::NAME => scratch::sort_scratch_slots(n, depth),
            algo::ReduceByKey::NAME => Ok(scratch::reduce_by_key_scratch_slots(n)),
            _ => Ok(scratch::select_scratch_slots(n)),
        };
        slots.expect("a depth from 1 to 4")
    }

    fn wide(ty: Ty) -> Ty {
        if ty.bits() == 64 { Ty::I64 } else { Ty::I32 }
    }

    /// A reduction or a scan, by a kind or by a region.
    fn combining(&mut self, op: &str) {
        let depth = self.depth();
        let (types, region, mut properties) = match self.one_in(4) {
            true => {
                let (region, types, identities) = self.any_combiner(2);
                (
                    types.to_vec(),
                    region,
                    format!("identities = [{identities}], "),
                )
            }
            false => {
                let ty = self.element();
                (vec![ty], Block::default(), String::new())
            }
        };
        let mut inputs = Vec::new();
        for ty in &types {
            let Some(input) = self.input(*ty, &inputs) else {
                return;
            };
            inputs.push(input);
        }
        let classes: Vec<_> = inputs.iter().map(|i| self.buffers[*i].class).collect();
        let promise = self.promise();
        let mut class = Class::Rounded;
        if properties.is_empty() {
            let Some((kind, of)) = self.kind(types[0], classes[0], promise) else {
                return;
            };
            properties = format!("kind = #qd.kind<{kind}>, ");
            class = of;
        } else if types
            .iter()
            .zip(&classes)
            .any(|(ty, class)| ty.is_float() && *class == Class::Rounded)
        {
            // A NaN is less than nothing: which is kept depends on the order.
            return;
        }
        let (mut used, mut outputs) = (inputs.clone(), Vec::new());
        for ty in &types {
            let new = if ty.is_float() { class } else { Class::Integer };
            outputs.push(self.result_of(op, *ty, new, &mut used));
        }
        let wide: Vec<_> = types.iter().map(|ty| Self::wide(*ty)).collect();
        let (scratch, count) = self.scratch_and_count(op, &wide, depth);
        let mut operands: Vec<Value> = Vec::new();
        for input in inputs {
            operands.push(self.memory_of(input));
        }
        operands.extend(outputs);
        operands.extend(scratch);
        operands.push(count);
        let k = types.len();
        properties += &format!(
            "log256_max_n = {depth} : i32, operandSegmentSizes = array<i32: {k}, {k}, {k}, 1>{promise}"
        );
        self.push_with(op, &properties, &operands, &[], vec![region]);
    }

    /// An algorithm that says by roles what it does. How many elements it wrote is a count from
    /// then on.
    fn by_roles(&mut self) {
        let algorithms = &*BY_ROLES;
        let op = algorithms[self.random.usize(0..algorithms.len())];
        let ty = self.element();
        let depth = self.depth();
        let (mut operands, mut used) = (Vec::new(), Vec::new());
        let (mut class, mut first, mut total) = (None, None, None);
        // Rows are moved from the one buffer to the other.
        let mut rows = match op.operands.iter().any(|operand| operand.has_rows) {
            true if self.random.bool() => self.rows_to_move(),
            _ => Vec::new(),
        };
        if let [one, other] = rows[..] {
            let class = self.buffers[one].class.join(self.buffers[other].class);
            self.buffers[one].class = class;
            self.buffers[other].class = class;
        }
        for operand in &op.operands {
            if operand.is_optional && self.random.bool() {
                continue;
            }
            let ty = if operand.is_word { Ty::I32 } else { ty };
            if operand.has_rows
                && let Some(rows) = rows.pop()
            {
                operands.push(self.memory_of(rows));
                continue;
            }
            let value = match operand.role.as_deref() {
                Some("Input") => {
                    let found = match &*operand.name {
                        "flags" => self.buffers.iter().position(|b| b.role == Role::Flags),
                        _ => self.input(ty, &used),
                    };
                    let Some(buffer) = found else {
                        return;
                    };
                    used.push(buffer);
                    if ty.is_float() {
                        let of = self.buffers[buffer].class;
                        class = Some(class.map_or(of, |class: Class| class.join(of)));
                    }
                    self.memory_of(buffer)
                }
                Some("Output") => {
                    let buffer = self.output(ty, &used);
                    used.push(buffer);
                    first = first.or(Some(buffer));
                    if ty.is_float() {
                        let of = class.unwrap_or(Class::Rounded);
                        self.buffers[buffer].class = self.buffers[buffer].class.join(of);
                    }
                    self.memory_of(buffer)
                }
                Some("Total") => *total.insert(self.word(Ty::I32, Contents::Constant(-1))),
                Some("Scratch") => self.scratch(&op.name, Ty::I32, depth),
                _ => self.live_count(),
            };
            operands.push(value);
        }
        let properties = format!("log256_max_n = {depth} : i32");
        self.push(&op.name, &properties, &operands, &[]);
        if let (Some(output), Some(total)) = (first, total)
            && self.random.bool()
        {
            self.sum_of(output, total);
        }
    }

    /// Whether an algorithm is to have the same bits everywhere, as an attribute behind others.
    fn promise(&mut self) -> &'static str {
        match self.one_in(4) {
            true => ", deterministic",
            false => "",
        }
    }

    /// A reduction of as many elements as the device counted.
    fn sum_of(&mut self, buffer: usize, count: Value) {
        self.by_kind(algo::Reduce::NAME, buffer, Some(count));
    }

    /// A reduction or a scan of a buffer, up to a count or any.
    fn by_kind(&mut self, op: &str, buffer: usize, count: Option<Value>) {
        let Buffer { ty, class, .. } = self.buffers[buffer];
        let promise = self.promise();
        let Some((kind, of)) = self.kind(ty, class, promise) else {
            return;
        };
        let output = self.result_of(op, ty, of, &mut vec![buffer]);
        self.combined_into(op, (kind, promise), buffer, output, count);
    }

    /// A reduction or a scan by a kind, with a promise.
    fn combined_into(
        &mut self,
        op: &str,
        (kind, promise): (&str, &str),
        buffer: usize,
        output: Value,
        count: Option<Value>,
    ) {
        let ty = Self::wide(self.buffers[buffer].ty);
        let depth = self.depth();
        let (scratch, count) = match count {
            Some(count) => (self.scratch(op, ty, depth), count),
            None => {
                let (scratch, count) = self.scratch_and_count(op, &[ty], depth);
                (scratch[0], count)
            }
        };
        let operands = [self.memory_of(buffer), output, scratch, count];
        let properties = format!(
            "kind = #qd.kind<{kind}>, log256_max_n = {depth} : i32, operandSegmentSizes = array<i32: 1, 1, 1, 1>{promise}"
        );
        self.push_with(op, &properties, &operands, &[], vec![Block::default()]);
    }

    /// A count that a reduction makes: how many flags are set, or a number of any, below the buffers' length.
    pub(super) fn reduced_count(&mut self) -> Value {
        let count = match self.one_in(3) {
            true => {
                let scratch = self.memory("memref<1xi32>");
                self.push(grid::Scratch::NAME, "", &[], &[scratch]);
                scratch
            }
            false => self.word(Ty::I32, Contents::Constant(-1)),
        };
        let flags = self.buffers.iter().position(|b| b.role == Role::Flags);
        let numbers = self.elements(Ty::I32, &[]);
        let promise = self.promise();
        let kind = self.kind(Ty::I32, Class::Integer, promise);
        if let (Some(numbers), Some((kind, _)), true) = (numbers, kind, self.random.bool()) {
            let kind = (kind, promise);
            self.combined_into(algo::Reduce::NAME, kind, numbers, count, None);
            self.limit_word(count, Ty::I32, self.most() as i64 + 1);
        } else {
            let flags = flags.expect("every program has flags");
            let sum = ("add", promise);
            self.combined_into(algo::Reduce::NAME, sum, flags, count, None);
        }
        count
    }

    fn sort(&mut self) {
        let ty = self.element();
        let Some(keys) = self.elements(ty, &[]) else {
            return;
        };
        let depth = self.depth();
        let mut properties = format!("log256_max_n = {depth} : i32");
        if !ty.is_float() {
            if self.random.bool() {
                properties += ", is_unsigned";
            }
            if self.one_in(3) {
                let digits = self.random.i64(1..=(ty.bits() / 8).max(1));
                properties += &format!(", end_bit = {} : i32", 8 * digits);
            }
        }
        let length = Some(self.length);
        let garbage = self.parameter(ty, length, Contents::Scratch, Comparison::Ignored);
        let mut operands = vec![self.memory_of(keys), garbage];
        let mut segments = "1, 1, 0, 0, 1, 1";
        if self.random.bool() {
            let of = self.element();
            let rows = self.rows_to_move();
            let values = match self.pick(&rows).filter(|_| self.one_in(2)) {
                Some(rows) => Some(rows),
                None => self.elements(of, &[keys]),
            };
            if let Some(values) = values {
                let Buffer { ty, role, .. } = self.buffers[values];
                let row = match role {
                    Role::Rows { row, .. } => row,
                    _ => &[],
                };
                let (scratch, ignored) = (Contents::Scratch, Comparison::Ignored);
                let garbage = self.table_parameter(ty, length, row, false, scratch, ignored);
                operands.extend([self.memory_of(values), garbage]);
                segments = "1, 1, 1, 1, 1, 1";
            }
        }
        let (scratch, count) = self.scratch_and_count(algo::Sort::NAME, &[Ty::I32], depth);
        operands.extend([scratch[0], count]);
        properties += &format!(", operandSegmentSizes = array<i32: {segments}>");
        self.push(algo::Sort::NAME, &properties, &operands, &[]);
    }

    /// Of all keys. Equal ones come in any order, so that what belongs to keys is a copy of them, or no two are equal.
    fn parallel_sort(&mut self) {
        let ty = self.element();
        let Some(keys) = self.elements(ty, &[]) else {
            return;
        };
        let mut operands = vec![self.part_at_hand(keys)];
        if self.random.bool() {
            let (values, of) = self.belonging_to(keys, operands[0]);
            let most = self.most();
            operands.push(match most > 0 && self.may_fail(2) {
                false => values,
                true => {
                    let fewer = self.random.usize(0..most) as i64;
                    let [first, length] = [0, fewer].map(|n| self.constant(Ty::Index, n));
                    self.part_of(values, of, first, length)
                }
            });
        }
        let is_unsigned = !ty.is_float() && self.random.bool();
        let properties = if is_unsigned { "is_unsigned" } else { "" };
        self.push(algo::ParallelSort::NAME, properties, &operands, &[]);
    }

    /// Values for the keys in a buffer or part of it: copies of them, or any where the keys are made different.
    fn belonging_to(&mut self, keys: usize, from: Value) -> (Value, Ty) {
        let Buffer { ty, class, .. } = self.buffers[keys];
        let is_copy = ty.is_float() || ty.bits() < 16 || self.random.bool();
        let of = if is_copy { ty } else { self.element() };
        let values = self.output(of, &[keys]);
        let to = self.part_at_hand(values);
        if is_copy {
            self.buffers[values].class = self.buffers[values].class.join(class);
        }
        let length = self.constant(Ty::Index, self.most() as i64);
        let index = self.scalar(Ty::Index, Level::Varying, Class::Integer);
        let body = self.region(&[index], |this| match is_copy {
            true => {
                let key = this.op("memref.load", "", &[from, index], ty);
                this.push("memref.store", "", &[key, to, index], &[]);
            }
            false => {
                let odd = this.constant(ty, -25_033);
                let number = this.op("arith.index_castui", "", &[index], ty);
                let key = this.op("arith.muli", "", &[number, odd], ty);
                this.push("memref.store", "", &[key, from, index], &[]);
            }
        });
        self.push_with(grid::ForEach::NAME, "", &[length], &[], vec![body]);
        (to, of)
    }

    /// By a kind, or by a region, of up to two values.
    fn reduce_by_key(&mut self) {
        let key = self.element();
        let by_region = self.one_in(3).then(|| self.any_combiner(2));
        let types = match &by_region {
            Some((_, types, _)) => types.to_vec(),
            None => vec![self.element()],
        };
        let Some(keys) = self.elements(key, &[]) else {
            return;
        };
        let mut used = vec![keys];
        for ty in &types {
            let Some(values) = self.elements(*ty, &used) else {
                return;
            };
            used.push(values);
        }
        let promise = self.promise();
        let is_rounded = |buffer: &usize| self.buffers[*buffer].class == Class::Rounded;
        let (region, combined, class) = match by_region {
            // Which NaN is kept depends on the order.
            Some(_) if used[1..].iter().any(is_rounded) => return,
            Some((region, _, identities)) => {
                let combined = format!("identities = [{identities}]");
                (region, combined, None)
            }
            None => match self.kind(types[0], self.buffers[used[1]].class, promise) {
                Some((kind, class)) => {
                    let combined = format!("kind = #qd.kind<{kind}>");
                    (Block::default(), combined, Some(class))
                }
                None => return,
            },
        };
        let key_class = self.buffers[keys].class;
        let classes = types.iter().map(|ty| class.unwrap_or(Class::any(*ty)));
        let classes: Vec<_> = std::iter::once(key_class).chain(classes).collect();
        for (ty, class) in std::iter::once(&key).chain(&types).zip(classes) {
            let output = self.output(*ty, &used);
            self.buffers[output].class = self.buffers[output].class.join(class);
            used.push(output);
        }
        let depth = self.depth();
        let runs = self.word(Ty::I32, Contents::Constant(-1));
        let (scratch, count) = self.scratch_and_count(algo::ReduceByKey::NAME, &[Ty::I32], depth);
        let mut operands: Vec<_> = used.iter().map(|buffer| self.memory_of(*buffer)).collect();
        operands.extend([runs, scratch[0], count]);
        let k = types.len();
        let properties = format!(
            "{combined}, log256_max_n = {depth} : i32, operandSegmentSizes = array<i32: 1, {k}, 1, {k}, 1, 1, 1>{promise}"
        );
        let regions = vec![region];
        self.push_with(
            algo::ReduceByKey::NAME,
            &properties,
            &operands,
            &[],
            regions,
        );
    }
}
