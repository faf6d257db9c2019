//! Collectives under control flow that is uniform in subgroups, but not in the block,
//! on a target, compared with the interpreter: nested branches and loops that some of
//! a block's subgroups take, or each with another number of iterations. In blocks of full
//! subgroups, and in blocks whose last subgroup is filled in part.

use qd_conformance::{Argument, Data, Expect, Subject, report, waves};

const THREADS: usize = 256;
const BLOCKS: usize = 2;
const SHARED: &str = "memref<256xi32, #gpu.address_space<workgroup>>";

/// What each thread starts from: nothing to do, the same in all, some in a few
/// threads, in some subgroups only, and more in each subgroup than in the one before.
fn inputs(wave: u32, threads: usize) -> [Vec<i32>; 6] {
    let numbers = || 0..(threads * BLOCKS) as i32;
    let subgroup = |i: i32| i / wave as i32;
    [
        numbers().map(|_| 0).collect(),
        numbers().map(|_| 2).collect(),
        numbers().map(|i| (i * 37 + 11) % 5 - 1).collect(),
        numbers().map(|i| i32::from(i % 67 == 5) * 3).collect(),
        numbers().map(|i| (subgroup(i) % 3) * (i % 3)).collect(),
        numbers().map(|i| subgroup(i) % 7).collect(),
    ]
}

/// Runs a body that makes `%r` of `%v`, both `i32`; `{last_tile}` in it is the tile
/// that is a subgroup, `SHARED` the type of `%shared`.
fn check(about: &str, body: &str) {
    for &wave in waves() {
        // One and a half subgroups.
        for threads in [THREADS, (wave + wave / 2) as usize] {
            check_at(about, body, wave, threads);
        }
    }
    report(about);
}

fn check_at(about: &str, body: &str, wave: u32, threads: usize) {
    let body = body
        .replace("{last_tile}", &wave.trailing_zeros().to_string())
        .replace("SHARED", SHARED);
    let subject = Subject::new(format!(
        "qd.grid.kernel @main(%a: memref<?xi32>, %o: memref<?xi32>) {{
  %blocks = arith.constant {BLOCKS} : index
  qd.grid.phase blocks(%blocks) threads({threads}) {{
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i64 = arith.constant 64 : index
    %whole = arith.constant {threads} : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %many = arith.constant 20 : i32
    %shared = qd.simt.block.shared : {SHARED}
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %thread = qd.simt.block.thread_id
    %t = arith.index_cast %thread : index to i32
    %lane = qd.simt.lane_id
    %subgroup = qd.simt.subgroup_id
    %size = qd.simt.subgroup_size
    %base = arith.muli %block, %dim : index
    %i = arith.addi %base, %thread : index
    %v = memref.load %a[%i] : memref<?xi32>
    %p = arith.cmpi sgt, %v, %zero : i32
{body}
    memref.store %r, %o[%i] : memref<?xi32>
  }}
}}"
    ));
    for (number, input) in inputs(wave, threads).into_iter().enumerate() {
        let argument = |data| Argument {
            data: Data::I32(data),
            expect: Expect::Same,
        };
        let arguments = [argument(input), argument(vec![0; threads * BLOCKS])];
        let about = format!("{about}, wave {wave}, {threads} threads, input {number}");
        subject.check(wave, &arguments, &about);
    }
}

#[test]
fn branches() {
    for vote in [
        "all %p",
        "any %p",
        "any %p tile({last_tile})",
        "all_equal %v : i32",
    ] {
        check(
            vote,
            &format!(
                "%c = qd.simt.{vote}
    %r = scf.if %c -> i32 {{
      %x = qd.simt.reduce_all add %v : i32
      scf.yield %x : i32
    }} else {{
      %x = qd.simt.inclusive_scan maxsi %v : i32
      %y = qd.simt.shuffle xor %x, %one : i32
      scf.yield %y : i32
    }}"
            ),
        );
    }
}

#[test]
fn a_branch_by_the_subgroups_number() {
    check(
        "the first subgroup",
        "%first = arith.cmpi eq, %subgroup, %zero : i32
    scf.if %first {
      %x = qd.simt.reduce_all add %v : i32
      %own = qd.simt.elect
      scf.if %own { memref.store %x, %shared[%i0] : SHARED }
    }
    qd.simt.block.sync
    %r = memref.load %shared[%i0] : SHARED",
    );
    // Of a thread's number, where no subgroup is parted; `%c` is uniform as well.
    check(
        "the first 64 threads",
        "%first = arith.cmpi ult, %thread, %i64 : index
    %c = arith.cmpi ult, %i1, %i64 : index
    %r = scf.if %first -> i32 {
      %x = scf.if %c -> i32 {
        %y = qd.simt.exclusive_scan add %v : i32
        scf.yield %y : i32
      } else {
        scf.yield %v : i32
      }
      scf.yield %x : i32
    } else {
      scf.yield %t : i32
    }",
    );
}

#[test]
fn branches_in_branches() {
    check(
        "branches and loops in a branch",
        "%c = qd.simt.any %p
    %s = arith.addi %v, %t : i32
    %pair:2 = scf.if %c -> (i32, i32) {
      // Lanes go their own ways where there is no collective.
      %w = scf.if %p -> i32 {
        %x = arith.muli %s, %three : i32
        scf.yield %x : i32
      } else {
        scf.yield %t : i32
      }
      %m = qd.simt.reduce_all maxsi %w : i32
      // A loop of as many rounds in every thread.
      %f:2 = scf.for %k = %zero to %three step %one iter_args(%x = %w, %n = %zero) -> (i32, i32) : i32 {
        %y = qd.simt.inclusive_scan add %x : i32
        %z = arith.addi %y, %k : i32
        %even = arith.andi %z, %one : i32
        %e = arith.cmpi eq, %even, %zero : i32
        %q = qd.simt.all %e
        %u = scf.if %q -> i32 {
          %b = qd.simt.broadcast %z, %two : i32
          scf.yield %b : i32
        } else {
          %b = qd.simt.rotate %z, %one : i32
          scf.yield %b : i32
        }
        %n2 = arith.addi %n, %k : i32
        scf.yield %u, %n2 : i32, i32
      }
      // One of rounds of its own in each lane.
      %g = scf.while (%x = %v) : (i32) -> i32 {
        %go = arith.cmpi slt, %x, %two : i32
        scf.condition(%go) %x : i32
      } do {
      ^bb0(%x: i32):
        %y = arith.addi %x, %one : i32
        scf.yield %y : i32
      }
      %h = arith.addi %g, %f#1 : i32
      %j = arith.addi %h, %m : i32
      scf.yield %f#0, %j : i32, i32
    } else {
      scf.yield %s, %three : i32, i32
    }
    qd.simt.block.sync
    %sum = qd.simt.block.reduce_all add %pair#1 : i32
    %r = arith.addi %pair#0, %sum : i32",
    );
}

#[test]
fn shared_memory_in_a_branch() {
    check(
        "shared memory in a branch",
        "memref.store %t, %shared[%thread] : SHARED
    qd.simt.block.sync
    %c = qd.simt.any %p
    %seen = scf.if %c -> i32 {
      memref.store %v, %shared[%thread] : SHARED
      qd.simt.sync
      %flipped = arith.xori %thread, %i1 : index
      %x = memref.load %shared[%flipped] : SHARED
      qd.simt.sync
      %y = qd.simt.reduce_all add %x : i32
      %z = arith.addi %y, %x : i32
      memref.store %z, %shared[%thread] : SHARED
      scf.yield %z : i32
    } else {
      scf.yield %zero : i32
    }
    qd.simt.block.sync
    %last = arith.subi %whole, %i1 : index
    %other = arith.subi %last, %thread : index
    %there = memref.load %shared[%other] : SHARED
    %r = arith.addi %seen, %there : i32",
    );
}

/// Which array it is differs by the subgroup, and by the round.
#[test]
fn shared_arrays_by_choice() {
    // SPIR-V has no form for memory that a choice names: an error of the compilation.
    if qd_conformance::is_vulkan() {
        return;
    }
    check(
        "shared arrays by choice",
        "%other = qd.simt.block.shared : SHARED
    memref.store %v, %shared[%thread] : SHARED
    memref.store %t, %other[%thread] : SHARED
    qd.simt.block.sync
    %c = qd.simt.any %p
    %which = scf.if %c -> SHARED {
      %x = qd.simt.inclusive_scan add %v : i32
      memref.store %x, %shared[%thread] : SHARED
      scf.yield %shared : SHARED
    } else {
      scf.yield %other : SHARED
    }
    %last = scf.for %k = %zero to %two step %one iter_args(%array = %shared) -> (SHARED) : i32 {
      %x = memref.load %array[%thread] : SHARED
      %y = qd.simt.reduce_all add %x : i32
      memref.store %y, %array[%thread] : SHARED
      scf.yield %which : SHARED
    }
    %x = memref.load %last[%thread] : SHARED
    %y = memref.load %other[%thread] : SHARED
    %r = arith.addi %x, %y : i32",
    );
}

#[test]
fn loops_while_a_lane_has_work() {
    check(
        "work that lanes share",
        "%sum:2 = scf.while (%work = %v, %acc = %zero) : (i32, i32) -> (i32, i32) {
      %some = arith.cmpi sgt, %work, %zero : i32
      %go = qd.simt.any %some
      scf.condition(%go) %work, %acc : i32, i32
    } do {
    ^bb0(%work: i32, %acc: i32):
      %some = arith.cmpi sgt, %work, %zero : i32
      %mask = qd.simt.ballot %some
      %at = qd.math.ffs %mask : i64
      %from = arith.subi %at, %one : i32
      %x = qd.simt.broadcast %work, %from : i32
      %s = arith.addi %acc, %x : i32
      %mine = arith.cmpi eq, %lane, %from : i32
      %less = arith.subi %work, %one : i32
      %left = arith.select %mine, %less, %work : i32
      scf.yield %left, %s : i32, i32
    }
    %r = arith.addi %sum#0, %sum#1 : i32",
    );
    // What is passed on is not what is carried, and a loop is in the loop.
    check(
        "loops in a loop",
        "%sum:3 = scf.while (%work = %v, %acc = %t) : (i32, i32) -> (i32, i64, i32) {
      %most = qd.simt.reduce_all maxsi %work : i32
      %go = arith.cmpi sgt, %most, %zero : i32
      %wide = arith.extsi %acc : i32 to i64
      scf.condition(%go) %most, %wide, %work : i32, i64, i32
    } do {
    ^bb0(%most: i32, %wide: i64, %work: i32):
      %inner = scf.while (%n = %most) : (i32) -> i32 {
        %x = qd.simt.broadcast_first %n : i32
        %go = arith.cmpi sgt, %x, %one : i32
        scf.condition(%go) %x : i32
      } do {
      ^bb0(%n: i32):
        %y = arith.subi %n, %two : i32
        %z = qd.simt.shuffle xor %y, %one : i32
        scf.yield %z : i32
      }
      %acc = arith.trunci %wide : i64 to i32
      %upper = arith.index_cast %most : i32 to index
      %more = scf.for %k = %i0 to %upper step %i1 iter_args(%x = %acc) -> (i32) {
        %n = arith.index_cast %k : index to i32
        %y = arith.addi %x, %n : i32
        %z = qd.simt.rotate %y, %one : i32
        scf.yield %z : i32
      }
      %next = arith.addi %more, %inner : i32
      %less = arith.subi %work, %one : i32
      scf.yield %less, %next : i32, i32
    }
    %narrow = arith.trunci %sum#1 : i64 to i32
    %r1 = arith.addi %sum#0, %narrow : i32
    %r = arith.addi %r1, %sum#2 : i32",
    );
}

#[test]
fn loops_of_each_subgroups_own_rounds() {
    let rounds = "%bound = arith.index_cast %n : i32 to index
    %r = scf.for %k = %i0 to %bound step %i1 iter_args(%x = %v) -> (i32) {
      %at = arith.index_cast %k : index to i32
      %y = qd.simt.inclusive_scan add %x : i32
      %even = arith.andi %at, %one : i32
      %e = arith.cmpi eq, %even, %zero : i32
      %z = scf.if %e -> i32 {
        %s = qd.simt.reduce_all minsi %y : i32
        scf.yield %s : i32
      } else {
        %s = arith.addi %y, %at : i32
        scf.yield %s : i32
      }
      scf.yield %z : i32
    }";
    check(
        "subgroup_id rounds",
        &format!("%n = arith.remui %subgroup, %three : i32\n{rounds}"),
    );
    check(
        "rounds of lane 0",
        &format!("%n = qd.simt.broadcast_first %v : i32\n{rounds}"),
    );
    // From a lower bound and by steps that are a subgroup's own.
    check(
        "bounds of a subgroup's own",
        "%most = qd.simt.reduce_all maxsi %v : i32
    %step = arith.addi %subgroup, %one : i32
    %pair:2 = scf.for %k = %subgroup to %many step %step iter_args(%x = %most, %y = %zero) -> (i32, i32) : i32 {
      %z = qd.simt.exclusive_scan add %k : i32
      %u = arith.addi %z, %x : i32
      %w = arith.addi %y, %k : i32
      scf.yield %u, %w : i32, i32
    }
    %r = arith.addi %pair#0, %pair#1 : i32",
    );
    // As many rounds for each lane, from another number on.
    for start in ["%lane", "%t"] {
        check(
            &format!("rounds from {start} on"),
            &format!(
                "%end = arith.constant 512 : i32
    %r = scf.for %k = {start} to %end step %size iter_args(%x = %v) -> (i32) : i32 {{
      %y = arith.addi %x, %k : i32
      %z = qd.simt.shuffle xor %y, %one : i32
      scf.yield %z : i32
    }}"
            ),
        );
    }
    // In blocks that are powers of two this is known to be uniform.
    for &wave in waves() {
        let about = "blocks go over what is a multiple of them";
        let body = "%end = arith.constant 768 : index
    %r = scf.for %k = %thread to %end step %whole iter_args(%x = %v) -> (i32) {
      %n = arith.index_cast %k : index to i32
      %y = arith.addi %x, %n : i32
      %z = qd.simt.block.reduce_all add %y : i32
      scf.yield %z : i32
    }";
        check_at(about, body, wave, THREADS);
    }
    report("blocks go over what is a multiple of them");
}

#[test]
fn switches() {
    check(
        "switches",
        "%third = arith.remui %subgroup, %three : i32
    %which = arith.index_castui %third : i32 to index
    %x = scf.index_switch %which -> i32
    case 0 {
      %y = qd.simt.reduce_all add %v : i32
      scf.yield %y : i32
    }
    case 2 {
      %y = qd.simt.inclusive_scan add %v : i32
      scf.yield %y : i32
    }
    default {
      scf.yield %t : i32
    }
    %r = scf.index_switch %block -> i32
    case 1 {
      %y = qd.simt.block.reduce_all add %x : i32
      qd.simt.block.sync
      scf.yield %y : i32
    }
    default {
      scf.yield %x : i32
    }",
    );
}

#[test]
fn control_by_a_collective_of_the_block() {
    check(
        "while a thread of the block has work",
        "%sum:2 = scf.while (%work = %v, %acc = %zero) : (i32, i32) -> (i32, i32) {
      %most = qd.simt.block.reduce_all maxsi %work : i32
      %go = arith.cmpi sgt, %most, %zero : i32
      scf.condition(%go) %work, %acc : i32, i32
    } do {
    ^bb0(%work: i32, %acc: i32):
      qd.simt.block.sync
      memref.store %work, %shared[%thread] : SHARED
      qd.simt.block.sync
      %last = arith.subi %whole, %i1 : index
      %other = arith.subi %last, %thread : index
      %there = memref.load %shared[%other] : SHARED
      %s = arith.addi %acc, %there : i32
      %less = arith.subi %work, %one : i32
      scf.yield %less, %s : i32, i32
    }
    %some = qd.simt.block.reduce_all add %v : i32
    %q = arith.cmpi sgt, %some, %many : i32
    %x = scf.if %q -> i32 {
      qd.simt.block.sync
      %y = qd.simt.block.inclusive_scan add %v : i32
      scf.yield %y : i32
    } else {
      scf.yield %some : i32
    }
    %r = arith.addi %x, %sum#1 : i32",
    );
}

/// What is carried starts as a constant and does not stay one.
#[test]
fn loops_that_count() {
    check(
        "a loop that counts",
        "%sum:2 = scf.while (%n = %zero, %acc = %zero) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi slt, %n, %three : i32
      scf.condition(%go) %n, %acc : i32, i32
    } do {
    ^bb0(%n: i32, %acc: i32):
      %x = arith.addi %acc, %v : i32
      %s = qd.simt.inclusive_scan add %x : i32
      %more = arith.addi %n, %one : i32
      scf.yield %more, %s : i32, i32
    }
    %r = arith.addi %sum#0, %sum#1 : i32",
    );
    check(
        "a loop that counts without signs",
        "%from = arith.constant 2147483646 : i32
    %to = arith.constant -2147483646 : i32
    %r = scf.for unsigned %k = %from to %to step %one iter_args(%acc = %v) -> (i32) : i32 {
      %s = qd.simt.inclusive_scan xor %acc : i32
      %x = arith.xori %s, %k : i32
      scf.yield %x : i32
    }",
    );
}
