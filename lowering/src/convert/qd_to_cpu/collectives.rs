//! Collectives as loops over arrays that hold one element per thread.
//!
//! Reductions by a kind halve the array again and again, and scans by a kind
//! add shifted copies: loops that LLVM vectorises, whose result depends on no
//! vector width. A combiner region goes through the threads in order.

use super::body::BodyLowering;
use crate::targets::isa::{Form, Scalar};
use melior::ir::ValueLike;
use qd_dialects::{
    attributes::INVERTIBLE_KINDS,
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    interfaces::{Collective, Scope},
    ir::{Op, OpExt, Value, ValueExt, bit_width, is_float},
    melior,
    ops::{ShuffleMode, simt},
};
use qd_passes::expand_collectives::{of_ordered, ordered};

/// Elements that are scanned by shifted copies before a carry goes from group to
/// group.
const SCAN_GROUP: i64 = 16;

/// Emits a collective, with the lanes of its clusters, at the insertion point.
type Lowering = for<'b, 'c> fn(&mut BodyLowering<'b, 'c>, Op<'c>, i64) -> Result<'c>;

/// The conversion of every collective, one line each. For ops of a block the block is the cluster.
pub(super) const FORMS: &[(Form, Lowering)] = &[
    // Every parallel region before a barrier has finished in all threads.
    (a_loop(simt::Sync::NAME), |_, _, _| Ok(())),
    (a_loop(simt::BlockSync::NAME), |_, _, _| Ok(())),
    (a_loop(simt::Shuffle::NAME), shuffle),
    (a_loop(simt::Broadcast::NAME), broadcast),
    (a_loop(simt::BroadcastFirst::NAME), broadcast_first),
    (a_loop(simt::Rotate::NAME), rotate),
    (a_loop(simt::All::NAME), |body, op, tile| {
        vote(body, op, tile, true)
    }),
    (a_loop(simt::Any::NAME), |body, op, tile| {
        vote(body, op, tile, false)
    }),
    (a_loop(simt::AllEqual::NAME), all_equal),
    (a_loop(simt::Ballot::NAME), |body, op, _| {
        ballot(body, op, simt::Ballot::cast(op).predicate(), body.wave)
    }),
    (a_loop(simt::BallotFirstN::NAME), |body, op, _| {
        let first = simt::BallotFirstN::cast(op);
        ballot(body, op, first.predicate(), first.n())
    }),
    (a_loop(simt::MatchAny::NAME), match_any),
    (a_loop(simt::Reduce::NAME), reduce),
    (a_loop(simt::ReduceAll::NAME), reduce),
    (a_loop(simt::BlockReduce::NAME), reduce),
    (a_loop(simt::BlockReduceAll::NAME), reduce),
    (a_loop(simt::InclusiveScan::NAME), |body, op, tile| {
        scan(body, op, tile, false)
    }),
    (
        Form::of(
            simt::ExclusiveScan::NAME,
            "the inclusive scan, without its own",
        )
        .on(INTEGERS)
        .combining(&INVERTIBLE_KINDS)
        .because("the kind has inverses, and no element moves to the next thread's place"),
        scan_without_own,
    ),
    (a_loop(simt::ExclusiveScan::NAME), |body, op, tile| {
        scan(body, op, tile, true)
    }),
    (a_loop(simt::BlockInclusiveScan::NAME), |body, op, tile| {
        scan(body, op, tile, false)
    }),
    (a_loop(simt::BlockExclusiveScan::NAME), |body, op, tile| {
        scan(body, op, tile, true)
    }),
    (a_loop(simt::SegmentedReduce::NAME), segmented_reduce),
    (a_loop(simt::BitonicSortKv::NAME), sort_kv),
    (a_loop(simt::BlockRadixRank::NAME), radix_rank),
];

const INTEGERS: &[Scalar] = &[
    Scalar::Int(8),
    Scalar::Int(16),
    Scalar::Int(32),
    Scalar::Int(64),
];

const fn a_loop(op: &'static str) -> Form {
    Form::of(op, "a loop over threads").because(
        "the threads of a block are elements of an array, and all have come here before the loop begins",
    )
}

/// Emits a collective at the insertion point; its results become arrays.
pub fn lower<'c>(
    body: &mut BodyLowering<'_, 'c>,
    collective: Collective<'c>,
    op: Op<'c>,
) -> Result<'c> {
    let capabilities = &body.target.capabilities;
    let Some(lowering) = capabilities.find(FORMS, op, body.wave) else {
        return Err(Diagnostic::at(
            op,
            "has no lowering to the cpu target: run qd-expand-collectives first",
        ));
    };
    let lanes = match (collective.scope, collective.log2_cluster_size) {
        (Scope::Subgroup, Some(log2)) => 1 << log2,
        (Scope::Subgroup, None) => body.wave,
        (Scope::Block | Scope::Grid, _) => body.threads,
    };
    if collective.scope == Scope::Subgroup && lanes > body.wave {
        let message = format!(
            "works on tiles of {lanes} lanes, but the subgroup has {}",
            body.wave
        );
        return Err(Diagnostic::at(op, message));
    }
    lowering(body, op, lanes)
}

fn results<'b, 'c>(body: &mut BodyLowering<'b, 'c>, op: Op<'c>) -> Vec<V<'b, 'c>> {
    op.result_values()
        .into_iter()
        .map(|value| body.array_of(value))
        .collect()
}

/// The first thread of `t`'s group of `size`, a power of two.
fn first_of<'b, 'c>(t: V<'b, 'c>, size: i64) -> V<'b, 'c> {
    t & -size
}

/// `for i in lower..upper step step`.
fn each<'b, 'c>(
    b: &'b Builder<'c>,
    lower: V<'b, 'c>,
    upper: V<'b, 'c>,
    step: i64,
    body: impl FnOnce(V<'b, 'c>),
) {
    b.for_(lower, upper, b.index(step), [], |i, []| {
        body(i);
        []
    });
}

/// Each thread reads the value of another.
fn gather<'b, 'c>(
    body: &mut BodyLowering<'b, 'c>,
    op: Op<'c>,
    value: Value<'c>,
    source: impl FnOnce(&BodyLowering<'b, 'c>, V<'b, 'c>, i64) -> V<'b, 'c>,
) {
    let out = results(body, op)[0];
    let body = &*body;
    body.for_threads(|t| {
        let from = source(body, t, body.wave);
        out.set(t, body.read(value, from));
    });
}

/// One lane's value goes to all lanes of its subgroup.
fn spread<'b, 'c>(
    body: &mut BodyLowering<'b, 'c>,
    op: Op<'c>,
    value: Value<'c>,
    lane: impl FnOnce(&BodyLowering<'b, 'c>, V<'b, 'c>) -> V<'b, 'c>,
) {
    let out = results(body, op)[0];
    per_tile(body, body.wave, |body, base, end| {
        let one = body.read(value, base | lane(body, base));
        each(body.b, base, end, 1, |i| out.set(i, one));
    });
}

fn broadcast<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, _: i64) -> Result<'c> {
    let broadcast = simt::Broadcast::cast(op);
    let lane = broadcast.lane();
    spread(body, op, broadcast.value(), |body, base| {
        body.read(lane, base).to_index() & (body.wave - 1)
    });
    Ok(())
}

fn broadcast_first<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, _: i64) -> Result<'c> {
    let value = simt::BroadcastFirst::cast(op).value();
    spread(body, op, value, |body, _| body.b.index(0));
    Ok(())
}

fn rotate<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, tile: i64) -> Result<'c> {
    let rotate = simt::Rotate::cast(op);
    let delta = rotate.delta();
    gather(body, op, rotate.value(), |body, t, _| {
        let delta = body.read(delta, t).to_index();
        first_of(t, tile) | ((t + delta) & (tile - 1))
    });
    Ok(())
}

fn shuffle<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, _: i64) -> Result<'c> {
    let shuffle = simt::Shuffle::cast(op);
    let (mode, lane, in_range) = (shuffle.mode(), shuffle.lane(), shuffle.in_range());
    if let (ShuffleMode::Xor, Some(bit)) = (mode, lane.constant_int())
        && (bit as u64).is_power_of_two()
        && bit < body.wave
    {
        exchange(body, op, shuffle.value(), bit);
        return Ok(());
    }
    gather(body, op, shuffle.value(), |body, t, wave| {
        let lane = body.read(lane, t).to_index();
        let own = t & (wave - 1);
        let to = match mode {
            ShuffleMode::Up => t - lane,
            ShuffleMode::Down => t + lane,
            ShuffleMode::Xor => t ^ lane,
            ShuffleMode::Idx => lane,
        };
        // What is undefined wraps around, within the array.
        let to = first_of(t, wave) | (to & (wave - 1));
        match mode {
            ShuffleMode::Up if !in_range => lane.le(own).select(to, t),
            ShuffleMode::Down if !in_range => lane.lt(-own + wave).select(to, t),
            _ => to,
        }
    });
    Ok(())
}

/// Runs of `run` threads change places with the next ones, which LLVM does in vectors: no index depends on a lane.
fn exchange<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, value: Value<'c>, run: i64) {
    let out = results(body, op)[0];
    per_tile(body, 2 * run, |body, base, _| {
        for (to, from) in [(base, base + run), (base + run, base)] {
            each(body.b, body.b.index(0), body.b.index(run), 1, |i| {
                out.set(to + i, body.read(value, from + i));
            });
        }
    });
}

fn vote<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, tile: i64, all: bool) -> Result<'c> {
    let out = results(body, op)[0];
    let predicate = simt::Vote::cast(op).predicate();
    per_tile(body, tile, |body, base, end| {
        let b = body.b;
        let [agreed] = b.for_(base, end, b.index(1), [b.bool(all)], |i, [so_far]| {
            let p = body.read(predicate, i);
            [if all { so_far & p } else { so_far | p }]
        });
        each(b, base, end, 1, |i| out.set(i, agreed));
    });
    Ok(())
}

fn per_tile<'b, 'c>(
    body: &BodyLowering<'b, 'c>,
    tile: i64,
    emit: impl FnOnce(&BodyLowering<'b, 'c>, V<'b, 'c>, V<'b, 'c>),
) {
    let (first, end) = body.range();
    each(body.b, first, end, tile, |base| {
        emit(body, base, base + tile);
    });
}

fn all_equal<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, tile: i64) -> Result<'c> {
    let out = results(body, op)[0];
    let value = simt::AllEqual::cast(op).value();
    per_tile(body, tile, |body, base, end| {
        let b = body.b;
        let first = body.read(value, base);
        let [agreed] = b.for_(base, end, b.index(1), [b.bool(true)], |i, [so_far]| {
            [so_far & body.read(value, i).eq(first)]
        });
        each(b, base, end, 1, |i| out.set(i, agreed));
    });
    Ok(())
}

/// A mask of the first `lanes` lanes. Groups of at most 16 have theirs by `x[i] |= x[i + s] << s`, in vectors; a subgroup
/// has its groups' side by side.
fn ballot<'c>(
    body: &mut BodyLowering<'_, 'c>,
    op: Op<'c>,
    predicate: Value<'c>,
    lanes: i64,
) -> Result<'c> {
    let out = results(body, op)[0];
    let (mask, wave) = (out.element(), body.wave);
    let group = wave.min(16);
    let narrow = body.b.int_type(16);
    let work = body.new_array(narrow);
    body.for_threads(|t| {
        let p = body.read(predicate, t);
        let counts = match lanes < wave {
            true => p & (t & (wave - 1)).lt(lanes),
            false => p,
        };
        work.set(t, counts.cast(narrow));
    });
    by_halves(body, group, |i, half| {
        work.set(i, work.at(i) | (work.at(i + half) << half));
    });
    per_tile(body, wave, |body, base, end| {
        // A mask has bits for the lanes that it is of.
        let groups = (0..lanes.min(wave)).step_by(group as usize);
        let total = groups
            .map(|at| work.at(base + at).cast(mask) << at)
            .reduce(|a, b| a | b)
            .expect("a subgroup has lanes");
        each(body.b, base, end, 1, |i| out.set(i, total));
    });
    Ok(())
}

fn match_any<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, _: i64) -> Result<'c> {
    let matched = simt::MatchAny::cast(op);
    let out = results(body, op)[0];
    let value = matched.value();
    let bits = matched.bits();
    let (body, wave) = (&*body, body.wave);
    body.for_threads(|t| {
        let b = body.b;
        let compared = |t| match bits {
            None => body.read(value, t),
            // What is above is shifted out.
            Some(bits) => {
                let value = body.read(value, t);
                value << (i64::from(bit_width(value.ty())) - bits)
            }
        };
        let (base, mine) = (first_of(t, wave), compared(t));
        let [mask] = b.for_(base, base + wave, b.index(1), [b.i64(0)], |i, [mask]| {
            let same = compared(i).eq(mine).to_i64();
            [mask | (same << (i - base).to_i64())]
        });
        out.set(t, mask);
    });
    Ok(())
}

/// All threads of a tile get the result, lane 0 among them.
fn reduce<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, tile: i64) -> Result<'c> {
    let combiner = Combiner::of_simt(op);
    let values = op.operand_values();
    let out = results(body, op);
    if combiner.is_commutative() && (tile as u64).is_power_of_two() {
        body.for_threads(|t| out[0].set(t, body.read(values[0], t)));
        combine_by_halves(body, &combiner, out[0], tile);
        return Ok(());
    }
    per_tile(body, tile, |body, base, end| {
        let b = body.b;
        let start: Vec<_> = values.iter().map(|v| body.read(*v, base)).collect();
        let total = b.for_(base + 1, end, b.index(1), start, |i, so_far| {
            let next: Vec<_> = values.iter().map(|v| body.read(*v, i)).collect();
            combiner.apply(b, &so_far, &next)
        });
        each(b, base, end, 1, |i| {
            for (out, value) in out.iter().zip(&total) {
                out.set(i, *value);
            }
        });
    });
    Ok(())
}

/// Makes arrays the results of an op.
fn define<'b, 'c>(body: &mut BodyLowering<'b, 'c>, op: Op<'c>, arrays: &[V<'b, 'c>]) {
    for (result, array) in op.result_values().into_iter().zip(arrays) {
        body.define(result, *array);
    }
}

/// `x[i] ∘= x[i + s]` for s = tile/2, …, 1; then the first to all.
fn combine_by_halves<'b, 'c>(
    body: &BodyLowering<'b, 'c>,
    combiner: &Combiner<'c>,
    work: V<'b, 'c>,
    tile: i64,
) {
    let b = body.b;
    by_halves(body, tile, |i, half| {
        work.set(i, combiner.apply(b, &[work.at(i)], &[work.at(i + half)])[0]);
    });
    per_tile(body, tile, |_, base, end| {
        let total = work.at(base);
        each(b, base, end, 1, |i| work.set(i, total));
    });
}

/// `combine(i, s)` for each thread i of the first s of a tile, for s = tile/2, …, 1.
fn by_halves<'b, 'c>(body: &BodyLowering<'b, 'c>, tile: i64, combine: impl Fn(V<'b, 'c>, i64)) {
    let mut half = tile / 2;
    while half > 0 {
        per_tile(body, tile, |body, base, _| {
            each(body.b, base, base + half, 1, |i| combine(i, half));
        });
        half /= 2;
    }
}

fn scan<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, tile: i64, exclusive: bool) -> Result<'c> {
    let combiner = Combiner::of_simt(op);
    let values = op.operand_values();
    let inclusive = if combiner.is_commutative() && (tile as u64).is_power_of_two() {
        vec![scan_by_shifts(body, &combiner, values[0], tile)]
    } else {
        scan_in_order(body, &combiner, &values, tile)
    };
    if !exclusive {
        define(body, op, &inclusive);
        return Ok(());
    }
    let out = results(body, op);
    let (body, b) = (&*body, body.b);
    per_tile(body, tile, |_, base, end| {
        for (out, identity) in out.iter().zip(combiner.identity(b)) {
            out.set(base, identity);
        }
        each(b, base + 1, end, 1, |i| {
            for (out, inclusive) in out.iter().zip(&inclusive) {
                out.set(i, inclusive.at(i - 1));
            }
        });
    });
    Ok(())
}

/// An exclusive scan of a subgroup by a kind that has inverses.
fn scan_without_own<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, tile: i64) -> Result<'c> {
    let combiner = Combiner::of_simt(op);
    let own = op.operand_values()[0];
    let inclusive = scan_by_shifts(body, &combiner, own, tile);
    let out = results(body, op)[0];
    let body = &*body;
    body.for_threads(|t| {
        if let Some(below) = combiner.without(inclusive.at(t), body.read(own, t)) {
            out.set(t, below);
        }
    });
    Ok(())
}

/// Groups of [`SCAN_GROUP`] by shifted copies, then a carry from group to group.
fn scan_by_shifts<'b, 'c>(
    body: &mut BodyLowering<'b, 'c>,
    combiner: &Combiner<'c>,
    value: Value<'c>,
    tile: i64,
) -> V<'b, 'c> {
    let r#type = value.r#type();
    let (mut from, mut to) = (body.new_array(r#type), body.new_array(r#type));
    let (body, b) = (&*body, body.b);
    body.for_threads(|t| from.set(t, body.read(value, t)));
    let group = tile.min(SCAN_GROUP);
    let mut shift = 1;
    while shift < group {
        let (first, end) = body.range();
        each(b, first, end, group, |base| {
            each(b, base, base + shift, 1, |i| to.set(i, from.at(i)));
            each(b, base + shift, base + group, 1, |i| {
                to.set(
                    i,
                    combiner.apply(b, &[from.at(i - shift)], &[from.at(i)])[0],
                );
            });
        });
        std::mem::swap(&mut from, &mut to);
        shift *= 2;
    }
    if tile > group {
        per_tile(body, tile, |_, base, end| {
            let carry = from.at(base + (group - 1));
            b.for_(base + group, end, b.index(group), [carry], |at, [carry]| {
                each(b, at, at + group, 1, |i| {
                    from.set(i, combiner.apply(b, &[carry], &[from.at(i)])[0]);
                });
                [from.at(at + (group - 1))]
            });
        });
    }
    from
}

fn scan_in_order<'b, 'c>(
    body: &mut BodyLowering<'b, 'c>,
    combiner: &Combiner<'c>,
    values: &[Value<'c>],
    tile: i64,
) -> Vec<V<'b, 'c>> {
    let out: Vec<_> = values.iter().map(|v| body.new_array(v.r#type())).collect();
    per_tile(body, tile, |body, base, end| {
        let b = body.b;
        let read = |i| -> Vec<_> { values.iter().map(|v| body.read(*v, i)).collect() };
        let write = |i, values: &[V<'b, 'c>]| {
            for (out, value) in out.iter().zip(values) {
                out.set(i, *value);
            }
        };
        let first = read(base);
        write(base, &first);
        b.for_(base + 1, end, b.index(1), first, |i, so_far| {
            let next = combiner.apply(b, &so_far, &read(i));
            write(i, &next);
            next
        });
    });
    out
}

fn segmented_reduce<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, tile: i64) -> Result<'c> {
    let combiner = Combiner::of_simt(op);
    let out = results(body, op);
    let segmented = simt::SegmentedReduce::cast(op);
    let (head, values) = (segmented.head(), segmented.values());
    per_tile(body, tile, |body, base, end| {
        let b = body.b;
        let read = |i| -> Vec<_> { values.iter().map(|v| body.read(*v, i)).collect() };
        let first = read(base);
        for (out, value) in out.iter().zip(&first) {
            out.set(base, *value);
        }
        b.for_(base + 1, end, b.index(1), first, |i, so_far| {
            let restart = body.read(head, i);
            let mine = read(i);
            let combined = combiner.apply(b, &so_far, &mine);
            let next: Vec<_> = mine
                .iter()
                .zip(&combined)
                .map(|(mine, combined)| restart.select(*mine, *combined))
                .collect();
            for (out, value) in out.iter().zip(&next) {
                out.set(i, *value);
            }
            next
        });
    });
    Ok(())
}

/// Odd–even transposition: `tile` rounds of exchanges between neighbours.
fn sort_kv<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, tile: i64) -> Result<'c> {
    let out = results(body, op);
    let (keys, values) = (out[0], out[1]);
    let sort = simt::BitonicSortKv::cast(op);
    let (key, value) = (sort.key(), sort.value());
    let unsigned = [sort.unsigned_key(), sort.unsigned_value()];
    // Floats are sorted as integers, in arrays of their own.
    let [sorted_keys, sorted_values] = [keys, values].map(|out| {
        let element = out.element();
        match is_float(element) {
            true => body.new_array(body.b.int_type(bit_width(element))),
            false => out,
        }
    });
    let body = &*body;
    body.for_threads(|t| {
        sorted_keys.set(t, ordered(body.read(key, t)));
        sorted_values.set(t, ordered(body.read(value, t)));
    });
    per_tile(body, tile, |body, base, end| {
        let b = body.b;
        each(b, b.index(0), b.index(tile), 1, |round| {
            each(b, base + (round & 1), end - 1, 2, |i| {
                let (k, k1) = (sorted_keys.at(i), sorted_keys.at(i + 1));
                let (v, v1) = (sorted_values.at(i), sorted_values.at(i + 1));
                let key_less = if unsigned[0] { k1.lt(k) } else { k1.slt(k) };
                let value_less = if unsigned[1] { v1.lt(v) } else { v1.slt(v) };
                let swap = key_less | (k1.eq(k) & value_less);
                sorted_keys.set(i, swap.select(k1, k));
                sorted_keys.set(i + 1, swap.select(k, k1));
                sorted_values.set(i, swap.select(v1, v));
                sorted_values.set(i + 1, swap.select(v, v1));
            });
        });
    });
    for (sorted, out) in [(sorted_keys, keys), (sorted_values, values)] {
        if is_float(out.element()) {
            body.for_threads(|t| out.set(t, of_ordered(sorted.at(t), out.element())));
        }
    }
    Ok(())
}

fn radix_rank<'c>(body: &mut BodyLowering<'_, 'c>, op: Op<'c>, _: i64) -> Result<'c> {
    let out = results(body, op)[0];
    let rank = simt::BlockRadixRank::cast(op);
    let (digit, valid, bits) = (rank.digit(), rank.valid(), rank.radix_bits());
    let (body, b) = (&*body, body.b);
    let shared = |array: Value<'c>| {
        body.uniform_value(array).ok_or_else(|| {
            Diagnostic::at(
                op,
                "needs arrays that are the same in all threads of the block",
            )
        })
    };
    let (histogram, prefix) = (shared(rank.histogram())?, shared(rank.prefix())?);
    let bins = b.index(1 << bits);
    each(b, b.index(0), bins, 1, |d| histogram.set(d, b.i32(0)));
    body.for_threads(|t| {
        let count = || {
            let digit = body.read(digit, t).to_index();
            let before = histogram.at(digit);
            out.set(t, before);
            histogram.set(digit, before + 1);
        };
        match valid {
            Some(valid) => b.if_(body.read(valid, t), count),
            None => count(),
        }
    });
    b.for_(b.index(0), bins, b.index(1), [b.i32(0)], |d, [sum]| {
        prefix.set(d, sum);
        [sum + histogram.at(d)]
    });
    body.for_threads(|t| {
        let place = || {
            let digit = body.read(digit, t).to_index();
            out.set(t, out.at(t) + prefix.at(digit));
        };
        match valid {
            Some(valid) => b.if_(body.read(valid, t), place),
            None => place(),
        }
    });
    Ok(())
}
