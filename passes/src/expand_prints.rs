//! `qd-expand-prints`: what threads print is written into the device's ring of prints.
//!
//! Runs on outlined bodies, right before they are named: all passes above see `gpu.printf`, and no
//! conversion does. Each thread that prints claims a record by an atomic addition, writes the number of
//! the site, its block, its own number and the values, and completes the record with release order. If
//! the ring is full, the record is dropped, and counted. The runtime reads the ring at the next
//! synchronisation, and prints. Its layout is on the page of `qd.grid.prints`.
//!
//! Formats are C's, checked by `qd-verify-level` where a body holds them.
//!
//! Errors: a print in a phase that is not outlined; more than 14 values.
//!
//! Before:
//! ```mlir
//! func.func private @f(%i: index) attributes {qd.threads = 256 : i64} {
//!   gpu.printf "%d\0A", %i : index
//!   ...
//! }
//! qd.grid.launch 0 @f blocks(%g) args(%i : index)
//! ```
//! After:
//! ```mlir
//! func.func private @f(%i: index, %ring: memref<65540xi32>, %first: i32) attributes {...} {
//!   %number = qd.grid.atomic.rmw add 1, %ring[0] device relaxed
//!   scf.if (%number - %ring[2] < 2048) { %ring[record 1 to 5] = %first + 0, block, thread, %i; release %ring[record 0] = %number + 1 }
//!   else { qd.grid.atomic.rmw add 1, %ring[1] device relaxed }
//!   ...
//! }
//! %ring, %first = qd.grid.prints [{at = "k.mlir:2:3", text = "%d\0A", types = "i64"}] : memref<65540xi32>
//! qd.grid.launch 0 @f blocks(%g) args(%i, %ring, %first : index, memref<65540xi32>, i32)
//! ```

use crate::sites::{self, Memory, words};
use qd_artifact::{Dtype, printing, prints};
use qd_dialects::{
    attributes::{self, Kind},
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width, is_float},
    melior::{
        dialect::DialectHandle,
        ir::{Attribute, Type, TypeLike, ValueLike},
    },
    ops::grid,
    pass::{NoOptions, Pass},
};

/// The op.
pub const PRINT: &str = "gpu.printf";

/// Where prints are written.
const RING: Memory = Memory {
    maker: grid::Prints::NAME,
    words: prints::WORDS,
};

/// The pass.
pub struct ExpandPrints;

impl Pass for ExpandPrints {
    type Options = NoOptions;
    const NAME: &'static str = "qd-expand-prints";
    const SUMMARY: &'static str =
        "Have what threads print written into the device's ring of prints";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::func(),
            DialectHandle::memref(),
            DialectHandle::scf(),
        ]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let all = module.nested().into_iter().filter(|op| op.is(PRINT));
        for op in all {
            if let Some(why) = unprintable(op) {
                return Err(Diagnostic::at(op, why));
            }
        }
        sites::of_bodies(module, PRINT, RING, |all, ring, first| {
            let each = all.iter().zip(0..);
            each.map(|(op, place)| expand(*op, place, ring, first))
                .collect()
        })
    }
}

/// Why a print's values cannot be printed, or not by its format.
pub fn unprintable(op: Op<'_>) -> Option<String> {
    let values = op.operand_values();
    if values.len() > prints::MOST {
        let (has, most) = (values.len(), prints::MOST);
        return Some(format!(
            "prints {has} values, but at most {most} fit: print twice"
        ));
    }
    let types = values.iter().map(|value| {
        let r#type = value.r#type();
        dtype(r#type).ok_or_else(|| {
            format!("prints a value of type {type}, which is no number of at most 64 bits")
        })
    });
    let types = match types.collect::<std::result::Result<Vec<Dtype>, String>>() {
        Ok(types) => types,
        Err(why) => return Some(why),
    };
    let format = op.attr("format").and_then(attributes::text);
    printing::check(&format.unwrap_or_default(), &types).err()
}

/// As what a value of a type is printed.
fn dtype(r#type: Type<'_>) -> Option<Dtype> {
    if r#type.is_index() {
        return Some(Dtype::I64);
    }
    match r#type.is_integer() {
        true => match bit_width(r#type) {
            1 => Some(Dtype::Bool),
            8 => Some(Dtype::I8),
            16 => Some(Dtype::I16),
            32 => Some(Dtype::I32),
            64 => Some(Dtype::I64),
            _ => None,
        },
        false => r#type
            .to_string()
            .parse()
            .ok()
            .filter(|dtype: &Dtype| dtype.is_float()),
    }
}

/// Replaces a print, and returns what is known of it.
fn expand<'c>(op: Op<'c>, place: i64, ring: Value<'c>, first: Value<'c>) -> Attribute<'c> {
    let b = Builder::before(op);
    let values = op.operand_values();
    let types = values.iter().filter_map(|value| dtype(value.r#type()));
    let types: Vec<String> = types.map(|dtype| dtype.to_string()).collect();
    let text = op.attr("format").and_then(attributes::text);
    let types = ("types", types.join(","));
    let site = sites::describe(op, text.unwrap_or_default(), Some(types));
    let (ring, number) = (b.v(ring), b.v(first) + place);
    write(ring, number, b.vs(&values));
    op.erase();
    site
}

/// Writes a record, or counts it as dropped.
fn write<'c>(ring: V<'_, 'c>, site: V<'_, 'c>, values: Vec<V<'_, 'c>>) {
    let b = ring.builder();
    let at = |word: usize| b.index(word as i64);
    let one = || b.i32(1);
    let number = ring.atomic(Kind::Add, at(prints::CLAIMED), one(), "device");
    let read = ring.atomic_at(at(prints::READ), "device");
    let fits = (number - read).lt(prints::RECORDS as i64);
    let record = || {
        let place = number & (prints::RECORDS as i64 - 1);
        let record = place.to_index() * prints::RECORD as i64;
        let word = |word: usize| record + (prints::FIRST + word) as i64;
        ring.set(word(prints::SITE), site);
        ring.set(word(prints::BLOCK), b.block_id().to_i32());
        ring.set(word(prints::THREAD), b.thread_id().to_i32());
        for (place, value) in values.into_iter().enumerate() {
            // An index may be of 32 bits, and is printed as one of 64.
            let is_index = value.ty() == b.index_type();
            let (low, high) = words(bits(value), is_index);
            ring.set(word(prints::VALUES + 2 * place), low);
            ring.set(word(prints::VALUES + 2 * place + 1), high);
        }
        ring.atomic_release(word(prints::COMPLETE), number + 1, "device");
    };
    b.either(fits, record, || {
        ring.atomic(Kind::Add, at(prints::DROPPED), one(), "device");
    });
}

/// A number's bits as an integer; those of an `f32` of a smaller float.
fn bits<'b, 'c>(value: V<'b, 'c>) -> V<'b, 'c> {
    let b = value.builder();
    if !is_float(value.ty()) {
        return value;
    }
    let value = match bit_width(value.ty()) {
        16 => b.result("arith.extf", &[value], b.f32_type(), &[]),
        _ => value,
    };
    value.bitcast(b.int_type(bit_width(value.ty()) as u32))
}
