//! Collectives of uniform operands, on a target, compared with the interpreter: a
//! compiler may compute a uniform value once, but not a collective. Each
//! collective's result feeds arithmetic, control, loops and a collective of its
//! kind.

use qd_conformance::{Argument, Data, Expect, Subject, report, waves};
use qd_dialects::interfaces::collectives;

const THREADS: usize = 128;
const SHARED: &str = "memref<8xi32, #gpu.address_space<workgroup>>";

/// Whether every thread gets the same of operands that are.
fn agrees(name: &str) -> bool {
    let varies = ["reduce", "scan", "segmented", "sort", "rank"];
    name.ends_with("reduce_all")
        || name.ends_with("sync")
        || !varies.iter().any(|part| name.contains(part))
}

/// `%to` from `%from`, both `i32`, by a collective, in every thread.
fn apply(name: &str, from: &str, to: &str) -> String {
    let op = format!("qd.simt.{name}");
    let holds = format!("%{to}p = arith.cmpi sgt, {from}, %two : i32");
    let extended = |op: String| format!("{op}\n %{to} = arith.extui %{to}r : i1 to i32");
    let narrow = |op: String| format!("{op}\n %{to} = arith.trunci %{to}r : i64 to i32");
    match name {
        "sync" | "block.sync" => format!("{op}\n %{to} = arith.addi {from}, %two : i32"),
        "shuffle" => format!("%{to} = {op} idx {from}, %two : i32"),
        "broadcast" | "rotate" => format!("%{to} = {op} {from}, %two : i32"),
        "broadcast_first" => format!("%{to} = {op} {from} : i32"),
        "all" | "any" => extended(format!("{holds}\n %{to}r = {op} %{to}p")),
        "all_equal" => extended(format!("%{to}r = {op} {from} : i32")),
        "ballot" => narrow(format!("{holds}\n %{to}r = {op} %{to}p")),
        "count_true" => format!("{holds}\n %{to} = {op} %{to}p"),
        "ballot_first_n" => format!("{holds}\n %{to} = {op} 7 %{to}p"),
        "match_any" | "match_all" => narrow(format!("%{to}r = {op} {from} : i32")),
        "active_mask" => narrow(format!("%{to}r = {op}")),
        // What the others get is undefined.
        "reduce" => format!(
            "%{to}r = {op} add {from} : i32
             %{to} = arith.select %first_lane, %{to}r, {from} : i32"
        ),
        "block.reduce" => format!(
            "%{to}r = {op} add {from} : i32
             %{to} = arith.select %first_thread, %{to}r, {from} : i32"
        ),
        "segmented_reduce" => format!("{holds}\n %{to} = {op} add {from} heads %{to}p : i32"),
        "bitonic_sort_kv" => format!("%{to}, %{to}v = {op} {from}, %two : i32, i32"),
        "block.radix_rank" => format!(
            // Few digits: ten of these share what Vulkan promises a block, 16 KiB.
            "%{to}d = arith.andi {from}, %seven : i32
             qd.simt.block.sync
             %{to} = {op} %{to}d, %hist, %prefix {{radix_bits = 3 : i32}} : {SHARED}, {SHARED}"
        ),
        // One of each kind of them, and what the list may yet get: a combination.
        _ => format!("%{to} = {op} add {from} : i32"),
    }
}

fn kernel(name: &str) -> String {
    let apply = |from, to| apply(name, from, to);
    // What only the threads that agree can do together.
    let together = |from: &str, to: &str| match agrees(name) {
        true => format!("qd.simt.block.sync\n %{to} = qd.simt.block.reduce_all add {from} : i32"),
        false => format!("%{to} = arith.muli {from}, %two : i32"),
    };
    format!(
        "qd.grid.kernel @main(%a: memref<?xi32>, %o: memref<?xi32>) {{
  %blocks = arith.constant 2 : index
  qd.grid.phase blocks(%blocks) threads({THREADS}) {{
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i3 = arith.constant 3 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %seven = arith.constant 7 : i32
    %hist = qd.simt.block.shared : {SHARED}
    %prefix = qd.simt.block.shared : {SHARED}
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %thread = qd.simt.block.thread_id
    %lane = qd.simt.lane_id
    %first_lane = arith.cmpi eq, %lane, %zero : i32
    %first_thread = arith.cmpi eq, %thread, %i0 : index
    %base = arith.muli %block, %dim : index
    %i = arith.addi %base, %thread : index
    %s = memref.load %a[%block] : memref<?xi32>

    // Arithmetic, and a collective of a collective.
    {}
    %sum = arith.addi %c, %c : i32
    {}

    // A branch.
    %more = arith.cmpi sgt, %c, %two : i32
    %branch = scf.if %more -> i32 {{
      {}
      scf.yield %x : i32
    }} else {{
      scf.yield %c : i32
    }}

    // The end of a loop, and what it carries.
    %low = arith.andi %c, %seven : i32
    %rounds = arith.index_castui %low : i32 to index
    %loop = scf.for %k = %i0 to %rounds step %i1 iter_args(%v = %c) -> (i32) {{
      {}
      scf.yield %y : i32
    }}
    %carried = scf.for %k = %i0 to %i3 step %i1 iter_args(%v = %s) -> (i32) {{
      {}
      scf.yield %l : i32
    }}

    // What a loop carries that counts, and one that the collective ends.
    %while:2 = scf.while (%n = %zero, %v = %s) : (i32, i32) -> (i32, i32) {{
      %go = arith.cmpi slt, %n, %three : i32
      scf.condition(%go) %n, %v : i32, i32
    }} do {{
    ^bb0(%n: i32, %v: i32):
      {}
      %next = arith.addi %n, %one : i32
      scf.yield %next, %w : i32, i32
    }}
    %until:2 = scf.while (%n = %zero, %v = %s) : (i32, i32) -> (i32, i32) {{
      {}
      %u2 = arith.addi %u, %n : i32
      %u3 = arith.andi %u2, %seven : i32
      %few = arith.cmpi slt, %n, %three : i32
      %other = arith.cmpi ne, %u3, %seven : i32
      %go = arith.andi %few, %other : i1
      scf.condition(%go) %n, %u : i32, i32
    }} do {{
    ^bb0(%n: i32, %v: i32):
      {}
      %next = arith.addi %n, %one : i32
      scf.yield %next, %z : i32, i32
    }}

    %total = qd.simt.grid.dim
    %all = arith.muli %total, %dim : index
    %at1 = arith.addi %i, %all : index
    %at2 = arith.addi %at1, %all : index
    %at3 = arith.addi %at2, %all : index
    %at4 = arith.addi %at3, %all : index
    %at5 = arith.addi %at4, %all : index
    %at6 = arith.addi %at5, %all : index
    memref.store %sum, %o[%i] : memref<?xi32>
    memref.store %d, %o[%at1] : memref<?xi32>
    memref.store %branch, %o[%at2] : memref<?xi32>
    memref.store %loop, %o[%at3] : memref<?xi32>
    memref.store %carried, %o[%at4] : memref<?xi32>
    memref.store %while#1, %o[%at5] : memref<?xi32>
    memref.store %until#1, %o[%at6] : memref<?xi32>
  }}
}}",
        apply("%s", "c"),
        apply("%c", "d"),
        together("%c", "x"),
        together("%v", "y"),
        apply("%v", "l"),
        apply("%v", "w"),
        // A collective in a condition that varies would diverge.
        match agrees(name) {
            true => apply("%v", "u"),
            false => "%u = arith.addi %v, %lane : i32".into(),
        },
        together("%v", "z"),
    )
}

#[test]
fn collectives_of_uniform_operands() {
    let all = collectives(&qd_dialects::context());
    for &wave in waves() {
        for name in all.iter().filter_map(|name| name.strip_prefix("qd.simt.")) {
            let subject = Subject::new(kernel(name));
            for s in [[3, 5], [-1, 0]] {
                let argument = |data| Argument {
                    data: Data::I32(data),
                    expect: Expect::Same,
                };
                let arguments = [argument(s.to_vec()), argument(vec![0; THREADS * 2 * 7])];
                subject.check(wave, &arguments, &format!("{name} of {s:?}, wave {wave}"));
            }
        }
    }
    report("collectives of uniform operands");
}
