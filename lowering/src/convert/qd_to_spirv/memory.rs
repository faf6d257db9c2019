//! Memory: the replacement of memrefs.
//!
//! A memref becomes a pointer to its memory and an offset, both known at each use
//! of the memref; loads, stores and atomics become accesses at that address. It
//! follows that a branch may not choose a memref.

use super::{
    atomics::Reached,
    types::{self, Storage},
};
use crate::convert::descriptor;
use melior::ir::{Type, ValueLike};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{self, Key, Op, OpExt, Value, ValueExt},
    melior,
    ops::{grid, simt},
};
use std::collections::HashMap;

/// An extent or a stride, in elements.
#[derive(Clone, Copy)]
pub(super) enum Extent<'c> {
    Static(i64),
    Dynamic(Value<'c>),
}

impl<'c> Extent<'c> {
    fn value<'b>(self, b: &'b Builder<'c>) -> V<'b, 'c> {
        match self {
            Extent::Static(value) => b.index(value),
            Extent::Dynamic(value) => b.v(value),
        }
    }

    fn times(self, b: &Builder<'c>, other: Self) -> Self {
        match (self, other) {
            (Extent::Static(x), Extent::Static(y)) => Extent::Static(x * y),
            (Extent::Static(1), other) => other,
            (this, Extent::Static(1)) => this,
            (this, other) => Extent::Dynamic((this.value(b) * other.value(b)).value()),
        }
    }

    fn plus(self, b: &Builder<'c>, other: Self) -> Self {
        match (self, other) {
            (Extent::Static(x), Extent::Static(y)) => Extent::Static(x + y),
            (Extent::Static(0), other) => other,
            (this, Extent::Static(0)) => this,
            (this, other) => Extent::Dynamic((this.value(b) + other.value(b)).value()),
        }
    }
}

/// Where a memref's elements are.
#[derive(Clone)]
pub(super) struct Place<'c> {
    /// To a block of elements, or to an array of known size.
    pointer: Value<'c>,
    storage: Storage,
    /// The elements as they are in memory.
    stored: Type<'c>,
    offset: Extent<'c>,
    sizes: Vec<Extent<'c>>,
    strides: Vec<Extent<'c>>,
}

impl<'c> Place<'c> {
    /// All of what `pointer` points to, row-major, of the extents of `memref`;
    /// `length` is its leading one where that is not static.
    pub(super) fn whole(
        b: &Builder<'c>,
        pointer: V<'_, 'c>,
        storage: Storage,
        memref: Type<'c>,
        length: Option<V<'_, 'c>>,
    ) -> Self {
        let extents = descriptor::shape(memref).unwrap_or_default();
        let sizes: Vec<_> = extents
            .into_iter()
            .map(|extent| match (extent, length) {
                (Some(extent), _) => Extent::Static(extent),
                (None, Some(length)) => Extent::Dynamic(length.value()),
                (None, None) => Extent::Static(0),
            })
            .collect();
        let mut strides = vec![Extent::Static(1); sizes.len()];
        for i in (1..sizes.len()).rev() {
            strides[i - 1] = strides[i].times(b, sizes[i]);
        }
        Self {
            pointer: pointer.value(),
            storage,
            stored: stored(b, memref, storage),
            offset: Extent::Static(0),
            sizes,
            strides,
        }
    }

    /// The pointer to the element at these indices, seen as `to`.
    fn element<'b>(&self, b: &'b Builder<'c>, indices: &[Value<'c>], to: Type<'c>) -> V<'b, 'c> {
        let mut at = self.offset;
        for (index, stride) in indices.iter().zip(&self.strides) {
            at = at.plus(b, Extent::Dynamic(*index).times(b, *stride));
        }
        let pointer = types::pointer(b, &to.to_string(), self.storage);
        let base = b.v(self.pointer);
        let at = at.value(b);
        match self.storage {
            Storage::Device if descriptor::same(to, self.stored) => {
                types::access(b, base, &[types::constant(b, 0), at], pointer)
            }
            Storage::Device => {
                let seen = types::pointer(b, &types::buffer(to), self.storage);
                let base = b.result("spirv.Bitcast", &[base], seen, &[]);
                types::access(b, base, &[types::constant(b, 0), at], pointer)
            }
            Storage::Workgroup | Storage::Words | Storage::Function => {
                types::access(b, base, &[at], pointer)
            }
        }
    }
}

/// The elements of a memref as they are in memory: booleans are bytes, and floats
/// in shared memory are integers, which is what atomics are of. SPIR-V has no
/// other view of such memory.
pub(super) fn stored<'c>(b: &Builder<'c>, memref: Type<'c>, storage: Storage) -> Type<'c> {
    let element = ir::element_type(memref).expect("a memref");
    let bits = ir::bit_width(element);
    if descriptor::same(element, b.index_type()) {
        b.int_type(64)
    } else if storage == Storage::Words {
        b.int_type(bits.max(32))
    } else if bits == 1 {
        b.int_type(8)
    } else if storage == Storage::Workgroup {
        b.int_type(bits)
    } else {
        element
    }
}

/// Replaces every memref below a function, given those that it has from
/// elsewhere.
pub(super) fn convert<'c>(function: Op<'c>, mut places: HashMap<Key, Place<'c>>) -> Result<'c> {
    let mut gone = Vec::new();
    for op in function.nested() {
        let b = &Builder::before(op);
        match op.full_name() {
            "memref.load" => load(b, op, &places)?,
            "memref.store" => store(b, op, &places)?,
            "memref.dim" => dim(b, op, &places)?,
            grid::AtomicLoad::NAME
            | grid::AtomicStore::NAME
            | grid::AtomicRmw::NAME
            | grid::AtomicExchange::NAME
            | grid::AtomicCas::NAME
            | "memref.atomic_rmw" => atomic(b, op, &places)?,
            "memref.cast" | "memref.memory_space_cast" => {
                let mut place = place(op, 0, &places)?.clone();
                resize(&mut place, op);
                places.insert(op.first_result().key(), place);
                gone.push(op);
            }
            "memref.subview" => {
                let place = subview(b, op, place(op, 0, &places)?)?;
                places.insert(op.first_result().key(), place);
                gone.push(op);
            }
            grid::View::NAME => {
                let place = view(b, op, place(op, 0, &places)?)?;
                places.insert(op.first_result().key(), place);
                gone.push(op);
            }
            "memref.alloca" => {
                let place = alloca(op)?;
                places.insert(op.first_result().key(), place);
                gone.push(op);
            }
            // Its place came with the function.
            simt::BlockShared::NAME => gone.push(op),
            _ => {
                if let Some(memref) = memref_of(op) {
                    return Err(Diagnostic::at(
                        op,
                        format!(
                            "passes on a '{memref}', which SPIR-V has no form for: \
                             each access must name the memory it is to"
                        ),
                    ));
                }
            }
        }
    }
    for op in gone.into_iter().rev() {
        op.erase();
    }
    Ok(())
}

/// A memref that an op takes or yields.
fn memref_of<'c>(op: Op<'c>) -> Option<Type<'c>> {
    let mut values = op.operand_values();
    values.extend(op.result_values());
    values
        .into_iter()
        .map(|value| value.r#type())
        .find(|r#type| descriptor::shape(*r#type).is_some())
}

fn place<'p, 'c>(
    op: Op<'c>,
    operand: usize,
    places: &'p HashMap<Key, Place<'c>>,
) -> Result<'c, &'p Place<'c>> {
    places
        .get(&op.operand_values()[operand].key())
        .ok_or_else(|| {
            Diagnostic::at(
                op,
                "accesses memory that a branch has chosen, which SPIR-V cannot",
            )
        })
}

fn load<'c>(b: &Builder<'c>, op: Op<'c>, places: &HashMap<Key, Place<'c>>) -> Result<'c> {
    let place = place(op, 0, places)?;
    let pointer = place.element(b, &op.operand_values()[1..], place.stored);
    let attributes = types::accessing(b, place.storage, place.stored);
    let value = b.result("spirv.Load", &[pointer], place.stored, &attributes);
    op.replace_with(&[from_stored(value, op.first_result().r#type()).value()]);
    Ok(())
}

fn store<'c>(b: &Builder<'c>, op: Op<'c>, places: &HashMap<Key, Place<'c>>) -> Result<'c> {
    let place = place(op, 1, places)?;
    let operands = op.operand_values();
    let pointer = place.element(b, &operands[2..], place.stored);
    let value = to_stored(b.v(operands[0]), place.stored);
    let attributes = types::accessing(b, place.storage, place.stored);
    b.op(
        "spirv.Store",
        &[pointer.value(), value.value()],
        &[],
        &attributes,
    );
    op.erase();
    Ok(())
}

fn from_stored<'b, 'c>(value: V<'b, 'c>, r#type: Type<'c>) -> V<'b, 'c> {
    match ir::is_float(r#type) {
        true => value.bitcast(r#type),
        false if ir::bit_width(r#type) == 1 => value.ne(0),
        false => value.cast(r#type),
    }
}

fn to_stored<'b, 'c>(value: V<'b, 'c>, stored: Type<'c>) -> V<'b, 'c> {
    match value.is_float() {
        true => value.bitcast(stored),
        false => value.cast(stored),
    }
}

/// An atomic operation on an element.
fn atomic<'c>(b: &Builder<'c>, op: Op<'c>, places: &HashMap<Key, Place<'c>>) -> Result<'c> {
    let operands = op.operand_values();
    let memref = operands
        .iter()
        .position(|operand| descriptor::shape(operand.r#type()).is_some())
        .expect("an atomic op has a memref");
    let place = place(op, memref, places)?;
    let element = ir::element_type(operands[memref].r#type()).expect("a memref");
    let reached = Reached::of(b, element, place.storage, |to| {
        place.element(b, &operands[memref + 1..], to)
    });
    let values = b.vs(&operands[..memref]);
    let old = match op.full_name() {
        grid::AtomicLoad::NAME => Some(reached.load(op)),
        grid::AtomicStore::NAME => {
            reached.exchange(op, values[0]);
            None
        }
        grid::AtomicExchange::NAME => Some(reached.exchange(op, values[0])),
        grid::AtomicCas::NAME => Some(reached.compare_and_swap(op, [values[0], values[1]])),
        _ => Some(reached.read_modify_write(op, values[0])?),
    };
    let old: Vec<_> = old.iter().map(|old| old.value()).collect();
    op.replace_with(&old);
    Ok(())
}

fn dim<'c>(b: &Builder<'c>, op: Op<'c>, places: &HashMap<Key, Place<'c>>) -> Result<'c> {
    let place = place(op, 0, places)?;
    let index = op.operand_values()[1].constant_int();
    let size = index.and_then(|index| place.sizes.get(usize::try_from(index).ok()?));
    let Some(size) = size else {
        return Err(Diagnostic::at(
            op,
            "takes the extent of a dimension that is not a constant",
        ));
    };
    op.replace_with(&[size.value(b).value()]);
    Ok(())
}

/// A cast may learn an extent, which the place knows anyway, or forget one.
fn resize<'c>(place: &mut Place<'c>, op: Op<'c>) {
    let extents = descriptor::shape(op.first_result().r#type()).unwrap_or_default();
    for (size, extent) in place.sizes.iter_mut().zip(extents) {
        if let Some(extent) = extent {
            *size = Extent::Static(extent);
        }
    }
}

fn view<'c>(b: &Builder<'c>, op: Op<'c>, source: &Place<'c>) -> Result<'c, Place<'c>> {
    let view = grid::View::cast(op);
    let r#type = view.result().r#type();
    let stored = stored(b, r#type, Storage::Device);
    if source.storage != Storage::Device {
        return Err(Diagnostic::at(
            op,
            "is a view of memory that belongs to no buffer",
        ));
    }
    // A view starts at a multiple of both sizes.
    let (from, to) = (ir::bit_width(source.stored), ir::bit_width(stored));
    let offset = source.offset.plus(b, Extent::Dynamic(view.offset()));
    let offset = match (from / to, to / from) {
        (1, 1) => offset,
        (0, ratio) => Extent::Dynamic((offset.value(b) / i64::from(ratio)).value()),
        (ratio, _) => offset.times(b, Extent::Static(i64::from(ratio))),
    };
    let mut pointer = b.v(source.pointer);
    if !descriptor::same(stored, source.stored) {
        let seen = types::pointer(b, &types::buffer(stored), source.storage);
        pointer = b.result("spirv.Bitcast", &[pointer], seen, &[]);
    }
    let length = view.size().map(|size| b.v(size));
    Ok(Place {
        offset,
        ..Place::whole(b, pointer, source.storage, r#type, length)
    })
}

fn subview<'c>(b: &Builder<'c>, op: Op<'c>, source: &Place<'c>) -> Result<'c, Place<'c>> {
    let segments = op.operand_segments();
    let extents = |name: &str, segment: usize| -> Vec<Extent<'c>> {
        let mut dynamic = segments[segment].iter();
        static_or(op, name)
            .into_iter()
            .map(|value| match value {
                Some(value) => Extent::Static(value),
                None => Extent::Dynamic(*dynamic.next().expect("an operand for each")),
            })
            .collect()
    };
    let (offsets, sizes, strides) = (
        extents("static_offsets", 1),
        extents("static_sizes", 2),
        extents("static_strides", 3),
    );
    let mut offset = source.offset;
    for (at, stride) in offsets.iter().zip(&source.strides) {
        offset = offset.plus(b, at.times(b, *stride));
    }
    let wanted = descriptor::shape(op.first_result().r#type()).unwrap_or_default();
    let mut result = Place {
        offset,
        sizes: Vec::new(),
        strides: Vec::new(),
        ..source.clone()
    };
    let mut to_drop = sizes.len().saturating_sub(wanted.len());
    for (i, size) in sizes.into_iter().enumerate() {
        // A view of lower rank has lost dimensions of one element.
        let is_unit = matches!(size, Extent::Static(1));
        if to_drop > 0 && is_unit && wanted.get(result.sizes.len()) != Some(&Some(1)) {
            to_drop -= 1;
            continue;
        }
        result.sizes.push(size);
        result.strides.push(source.strides[i].times(b, strides[i]));
    }
    Ok(result)
}

/// A dense array of which one value stands for an operand.
fn static_or(op: Op<'_>, name: &str) -> Vec<Option<i64>> {
    let Some(attribute) = op.attr(name) else {
        return Vec::new();
    };
    attributes::i64s(attribute)
        .into_iter()
        .map(|value| (value != i64::MIN).then_some(value))
        .collect()
}

/// At the top of the function: one in a loop is the same memory in each
/// iteration.
fn alloca<'c>(op: Op<'c>) -> Result<'c, Place<'c>> {
    let mut function = op;
    while let Some(around) = function.parent().filter(|_| !function.is("func.func")) {
        function = around;
    }
    let top = function.body().and_then(|body| body.first_operation());
    let b = &Builder::new(
        ir::context_of(op),
        op.location(),
        ir::InsertionPoint::Before(top.unwrap_or(op)),
    );
    let r#type = op.first_result().r#type();
    let extents: Option<Vec<i64>> =
        descriptor::shape(r#type).and_then(|shape| shape.into_iter().collect());
    let Some(extents) = extents else {
        return Err(Diagnostic::at(
            op,
            "has a size that is not known when the kernel is compiled",
        ));
    };
    let count: i64 = extents.iter().product();
    let array = format!(
        "!spirv.array<{} x {}>",
        count.max(1),
        stored(b, r#type, Storage::Function)
    );
    let pointer = b.result(
        "spirv.Variable",
        &[],
        types::pointer(b, &array, Storage::Function),
        &[(
            "storage_class",
            types::attribute(b, "#spirv.storage_class<Function>"),
        )],
    );
    Ok(Place::whole(b, pointer, Storage::Function, r#type, None))
}
