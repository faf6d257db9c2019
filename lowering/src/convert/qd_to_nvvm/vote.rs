//! Votes, ballots, matches, and reductions of words.

use super::{
    registers::special,
    shuffle::{case, everyone},
};
use crate::convert::gpu_to_llvm::Setting;
use qd_dialects::{
    attributes::{self, Kind},
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width},
    ops::simt,
};

pub(super) fn all<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let lanes = ballot(b.v(simt::Vote::cast(op).predicate()), setting);
    Ok(vec![lanes.eq(everyone(b)).value()])
}

pub(super) fn any<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let lanes = ballot(b.v(simt::Vote::cast(op).predicate()), setting);
    Ok(vec![lanes.ne(0).value()])
}

/// 32 lanes.
pub(super) fn ballot<'b, 'c>(predicate: V<'b, 'c>, _: &Setting<'_>) -> V<'b, 'c> {
    let b = predicate.builder();
    b.result(
        "nvvm.vote.sync",
        &[everyone(b), predicate],
        b.int_type(32),
        &[("kind", case(b, "vote_sync_kind", "ballot"))],
    )
}

/// Words of 32 and of 64 bits are compared alike.
pub(super) fn match_any<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let value = b.v(simt::MatchAny::cast(op).value());
    let value = match op.attr("bits").and_then(attributes::int) {
        None => value,
        Some(bits) => value << (i64::from(bit_width(value.ty())) - bits),
    };
    let peers = b.result(
        "nvvm.match.sync",
        &[everyone(b), value],
        b.int_type(32),
        &[("kind", case(b, "match_sync_kind", "any"))],
    );
    Ok(vec![peers.to_i64().value()])
}

/// A ballot of each bit that counts. In code with a loop that compares and swaps words are matched instead:
/// there `ptxas` (12.9 to 13.5) runs out of predicates for several of these ballots and gives up, or computes
/// another mask.
pub(super) fn match_by_ballots<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    if setting.has_swaps {
        return match_any(b, op, setting);
    }
    let value = b.v(simt::MatchAny::cast(op).value()).to_i32();
    let bits = op.attr("bits").and_then(attributes::int).unwrap_or(32);
    Ok(vec![who_agrees(value, bits).to_i64().value()])
}

/// Which lanes have the same lowest bits: those that agree in each.
///
/// In PTX, and not in LLVM's IR, for what comes of it: a ballot is turned round
/// by a multiplication with −1, where its bit is clear, because integers are
/// multiplied beside the units that all else here needs, and three masks become
/// one at a time.
///
/// The value is flipped twice, by ones of which the driver does not know that they
/// are. Where it can tell that a bit is the same in all lanes, or that it is clear,
/// it votes in its uniform unit, and CUDA 13.0 gets some of those votes wrong.
fn who_agrees<'b, 'c>(value: V<'b, 'c>, bits: i64) -> V<'b, 'c> {
    let b = value.builder();
    // All bits set, which the compiler cannot tell: it would fold a constant away, and with it
    // the flips.
    let ones = special(b, "lanemask.lt") | special(b, "lanemask.ge");
    let mut ptx = String::from("{ .reg .pred p; .reg .b32 d, bit");
    for bit in 0..bits {
        ptx += &format!(", b{bit}");
    }
    ptx += "; lop3.b32 d, $1, $2, $2, 0xc3; ";
    for bit in 0..bits {
        ptx += &format!(
            "and.b32 bit, d, {}; setp.ne.b32 p, bit, 0; vote.sync.ballot.b32 b{bit}, p, -1; \
             @!p mad.lo.s32 b{bit}, b{bit}, $2, $2; ",
            1 << bit
        );
    }
    let mut others = 1..bits;
    while let Some(bit) = others.next() {
        ptx += &match others.next() {
            Some(next) => format!("lop3.b32 b0, b0, b{bit}, b{next}, 0x80; "),
            None => format!("and.b32 b0, b0, b{bit}; "),
        };
    }
    ptx += "mov.b32 $0, b0; }";
    let text = |text: &str| attributes::string(b.context(), text);
    b.result(
        "llvm.inline_asm",
        &[value, ones],
        b.int_type(32),
        &[
            ("asm_string", text(&ptx)),
            ("constraints", text("=r,r,r")),
            ("has_side_effects", attributes::unit(b.context())),
        ],
    )
}

/// `redux.sync`, whose result is in every lane. That is right for `reduce`, too, whose results in lanes
/// other than 0 are undefined.
pub(super) fn reduce<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting<'_>,
) -> Result<'c, Vec<Value<'c>>> {
    let combine = simt::SubgroupCombine::cast(op);
    let value = b.v(combine.values()[0]);
    let kind = combine.kind().and_then(reduction);
    let kind = kind.ok_or_else(|| Diagnostic::at(op, "has a kind that redux.sync lacks"))?;
    let result = b.result(
        "nvvm.redux.sync",
        &[value, everyone(b)],
        value.ty(),
        &[("kind", case(b, "redux_kind", kind))],
    );
    Ok(vec![result.value()])
}

fn reduction(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Add => "add",
        Kind::MinSi => "min",
        Kind::MinUi => "umin",
        Kind::MaxSi => "max",
        Kind::MaxUi => "umax",
        Kind::And => "and",
        Kind::Or => "or",
        Kind::Xor => "xor",
        Kind::Mul | Kind::MinNumF | Kind::MaxNumF => return None,
    })
}
