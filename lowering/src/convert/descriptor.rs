//! Memrefs from and to pointers and lengths, in the LLVM dialect.
//!
//! A buffer crosses our ABI as a pointer and a length. Inside a body it is a
//! memref; this makes the descriptor that MLIR's lowering of memrefs expects,
//! followed by a cast that `reconcile-unrealized-casts` removes.

use melior::ir::{
    Type, TypeLike,
    attribute::{DenseI32ArrayAttribute, DenseI64ArrayAttribute, TypeAttribute},
};
use qd_dialects::{
    builder::{Builder, V},
    ir, melior,
};

/// The extents of a memref type, where they are static.
pub fn shape(memref: Type<'_>) -> Option<Vec<Option<i64>>> {
    use melior::ir::{ShapedTypeLike, r#type::DimSize};
    let memref = ir::as_memref(memref)?;
    (0..memref.rank())
        .map(|i| {
            Some(match memref.dim_size(i).ok()? {
                DimSize::Static(extent) => Some(extent as i64),
                DimSize::Dynamic => None,
            })
        })
        .collect()
}

/// How the types of shared arrays name where these are.
const SHARED: &str = ", #gpu.address_space<workgroup>";

/// Whether a memref is a shared array, or part of one.
pub fn is_shared(memref: Type<'_>) -> bool {
    memref.to_string().contains(SHARED)
}

/// The memref type in the default memory space.
pub fn without_memory_space<'c>(b: &Builder<'c>, memref: Type<'c>) -> Type<'c> {
    let text = memref.to_string();
    match text.split_once(SHARED) {
        Some((start, end)) => {
            Type::parse(b.context(), &format!("{start}{end}")).expect("a memref type")
        }
        None => memref,
    }
}

/// Whether an argument of this type is a buffer, and whether its length is
/// passed.
pub fn is_buffer(r#type: Type<'_>) -> Option<bool> {
    shape(r#type).map(|shape| !shape.is_empty())
}

/// A scalar argument from the word that it crosses our ABI in: the low bits.
pub fn scalar_from_word<'b, 'c>(word: V<'b, 'c>, r#type: Type<'c>) -> V<'b, 'c> {
    let b = word.builder();
    if !ir::is_float(r#type) {
        return word.cast(r#type);
    }
    word.cast(b.int_type(ir::bit_width(r#type))).bitcast(r#type)
}

/// What an element is in memory, and its bytes: `None` where it has no form there
/// that is known here.
pub fn stored<'c>(b: &Builder<'c>, element: Type<'c>) -> Option<(Type<'c>, u64)> {
    let bytes = u64::from(ir::bit_width(element)).div_ceil(8);
    if same(element, b.index_type()) {
        return Some((b.int_type(64), bytes));
    }
    let is_scalar = ir::is_float(element) || element.is_integer();
    is_scalar.then_some((element, bytes))
}

/// `!llvm.ptr`.
pub fn pointer_type<'c>(b: &Builder<'c>) -> Type<'c> {
    pointer_in(b, 0)
}

/// A pointer into an address space, of LLVM's number.
pub fn pointer_in<'c>(b: &Builder<'c>, space: u32) -> Type<'c> {
    Type::parse(b.context(), &format!("!llvm.ptr<{space}>")).expect("the llvm dialect")
}

fn descriptor_type<'c>(b: &Builder<'c>, rank: usize) -> Type<'c> {
    let text = if rank == 0 {
        "!llvm.struct<(ptr, ptr, i64)>".to_string()
    } else {
        format!("!llvm.struct<(ptr, ptr, i64, array<{rank} x i64>, array<{rank} x i64>)>")
    };
    Type::parse(b.context(), &text).expect("the llvm dialect")
}

fn insert<'b, 'c>(b: &'b Builder<'c>, into: V<'b, 'c>, value: V<'b, 'c>, at: &[i64]) -> V<'b, 'c> {
    let position = DenseI64ArrayAttribute::new(b.context(), at).into();
    b.result(
        "llvm.insertvalue",
        &[into, value],
        into.ty(),
        &[("position", position)],
    )
}

fn cast<'b, 'c>(b: &'b Builder<'c>, value: V<'b, 'c>, to: Type<'c>) -> V<'b, 'c> {
    b.result("builtin.unrealized_conversion_cast", &[value], to, &[])
}

/// A memref of type `r#type` over `pointer`, with `length` (`i64`) as its
/// leading extent where that is dynamic.
pub fn memref_from_pointer<'b, 'c>(
    b: &'b Builder<'c>,
    pointer: V<'b, 'c>,
    length: Option<V<'b, 'c>>,
    r#type: Type<'c>,
) -> V<'b, 'c> {
    let extents = shape(r#type).expect("a ranked memref");
    let descriptor = descriptor_type(b, extents.len());
    let mut value = b.result("llvm.mlir.poison", &[], descriptor, &[]);
    value = insert(b, value, pointer, &[0]);
    value = insert(b, value, pointer, &[1]);
    value = insert(b, value, b.i64(0), &[2]);
    let mut stride = 1;
    for (i, extent) in extents.iter().enumerate().rev() {
        value = insert(b, value, b.i64(stride), &[4, i as i64]);
        let size = match extent {
            Some(extent) => b.i64(*extent),
            None => length.expect("a length for the dynamic extent"),
        };
        value = insert(b, value, size, &[3, i as i64]);
        stride *= extent.unwrap_or(1);
    }
    cast(b, value, r#type)
}

/// The pointer to an element of a memref, whatever its layout.
pub fn pointer_of_element<'b, 'c>(
    b: &'b Builder<'c>,
    memref: V<'b, 'c>,
    indices: &[V<'b, 'c>],
) -> V<'b, 'c> {
    let rank = shape(memref.ty()).expect("a ranked memref").len();
    let value = cast(b, memref, descriptor_type(b, rank));
    let field = |r#type: Type<'c>, at: &[i64]| {
        let position = DenseI64ArrayAttribute::new(b.context(), at).into();
        b.result(
            "llvm.extractvalue",
            &[value],
            r#type,
            &[("position", position)],
        )
    };
    let word = b.int_type(64);
    let pointer = field(pointer_type(b), &[1]);
    let mut element = field(word, &[2]);
    for (i, index) in indices.iter().enumerate() {
        element = element + index.to_i64() * field(word, &[4, i as i64]);
    }
    let stored = stored(b, memref.element()).map_or(memref.element(), |(stored, _)| stored);
    offset_pointer(b, pointer, element, stored)
}

/// The extent of a memref in a dimension, `index`.
pub fn extent<'b, 'c>(b: &'b Builder<'c>, memref: V<'b, 'c>, dimension: i64) -> V<'b, 'c> {
    let rank = shape(memref.ty()).expect("a ranked memref").len();
    let value = cast(b, memref, descriptor_type(b, rank));
    let position = DenseI64ArrayAttribute::new(b.context(), &[3, dimension]).into();
    let attributes = [("position", position)];
    let extent = b.result("llvm.extractvalue", &[value], b.int_type(64), &attributes);
    extent.to_index()
}

/// `pointer + index` in elements of `element`; `index` is an `i64`.
pub fn offset_pointer<'b, 'c>(
    b: &'b Builder<'c>,
    pointer: V<'b, 'c>,
    index: V<'b, 'c>,
    element: Type<'c>,
) -> V<'b, 'c> {
    // i32::MIN marks an index that is a value.
    let indices = DenseI32ArrayAttribute::new(b.context(), &[i32::MIN]).into();
    b.result(
        "llvm.getelementptr",
        &[pointer, index],
        pointer.ty(),
        &[
            ("rawConstantIndices", indices),
            ("elem_type", TypeAttribute::new(element).into()),
        ],
    )
}

/// Word `i` of the flat argument array.
pub fn load_word<'b, 'c>(
    b: &'b Builder<'c>,
    words: V<'b, 'c>,
    i: i64,
    r#type: Type<'c>,
) -> V<'b, 'c> {
    let at = offset_pointer(b, words, b.i64(i), b.int_type(64));
    b.result("llvm.load", &[at], r#type, &[])
}

/// Whether two types are the same.
pub fn same(a: Type<'_>, b: Type<'_>) -> bool {
    // Safety: both are valid types.
    unsafe { mlir_sys::mlirTypeEqual(a.to_raw(), b.to_raw()) }
}
