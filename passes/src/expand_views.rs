//! `qd-expand-views`: views that the host makes become parts of flat buffers, and index arithmetic.
//!
//! A launch passes a buffer as a pointer and one length. So what a kernel makes of its arguments at its top level by
//! `memref.subview`, `memref.collapse_shape` and `memref.reinterpret_cast`, and an argument of which several extents
//! are dynamic, do not reach a body: the body gets a `qd.grid.view` of the elements in a row, and offsets, extents and
//! strides as scalars that the host computes. A subview that a body takes of such a view is expanded with it. A step
//! that takes a buffer as a whole (an algorithm, a count, a flag, a fill) gets the `qd.grid.view` itself.
//!
//! Errors: a step that takes a whole buffer and is given one with gaps, or of more than elements or rows; a view that is
//! used in a way that is not known, such as carried by a loop; a `reinterpret_cast` of a buffer with a layout, whose
//! offset would count from elsewhere.
//!
//! Limits: all other buffers, arguments of several dimensions with one dynamic extent among them, stay as they are.
//! Indices are not checked, here as elsewhere.
//!
//! Before:
//! ```mlir
//! qd.grid.kernel @k(%a: memref<?x?xf32>, %from: index, %n: index) {
//!   %s = memref.subview %a[%from, 0] [%n, 1] [1, 1] : memref<?x?xf32> to memref<?xf32, strided<[?], offset: ?>>
//!   qd.grid.for_each %i to %n { %x = memref.load %s[%i] : memref<?xf32, strided<[?], offset: ?>> }
//! }
//! ```
//! After:
//! ```mlir
//! qd.grid.kernel @k(%a: memref<?x?xf32>, %from: index, %n: index) {
//!   %rows, %columns = dims of %a
//!   %all = arith.muli %rows, %columns : index
//!   %flat = qd.grid.view %a[%c0] [%all] : memref<?x?xf32> to memref<?xf32>
//!   %start = arith.muli %from, %columns : index
//!   %rest = arith.subi %all, %start : index
//!   %part = qd.grid.view %flat[%start] [%rest] : memref<?xf32> to memref<?xf32>
//!   qd.grid.for_each %i to %n {
//!     %at = arith.muli %i, %columns : index
//!     %x = memref.load %part[%at] : memref<?xf32>
//!   }
//! }
//! ```

use crate::{expand_dims::constant_dimension, outline_phases};
use qd_dialects::{
    attributes,
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    interfaces::accessed,
    ir::{Key, Op, OpExt, Value, ValueExt, arguments, as_memref, element_type},
    melior::{
        dialect::DialectHandle,
        ir::{Attribute, Location, ShapedTypeLike, Type, ValueLike, r#type::DimSize},
    },
    ops::{algo, grid},
    pass::{NoOptions, Pass},
};
use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
    rc::Rc,
};

/// The pass.
pub struct ExpandViews;

impl Pass for ExpandViews {
    type Options = NoOptions;
    const NAME: &'static str = "qd-expand-views";
    const SUMMARY: &'static str = "Expand views that the host makes into parts of flat buffers";

    fn dialects() -> Vec<DialectHandle> {
        vec![DialectHandle::arith(), DialectHandle::memref()]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        outline_phases::kernels(module)
            .into_iter()
            .try_for_each(expand)
    }
}

/// Ops that make views, as the host and bodies may.
pub(crate) const SUBVIEW: &str = "memref.subview";
/// See [`SUBVIEW`].
pub(crate) const COLLAPSE: &str = "memref.collapse_shape";
/// See [`SUBVIEW`].
pub(crate) const REINTERPRET: &str = "memref.reinterpret_cast";

/// Where the elements of a view are.
struct Layout<'c> {
    /// Rank 1, contiguous.
    flat: Value<'c>,
    /// The element of `flat` at which it starts.
    start: Value<'c>,
    sizes: Vec<Value<'c>>,
    strides: Vec<Value<'c>>,
    /// Whether its elements follow each other, in order.
    is_contiguous: bool,
    /// Before which op of the host the part of `flat` may be made that a body gets; none for a view that a body
    /// takes of such a part.
    at: Option<Op<'c>>,
    part: Cell<Option<Value<'c>>>,
    /// For messages.
    location: Location<'c>,
}

struct Views<'c> {
    kernel: Op<'c>,
    known: HashMap<Key, Rc<Layout<'c>>>,
    /// Arguments, by their layout.
    whole: HashSet<Key>,
}

fn expand(kernel: Op<'_>) -> Result<'_> {
    let Some(body) = kernel.body() else {
        return Ok(());
    };
    let mut views = Views {
        kernel,
        known: HashMap::new(),
        whole: HashSet::new(),
    };
    let all = kernel.nested();
    for argument in arguments(body) {
        let extents = extents(argument.r#type());
        if extents.iter().skip(1).any(Option::is_none) && !argument.uses().is_empty() {
            views.base(argument);
        }
    }
    let mut expanded = Vec::new();
    for op in all {
        if let Some(layout) = views.layout(op)? {
            views.known.insert(op.first_result().key(), Rc::new(layout));
            expanded.push(op);
            continue;
        }
        views.uses(op)?;
    }
    for op in expanded.into_iter().rev() {
        op.erase();
    }
    Ok(())
}

/// The extents of a buffer, where they are static; empty for what is no buffer.
fn extents(r#type: Type<'_>) -> Vec<Option<i64>> {
    let Some(memref) = as_memref(r#type) else {
        return Vec::new();
    };
    let extent = |at| match memref.dim_size(at) {
        Ok(DimSize::Static(extent)) => Some(extent as i64),
        _ => None,
    };
    (0..memref.rank()).map(extent).collect()
}

fn is_identity(r#type: Type<'_>) -> bool {
    as_memref(r#type).is_some_and(|memref| memref.affine_map().is_identity())
}

fn is_one(value: Value<'_>) -> bool {
    value.constant_int() == Some(1)
}

fn same(a: Value<'_>, b: Value<'_>) -> bool {
    a == b || (a.constant_int().is_some() && a.constant_int() == b.constant_int())
}

fn product<'c>(b: &Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    match (x.constant_int(), y.constant_int()) {
        (Some(x), Some(y)) => b.index(x.wrapping_mul(y)).value(),
        (Some(1), _) | (_, Some(0)) => y,
        (_, Some(1)) | (Some(0), _) => x,
        _ => (b.v(x) * b.v(y)).value(),
    }
}

fn sum<'c>(b: &Builder<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    match (x.constant_int(), y.constant_int()) {
        (Some(x), Some(y)) => b.index(x.wrapping_add(y)).value(),
        (Some(0), _) => y,
        (_, Some(0)) => x,
        _ => (b.v(x) + b.v(y)).value(),
    }
}

/// A buffer's type without a layout.
fn buffer_type<'c>(b: &Builder<'c>, extents: &[Option<i64>], element: Type<'c>) -> Type<'c> {
    let extents = extents.iter().map(|extent| match extent {
        None => "?x".into(),
        Some(extent) => format!("{extent}x"),
    });
    let text = format!("memref<{}{element}>", extents.collect::<String>());
    Type::parse(b.context(), &text).expect("a scalar element")
}

/// `offsets`, `sizes` and `strides` of an op, in the order of its operands.
pub(crate) fn written<'c>(b: &Builder<'c>, op: Op<'c>) -> [Vec<Value<'c>>; 3] {
    let mut computed = op.operand_values().into_iter().skip(1);
    ["static_offsets", "static_sizes", "static_strides"].map(|name| {
        let numbers = op.attr(name).map(attributes::i64s).unwrap_or_default();
        let value = |number| match number {
            // MLIR's number for what is an operand.
            i64::MIN => computed.next().unwrap_or_else(|| b.index(0).value()),
            number => b.index(number).value(),
        };
        numbers.into_iter().map(value).collect()
    })
}

/// Whether the host evaluates an op.
pub(crate) fn is_hosts(op: Op<'_>) -> bool {
    op.parent()
        .is_some_and(|around| around.is(grid::Kernel::NAME) || outline_phases::is_sequence(around))
}

impl<'c> Views<'c> {
    /// The layout of a buffer that is no view, as one that is flat.
    fn base(&mut self, buffer: Value<'c>) -> Option<Rc<Layout<'c>>> {
        if let Some(known) = self.known.get(&buffer.key()) {
            return Some(Rc::clone(known));
        }
        let next = match buffer.defining_op() {
            Some(op) => op.next_in_block()?,
            None => self.kernel.body()?.first_operation()?,
        };
        let b = Builder::before(next);
        let sizes = extents(buffer.r#type()).into_iter().enumerate();
        let sizes: Vec<_> = sizes
            .map(|(at, extent)| match extent {
                Some(extent) => b.index(extent).value(),
                None => {
                    let operands = [b.v(buffer), b.index(at as i64)];
                    b.result("memref.dim", &operands, b.index_type(), &[])
                        .value()
                }
            })
            .collect();
        let mut strides = vec![b.index(1).value(); sizes.len()];
        for at in (1..sizes.len()).rev() {
            strides[at - 1] = product(&b, strides[at], sizes[at]);
        }
        let flat = match sizes.len() {
            1 => buffer,
            0 => part(&b, buffer, b.index(0).value(), b.index(1).value()),
            _ => {
                let all = product(&b, sizes[0], strides[0]);
                part(&b, buffer, b.index(0).value(), all)
            }
        };
        let layout = Rc::new(Layout {
            flat,
            start: b.index(0).value(),
            sizes,
            strides,
            is_contiguous: true,
            at: Some(next),
            part: Cell::new(Some(flat)),
            location: buffer.defining_op().unwrap_or(self.kernel).location(),
        });
        if buffer.defining_op().is_none() {
            self.whole.insert(buffer.key());
            self.known.insert(buffer.key(), Rc::clone(&layout));
        }
        Some(layout)
    }

    /// What an op makes, if it is a view that is expanded.
    fn layout(&mut self, op: Op<'c>) -> Result<'c, Option<Layout<'c>>> {
        let kind = op.full_name();
        if ![SUBVIEW, COLLAPSE, REINTERPRET, "memref.cast"].contains(&kind) {
            return Ok(None);
        }
        let source = op.operand_values()[0];
        let known = self.known.get(&source.key()).cloned();
        let from = match known {
            Some(known) => known,
            // In a body, and of no view of the host's: conversions know it.
            None if !is_hosts(op) || kind == "memref.cast" => return Ok(None),
            None => match self.base(source) {
                Some(base) => base,
                None => return Ok(None),
            },
        };
        let b = Builder::before(op);
        let mut made = match is_hosts(op) {
            true => Layout {
                flat: from.flat,
                start: from.start,
                sizes: Vec::new(),
                strides: Vec::new(),
                is_contiguous: from.is_contiguous,
                at: Some(op),
                part: Cell::new(None),
                location: op.location(),
            },
            false => {
                let (flat, start) = from.in_body(&b);
                Layout {
                    flat,
                    start,
                    sizes: Vec::new(),
                    strides: Vec::new(),
                    is_contiguous: from.is_contiguous,
                    at: None,
                    part: Cell::new(None),
                    location: op.location(),
                }
            }
        };
        match kind {
            SUBVIEW => sub_view(&b, op, &from, &mut made),
            COLLAPSE => collapse(&b, op, &from, &mut made),
            REINTERPRET => {
                if !is_identity(source.r#type()) {
                    let message = format!(
                        "is of a buffer with a layout, {}: its offset would not count from that buffer's \
                         first element",
                        source.r#type()
                    );
                    return Err(Diagnostic::at(op, message));
                }
                let [offsets, sizes, strides] = written(&b, op);
                for offset in offsets {
                    made.start = sum(&b, made.start, offset);
                }
                made.is_contiguous = follows(&sizes, &strides);
                (made.sizes, made.strides) = (sizes, strides);
            }
            _ => {
                made.sizes = from.sizes.clone();
                made.strides = from.strides.clone();
            }
        }
        Ok(Some(made))
    }

    /// Replaces the views that an op uses.
    fn uses(&mut self, op: Op<'c>) -> Result<'c> {
        // What a predicate asks of an argument the host knows.
        if op
            .parent()
            .is_some_and(|around| around.is(grid::Variant::NAME))
        {
            return Ok(());
        }
        let operands = op.operand_values();
        for (index, operand) in operands.into_iter().enumerate() {
            let Some(layout) = self.known.get(&operand.key()).cloned() else {
                continue;
            };
            let name = op.full_name();
            if name == "memref.dim" {
                let at = constant_dimension(op).and_then(|at| usize::try_from(at).ok());
                if let Some(size) = at.and_then(|at| layout.sizes.get(at)) {
                    op.replace_with(&[*size]);
                }
                return Ok(());
            }
            if accessed(op) == Some(index) {
                access(op, index, &layout);
                return Ok(());
            }
            let is_whole = matches!(
                name,
                grid::Fill::NAME
                    | grid::DoWhile::NAME
                    | grid::If::NAME
                    | grid::ForEach::NAME
                    | grid::Dispatch::NAME
                    | grid::View::NAME
            ) || (name.starts_with(algo::PREFIX) && outline_phases::is_step(op));
            let has_known_rows = || {
                let extents = extents(operand.r#type());
                extents.iter().skip(1).all(Option::is_some)
            };
            let is_argument = self.whole.contains(&operand.key());
            if is_argument && (name == grid::Dispatch::NAME || (is_whole && has_known_rows())) {
                // Passed on as it is.
                continue;
            }
            if !is_whole || layout.at.is_none() {
                let message = "uses a view that the host makes in a way that is not known: load and store its \
                               elements, or take subviews of it";
                return Err(Diagnostic::at(op, message).note(layout.location, "the view"));
            }
            let buffer = layout.as_buffer(op, operand.r#type())?;
            op.set_operand_at(index, buffer);
        }
        Ok(())
    }
}

impl<'c> Layout<'c> {
    /// What a body gets of it, and the element of that at which it starts.
    fn in_body(&self, b: &Builder<'c>) -> (Value<'c>, Value<'c>) {
        let Some(at) = self.at else {
            return (self.flat, self.start);
        };
        let part = self.part.get().unwrap_or_else(|| {
            let b = Builder::before(at);
            let made = if self.is_contiguous {
                let one = b.index(1).value();
                let all = self
                    .sizes
                    .iter()
                    .fold(one, |all, size| product(&b, all, *size));
                part(&b, self.flat, self.start, all)
            } else if self.start.constant_int() == Some(0) {
                self.flat
            } else {
                let all = b.v(self.flat).len();
                let rest = all - b.v(self.start);
                part(&b, self.flat, self.start, rest.value())
            };
            self.part.set(Some(made));
            made
        });
        (part, b.index(0).value())
    }

    /// It as a buffer of an element, of elements or of rows, without a layout, for a step that takes it whole.
    fn as_buffer(&self, user: Op<'c>, r#type: Type<'c>) -> Result<'c, Value<'c>> {
        let error =
            |message: String| Err(Diagnostic::at(user, message).note(self.location, "the view"));
        let extents = extents(r#type);
        if let [_, None] | [_, _, _, ..] = extents[..] {
            return error(format!(
                "takes a buffer of elements whole, or of rows whose extent is known, but is given a view, {type}"
            ));
        }
        // Of one element the stride does not matter.
        let is_one_element = self.sizes.iter().all(|size| is_one(*size));
        if !is_one_element && !follows(&self.sizes, &self.strides) {
            return error(
                "takes a buffer whole, whose elements must follow each other, but is given a view with a \
                 stride: copy its elements in a 'qd.grid.for_each'"
                    .into(),
            );
        }
        let Some(at) = self.at else {
            return Ok(self.flat);
        };
        let b = Builder::before(at);
        let mut operands = vec![b.v(self.flat), b.v(self.start)];
        operands.extend(self.sizes.first().map(|size| b.v(*size)));
        let made = buffer_type(&b, &extents, element_type(r#type).unwrap_or(r#type));
        Ok(b.result(grid::View::NAME, &operands, made, &[]).value())
    }
}

/// Whether elements with these strides follow each other: each stride is, as written, the product of the extents
/// behind it.
fn follows(sizes: &[Value<'_>], strides: &[Value<'_>]) -> bool {
    let Some(last) = strides.last() else {
        return true;
    };
    let is_product = |stride: Value, of: [Value; 2]| {
        if is_one(of[1]) {
            return same(stride, of[0]);
        }
        if let [Some(x), Some(y)] = of.map(ValueExt::constant_int) {
            return stride.constant_int() == Some(x.wrapping_mul(y));
        }
        let made = stride.defining_op().filter(|op| op.is("arith.muli"));
        made.is_some_and(|op| {
            let by = op.operand_values();
            by[..] == of || (by[0] == of[1] && by[1] == of[0])
        })
    };
    is_one(*last)
        && (1..strides.len()).all(|at| is_product(strides[at - 1], [sizes[at], strides[at]]))
}

/// `size` elements of a buffer from `start`.
fn part<'c>(b: &Builder<'c>, of: Value<'c>, start: Value<'c>, size: Value<'c>) -> Value<'c> {
    let element = element_type(of.r#type()).expect("a buffer");
    let operands = [b.v(of), b.v(start), b.v(size)];
    let made = b.buffer_type(element);
    b.result(grid::View::NAME, &operands, made, &[]).value()
}

fn sub_view<'c>(b: &Builder<'c>, op: Op<'c>, from: &Layout<'c>, made: &mut Layout<'c>) {
    let [offsets, sizes, strides] = written(b, op);
    for (offset, stride) in offsets.iter().zip(&from.strides) {
        made.start = sum(b, made.start, product(b, *offset, *stride));
    }
    // The first extent that is more than 1 may be part of the source's; those behind it are whole.
    let partial = sizes.iter().position(|size| !is_one(*size));
    let is_whole = |at: usize| same(sizes[at], from.sizes[at]);
    made.is_contiguous &= strides.iter().all(|stride| is_one(*stride))
        && partial.is_none_or(|partial| (partial + 1..sizes.len()).all(is_whole));
    let wanted = extents(op.first_result().r#type());
    let mut to_drop = sizes.len() - wanted.len();
    for (at, size) in sizes.into_iter().enumerate() {
        let kept = made.sizes.len();
        if to_drop > 0 && is_one(size) && wanted.get(kept) != Some(&Some(1)) {
            to_drop -= 1;
            continue;
        }
        made.sizes.push(size);
        made.strides.push(product(b, strides[at], from.strides[at]));
    }
}

fn collapse<'c>(b: &Builder<'c>, op: Op<'c>, from: &Layout<'c>, made: &mut Layout<'c>) {
    let groups = op.attr("reassociation").map(attributes::elements);
    for group in groups.unwrap_or_default() {
        let group: Vec<_> = attributes::elements(group)
            .into_iter()
            .filter_map(attributes::int)
            .map(|at| at as usize)
            .collect();
        let one = b.index(1).value();
        let all = group
            .iter()
            .fold(one, |all, at| product(b, all, from.sizes[*at]));
        // Of an extent of 1 the stride does not matter.
        let innermost = group.iter().rev().find(|at| !is_one(from.sizes[**at]));
        let innermost = innermost.or(group.last());
        made.sizes.push(all);
        made.strides
            .push(innermost.map_or(one, |at| from.strides[*at]));
    }
}

/// Makes an op access the element of a flat buffer that it accesses by indices of a view.
fn access<'c>(op: Op<'c>, memref: usize, layout: &Layout<'c>) {
    let b = Builder::before(op);
    let operands = op.operand_values();
    let (flat, mut at) = layout.in_body(&b);
    for (index, stride) in operands[memref + 1..].iter().zip(&layout.strides) {
        at = sum(&b, at, product(&b, *index, *stride));
    }
    let mut with: Vec<Value<'c>> = operands[..memref].to_vec();
    with.extend([flat, at]);
    let types: Vec<_> = op
        .result_values()
        .iter()
        .map(|value| value.r#type())
        .collect();
    let named: Vec<(String, Attribute<'c>)> = op
        .attributes()
        .filter_map(|(name, value)| Some((name.as_string_ref().as_str().ok()?.to_string(), value)))
        .collect();
    let named: Vec<_> = named
        .iter()
        .map(|(name, value)| (&**name, *value))
        .collect();
    let results = b.op(op.full_name(), &with, &types, &named).result_values();
    op.replace_with(&results);
}
