//! The modules, as text, by size.

use std::fmt::Write as _;

/// What is made of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// An artifact.
    Code,
    /// The module in the target's own dialects: what of an artifact's making is MLIR's and ours.
    Target,
    /// The plan of launches.
    Plan,
    /// Compiled by MLIR's own passes, for the same target: the growth that ours is compared with.
    Upstream,
}

/// Modules that differ in size alone.
pub struct Family {
    pub name: &'static str,
    /// Each twice the one before.
    pub sizes: &'static [usize],
    pub targets: &'static [&'static str],
    pub what: What,
    pub source: fn(usize) -> String,
}

const EACH: &[&str] = &["cpu", "nvptx:sm_90", "vulkan:1.3,subgroup=32"];

/// All families.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "ops",
        sizes: &[12_500, 25_000, 50_000, 100_000],
        targets: EACH,
        what: What::Code,
        source: ops,
    },
    Family {
        name: "upstream ops",
        sizes: &[12_500, 25_000, 50_000, 100_000],
        targets: &["vulkan:1.3"],
        what: What::Upstream,
        source: function,
    },
    Family {
        name: "kernels",
        sizes: &[1_250, 2_500, 5_000, 10_000],
        targets: &["cpu"],
        what: What::Plan,
        source: kernels,
    },
    Family {
        name: "phases",
        sizes: &[1_250, 2_500, 5_000, 10_000],
        targets: &["cpu"],
        what: What::Plan,
        source: phases,
    },
    Family {
        name: "scans",
        sizes: &[125, 250, 500, 1_000],
        targets: &["cpu"],
        what: What::Code,
        source: scans,
    },
    Family {
        name: "branches",
        sizes: &[125, 250, 500, 1_000],
        targets: EACH,
        what: What::Code,
        source: branches,
    },
    Family {
        name: "loops",
        sizes: &[125, 250, 500, 1_000],
        targets: EACH,
        what: What::Code,
        source: loops,
    },
];

/// A kernel of one phase, in which `%i` is the thread, `%t` the same as a number, and
/// `%v0` its element of `%a`.
fn kernel(name: &str, body: &str) -> String {
    format!(
        "qd.grid.kernel @{name}(%a: memref<?xi32>) {{
           %one = arith.constant 1 : index
           qd.grid.phase blocks(%one) threads(64) {{
             %i = qd.simt.block.thread_id
             %t = arith.index_cast %i : index to i32
             %v0 = memref.load %a[%i] : memref<?xi32>
             {body}
           }}
         }}\n"
    )
}

/// Arithmetic, each op on the results of the two before, and the last result.
fn arithmetic(count: usize) -> (String, String) {
    let mut body = String::new();
    let (mut before, mut last) = ("t".to_string(), "v0".to_string());
    for k in 1..=count {
        let op = ["addi", "muli", "xori", "subi"][k % 4];
        let _ = writeln!(body, "%v{k} = arith.{op} %{before}, %{last} : i32");
        before = std::mem::replace(&mut last, format!("v{k}"));
    }
    (body, last)
}

/// A kernel that computes.
fn ops(count: usize) -> String {
    let (body, last) = arithmetic(count);
    let store = format!("memref.store %{last}, %a[%i] : memref<?xi32>");
    kernel("main", &(body + &store))
}

/// A function that computes the same, of which nothing is ours.
fn function(count: usize) -> String {
    let (body, last) = arithmetic(count);
    format!("func.func @main(%t: i32, %v0: i32) -> i32 {{\n{body}return %{last} : i32\n}}\n")
}

/// Kernels of one launch, no two alike.
fn kernels(count: usize) -> String {
    let each = |k| {
        let body = format!(
            "%k = arith.constant {k} : i32
             %w = arith.xori %v0, %k : i32
             memref.store %w, %a[%i] : memref<?xi32>"
        );
        kernel(&format!("k{k}"), &body)
    };
    (0..count).map(each).collect()
}

/// Phases of one kernel, each of which reads what another thread of the one before wrote.
pub fn phases(count: usize) -> String {
    let mut text = String::from(
        "qd.grid.kernel @main(%a: memref<?xi32>, %b: memref<?xi32>) {
           %one = arith.constant 1 : index\n",
    );
    for k in 0..count {
        let (from, to) = if k % 2 == 0 { ("a", "b") } else { ("b", "a") };
        let _ = writeln!(
            text,
            "qd.grid.phase blocks(%one) threads(64) {{
               %i = qd.simt.block.thread_id
               %last = arith.constant 63 : index
               %j = arith.subi %last, %i : index
               %v = memref.load %{from}[%j] : memref<?xi32>
               %k = arith.constant {k} : i32
               %w = arith.xori %v, %k : i32
               memref.store %w, %{to}[%i] : memref<?xi32>
             }}"
        );
    }
    text + "}\n"
}

/// Scans, each of what the one before yields.
fn scans(count: usize) -> String {
    let mut text = String::from(
        "qd.grid.kernel @main(%a: memref<?xi32>, %b: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {\n",
    );
    for k in 0..count {
        let (from, to) = if k % 2 == 0 { ("a", "b") } else { ("b", "a") };
        let _ = writeln!(
            text,
            "qd.algo.exclusive_scan add ins(%{from} : memref<?xi32>) outs(%{to} : memref<?xi32>)
               scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4"
        );
    }
    text + "}\n"
}

/// Branches in one another, with a value from each.
fn branches(depth: usize) -> String {
    nested(depth, |k, inner| {
        let before = k - 1;
        (
            format!(
                "%k{k} = arith.constant {k} : i32
                 %c{k} = arith.cmpi slt, %v{before}, %k{k} : i32
                 %r{k} = scf.if %c{k} -> (i32) {{
                   %v{k} = arith.addi %v{before}, %t : i32\n"
            ),
            format!("scf.yield %{inner} : i32\n}} else {{\nscf.yield %k{k} : i32\n}}\n"),
        )
    })
}

/// Loops in one another, each of which carries a value.
fn loops(depth: usize) -> String {
    nested(depth, |k, inner| {
        let before = k - 1;
        (
            format!(
                "%z{k} = arith.constant 0 : index
                 %s{k} = arith.constant 1 : index
                 %e{k} = arith.constant 2 : index
                 %r{k} = scf.for %j{k} = %z{k} to %e{k} step %s{k} iter_args(%w{k} = %v{before}) -> (i32) {{
                   %v{k} = arith.addi %w{k}, %t : i32\n"
            ),
            format!("scf.yield %{inner} : i32\n}}\n"),
        )
    })
}

/// Levels in one another: what opens and what closes each, by its number and the value
/// it yields.
fn nested(depth: usize, level: impl Fn(usize, &str) -> (String, String)) -> String {
    let (mut open, mut close) = (String::new(), Vec::new());
    for k in 1..=depth {
        let inner = if k == depth {
            format!("v{k}")
        } else {
            format!("r{}", k + 1)
        };
        let (begin, end) = level(k, &inner);
        open += &begin;
        close.push(end);
    }
    close.reverse();
    let store = "memref.store %r1, %a[%i] : memref<?xi32>";
    kernel("main", &(open + &close.concat() + store))
}
