//! Memory: loads and stores without races, exchanges through shared arrays, counters,
//! private arrays, and hints.

use super::{Buffer, Generator, Private, Role};
use crate::{
    program::{Comparison, Contents, Value},
    types::{Class, Level, Ty},
};
use qd_dialects::ops::{grid, simt};

/// Words of a buffer of counters.
const COUNTERS: i64 = 8;
/// Bytes of shared arrays that a phase has at most; collectives of a block have theirs, of 16 KiB that every target has.
const SHARED: i64 = 12 * 1024;

/// Bytes that a ranking has for its counters, at most.
const RANKING: i64 = 8 * 1024;
/// Kinds of atomics on integers, and upstream's numbers for those that it has. The order never matters.
const OF_INTEGERS: &[(&str, Option<i64>)] = &[
    ("add", Some(1)),
    ("and", Some(2)),
    ("maxsi", Some(6)),
    ("maxui", Some(7)),
    ("minsi", Some(10)),
    ("minui", Some(11)),
    ("mul", None),
    ("or", Some(14)),
    ("xor", Some(15)),
];
/// Those on floats: the order of sums does not matter where they are exact.
const OF_FLOATS: &[(&str, Option<i64>)] = &[("add", Some(0)), ("minnumf", None), ("maxnumf", None)];
/// Orders of atomics that read and write.
const ORDERS: [&str; 4] = ["relaxed", "acquire", "release", "acq_rel"];

impl Generator<'_> {
    /// A place in a buffer with an element for each thread: one's own, or any.
    fn any_place(&mut self) -> Value {
        let is_own = self.one_in(3);
        let own = self.phase.place.filter(|_| is_own);
        match own {
            Some(place) => place,
            None => {
                let level = [Level::Varying, Level::Subgroup, Level::Block];
                let level = level[self.random.usize(0..3)];
                let number = self.find(Ty::I32, level);
                self.place_of(number, self.length as i64)
            }
        }
    }

    /// A number as a place among so many.
    pub(super) fn place_of(&mut self, number: Value, length: i64) -> Value {
        let length = self.constant(Ty::I32, length);
        let within = self.op("arith.remui", "", &[number, length], Ty::I32);
        self.op("arith.index_castui", "", &[within], Ty::Index)
    }

    /// An element of the first operand at the others. A float that was stored is as it is loaded again.
    fn load_from(&mut self, operands: &[Value], ty: Ty, class: Class) -> Value {
        let value = self.op("memref.load", "", operands, ty);
        self.info[value as usize].class = class;
        value
    }

    pub(super) fn load(&mut self) {
        let reads = self.phase.reads.clone();
        let Some(buffer) = self.pick(&reads) else {
            return;
        };
        let Buffer {
            value,
            ty,
            mut class,
            role,
        } = self.buffers[buffer].clone();
        let place = match role {
            Role::Counters(_) => {
                let number = self.find(Ty::I32, Level::Varying);
                self.place_of(number, COUNTERS)
            }
            Role::View {
                of,
                length,
                columns,
            } => {
                class = self.buffers[of].class;
                let number = self.find(Ty::I32, Level::Varying);
                let place = self.place_of(number, length as i64);
                let operands = [vec![value], self.in_table(place, columns)].concat();
                let loaded = self.load_from(&operands, ty, class);
                return self.scope.push(loaded);
            }
            Role::Elements if !self.phase.is_plain && self.one_in(8) => {
                return self.load_part(buffer);
            }
            Role::Rows { row, .. } => {
                let first = self.any_place();
                let place = self.in_row(first, row);
                let operands = [vec![value], place].concat();
                let loaded = self.load_from(&operands, ty, class);
                return self.scope.push(loaded);
            }
            // A check may find that it is no place.
            Role::Elements if self.may_go_wrong(6) => {
                let number = self.find(Ty::I32, Level::Varying);
                self.op("arith.index_castui", "", &[number], Ty::Index)
            }
            _ => self.any_place(),
        };
        let loaded = self.load_from(&[value, place], ty, class);
        self.scope.push(loaded);
    }

    /// A place in a row: the row's, and one in each of the row's extents.
    fn in_row(&mut self, first: Value, row: &[usize]) -> Vec<Value> {
        let mut place = vec![first];
        for extent in row {
            let number = self.find(Ty::I32, Level::Varying);
            place.push(self.place_of(number, *extent as i64));
        }
        place
    }

    /// A place in a table of so many columns, if it is one.
    fn in_table(&mut self, place: Value, columns: Option<usize>) -> Vec<Value> {
        let Some(columns) = columns else {
            return vec![place];
        };
        let columns = self.constant(Ty::Index, columns as i64);
        let row = self.op("arith.divui", "", &[place, columns], Ty::Index);
        let column = self.op("arith.remui", "", &[place, columns], Ty::Index);
        vec![row, column]
    }

    /// One's own place in a buffer.
    fn own_place(&mut self, buffer: usize) -> Option<Vec<Value>> {
        let place = self.phase.place?;
        Some(match self.buffers[buffer].role {
            Role::Rows { row, .. } => self.in_row(place, row),
            Role::View { columns, .. } => self.in_table(place, columns),
            _ => vec![place],
        })
    }

    /// A load from part of a buffer, or from all of it as one whose length is known.
    fn load_part(&mut self, buffer: usize) {
        let Buffer {
            value, ty, class, ..
        } = self.buffers[buffer];
        let is_part = self.random.bool();
        let first = if is_part {
            self.random.usize(0..self.length)
        } else {
            0
        };
        let beyond = match is_part && !self.phase.is_function {
            true => self.too_many(),
            false => 0,
        };
        let length = self.length - first + beyond;
        let part = match is_part {
            true => {
                let part = self.memory(format!("memref<?x{ty}, strided<[1], offset: ?>>"));
                let first = self.constant(Ty::Index, first as i64);
                let extent = self.constant(Ty::Index, length as i64);
                let dynamic = i64::MIN;
                let properties = format!(
                    "operandSegmentSizes = array<i32: 1, 1, 1, 0>, static_offsets = array<i64: {dynamic}>, \
                     static_sizes = array<i64: {dynamic}>, static_strides = array<i64: 1>"
                );
                let operands = [value, first, extent];
                self.push("memref.subview", &properties, &operands, &[part]);
                part
            }
            false => {
                let part = self.memory(format!("memref<{length}x{ty}>"));
                self.push("memref.cast", "", &[value], &[part]);
                part
            }
        };
        let number = self.find(Ty::I32, Level::Varying);
        let place = self.place_of(number, length as i64);
        let loaded = self.load_from(&[part, place], ty, class);
        self.scope.push(loaded);
    }

    /// At one's own place, where no other thread is.
    pub(super) fn store(&mut self) {
        let writes = self.phase.writes.clone();
        let Some(buffer) = self.pick(&writes) else {
            return;
        };
        let Some(place) = self.own_place(buffer) else {
            return;
        };
        let Buffer {
            value: memory,
            ty,
            role,
            ..
        } = self.buffers[buffer].clone();
        let (of, length) = match role {
            Role::View { of, length, .. } => (of, length),
            _ => (buffer, self.length),
        };
        let class = self.buffers[of].class;
        let value = match matches!(ty, Ty::I32 | Ty::I64) && self.one_in(3) {
            true => self.widened(ty),
            false => self.find(ty, Level::Varying),
        };
        self.buffers[of].class = class.join(self.of(value).class);
        let at = [vec![memory], place].concat();
        let stored = [vec![value], at.clone()].concat();
        if length < self.length {
            return self.store_within(&stored, length);
        }
        self.push("memref.store", "", &stored, &[]);
        if self.one_in(4) {
            let class = self.of(value).class.join(class);
            let again = self.load_from(&at, ty, class);
            self.info[again as usize].level = Level::Varying;
            self.scope.push(again);
        }
    }

    /// A store that is left out where one's own place is not below a length.
    fn store_within(&mut self, stored: &[Value], length: usize) {
        let Some(place) = self.phase.place else {
            return;
        };
        let length = self.constant(Ty::Index, length as i64);
        let less_unsigned = "predicate = 6 : i64";
        let is_within = self.op("arith.cmpi", less_unsigned, &[place, length], Ty::I1);
        self.if_so(is_within, |this| this.push("memref.store", "", stored, &[]));
    }

    /// What happens where a condition holds.
    fn if_so(&mut self, condition: Value, write: impl FnOnce(&mut Self)) {
        let then = self.region(&[], |this| {
            write(this);
            this.push("scf.yield", "", &[], &[]);
        });
        let regions = vec![then, Default::default()];
        self.push_with("scf.if", "", &[condition], &[], regions);
    }

    /// A narrower integer as one of this type.
    fn widened(&mut self, ty: Ty) -> Value {
        let narrow = [Ty::I1, Ty::I8, Ty::I16][self.random.usize(0..3)];
        let value = self.find(narrow, Level::Varying);
        self.op("arith.extui", "", &[value], ty)
    }

    /// One value at one's own place of a buffer that holds such, if there is one.
    pub(super) fn store_of(&mut self, value: Value) {
        let (ty, class) = (self.ty(value), self.of(value).class);
        let writes = self.phase.writes.iter().copied();
        let is_view = |i: usize| matches!(self.buffers[i].role, Role::View { .. });
        let found = writes.filter(|i| self.buffers[*i].ty == ty && !is_view(*i));
        let found: Vec<usize> = found.collect();
        if let Some(buffer) = self.pick(&found)
            && let Some(place) = self.own_place(buffer)
        {
            self.buffers[buffer].class = self.buffers[buffer].class.join(class);
            let operands = [vec![value, self.buffers[buffer].value], place].concat();
            self.push("memref.store", "", &operands, &[]);
        }
    }

    /// The digest of all that is in scope, into a buffer of its own.
    pub(super) fn store_digest(&mut self) {
        let Some(place) = self.phase.place else {
            return;
        };
        let digest = self.digest(0);
        let length = Some(self.length);
        let memory = self.parameter(Ty::I64, length, Contents::Constant(0), Comparison::Same);
        self.push("memref.store", "", &[digest, memory, place], &[]);
    }

    /// A number that depends on every integer that came into scope after the first so
    /// many values: most values are used by nothing, and show nothing.
    pub(super) fn digest(&mut self, first: usize) -> Value {
        let is_integer = |v: &Value| self.of(*v).ty.is_some_and(|ty| !ty.is_float());
        let values = self.scope[first..].iter().copied();
        let values: Vec<Value> = values.filter(is_integer).collect();
        let mut digest = self.constant(Ty::I64, 0);
        let factor = self.constant(Ty::I64, 1_000_003);
        for value in values {
            let wide = match self.ty(value) {
                Ty::I64 => value,
                Ty::Index => self.op("arith.index_castui", "", &[value], Ty::I64),
                _ => self.op("arith.extui", "", &[value], Ty::I64),
            };
            let scaled = self.op("arith.muli", "", &[digest, factor], Ty::I64);
            digest = self.op("arith.addi", "", &[scaled, wide], Ty::I64);
        }
        digest
    }

    /// An integer that no other thread has.
    pub(super) fn own_number(&mut self, ty: Ty) -> Option<Value> {
        let place = self.phase.place?;
        matches!(ty, Ty::I32 | Ty::I64).then(|| self.op("arith.index_castui", "", &[place], ty))
    }

    /// Into a buffer of its own, since it is not the same on every target.
    pub(super) fn store_loose(&mut self, value: Value) {
        let Some(place) = self.phase.place else {
            return;
        };
        let ty = self.ty(value);
        let is_it = |b: &Buffer| b.role == Role::Loose && b.ty == ty;
        let memory = match self.buffers.iter().find(|b| is_it(b)) {
            Some(buffer) => buffer.value,
            None => {
                let contents = Contents::Constant(0);
                let value = self.parameter(ty, Some(self.length), contents, Comparison::Loose);
                self.buffers.push(Buffer {
                    value,
                    ty,
                    class: Class::Rounded,
                    role: Role::Loose,
                });
                value
            }
        };
        self.push("memref.store", "", &[value, memory, place], &[]);
    }

    /// What threads of a block tell each other in a shared array.
    pub(super) fn exchange(&mut self) {
        let ty = self.element();
        if self.phase.shared + shared_bytes(self.phase.threads, ty) > SHARED {
            return;
        }
        // The last exchange's readers have to be done.
        self.push(simt::BlockSync::NAME, "", &[], &[]);
        match self.random.usize(0..6) {
            0 | 1 if self.is_atomic(ty) => self.count_shared(ty),
            2 if self.is_atomic(ty) => self.mark_shared(ty),
            _ => self.pass_on(ty),
        }
        self.push(simt::BlockSync::NAME, "", &[], &[]);
    }

    /// Each thread writes its place of a shared array, all meet, and each reads wherever it likes.
    fn pass_on(&mut self, ty: Ty) {
        let length = self.phase.threads;
        let array = self.shared(length, ty);
        let thread = self.varying(simt::BlockThreadId::NAME, Ty::Index);
        let value = self.find(ty, Level::Varying);
        match self.one_in(4) && self.is_atomic(ty) {
            true => self.atomic_store(value, array, thread, "block"),
            false => self.push("memref.store", "", &[value, array, thread], &[]),
        }
        self.read_shared(array, length, ty, self.of(value).class);
    }

    /// All count in a few words.
    fn count_shared(&mut self, ty: Ty) {
        let (array, length) = self.cleared(ty);
        // LLVM's own loop for AMD begins with a plain load, which its oracle takes for a race.
        let kind = match (ty, self.counting_kind(ty)) {
            (Ty::F64, "add") => "minnumf",
            (_, kind) => kind,
        };
        let zero = Class::Exact { mag: 0, frac: 0 };
        let counted = self.counted(kind, ty, zero, self.phase.threads as usize);
        let mut class = zero;
        if let Some((value, sum)) = counted {
            let number = self.find(Ty::I32, Level::Varying);
            let place = self.place_of(number, length);
            self.rmw(kind, "block", value, array, place);
            class = sum;
        }
        self.read_shared(array, length, ty, class);
    }

    /// Some set a few words to one number. No atomic store does: in AMD's oracle two of one word are a race.
    fn mark_shared(&mut self, ty: Ty) {
        let (array, length) = self.cleared(ty);
        let number = self.random.i64(1..100);
        let desired = self.constant(ty, number);
        let any = self.find(Ty::I32, Level::Varying);
        let place = self.place_of(any, length);
        self.set(desired, array, place, "block");
        self.read_shared(array, length, ty, self.of(desired).class);
    }

    /// A shared array of a few words that are 0.
    fn cleared(&mut self, ty: Ty) -> (Value, i64) {
        let length = COUNTERS.min(self.phase.threads);
        let array = self.shared(length, ty);
        let thread = self.varying(simt::BlockThreadId::NAME, Ty::Index);
        let words = self.constant(Ty::Index, length);
        let zero = self.constant(ty, 0);
        let less_unsigned = "predicate = 6 : i64";
        let first = self.op("arith.cmpi", less_unsigned, &[thread, words], Ty::I1);
        self.if_so(first, |this| {
            this.push("memref.store", "", &[zero, array, thread], &[]);
        });
        self.push(simt::BlockSync::NAME, "", &[], &[]);
        (array, length)
    }

    /// Elements of a shared array, once all have written what they do.
    fn read_shared(&mut self, array: Value, length: i64, ty: Ty, class: Class) {
        self.push(simt::BlockSync::NAME, "", &[], &[]);
        for _ in 0..self.random.usize(1..3) {
            let level = [Level::Varying, Level::Block][self.random.usize(0..2)];
            let number = self.find(Ty::I32, level);
            let place = self.place_of(number, length);
            let read = match self.one_in(4) && self.is_atomic(ty) {
                true => self.atomic_load(array, place, ty, class, "block"),
                false => self.load_from(&[array, place], ty, class),
            };
            self.scope.push(read);
        }
    }

    /// A shared array, at the top of the phase.
    fn shared(&mut self, length: i64, ty: Ty) -> Value {
        let r#type = format!("memref<{length}x{ty}, #gpu.address_space<workgroup>>");
        let array = self.memory(r#type);
        self.phase.shared += shared_bytes(length, ty);
        let node = crate::program::Node {
            op: simt::BlockShared::NAME.into(),
            properties: String::new(),
            operands: Vec::new(),
            results: vec![array],
            regions: Vec::new(),
        };
        // The kernel's block, and then the phase's.
        self.blocks[self.phase.block].insert(0, node);
        array
    }

    /// An integer, of either sign more often than those that programs compute with.
    fn any_number(&mut self, ty: Ty) -> Value {
        let value = self.find(ty, Level::Varying);
        match self.random.bool() {
            true => {
                let factor = -1_640_531_527 >> (32 - ty.bits().min(32));
                let factor = self.constant(ty, factor);
                self.op("arith.muli", "", &[value, factor], ty)
            }
            false => value,
        }
    }

    /// A kind of atomics on a type.
    fn counting_kind(&mut self, ty: Ty) -> &'static str {
        let kinds = if ty.is_float() {
            OF_FLOATS
        } else {
            OF_INTEGERS
        };
        kinds[self.random.usize(0..kinds.len())].0
    }

    /// A value that each of so many threads may combine, once or in control flow, with a word of a class, and what class
    /// that word has then; none if its bits would depend on the order.
    fn counted(
        &mut self,
        kind: &str,
        ty: Ty,
        word: Class,
        threads: usize,
    ) -> Option<(Value, Class)> {
        if !ty.is_float() {
            return Some((self.any_number(ty), Class::Integer));
        }
        let value = self.find(ty, Level::Varying);
        if kind != "add" {
            return Some((value, Class::Rounded));
        }
        // Each loop has three rounds at most.
        let log = threads.next_power_of_two().ilog2() as i32 + 2 * self.phase.depth as i32;
        let one = self.constant(ty, 1);
        [value, one].into_iter().find_map(|value| {
            let sum = self.of(value).class.summed(log).join(word).summed(1);
            (sum.fitted(ty) != Class::Rounded).then_some((value, sum))
        })
    }

    fn rmw(&mut self, kind: &str, scope: &str, value: Value, memory: Value, place: Value) {
        let ty = self.ty(value);
        let order = ORDERS[self.random.usize(0..4)];
        let operands = [value, memory, place];
        // Upstream's, where it says the same: not of halves and booleans; nor, in shared memory, of doubles, for which LLVM has
        // its own loop on AMD, which begins with a plain load that the oracle takes for a race.
        let is_half_or_bool = ty.bits() < 8 || ty.bits() == 16 && ty.is_float();
        let is_looped = scope == "block" && ty == Ty::F64;
        if let Some(number) = upstream(kind, ty)
            && order == "relaxed"
            && !is_half_or_bool
            && !is_looped
            && self.random.bool()
        {
            let kind = format!("kind = {number} : i64");
            self.op("memref.atomic_rmw", &kind, &operands, ty);
            return;
        }
        // What was there before depends on which thread came first: it is not used.
        let kind = format!("kind = #qd.kind<{kind}>, {}", ordered(order, scope));
        self.op(grid::AtomicRmw::NAME, &kind, &operands, ty);
    }

    /// An atomic of the kind that a buffer of counters is for.
    pub(super) fn count(&mut self) {
        let ty = self.element();
        if !self.is_atomic(ty) {
            return;
        }
        let found: Vec<usize> = (0..self.buffers.len())
            .filter(|i| {
                let is_counter = matches!(self.buffers[*i].role, Role::Counters(_));
                is_counter && self.buffers[*i].ty == ty && !self.phase.reads.contains(i)
            })
            .collect();
        let is_new = self.one_in(3);
        let buffer = match self.pick(&found) {
            Some(buffer) if !is_new => buffer,
            _ => self.counters(ty),
        };
        let Buffer {
            value: memory,
            class,
            role: Role::Counters(kind),
            ..
        } = self.buffers[buffer]
        else {
            return;
        };
        let Some((value, class)) = self.counted(kind, ty, class, self.phase.invocations) else {
            return;
        };
        self.buffers[buffer].class = class;
        let number = self.find(Ty::I32, Level::Varying);
        let place = self.place_of(number, COUNTERS);
        self.rmw(kind, "device", value, memory, place);
    }

    /// A new buffer of counters.
    fn counters(&mut self, ty: Ty) -> usize {
        let kind = self.counting_kind(ty);
        let first = self.random.i64(-3..if ty.is_float() { 4 } else { 100 });
        let length = Some(COUNTERS as usize);
        let contents = Contents::Constant(first);
        let value = self.parameter(ty, length, contents, Comparison::Same);
        let class = match ty.is_float() {
            // A loop around phases counts again in each round.
            true if self.is_repeated => Class::Rounded,
            true => Class::Exact { mag: 2, frac: 0 },
            false => Class::Integer,
        };
        self.buffers.push(Buffer {
            value,
            ty,
            class,
            role: Role::Counters(kind),
        });
        self.buffers.len() - 1
    }

    /// An array of one's own: all of it written, then read anywhere; or one that is
    /// there, of which an element is written or read.
    pub(super) fn private(&mut self) {
        if !self.privates.is_empty() && self.random.bool() {
            let known = self.privates[self.random.usize(0..self.privates.len())];
            return self.private_again(known);
        }
        let ty = self.element();
        let length = 1 << self.random.i64(0..3);
        let array = self.memory(format!("memref<{length}x{ty}>"));
        self.push(
            "memref.alloca",
            "operandSegmentSizes = array<i32: 0, 0>",
            &[],
            &[array],
        );
        let mut class: Option<Class> = None;
        for i in 0..length {
            let place = self.constant(Ty::Index, i);
            let value = self.find(ty, Level::Varying);
            let of = self.of(value).class;
            class = Some(class.map_or(of, |class| class.join(of)));
            self.push("memref.store", "", &[value, array, place], &[]);
        }
        let number = self.find(Ty::I32, Level::Varying);
        let place = self.place_of(number, length);
        let read = self.load_from(&[array, place], ty, class.unwrap_or(Class::Rounded));
        self.info[read as usize].level = Level::Varying;
        self.scope.push(read);
        self.privates.push(Private { array, ty, length });
    }

    fn private_again(&mut self, Private { array, ty, length }: Private) {
        let number = self.find(Ty::I32, Level::Varying);
        let place = self.place_of(number, length);
        if self.one_in(3) {
            let value = self.find(ty, Level::Varying);
            return self.push("memref.store", "", &[value, array, place], &[]);
        }
        // In a loop, what is written below may be there.
        let class = if ty.is_float() {
            Class::Rounded
        } else {
            Class::Integer
        };
        let read = self.load_from(&[array, place], ty, class);
        self.info[read as usize].level = Level::Varying;
        self.scope.push(read);
    }

    /// An atomic store of, an exchange for, or a compare-and-swap to the one number that a word
    /// is to have once any thread has come by; or an atomic load of what is never written.
    pub(super) fn mark(&mut self) {
        if self.random.bool() {
            return self.load_atomically();
        }
        let ty = self.element();
        if !self.is_atomic(ty) {
            return;
        }
        let known = self.buffers.iter().find_map(|b| match b.role {
            Role::Marks(number) if b.ty == ty => Some((b.value, number)),
            _ => None,
        });
        let (memory, number) = known.unwrap_or_else(|| {
            let number = self.random.i64(1..100);
            let length = Some(COUNTERS as usize);
            let value = self.parameter(ty, length, Contents::Constant(0), Comparison::Same);
            self.buffers.push(Buffer {
                value,
                ty,
                class: Class::Integer,
                role: Role::Marks(number),
            });
            (value, number)
        });
        let desired = self.constant(ty, number);
        let any = self.find(Ty::I32, Level::Varying);
        let place = self.place_of(any, COUNTERS);
        match self.one_in(3) {
            true => self.atomic_store(desired, memory, place, "device"),
            false => self.set(desired, memory, place, "device"),
        }
    }

    /// An element that nobody writes.
    fn load_atomically(&mut self) {
        let reads = self.phase.reads.clone();
        let Some(buffer) = self.pick(&reads) else {
            return;
        };
        let Buffer {
            value,
            ty,
            class,
            role,
        } = self.buffers[buffer].clone();
        if role == Role::Elements && self.is_atomic(ty) {
            let place = self.any_place();
            let read = self.atomic_load(value, place, ty, class, "device");
            self.scope.push(read);
        }
    }

    fn atomic_load(
        &mut self,
        memory: Value,
        place: Value,
        ty: Ty,
        class: Class,
        scope: &str,
    ) -> Value {
        let order = ["relaxed", "acquire"][self.random.usize(0..2)];
        let read = self.op(
            grid::AtomicLoad::NAME,
            &ordered(order, scope),
            &[memory, place],
            ty,
        );
        self.info[read as usize].level = Level::Varying;
        self.info[read as usize].class = class;
        read
    }

    fn atomic_store(&mut self, value: Value, memory: Value, place: Value, scope: &str) {
        let order = ["relaxed", "release"][self.random.usize(0..2)];
        let operands = [value, memory, place];
        self.push(
            grid::AtomicStore::NAME,
            &ordered(order, scope),
            &operands,
            &[],
        );
    }

    /// Has a word that is 0 hold a value, or leaves it so: by an exchange or by a compare-and-swap.
    fn set(&mut self, desired: Value, memory: Value, place: Value, scope: &str) {
        let ty = self.ty(desired);
        let order = ORDERS[self.random.usize(0..4)];
        let order = ordered(order, scope);
        match self.random.bool() {
            true => {
                let expected = self.constant(ty, 0);
                let operands = [expected, desired, memory, place];
                self.op(grid::AtomicCas::NAME, &order, &operands, ty)
            }
            false => {
                let operands = [desired, memory, place];
                self.op(grid::AtomicExchange::NAME, &order, &operands, ty)
            }
        };
    }

    /// The rank of each thread's digit, and what the ranking leaves in its arrays.
    pub(super) fn rank(&mut self) {
        // The block is a multiple of the digits.
        let most = i64::from(self.phase.threads.trailing_zeros()).min(6);
        if most == 0 {
            return;
        }
        let bits = self.random.i64(1..=most);
        let subgroups = self.phase.threads / i64::from(self.least_wave);
        let counters = RANKING.min(shared_bytes(subgroups << bits, Ty::I32));
        let arrays = 2 * shared_bytes(1 << bits, Ty::I32);
        if self.phase.shared + arrays + counters > SHARED {
            return;
        }
        self.phase.shared += counters;
        let (histogram, prefix) = (
            self.shared(1 << bits, Ty::I32),
            self.shared(1 << bits, Ty::I32),
        );
        let any = self.find(Ty::I32, Level::Varying);
        let digit = self.masked(any, (1 << bits) - 1);
        self.push(simt::BlockSync::NAME, "", &[], &[]);
        let mut operands = vec![digit, histogram, prefix];
        let valid = self
            .random
            .bool()
            .then(|| self.find(Ty::I1, Level::Varying));
        operands.extend(valid);
        let properties = format!("radix_bits = {bits} : i32");
        let rank = self.op(simt::BlockRadixRank::NAME, &properties, &operands, Ty::I32);
        self.info[rank as usize].level = Level::Varying;
        let rank = match valid {
            Some(valid) => {
                let kept = self.op("arith.select", "", &[valid, rank, digit], Ty::I32);
                self.info[kept as usize].level = Level::Varying;
                kept
            }
            None => rank,
        };
        let place = self.op("arith.index_castui", "", &[digit], Ty::Index);
        let count = self.load_from(&[histogram, place], Ty::I32, Class::Integer);
        let before = self.load_from(&[prefix, place], Ty::I32, Class::Integer);
        self.push(simt::BlockSync::NAME, "", &[], &[]);
        self.scope.extend([rank, count, before]);
    }

    /// What computes nothing.
    pub(super) fn hint(&mut self, control: Level) {
        match self.random.usize(0..6) {
            4 if control >= Level::Subgroup && self.phase.meets() => {
                self.push(simt::Sync::NAME, "", &[], &[]);
            }
            5 => self.push(simt::MemFence::NAME, "", &[], &[]),
            0 => self.push(grid::MemFence::NAME, "", &[], &[]),
            1 if !self.phase.is_for_each => {
                self.push(simt::BlockMemFence::NAME, "", &[], &[]);
            }
            2 => {
                let reads = self.phase.reads.clone();
                if let Some(buffer) = self.pick(&reads) {
                    let place = self.any_place();
                    let memory = self.buffers[buffer].value;
                    let properties = "isDataCache = true, isWrite = false, localityHint = 2 : i32";
                    if self.buffers[buffer].role == Role::Elements {
                        self.push("memref.prefetch", properties, &[memory, place], &[]);
                    }
                }
            }
            _ => self.push(simt::Pause::NAME, "nanoseconds = 100 : i32", &[], &[]),
        }
    }
}

/// Upstream's number for a kind of atomics on a type, if it has one.
fn upstream(kind: &str, ty: Ty) -> Option<i64> {
    let kinds = if ty.is_float() {
        OF_FLOATS
    } else {
        OF_INTEGERS
    };
    kinds.iter().find(|(name, _)| *name == kind)?.1
}

/// An order and a scope as attributes.
fn ordered(order: &str, scope: &str) -> String {
    format!("order = #qd.order<{order}>, scope = #qd.scope<{scope}>")
}

/// What a shared array takes, where each of its elements is at least a word.
fn shared_bytes(length: i64, ty: Ty) -> i64 {
    length * ty.bits().max(32) / 8
}
