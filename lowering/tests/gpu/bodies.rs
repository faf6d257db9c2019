//! Every operation of a body, over element types.

use super::{ONE_EACH, TARGETS, TYPES, assembly, compiles, kinds};

/// A kernel of one phase whose threads load `%x`, `%y` and `%d`, run `body` and
/// store its `%r`.
fn kernel(number: usize, element: &str, result: &str, body: &str) -> String {
    let (stored, value, widen) = match result {
        "i1" => ("i32", "%w", "%w = arith.extui %r : i1 to i32"),
        _ => (result, "%r", ""),
    };
    format!(
        "qd.grid.kernel @k{number}(%a: memref<?x{element}>, %b: memref<?xi32>, %o: memref<?x{stored}>) {{
  %blocks = arith.constant 70000 : index
  qd.grid.phase blocks(%blocks) threads(128) {{
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %thread = qd.simt.block.thread_id
    %base = arith.muli %block, %dim : index
    %i = arith.addi %base, %thread : index
    %x = memref.load %a[%i] : memref<?x{element}>
    %y = memref.load %b[%i] : memref<?xi32>
    %zero = arith.constant 0 : i32
    %p = arith.cmpi ne, %y, %zero : i32
    %c3 = arith.constant 3 : i32
    {body}
    {widen}
    memref.store {value}, %o[%i] : memref<?x{stored}>
  }}
}}\n"
    )
}

/// Kernels of many bodies, as one module.
fn check(bodies: &[(&str, &str, String)]) {
    check_for(&TARGETS, bodies);
}

fn check_for(targets: &[&str], bodies: &[(&str, &str, String)]) {
    let text: String = bodies
        .iter()
        .enumerate()
        .map(|(number, (element, result, body))| kernel(number, element, result, body))
        .collect();
    compiles(targets, &text, bodies.len());
}

#[test]
fn data_movement() {
    let mut bodies = Vec::new();
    for element in TYPES {
        for op in [
            "shuffle idx %x, %y",
            "shuffle xor %x, %y",
            "shuffle up %x, %c3",
            "shuffle down %x, %c3",
            "broadcast %x, %c3",
            "broadcast_first %x",
            "rotate %x, %c3",
            "rotate %x, %c3 tile(2)",
        ] {
            bodies.push((element, element, format!("%r = qd.simt.{op} : {element}")));
        }
    }
    check(&bodies);
}

#[test]
fn votes_and_masks() {
    let mut bodies = Vec::new();
    for op in [
        "all %p",
        "any %p",
        "all %p tile(2)",
        "any %p tile(0)",
        "elect",
    ] {
        bodies.push(("i32", "i1", format!("%r = qd.simt.{op}")));
    }
    for element in TYPES {
        for tile in ["", " tile(3)"] {
            let body = format!("%r = qd.simt.all_equal %x{tile} : {element}");
            bodies.push((element, "i1", body));
        }
    }
    for element in ["i32", "i64"] {
        bodies.push((
            element,
            "i64",
            format!("%r = qd.simt.match_any %x : {element}"),
        ));
        bodies.push((
            element,
            "i64",
            format!("%r = qd.simt.match_all %x : {element}"),
        ));
        for relation in ["lt", "le", "eq", "gt", "ge"] {
            let body = format!("%r = qd.simt.lanemask {relation} %y : {element}");
            bodies.push((element, element, body));
        }
        for op in ["popcnt", "clz", "ffs"] {
            bodies.push((element, "i32", format!("%r = qd.math.{op} %x : {element}")));
        }
    }
    bodies.push(("i32", "i64", "%r = qd.simt.ballot %p".into()));
    bodies.push(("i32", "i32", "%r = qd.simt.ballot_first_n 7 %p".into()));
    bodies.push(("i32", "i32", "%r = qd.simt.count_true %p tile(3)".into()));
    bodies.push(("i32", "i32", "%r = qd.math.fns %x, %c3, %y".into()));
    check(&bodies);
}

#[test]
fn reductions_and_scans() {
    for scope in ["", "block."] {
        let mut bodies = Vec::new();
        for element in TYPES {
            for kind in kinds(element) {
                for op in ["reduce", "reduce_all", "inclusive_scan", "exclusive_scan"] {
                    for tile in ["", " tile(2)"] {
                        if scope.is_empty() || tile.is_empty() {
                            let body =
                                format!("%r = qd.simt.{scope}{op} {kind} %x{tile} : {element}");
                            bodies.push((element, element, body));
                        }
                    }
                }
            }
        }
        check_for(&["nvptx:sm_80", "amdgpu:gfx90a"], &bodies);
    }
}

#[test]
fn sorts_segments_and_ranks() {
    let mut bodies = Vec::new();
    for element in TYPES {
        bodies.push((
            element,
            element,
            format!("%r = qd.simt.segmented_reduce add %x heads %p : {element}"),
        ));
        bodies.push((
            element,
            element,
            format!("%r, %v = qd.simt.bitonic_sort_kv %x, %y : {element}, i32"),
        ));
    }
    let shared = "memref<16xi32, #gpu.address_space<workgroup>>";
    bodies.push((
        "i32",
        "i32",
        format!(
            "%h = qd.simt.block.shared : {shared}
    %f = qd.simt.block.shared : {shared}
    %c15 = arith.constant 15 : i32
    %g = arith.andi %x, %c15 : i32
    %r = qd.simt.block.radix_rank %g, %h, %f where %p {{radix_bits = 4 : i32}} : {shared}, {shared}"
        ),
    ));
    check(&bodies);
}

#[test]
fn atomics_and_fences() {
    let mut bodies = Vec::new();
    for element in TYPES {
        let shared = format!("memref<64x{element}, #gpu.address_space<workgroup>>");
        for (number, kind) in kinds(element).iter().enumerate() {
            let order = ["relaxed", "acquire", "release", "acq_rel"][number % 4];
            for scope in ["subgroup", "block", "device"] {
                bodies.push((
                    element,
                    element,
                    format!(
                        "%r = qd.grid.atomic.rmw {kind} %x, %a[%thread] {scope} {order} : memref<?x{element}>"
                    ),
                ));
            }
            bodies.push((
                element,
                element,
                format!(
                    "%s = qd.simt.block.shared : {shared}
    %r = qd.grid.atomic.rmw {kind} %x, %s[%thread] block {order} : {shared}"
                ),
            ));
        }
        for order in ["relaxed", "acquire"] {
            bodies.push((
                element,
                element,
                format!(
                    "%r = qd.grid.atomic.load %a[%thread] device {order} : memref<?x{element}>"
                ),
            ));
        }
        for order in ["relaxed", "release"] {
            bodies.push((
                element,
                "i32",
                format!(
                    "qd.grid.atomic.store %x, %a[%thread] block {order} : memref<?x{element}>
    %r = arith.constant 0 : i32"
                ),
            ));
        }
    }
    for element in ["i32", "i64"] {
        for order in ["relaxed", "acquire", "release", "acq_rel"] {
            bodies.push((
                element,
                element,
                format!(
                    "%r = qd.grid.atomic.cas %x, %x, %a[%thread] device {order} : memref<?x{element}>"
                ),
            ));
        }
    }
    for fence in [
        "simt.sync",
        "simt.mem_fence",
        "simt.pause 100",
        "simt.block.sync",
        "simt.block.mem_fence",
        "grid.mem_fence",
    ] {
        let body = format!("qd.{fence}\n    %r = arith.addi %x, %y : i32");
        bodies.push(("i32", "i32", body));
    }
    check(&bodies);
}

#[test]
fn functions() {
    let mut bodies = Vec::new();
    for element in ["f32", "f64"] {
        for function in [
            "absf",
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "cbrt",
            "ceil",
            "cos",
            "cosh",
            "exp",
            "exp2",
            "expm1",
            "floor",
            "log",
            "log10",
            "log1p",
            "log2",
            "round",
            "roundeven",
            "rsqrt",
            "sin",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
            "trunc",
        ] {
            let body = format!("%r = math.{function} %x : {element}");
            bodies.push((element, element, body));
        }
        for function in [
            "math.atan2",
            "math.copysign",
            "math.powf",
            "arith.divf",
            "arith.remf",
            "arith.minnumf",
            "arith.maxnumf",
            "arith.minimumf",
            "arith.maximumf",
        ] {
            // Of two that differ, or it folds.
            let body =
                format!("%n = math.sqrt %x : {element}\n    %r = {function} %x, %n : {element}");
            bodies.push((element, element, body));
        }
        for function in ["isnan", "isinf", "isfinite", "isnormal"] {
            bodies.push((
                element,
                "i1",
                format!("%r = math.{function} %x : {element}"),
            ));
        }
        bodies.push((
            element,
            element,
            format!("%r = math.clampf %x to [%x, %x] : {element}"),
        ));
        bodies.push((
            element,
            element,
            format!("%r = math.fpowi %x, %y : {element}, i32"),
        ));
    }
    for element in ["i32", "i64"] {
        for function in [
            "arith.ceildivsi",
            "arith.ceildivui",
            "arith.floordivsi",
            "arith.remsi",
            "math.ipowi",
        ] {
            let body =
                format!("%n = math.ctpop %x : {element}\n    %r = {function} %x, %n : {element}");
            bodies.push((element, element, body));
        }
        bodies.push((element, element, format!("%r = math.absi %x : {element}")));
    }
    check_for(&ONE_EACH, &bodies);
}

/// Products of neighbours are made of each other in short bodies. In long ones that
/// is left out, for it takes long.
#[test]
fn products_of_neighbours() {
    let products = |count: i32| {
        let product = |k: i32| {
            format!(
                "%k{k} = arith.constant {k} : i32
                 %b{k} = arith.addi %b, %k{k} : i32
                 %x{k} = arith.muli %b{k}, %s : i32
                 %at{k} = arith.constant {k} : index
                 %i{k} = arith.addi %t, %at{k} : index
                 memref.store %x{k}, %a[%i{k}] : memref<?xi32>\n"
            )
        };
        let products: String = (1..=count).map(product).collect();
        let text = format!(
            "qd.grid.kernel @k(%a: memref<?xi32>, %s: i32) {{
               %one = arith.constant 1 : index
               qd.grid.phase blocks(%one) threads(64) {{
                 %t = qd.simt.block.thread_id
                 %b = memref.load %a[%t] : memref<?xi32>
                 {products}
               }}
             }}"
        );
        assembly(&text, "nvptx:sm_90").matches("mul.lo.s32").count()
    };
    assert_eq!(products(2), 0);
    assert!(products(500) > 400);
}
