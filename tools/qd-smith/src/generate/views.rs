//! Buffers by other names: arguments that are parts of others, and views.

use super::{Buffer, Generator, Role};
use crate::{
    program::{Comparison, Contents, Value},
    types::{Class, Level, Ty},
};
use qd_dialects::ops::grid;

/// Extents of a row.
const ROWS: [&[usize]; 6] = [&[1], &[2], &[3], &[5], &[2, 3], &[4, 1]];

impl Generator<'_> {
    /// Arguments that are elements of others, where both say that they may be.
    pub(super) fn overlapping(&mut self) {
        for of in 0..self.buffers.len() {
            let Buffer { value, ty, .. } = self.buffers[of];
            if !self.parameters[of].may_alias || self.one_in(3) {
                continue;
            }
            let first = match self.one_in(3) {
                true => self.random.usize(0..self.length),
                false => 0,
            };
            let length = match self.one_in(3) {
                true => self.random.usize(1..=self.length - first),
                false => self.length - first,
            };
            let part = self.parameter(ty, Some(length), Contents::Constant(0), Comparison::Ignored);
            if let Some(parameter) = self.parameters.last_mut() {
                parameter.may_alias = true;
                parameter.part = Some((value, first));
            }
            self.seen(of, part, length, None);
        }
        // One that does not say so, which is an error if it or what it overlaps is written.
        let parts = self.parameters.iter_mut().filter(|p| p.part.is_some());
        if self.random.usize(0..4) == 0
            && let Some(part) = parts.last()
        {
            part.may_alias = false;
        }
    }

    /// Has what is all of another argument's buffer stand for that one: both are the same memory.
    pub(super) fn exchange_names(&mut self) {
        let is_argument = |of: Value| self.parameters.iter().any(|p| p.value == of && p.may_alias);
        let whole = self
            .buffers
            .iter()
            .enumerate()
            .find_map(|(part, buffer)| match buffer.role {
                Role::View { of, length, .. }
                    if length == self.length && is_argument(buffer.value) =>
                {
                    Some((part, of))
                }
                _ => None,
            });
        if let Some((part, of)) = whole
            && self.random.bool()
        {
            let name = self.buffers[part].value;
            self.buffers[part].value = std::mem::replace(&mut self.buffers[of].value, name);
        }
    }

    /// Part of a buffer, which phases read: of the same type, or of integers twice as
    /// wide.
    pub(super) fn view(&mut self) {
        let is_word = self.random.bool();
        let found: Vec<usize> = (0..self.buffers.len())
            .filter(|i| {
                let Buffer { ty, role, .. } = self.buffers[*i];
                role == Role::Elements && (ty == Ty::I32 || !is_word)
            })
            .collect();
        let Some(of) = self.pick(&found) else {
            return;
        };
        let Buffer {
            value, ty, class, ..
        } = self.buffers[of].clone();
        let to = match ty {
            Ty::I32 if self.random.bool() => Ty::I64,
            _ => ty,
        };
        let ratio = (to.bits() / ty.bits()) as usize;
        let first = self.random.usize(0..self.length / ratio) * ratio;
        let length = (self.length - first) / ratio;
        if length == 0 {
            return;
        }
        let at = self.constant(Ty::Index, first as i64);
        let extent = self.constant(Ty::Index, length as i64);
        let view = self.part_of(value, to, at, extent);
        self.buffers.push(Buffer {
            value: view,
            ty: to,
            class,
            role: Role::View {
                of,
                length,
                columns: None,
            },
        });
    }

    /// A buffer of elements, each of which is a thread's.
    pub(super) fn whole(&mut self) -> Option<usize> {
        let all = 0..self.buffers.len();
        let whole = |i: &usize| self.buffers[*i].role == Role::Elements;
        let found: Vec<usize> = all.filter(whole).collect();
        self.pick(&found)
    }

    /// What is read of a buffer in another way.
    fn seen(&mut self, of: usize, value: Value, length: usize, columns: Option<usize>) {
        let Buffer { ty, class, .. } = self.buffers[of];
        let role = Role::View {
            of,
            length,
            columns,
        };
        self.buffers.push(Buffer {
            value,
            ty,
            class,
            role,
        });
    }

    /// Whether one is a view of the other.
    pub(super) fn is_view_of(&self, view: usize, other: usize) -> bool {
        matches!(self.buffers[view].role, Role::View { of, .. } if of == other)
    }

    /// Whether a buffer or a view of it is among these.
    pub(super) fn is_among(&self, buffer: usize, others: &[usize]) -> bool {
        let is_it = |other: &usize| *other == buffer || self.is_view_of(*other, buffer);
        others.iter().any(is_it)
    }

    /// So many elements from some element on, as another buffer.
    pub(super) fn part_of(&mut self, memory: Value, ty: Ty, first: Value, length: Value) -> Value {
        let part = self.memory(format!("memref<?x{ty}>"));
        self.push(grid::View::NAME, "", &[memory, first, length], &[part]);
        part
    }

    /// Two arguments of rows of one kind.
    pub(super) fn rows(&mut self) {
        let ty = self.element();
        let row = ROWS[self.random.usize(0..ROWS.len())];
        let is_open = self.one_in(3);
        let length = Some(self.length);
        for _ in 0..2 {
            let (contents, same) = (Contents::Plain, Comparison::Same);
            let value = self.table_parameter(ty, length, row, is_open, contents, same);
            let class = match ty.is_float() {
                true => Class::Exact { mag: 4, frac: 2 },
                false => Class::Integer,
            };
            self.buffers.push(Buffer {
                value,
                ty,
                class,
                role: Role::Rows { row, is_open },
            });
        }
        if self.random.bool() {
            self.collapsed();
        }
    }

    /// Rows as elements of algorithms: of one extent that is known.
    pub(super) fn rows_to_move(&mut self) -> Vec<usize> {
        let is_such = |role| {
            matches!(
                role,
                Role::Rows {
                    row: [_],
                    is_open: false
                }
            )
        };
        let all = 0..self.buffers.len();
        all.filter(|i| is_such(self.buffers[*i].role)).collect()
    }

    /// So many rows of a buffer, from some row on.
    pub(super) fn some_rows(&mut self, of: usize, length: usize, columns: usize) -> Value {
        let Buffer { value, ty, .. } = self.buffers[of];
        let first = self.random.usize(0..=self.length - length);
        let view = self.memory(format!(
            "memref<?x{columns}x{ty}, strided<[{columns}, 1], offset: ?>>"
        ));
        let [first, length] = [first, length].map(|n| self.constant(Ty::Index, n as i64));
        let dynamic = i64::MIN;
        let properties = format!(
            "operandSegmentSizes = array<i32: 1, 1, 1, 0>, static_offsets = array<i64: {dynamic}, 0>, \
             static_sizes = array<i64: {dynamic}, {columns}>, static_strides = array<i64: 1, 1>"
        );
        self.push(
            "memref.subview",
            &properties,
            &[value, first, length],
            &[view],
        );
        view
    }

    /// The scalars of rows, one after the other; or all of their extents but the last as one.
    pub(super) fn collapsed(&mut self) {
        let rows = (0..self.buffers.len()).find_map(|i| match self.buffers[i].role {
            Role::Rows { row, is_open } => Some((i, row, is_open)),
            _ => None,
        });
        let Some((of, row, is_open)) = rows else {
            return;
        };
        let Buffer { value, ty, .. } = self.buffers[of];
        let scalars = self.length * row.iter().product::<usize>();
        let (groups, rest, columns) = match row {
            [_, last] if self.random.bool() => {
                let rest = if is_open {
                    "?x".into()
                } else {
                    format!("{last}x")
                };
                ("[[0, 1], [2]]", rest, Some(*last))
            }
            [_, _] => ("[[0, 1, 2]]", String::new(), None),
            _ => ("[[0, 1]]", String::new(), None),
        };
        let view = self.memory(format!("memref<?x{rest}{ty}>"));
        let properties = format!("reassociation = {groups}");
        self.push("memref.collapse_shape", &properties, &[value], &[view]);
        self.seen(of, view, scalars, columns);
    }

    /// Every so many elements of a buffer, as the host sees them.
    pub(super) fn strided(&mut self) {
        let Some(of) = self.whole() else { return };
        let Buffer { value, ty, .. } = self.buffers[of];
        let (first, stride) = (self.random.usize(0..self.length), self.random.usize(1..4));
        let length = (self.length - first).div_ceil(stride) + self.too_many();
        let view = self.memory(format!("memref<?x{ty}, strided<[{stride}], offset: ?>>"));
        let at = self.constant(Ty::Index, first as i64);
        let extent = self.constant(Ty::Index, length as i64);
        let dynamic = i64::MIN;
        let properties = format!(
            "operandSegmentSizes = array<i32: 1, 1, 1, 0>, static_offsets = array<i64: {dynamic}>, \
             static_sizes = array<i64: {dynamic}>, static_strides = array<i64: {stride}>"
        );
        self.push("memref.subview", &properties, &[value, at, extent], &[view]);
        self.seen(of, view, length, None);
    }

    /// A buffer, from some element on, as rows of which neither the number nor the length is known.
    pub(super) fn table(&mut self) {
        let Some(of) = self.whole() else { return };
        let Buffer { value, ty, .. } = self.buffers[of];
        let columns = self.random.usize(1..9);
        let first = self.random.usize(0..=self.length - columns);
        let rows = (self.length - first) / columns + self.too_many();
        let view = self.memory(format!("memref<?x?x{ty}, strided<[?, 1], offset: ?>>"));
        let numbers = [first, rows, columns, columns];
        let mut operands = vec![value];
        operands.extend(numbers.map(|number| self.constant(Ty::Index, number as i64)));
        let dynamic = i64::MIN;
        let properties = format!(
            "operandSegmentSizes = array<i32: 1, 1, 2, 1>, static_offsets = array<i64: {dynamic}>, \
             static_sizes = array<i64: {dynamic}, {dynamic}>, static_strides = array<i64: {dynamic}, 1>"
        );
        self.push("memref.reinterpret_cast", &properties, &operands, &[view]);
        self.seen(of, view, rows * columns, Some(columns));
    }

    /// By how many elements a view is too long: none, but once in a checked program.
    pub(super) fn too_many(&mut self) -> usize {
        match self.may_fail(2) {
            true => self.random.usize(1..1000),
            false => 0,
        }
    }

    /// A few elements of a buffer, copied to memory that nobody passes.
    pub(super) fn copied(&mut self) {
        let Some(of) = self.whole() else { return };
        let Buffer { value, ty, .. } = self.buffers[of];
        let length = [1, 3, 64][self.random.usize(0..3)];
        let scratch = self.memory(format!("memref<{length}x{ty}>"));
        self.push(grid::Scratch::NAME, "", &[], &[scratch]);
        let extent = self.constant(Ty::Index, length as i64);
        let index = self.scalar(Ty::Index, Level::Varying, Class::Integer);
        let body = self.region(&[index], |this| {
            let read = this.op("memref.load", "", &[value, index], ty);
            this.push("memref.store", "", &[read, scratch, index], &[]);
        });
        self.push_with(grid::ForEach::NAME, "", &[extent], &[], vec![body]);
        self.seen(of, scratch, length, None);
    }
}
