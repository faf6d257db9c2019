//! Blocks whose last subgroup is filled in part: the lanes that are absent contribute nothing, and a lane
//! that reads one of them has its own value.

use crate::support::*;
use std::ops::Range;

/// One block: `%r` of `%x`, which is 10 and the thread's number, in each thread.
fn block(threads: usize, body: &str, wave: u32) -> Vec<i32> {
    let text = phase(
        "%in: memref<?xi32>, %out: memref<?xi32>",
        1,
        threads,
        &format!(
            "%t = qd.simt.block.thread_id
             %x = memref.load %in[%t] : memref<?xi32>
             %c1 = arith.constant 1 : i32
             %c3 = arith.constant 3 : i32
             %odd = arith.andi %x, %c1 : i32
             %p = arith.cmpi eq, %odd, %c1 : i32
             {body}
             memref.store %r, %out[%t] : memref<?xi32>"
        ),
    );
    let input: Vec<i32> = (0..threads as i32).map(|t| 10 + t).collect();
    let out = run(
        &text,
        vec![buffer(&input), buffer(&vec![0i32; threads])],
        wave,
    );
    values(&out[1])
}

/// What each thread is expected to have, by its number and those of its subgroup.
fn check(body: &str, expected: impl Fn(usize, Range<usize>) -> i32) {
    for wave in WAVES {
        let size = wave as usize;
        for threads in [1, 3, size - 1, size + 1, 2 * size + size / 2] {
            let subgroup = |t: usize| {
                let first = t - t % size;
                first..threads.min(first + size)
            };
            let all: Vec<i32> = (0..threads).map(|t| expected(t, subgroup(t))).collect();
            let about = format!("{body}, {threads} threads at wave {wave}");
            assert_eq!(block(threads, body, wave), all, "{about}");
        }
    }
}

fn x(t: usize) -> i32 {
    10 + t as i32
}

#[test]
fn what_is_absent_is_not_combined() {
    check("%r = qd.simt.reduce_all add %x : i32", |_, lanes| {
        lanes.map(x).sum()
    });
    check("%r = qd.simt.reduce_all minsi %x : i32", |_, lanes| {
        x(lanes.start)
    });
    check("%r = qd.simt.inclusive_scan add %x : i32", |t, lanes| {
        (lanes.start..=t).map(x).sum()
    });
    check("%r = qd.simt.count_true %p", |_, lanes| {
        lanes.filter(|t| x(*t) % 2 == 1).count() as i32
    });
    check(
        "%m = qd.simt.ballot_first_n 32 %p %r = arith.addi %m, %c1 : i32",
        |_, lanes| {
            let bit = |t: usize| i32::from(x(t) % 2 == 1).unbounded_shl((t - lanes.start) as u32);
            lanes.clone().map(bit).fold(1, i32::wrapping_add)
        },
    );
    // The lanes that there are, low and high halves together.
    let folded = |mask: u64| mask as i32 ^ (mask >> 32) as i32;
    let fold = "%c32 = arith.constant 32 : i64
         %high = arith.shrui %m, %c32 : i64
         %both = arith.xori %m, %high : i64
         %r = arith.trunci %both : i64 to i32";
    let there = |lanes: Range<usize>| u64::MAX >> (64 - lanes.len());
    check(&format!("%m = qd.simt.active_mask {fold}"), |_, lanes| {
        folded(there(lanes))
    });
    check(
        &format!("%m = qd.simt.match_all %c1 : i32 {fold}"),
        |_, lanes| folded(there(lanes)),
    );
    check(
        &format!("%m = qd.simt.match_all %x : i32 {fold}"),
        |_, lanes| if lanes.len() == 1 { 1 } else { 0 },
    );
    check(
        "%same = arith.cmpi sge, %x, %c3 : i32
         %v = qd.simt.all %same
         %r = arith.extui %v : i1 to i32",
        |_, _| 1,
    );
}

#[test]
fn who_reads_what_is_absent_has_its_own_value() {
    check("%r = qd.simt.shuffle down %x, %c3 : i32", |t, lanes| {
        x(if lanes.contains(&(t + 3)) { t + 3 } else { t })
    });
    check("%r = qd.simt.shuffle xor %x, %c1 : i32", |t, lanes| {
        let other = lanes.start + ((t - lanes.start) ^ 1);
        x(if lanes.contains(&other) { other } else { t })
    });
    check("%r = qd.simt.broadcast %x, %c3 : i32", |t, lanes| {
        x(if lanes.len() > 3 { lanes.start + 3 } else { t })
    });
}

#[test]
fn a_block_is_as_large_as_it_is() {
    for wave in WAVES {
        for threads in [1, 3, 70, 1000] {
            let sizes = block(threads, "%r = qd.simt.block.reduce_all add %c1 : i32", wave);
            assert_eq!(sizes, vec![threads as i32; threads]);
            let subgroups = block(threads, "%r = qd.simt.num_subgroups", wave);
            assert_eq!(
                subgroups,
                vec![threads.div_ceil(wave as usize) as i32; threads]
            );
        }
    }
}
