//! Undefined behaviour is reported, with its place.

use crate::support::*;
use qd_interp::{Argument, Options};

fn expect(body: &str, words: &[&str]) {
    let input: Vec<i32> = (0..64).collect();
    faults(
        &map_text("i32", "i32", body),
        map_arguments::<i32, i32>(&input),
        16,
        words,
    );
}

fn fine(body: &str) {
    let input: Vec<i32> = (0..64).collect();
    map64::<i32, i32>("i32", "i32", body, &input, 16);
}

#[test]
fn faults_say_where() {
    let text = "qd.grid.kernel @k(%a: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.for_each %i to %c1 {
    %c9 = arith.constant 9 : index
    %x = memref.load %a[%c9] : memref<4xi32>
  }
}";
    let fault = faults(
        text,
        vec![buffer(&[0i32; 4])],
        4,
        &["index 9 in dimension 0 of size 4"],
    );
    assert_eq!(
        (fault.location.as_str(), fault.operation.as_str()),
        ("-:5:10", "memref.load")
    );
}

/// Poison may pass through arithmetic, not through what depends on it.
#[test]
fn poison() {
    let over = "%c40 = arith.constant 40 : i32\n %p = arith.shli %x, %c40 : i32";
    let zero = "%c0 = arith.constant 0 : i32";
    fine(&format!(
        "{over}\n %q = arith.addi %p, %x : i32\n %r = arith.addi %x, %x : i32"
    ));
    fine(&format!(
        "{over}\n %t0 = arith.constant true\n %r = arith.select %t0, %x, %p : i32"
    ));
    expect(
        &format!("{over}\n %t0 = arith.constant true\n %r = arith.select %t0, %p, %x : i32"),
        &["memref.store", "poison"],
    );
    expect(
        &format!("{over}\n %r = arith.addi %p, %x : i32"),
        &["memref.store", "poison", "value it stores"],
    );
    expect(
        &format!(
            "{over}\n {zero}\n %c = arith.cmpi eq, %p, %c0 : i32\n %r = arith.select %c, %x, %x : i32"
        ),
        &["memref.store", "poison"],
    );
    expect(
        &format!(
            "{over}\n {zero}\n %c = arith.cmpi eq, %p, %c0 : i32\n scf.if %c {{ }}\n %r = arith.addi %x, %x : i32"
        ),
        &["scf.if", "poison", "condition"],
    );
    expect(
        &format!(
            "{over}\n %i = arith.index_cast %p : i32 to index\n %r = memref.load %in[%i] : memref<64xi32>"
        ),
        &["memref.load", "poison", "index"],
    );
    expect(
        &format!("{over}\n %r = arith.divsi %x, %p : i32"),
        &["arith.divsi", "poison", "divisor"],
    );
    expect(
        &format!(
            "{over}\n {zero}\n %c = arith.cmpi eq, %p, %c0 : i32\n %v = qd.simt.any %c\n %r = arith.extui %v : i1 to i32"
        ),
        &["qd.simt.any", "poison", "predicate"],
    );
    expect(
        &format!("{over}\n %r = qd.simt.shuffle idx %x, %p : i32"),
        &["qd.simt.shuffle", "poison"],
    );
    expect("%r = ub.poison : i32", &["poison"]);
}

/// Of what two branches yield, each lane has its own: value and poison.
#[test]
fn poison_of_branches() {
    let branches = |then: &str, otherwise: &str| {
        format!(
            "%c1 = arith.constant 1 : i32
             %c15 = arith.constant 15 : i32
             %lane = qd.simt.lane_id
             %s = qd.simt.shuffle down %x, %c1 in_range : i32
             %last = arith.cmpi eq, %lane, %c15 : i32
             %r = scf.if %last -> i32 {{
               scf.yield %{then} : i32
             }} else {{
               scf.yield %{otherwise} : i32
             }}"
        )
    };
    fine(&branches("x", "s"));
    expect(&branches("s", "x"), &["memref.store", "poison", "lane 15"]);
}

#[test]
fn flags_make_promises() {
    let big = "%m = arith.constant 2147483647 : i32";
    fine(&format!("{big}\n %r = arith.addi %x, %m : i32"));
    expect(
        &format!("{big}\n %r = arith.addi %x, %m overflow<nsw> : i32"),
        &["poison"],
    );
    fine(&format!(
        "{big}\n %r = arith.addi %x, %m overflow<nuw> : i32"
    ));
    fine(&format!(
        "{big}\n %r = arith.subi %m, %x overflow<nsw, nuw> : i32"
    ));
    expect(
        &format!("{big}\n %r = arith.subi %x, %m overflow<nuw> : i32"),
        &["poison"],
    );
    expect(
        &format!("{big}\n %r = arith.muli %x, %m overflow<nsw> : i32"),
        &["poison"],
    );
    let two = "%c2 = arith.constant 2 : i32";
    fine(&format!("{two}\n %r = arith.shrui %x, %c2 : i32"));
    expect(
        &format!("{two}\n %r = arith.divui %x, %c2 exact : i32"),
        &["poison"],
    );
    expect(
        "%f = arith.constant 1.0e30 : f32\n %r = arith.fptosi %f : f32 to i32",
        &["poison"],
    );
}

/// What a reduction leaves in the other lanes, and what a shuffle reads beyond
/// the subgroup.
#[test]
fn undefined_lanes() {
    expect(
        "%r = qd.simt.reduce add %x : i32",
        &["memref.store", "lane 1"],
    );
    expect("%r = qd.simt.reduce add %x tile(1) : i32", &["lane 1"]);
    expect(
        "%r = qd.simt.block.reduce add %x : i32",
        &["memref.store", "poison"],
    );
    let by =
        |mode: &str| format!("%c1 = arith.constant 1 : i32\n %r = qd.simt.shuffle {mode} : i32");
    expect(&by("up %x, %c1 in_range"), &["memref.store", "lane 0"]);
    expect(&by("down %x, %c1 in_range"), &["memref.store", "lane 15"]);
    fine(&by("up %x, %c1"));
    fine(&by("down %x, %c1"));
    fine(&by("xor %x, %c1"));
    expect(
        "%c16 = arith.constant 16 : i32\n %r = qd.simt.shuffle xor %x, %c16 : i32",
        &["poison"],
    );
    expect(
        "%c16 = arith.constant 16 : i32\n %r = qd.simt.shuffle idx %x, %c16 : i32",
        &["poison"],
    );
    expect(
        "%c20 = arith.constant 20 : i32\n %r = qd.simt.broadcast %x, %c20 : i32",
        &["poison"],
    );
    expect(
        "%lane = qd.simt.lane_id\n %r = qd.simt.broadcast %x, %lane : i32",
        &["qd.simt.broadcast", "same in all lanes"],
    );
    expect(
        "%lane = qd.simt.lane_id\n %r = qd.simt.rotate %x, %lane : i32",
        &["qd.simt.rotate", "same in all lanes"],
    );
    // One poison lane poisons the lanes that combine it.
    let some = "%lane = qd.simt.lane_id
      %c1 = arith.constant 1 : i32
      %s = qd.simt.shuffle down %x, %c1 in_range : i32
      %i = qd.simt.inclusive_scan add %s : i32
      %c15 = arith.constant 15 : i32
      %p = arith.cmpi slt, %lane, %c15 : i32";
    fine(&format!("{some}\n %r = arith.select %p, %i, %x : i32"));
    expect(
        &format!("{some}\n %r = qd.simt.reduce_all add %s : i32"),
        &["poison"],
    );
    expect("%r = qd.simt.lanemask lt %x : i32", &["poison", "lane 0"]);
    expect(
        "%c32 = arith.constant 32 : i32\n %r = qd.math.fns %x, %c32, %x",
        &["qd.math.fns", "bit 32"],
    );
}

#[test]
fn tiles_fit_the_subgroup() {
    expect(
        "%r = qd.simt.reduce_all add %x tile(5) : i32",
        &["qd.simt.reduce_all", "tile(5)", "16 lanes"],
    );
    fine("%r = qd.simt.reduce_all add %x tile(4) : i32");
}

#[test]
fn division() {
    expect(
        "%c0 = arith.constant 0 : i32\n %r = arith.divsi %x, %c0 : i32",
        &["arith.divsi", "by zero"],
    );
    expect(
        "%c0 = arith.constant 0 : i32\n %r = arith.remui %x, %c0 : i32",
        &["arith.remui", "by zero"],
    );
    expect(
        "%m = arith.constant -2147483648 : i32\n %c = arith.constant -1 : i32\n %r = arith.divsi %m, %c : i32",
        &["arith.divsi", "overflows"],
    );
    // Only where it is executed.
    fine(
        "%c0 = arith.constant 0 : i32
         %p = arith.cmpi ne, %x, %c0 : i32
         %r = scf.if %p -> i32 {
           %d = arith.divsi %x, %x : i32
           scf.yield %d : i32
         } else {
           scf.yield %c0 : i32
         }",
    );
}

#[test]
fn divergence() {
    let half = "%c40 = arith.constant 40 : i32\n %p = arith.cmpi slt, %x, %c40 : i32";
    let within = |op: &str| format!("{half}\n scf.if %p {{ {op} }}\n %r = arith.addi %x, %x : i32");
    // 40 splits the third subgroup of 16.
    expect(
        &within("%s = qd.simt.reduce_all add %x : i32"),
        &["qd.simt.reduce_all", "divergent collective", "subgroup 2"],
    );
    expect(
        &within("qd.simt.sync"),
        &["qd.simt.sync", "divergent collective"],
    );
    expect(
        &within("qd.simt.block.sync"),
        &["qd.simt.block.sync", "divergent collective"],
    );
    let whole = "%c32 = arith.constant 32 : i32\n %p = arith.cmpi slt, %x, %c32 : i32";
    let within =
        |op: &str| format!("{whole}\n scf.if %p {{ {op} }}\n %r = arith.addi %x, %x : i32");
    // 32 does not split any, but it splits the block.
    fine(&within("%s = qd.simt.reduce_all add %x : i32"));
    expect(
        &within("qd.simt.block.sync"),
        &[
            "qd.simt.block.sync",
            "divergent collective",
            "subgroup 2",
            "has ended",
        ],
    );
    // Two barriers in the two branches are not one.
    expect(
        &format!(
            "{whole}\n scf.if %p {{ qd.simt.block.sync }} else {{ qd.simt.block.sync }}\n %r = arith.addi %x, %x : i32"
        ),
        &["divergent collective", "waits at another one", "note"],
    );
    // Lanes that leave a loop early miss the collective in it.
    expect(
        "%c0 = arith.constant 0 : index
         %c1 = arith.constant 1 : index
         %n = arith.index_cast %x : i32 to index
         scf.for %i = %c0 to %n step %c1 {
           qd.simt.sync
         }
         %r = arith.addi %x, %x : i32",
        &["qd.simt.sync", "divergent collective"],
    );
}

/// The first subgroup turns once, then waits; the others wait in turn two.
#[test]
fn divergence_over_turns() {
    expect(
        "%c0 = arith.constant 0 : index
         %c1 = arith.constant 1 : index
         %c2 = arith.constant 2 : index
         %id = qd.simt.subgroup_id
         %zero = arith.constant 0 : i32
         %first = arith.cmpi eq, %id, %zero : i32
         scf.for %i = %c0 to %c2 step %c1 {
           %even = arith.cmpi eq, %i, %c0 : index
           %mine = arith.cmpi eq, %even, %first : i1
           scf.if %mine {
             qd.simt.block.sync
           }
         }
         %r = arith.addi %x, %x : i32",
        &["divergent collective", "another turn of a loop"],
    );
}

#[test]
fn bounds() {
    expect(
        "%c64 = arith.constant 64 : index\n %r = memref.load %in[%c64] : memref<64xi32>",
        &["memref.load", "index 64"],
    );
    expect(
        "%m = arith.constant -1 : index\n %r = memref.load %in[%m] : memref<64xi32>",
        &["index -1"],
    );
    expect(
        "%c64 = arith.constant 64 : index
         memref.store %x, %in[%c64] : memref<64xi32>
         %r = arith.addi %x, %x : i32",
        &["memref.store", "index 64"],
    );
    expect(
        "%c64 = arith.constant 64 : index
         %r = qd.grid.atomic.rmw add %x, %in[%c64] device relaxed : memref<64xi32>",
        &["qd.grid.atomic.rmw", "index 64"],
    );
    expect(
        "%s = memref.subview %in[60] [%t] [1] : memref<64xi32> to memref<?xi32, strided<[1], offset: 60>>
         %r = arith.addi %x, %x : i32",
        &["memref.subview", "out of bounds"],
    );
    expect(
        "%c3 = arith.constant 3 : index
         %d = memref.dim %in, %c3 : memref<64xi32>
         %r = arith.index_cast %d : index to i32",
        &["memref.dim", "dimension 3"],
    );
}

#[test]
fn memory_never_written() {
    expect(
        "%s = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
         %r = memref.load %s[%t] : memref<64xi32, #gpu.address_space<workgroup>>",
        &["memref.store", "poison"],
    );
    // A private array is new in each turn of the loop around it.
    expect(
        "%c0 = arith.constant 0 : index
         %c1 = arith.constant 1 : index
         %c2 = arith.constant 2 : index
         %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %x) -> i32 {
           %a = memref.alloca() : memref<1xi32>
           %first = arith.cmpi eq, %i, %c0 : index
           scf.if %first {
             memref.store %x, %a[%c0] : memref<1xi32>
           }
           %l = memref.load %a[%c0] : memref<1xi32>
           scf.yield %l : i32
         }",
        &["memref.store", "poison"],
    );
    // A copy into another buffer is a use.
    expect(
        "%r = memref.load %out[%t] : memref<64xi32>",
        &["memref.store", "poison"],
    );
    expect(
        "%r = qd.grid.atomic.rmw add %x, %out[%t] device relaxed : memref<64xi32>",
        &["qd.grid.atomic.rmw", "never written"],
    );
}

#[test]
fn loops_must_step() {
    expect(
        "%c0 = arith.constant 0 : index
         %c9 = arith.constant 9 : index
         scf.for %i = %c0 to %c9 step %c0 { }
         %r = arith.addi %x, %x : i32",
        &["scf.for", "step"],
    );
}

#[test]
fn nothing_hangs() {
    let text = map_text(
        "i32",
        "i32",
        "%t0 = arith.constant true
         scf.while : () -> () {
           scf.condition(%t0)
         } do {
           scf.yield
         }
         %r = arith.addi %x, %x : i32",
    );
    let options = Options {
        fuel: 10_000,
        ..options(32)
    };
    let fault = run_with(&text, map_arguments::<i32, i32>(&[0; 64]), options).expect_err("no end");
    assert!(fault.to_string().contains("step limit"), "{fault}");
}

#[test]
fn unknown_operations_are_named() {
    expect(
        "%f = arith.sitofp %x : i32 to f32
         %e = math.erf %f : f32
         %r = arith.fptosi %e : f32 to i32",
        &["math.erf", "no reference semantics"],
    );
    expect(
        "%v = arith.sitofp %x : i32 to f80\n %r = arith.fptosi %v : f80 to i32",
        &["arith.sitofp", "f80"],
    );
}

#[test]
fn phases_fit_the_subgroup() {
    let text = "
      func.func private @f() attributes {qd.threads = 64 : i64} { return }
      qd.grid.kernel @k() {
        %c1 = arith.constant -1 : index
        qd.grid.launch 0 @f blocks(%c1)
      }";
    faults(
        text,
        vec![],
        32,
        &["qd.grid.launch", "negative number of blocks, -1"],
    );
}

/// A fault within a combiner is reported there.
#[test]
fn faults_in_combiners() {
    expect(
        "%r = qd.simt.reduce_all %x : i32 identity [0 : i32] combiner {
         ^bb0(%a: i32, %b: i32):
           %d = arith.divsi %b, %a : i32
           qd.yield %d : i32
         }",
        &["arith.divsi", "by zero"],
    );
}

/// Buffers come back even when the kernel faults.
#[test]
fn buffers_survive_a_fault() {
    let context = context();
    let text = map_text(
        "i32",
        "i32",
        "%c0 = arith.constant 0 : i32\n %r = arith.divsi %x, %c0 : i32",
    );
    let module = melior::ir::Module::parse(&context, &text).expect("parses");
    let mut arguments = map_arguments::<i32, i32>(&[5; 64]);
    qd_interp::interpret(&module, "k", &mut arguments, &options(32)).expect_err("divides by zero");
    assert_eq!(values::<i32>(&arguments[0]), [5; 64]);
    assert!(matches!(&arguments[1], Argument::Buffer(out) if !out.is_initialised(0)));
}
