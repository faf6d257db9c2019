//! Data-parallel primitives (DPP): operands from other lanes in a fixed pattern, without LDS.

use super::{architecture, shuffle};
use crate::convert::gpu_to_llvm::Setting;
use qd_dialects::{attributes, builder::V};

/// Controls of DPP ("AMD Instinct MI300" and "RDNA3" Instruction Set Architecture, Data
/// Parallel Primitives).
const ROW_SHL: i32 = 0x100;
const ROW_SHR: i32 = 0x110;
const ROW_ROR: i32 = 0x120;
const ROW_MIRROR: i32 = 0x140;
const ROW_HALF_MIRROR: i32 = 0x141;
/// Of CDNA: the last lane of each row to the row above, and that of the lower half to the upper one.
const ROW_BCAST_15: i32 = 0x142;
const ROW_BCAST_31: i32 = 0x143;
/// Of RDNA.
const ROW_XMASK: i32 = 0x160;
/// Each lane of four reads itself.
const QUAD_PERM_OWN: i32 = 0xe4;
const ALL: i32 = 0xf;
/// Rows of 16 lanes, a bit each: every second one, and those of the upper half.
const ODD_ROWS: i32 = 0xa;
const UPPER_ROWS: i32 = 0xc;

/// What the lane has whose number differs in the bits of `mask`; nothing if no form is known
/// that is better than `ds_bpermute`.
pub(super) fn exchange<'b, 'c>(
    word: V<'b, 'c>,
    mask: i64,
    setting: &Setting<'_>,
) -> Option<V<'b, 'c>> {
    let is_rdna = architecture(setting.target).is_rdna;
    Some(match mask {
        1..=3 => permuted(word, quad_perm(mask as i32)),
        4..=15 if is_rdna => permuted(word, ROW_XMASK | mask as i32),
        // Of eight lanes the lower four read above them, and the others below.
        4 => {
            let low = moved(word, word, ROW_SHL | 4, 0b0101);
            moved(low, word, ROW_SHR | 4, 0b1010)
        }
        // CDNA's mirrors: of a half row, and of a row.
        7 => permuted(word, ROW_HALF_MIRROR),
        8 => permuted(word, ROW_ROR | 8),
        15 => permuted(word, ROW_MIRROR),
        // Within 32 lanes, by a mask.
        16 if is_rdna => rows(word),
        16 => swizzle(word, 16),
        32 if is_rdna => shuffle::exchange_halves(word),
        _ => return None,
    })
}

/// Each lane of four reads the one whose number differs in `mask`.
fn quad_perm(mask: i32) -> i32 {
    (0..4).map(|lane| (lane ^ mask) << (2 * lane)).sum()
}

/// `v_mov_b32` with DPP, where each lane has a source. LLVM makes it an operand of what uses
/// it, if nothing is asked to be kept.
fn permuted<'b, 'c>(word: V<'b, 'c>, control: i32) -> V<'b, 'c> {
    dpp(anything(word), word, control, (ALL, ALL), true)
}

/// What no lane keeps.
fn anything<'b, 'c>(word: V<'b, 'c>) -> V<'b, 'c> {
    let b = word.builder();
    b.result("llvm.mlir.poison", &[], word.ty(), &[])
}

/// `v_mov_b32` with DPP, where banks of four lanes that are not in `banks` keep `old`.
fn moved<'b, 'c>(old: V<'b, 'c>, word: V<'b, 'c>, control: i32, banks: i32) -> V<'b, 'c> {
    dpp(old, word, control, (ALL, banks), false)
}

/// What the lane so far below has, up to 15 lanes and in the same row of 16; `old` where there is none.
pub(super) fn from_below<'b, 'c>(old: V<'b, 'c>, word: V<'b, 'c>, distance: i64) -> V<'b, 'c> {
    moved(old, word, ROW_SHR | distance as i32, ALL)
}

/// In every second row what the last lane of the row below has; `old` in the others.
pub(super) fn last_of_row<'b, 'c>(
    old: V<'b, 'c>,
    word: V<'b, 'c>,
    setting: &Setting<'_>,
) -> V<'b, 'c> {
    if !architecture(setting.target).is_rdna {
        return dpp(old, word, ROW_BCAST_15, (ODD_ROWS, ALL), false);
    }
    let b = word.builder();
    // Lane 15, in each of eight lanes' four bits.
    let last = b.i32(-1);
    let other = permlanex16(word, last, last);
    dpp(old, other, QUAD_PERM_OWN, (ODD_ROWS, ALL), false)
}

/// In the upper 32 lanes what the last of the lower ones has; `old` in these.
pub(super) fn last_of_half<'b, 'c>(
    old: V<'b, 'c>,
    word: V<'b, 'c>,
    setting: &Setting<'_>,
) -> V<'b, 'c> {
    if !architecture(setting.target).is_rdna {
        return dpp(old, word, ROW_BCAST_31, (UPPER_ROWS, ALL), false);
    }
    let b = word.builder();
    let last = b.result("rocdl.readlane", &[word, b.i32(31)], word.ty(), &[]);
    dpp(old, last, QUAD_PERM_OWN, (UPPER_ROWS, ALL), false)
}

/// Lanes of other rows and banks keep `old`. `zeros` is what a lane without a source gets; otherwise it keeps `old`.
fn dpp<'b, 'c>(
    old: V<'b, 'c>,
    word: V<'b, 'c>,
    control: i32,
    (rows, banks): (i32, i32),
    zeros: bool,
) -> V<'b, 'c> {
    let b = word.builder();
    let i32 = |value| attributes::i32(b.context(), value);
    b.result(
        "rocdl.update.dpp",
        &[old, word],
        word.ty(),
        &[
            ("dppCtrl", i32(control)),
            ("rowMask", i32(rows)),
            ("bankMask", i32(banks)),
            ("boundCtrl", attributes::bool(b.context(), zeros)),
        ],
    )
}

/// The two rows of 16 of each 32 lanes exchanged, each lane's own place in it.
fn rows<'b, 'c>(word: V<'b, 'c>) -> V<'b, 'c> {
    let b = word.builder();
    permlanex16(word, b.i32(0x7654_3210), b.i32(0xfedc_ba98_u32 as i32))
}

/// In each lane of a row of 16 what a lane of the other row of its 32 has: four bits say which, in `low` those of the
/// lower eight lanes.
fn permlanex16<'b, 'c>(word: V<'b, 'c>, low: V<'b, 'c>, high: V<'b, 'c>) -> V<'b, 'c> {
    let b = word.builder();
    let no = attributes::bool(b.context(), false);
    b.result(
        "rocdl.permlanex16",
        &[anything(word), word, low, high],
        word.ty(),
        &[("fi", no), ("boundControl", no)],
    )
}

/// `ds_swizzle_b32`, whose mask mode takes the lane's five low bits, all of them, and flips
/// some.
fn swizzle<'b, 'c>(word: V<'b, 'c>, mask: i32) -> V<'b, 'c> {
    let b = word.builder();
    let pattern = b.i32(mask << 10 | 0x1f);
    b.result("rocdl.ds_swizzle", &[word, pattern], word.ty(), &[])
}

#[cfg(test)]
mod tests {
    use super::quad_perm;

    #[test]
    fn a_quad_permutation_names_the_source_of_each_lane() {
        assert_eq!(quad_perm(0), 0b11_10_01_00);
        assert_eq!(quad_perm(1), 0b10_11_00_01);
        assert_eq!(quad_perm(2), 0b01_00_11_10);
    }
}
