//! Every algorithm, over element types and kinds.

use super::{ONE_EACH, TYPES, compiles, kinds, listed};

/// Scratch is as wide as the elements.
fn slot(element: &str) -> &'static str {
    if element.ends_with("64") {
        "i64"
    } else {
        "i32"
    }
}

/// One module of all kernels of a series: each is compiled on its own, and LLVM
/// is started once.
#[derive(Default)]
struct Series(String, usize);

impl Series {
    fn kernel(&mut self, arguments: &str, body: &str) {
        let number = self.1;
        self.1 += 1;
        self.0 += &format!("qd.grid.kernel @k{number}({arguments}) {{\n  {body}\n}}\n");
    }

    /// For one target a vendor: what differs between them are single operations.
    fn compiles(&self) {
        compiles(&ONE_EACH, &self.0, self.1);
    }
}

/// One that covers all depths.
fn depth(number: usize) -> u32 {
    number as u32 % 4 + 1
}

#[test]
fn reductions_and_scans() {
    for algorithm in ["reduce", "inclusive_scan", "exclusive_scan"] {
        let mut all = Series::default();
        for element in TYPES {
            let (wide, buffer) = (slot(element), format!("memref<?x{element}>"));
            for kind in kinds(element) {
                let depth = depth(all.1);
                all.kernel(
                    &format!("%a: {buffer}, %o: {buffer}, %s: memref<?x{wide}>, %n: memref<i32>"),
                    &format!(
                        "qd.algo.{algorithm} {kind} ins(%a : {buffer}) outs(%o : {buffer}) \
                         scratch(%s : memref<?x{wide}>) count(%n : memref<i32>) log256_max_n = {depth}"
                    ),
                );
            }
        }
        all.compiles();
    }
}

/// A combiner that is not commutative, of two scalars: `x → a·x + b`.
const COMPOSE: &str = "identity [1 : i64, 0 : i64] combiner {
  ^bb0(%la: i64, %lb: i64, %ra: i64, %rb: i64):
    %l = arith.muli %la, %ra : i64
    %lr = arith.muli %lb, %ra : i64
    %r = arith.addi %lr, %rb : i64
    qd.yield %l, %r : i64, i64
  }";

#[test]
fn combiners_that_are_regions() {
    let mut all = Series::default();
    let two = "memref<?xi64>, memref<?xi64>";
    for algorithm in ["reduce", "inclusive_scan", "exclusive_scan"] {
        all.kernel(
            "%a: memref<?xi64>, %b: memref<?xi64>, %x: memref<?xi64>, %y: memref<?xi64>, \
             %s: memref<?xi64>, %t: memref<?xi64>, %n: memref<i32>",
            &format!(
                "qd.algo.{algorithm} ins(%a, %b : {two}) outs(%x, %y : {two}) \
                 scratch(%s, %t : {two}) count(%n : memref<i32>) log256_max_n = 2 {COMPOSE}"
            ),
        );
    }
    all.compiles();
}

#[test]
fn compaction() {
    let mut all = Series::default();
    for algorithm in ["select", "partition"] {
        for element in TYPES {
            let (buffer, depth) = (format!("memref<?x{element}>"), depth(all.1));
            all.kernel(
                &format!(
                    "%a: {buffer}, %f: memref<?xi32>, %o: {buffer}, %m: memref<i32>, \
                     %s: memref<?xi32>, %n: memref<i32>"
                ),
                &format!(
                    "qd.algo.{algorithm} ins(%a, %f : {buffer}, memref<?xi32>) \
                     outs(%o, %m : {buffer}, memref<i32>) scratch(%s : memref<?xi32>) \
                     count(%n : memref<i32>) log256_max_n = {depth}"
                ),
            );
        }
    }
    all.compiles();
}

#[test]
fn sorts() {
    let mut all = Series::default();
    for (number, key) in TYPES.into_iter().enumerate() {
        // Values are moved: how wide they are matters, and not what they are.
        let [narrow, wide] = [["i32", "i64"], ["f32", "f64"]][number % 2];
        for value in [None, Some(narrow), Some(wide)] {
            let depth = depth(all.1);
            let (more, values) = match value {
                None => (String::new(), String::new()),
                Some(value) => (
                    format!(", %v: memref<?x{value}>, %w: memref<?x{value}>"),
                    format!("values(%v, %w : memref<?x{value}>, memref<?x{value}>)"),
                ),
            };
            all.kernel(
                &format!(
                    "%k: memref<?x{key}>, %t: memref<?x{key}>, %s: memref<?xi32>, \
                     %n: memref<i32>{more}"
                ),
                &format!(
                    "qd.algo.sort keys(%k, %t : memref<?x{key}>, memref<?x{key}>) {values} \
                     scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {depth}"
                ),
            );
        }
    }
    all.compiles();
}

#[test]
fn parallel_sorts() {
    let mut all = Series::default();
    for key in TYPES {
        all.kernel(
            &format!("%k: memref<?x{key}>, %v: memref<?xi32>"),
            &format!("qd.algo.parallel_sort keys(%k : memref<?x{key}>) values(%v : memref<?xi32>)"),
        );
    }
    all.compiles();
}

#[test]
fn reductions_by_key() {
    let mut all = Series::default();
    for (key, value) in [
        ("i32", "f32"),
        ("i32", "i64"),
        ("i64", "i32"),
        ("f32", "f64"),
    ] {
        for kind in kinds(value) {
            let depth = depth(all.1);
            let ins = format!("memref<?x{key}>, memref<?x{value}>");
            all.kernel(
                &format!(
                    "%k: memref<?x{key}>, %v: memref<?x{value}>, %ko: memref<?x{key}>, \
                     %vo: memref<?x{value}>, %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>"
                ),
                &format!(
                    "qd.algo.reduce_by_key {kind} ins(%k, %v : {ins}) \
                     outs(%ko, %vo, %m : {ins}, memref<i32>) scratch(%s : memref<?xi32>) \
                     count(%n : memref<i32>) log256_max_n = {depth}"
                ),
            );
        }
    }
    all.compiles();
}

/// Those that have forms, in each.
#[test]
fn forms() {
    let mut all = String::new();
    let mut number = 0;
    for form in listed::all() {
        let form = form.with(depth(number), "").called(&format!("k{number}"));
        let (alias, kernel) = form.text.split_once('\n').expect("an alias");
        let (_, element) = alias.split_once(" = ").expect("of a type");
        all += &format!("// {}\n{}", form.name, kernel.replace("!T", element));
        number += 1;
    }
    compiles(&ONE_EACH, &all, number);
}
