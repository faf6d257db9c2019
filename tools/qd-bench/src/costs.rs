//! Measures what collectives and classes of ops cost on a target, and prints it as rows that `costs=FILE` of
//! `qd-select-lowering` takes.
//!
//! Each op is in a chain, where it needs the result of the one before. Between two of them are two operations on integers, by
//! which every lane's value counts and compilers fold nothing; what a chain of those alone takes is subtracted. Two
//! lengths of a chain are measured, in turns, and their difference counts: what a launch takes is in neither.
//!
//! On a target of throughput, blocks fill the device for `use`, and one subgroup runs alone for `latency`.
//! The unit is a float addition, of which the table says what it takes. On one that runs a block at a time
//! there is no latency, and the unit is a quarter of a copy, for each lane, as in the table.

use crate::rows::random;
use anyhow::{Context, anyhow};
use qd_frontend::{
    Program,
    objects::{Arg, Buffer, Device, Kernel, Priority, Stream},
};
use qd_lowering::{
    select::figure,
    targets::{Orientation, Target},
};
use serde_json::{Value, json};
use std::time::Duration;

/// An op's full name, which of the target's forms of it, and what makes `%y` of `%x`.
type Row = (&'static str, usize, &'static str);

/// Names are those of [`source`].
const ROWS: [Row; 19] = [
    (
        "qd.simt.shuffle",
        0,
        "%j = arith.andi %x, %last : i32\n %y = qd.simt.shuffle idx %x, %j : i32",
    ),
    (
        "qd.simt.broadcast",
        0,
        "%y = qd.simt.broadcast %x, %c1 : i32",
    ),
    (
        "qd.simt.ballot",
        0,
        "%p = arith.cmpi slt, %x, %c0 : i32\n %m = qd.simt.ballot %p\n %y = arith.trunci %m : i64 to i32",
    ),
    (
        "qd.simt.any",
        0,
        "%p = arith.cmpi slt, %x, %c0 : i32\n %b = qd.simt.any %p\n %y = arith.extui %b : i1 to i32",
    ),
    (
        "qd.simt.all",
        0,
        "%p = arith.cmpi slt, %x, %c0 : i32\n %b = qd.simt.all %p\n %y = arith.extui %b : i1 to i32",
    ),
    (
        "qd.simt.all_equal",
        0,
        "%b = qd.simt.all_equal %x : i32\n %y = arith.extui %b : i1 to i32",
    ),
    (
        "qd.simt.match_any",
        0,
        "%j = arith.andi %x, %c255 : i32\n %m = qd.simt.match_any %j bits(8) : i32\n %y = arith.trunci %m : i64 to i32",
    ),
    (
        "qd.simt.match_any",
        1,
        "%m = qd.simt.match_any %x : i32\n %y = arith.trunci %m : i64 to i32",
    ),
    (
        "qd.simt.reduce_all",
        0,
        "%y = qd.simt.reduce_all add %x : i32",
    ),
    (
        "qd.simt.inclusive_scan",
        0,
        "%y = qd.simt.inclusive_scan add %x : i32",
    ),
    (
        "qd.simt.exclusive_scan",
        0,
        "%y = qd.simt.exclusive_scan add %x : i32",
    ),
    (
        "qd.simt.segmented_reduce",
        0,
        "%p = arith.cmpi slt, %x, %c0 : i32\n %y = qd.simt.segmented_reduce add %x heads %p : i32",
    ),
    (
        "qd.simt.bitonic_sort_kv",
        0,
        "%k, %y = qd.simt.bitonic_sort_kv %x, %w : i32, i32",
    ),
    ("qd.simt.rotate", 0, "%y = qd.simt.rotate %x, %c1 : i32"),
    ("qd.simt.ballot_first_n", 0, "%p = arith.cmpi slt, %x, %c0 : i32\n %y = qd.simt.ballot_first_n 16 %p"),
    ("qd.simt.block.reduce_all", 0, "%y = qd.simt.block.reduce_all add %x : i32"),
    ("qd.simt.block.inclusive_scan", 0, "%y = qd.simt.block.inclusive_scan add %x : i32"),
    ("qd.simt.block.exclusive_scan", 0, "%y = qd.simt.block.exclusive_scan add %x : i32"),
    (
        "qd.simt.block.radix_rank",
        0,
        "%d = arith.andi %x, %c255 : i32\n
         %y = qd.simt.block.radix_rank %d, %shared, %prefix {radix_bits = 8 : i32} : memref<256xi32, #gpu.address_space<workgroup>>, memref<256xi32, #gpu.address_space<workgroup>>",
    ),
];

/// A class of ops, how many of them `%y` of `%x` takes, and how many operations on integers of 32 bits beside; one of
/// 64 bits counts as two.
type Class = (&'static str, f64, f64, &'static str);

/// Of integers the chain itself has two. Bits are made floats from 1 to 2, where no processor is slower than elsewhere.
const CLASSES: [Class; 10] = [
    (
        "int64",
        3.0,
        0.0,
        "%a = arith.extsi %x : i32 to i64\n %b = arith.subi %a, %w64 : i64\n %d = arith.shrsi %b, %one64 : i64\n
         %y = arith.trunci %d : i64 to i32",
    ),
    ("popc", 1.0, 0.0, "%y = math.ctpop %x : i32"),
    (
        "float",
        1.0,
        2.0,
        "%a = arith.andi %x, %mantissa : i32\n %b = arith.ori %a, %exponent : i32\n %e = arith.bitcast %b : i32 to f32\n
         %d = arith.addf %e, %f : f32\n %y = arith.bitcast %d : f32 to i32",
    ),
    (
        "minmax",
        1.0,
        2.0,
        "%a = arith.andi %x, %mantissa : i32\n %b = arith.ori %a, %exponent : i32\n %e = arith.bitcast %b : i32 to f32\n
         %d = arith.maxnumf %e, %f : f32\n %y = arith.bitcast %d : f32 to i32",
    ),
    (
        "double",
        1.0,
        4.0,
        "%a = arith.extui %x : i32 to i64\n %b = arith.ori %a, %exponent64 : i64\n %e = arith.bitcast %b : i64 to f64\n
         %d = arith.addf %e, %f64 : f64\n %h = arith.bitcast %d : f64 to i64\n %y = arith.trunci %h : i64 to i32",
    ),
    (
        "math",
        1.0,
        2.0,
        "%a = arith.andi %x, %mantissa : i32\n %b = arith.ori %a, %exponent : i32\n %e = arith.bitcast %b : i32 to f32\n
         %d = math.exp %e : f32\n %y = arith.bitcast %d : f32 to i32",
    ),
    (
        "atomic",
        1.0,
        0.0,
        "%y = memref.atomic_rmw addi %x, %out[%i] : (i32, memref<?xi32>) -> i32",
    ),
    (
        // Lanes meet as those do that count random digits.
        "shared atomic",
        1.0,
        1.0,
        "%j = arith.andi %x, %c255 : i32\n %k = arith.index_cast %j : i32 to index\n
         %y = memref.atomic_rmw addi %x, %shared[%k] : (i32, memref<256xi32, #gpu.address_space<workgroup>>) -> i32",
    ),
    (
        "branch",
        1.0,
        2.0,
        "%p = arith.cmpi slt, %x, %c0 : i32\n
         %y = scf.if %p -> (i32) { %q = arith.muli %x, %w : i32\n scf.yield %q : i32 } else { scf.yield %w : i32 }",
    ),
    ("barrier", 1.0, 0.0, "qd.simt.block.sync\n %y = arith.addi %w, %c0 : i32"),
];

/// A step of a chain with nothing in it.
const NOTHING: &str = "%y = arith.addi %w, %c0 : i32";

/// What all bodies use by its name.
const COMMON: [&str; 18] = [
    "prefix",
    "w",
    "f",
    "i",
    "t",
    "out",
    "shared",
    "last",
    "c0",
    "c1",
    "c255",
    "w64",
    "f64",
    "one64",
    "mantissa",
    "exponent",
    "exponent64",
    "v",
];

/// Ops in a chain, of which the longer is twice as long, and how often a loop repeats it.
const CHAIN: usize = 8;
/// Threads of a block.
const THREADS: usize = 256;

/// A chain of what is to be measured, of each length.
struct Chain {
    kernels: [Kernel; 2],
    times: [Vec<Duration>; 2],
}

struct Setting {
    device: Device,
    stream: Stream,
    inputs: [Buffer; 2],
    out: Buffer,
    /// Iterations of the loop around a chain.
    iterations: usize,
    repeats: u32,
}

/// log2 of the elements of a launch.
const LOG2: u32 = 20;

/// Measures and prints the rows of a target, at the size that it names or at each that it has.
pub fn run(target: &str, repeats: u32) -> anyhow::Result<()> {
    let rows = measured(target, LOG2, repeats)?;
    println!("{}", file(&rows));
    Ok(())
}

/// Rows as a file has them.
fn file(rows: &[Value]) -> String {
    let rows: Vec<_> = rows.iter().map(|row| format!("  {row}")).collect();
    format!("[\n{}\n]", rows.join(",\n"))
}

fn measured(target: &str, log2: u32, repeats: u32) -> anyhow::Result<Vec<Value>> {
    let parsed = Target::parse(target).map_err(|error| anyhow!(error))?;
    let has = &parsed.capabilities;
    let is_wide = has.orientation == Orientation::Throughput;
    let device = qd_frontend::open(target)?;
    let stream = device.stream(Priority::Normal)?;
    let n = 1usize << log2;
    let signed: Vec<i32> = random(2 * n).into_iter().map(|x| x as i32).collect();
    let setting = Setting {
        inputs: [
            Buffer::from_slice(&stream, &signed[..n])?,
            Buffer::from_slice(&stream, &signed[n..])?,
        ],
        out: Buffer::from_slice(&stream, &vec![0i32; n])?,
        device,
        stream,
        iterations: if is_wide { 64 } else { 1 },
        repeats,
    };
    let source = format!(
        "measured: cargo xtask bench -- --costs, {}, median of {repeats}",
        setting.device.info().name
    );
    let mut rows = Vec::new();
    let waves = parsed.wave.map_or(has.waves.clone(), |wave| vec![wave]);
    for &wave in &waves {
        let name = match (has.waves.len(), parsed.wave) {
            (1, _) | (_, Some(_)) => target.to_owned(),
            _ => format!("{target},wave={wave}"),
        };
        let of =
            |blocks: usize, threads: usize, body: &str| setting.chain(&name, blocks, threads, body);
        // Of one op, of all lanes and of one block alone.
        let timed = |body: &str, lanes: usize| -> anyhow::Result<[f64; 2]> {
            let own = setting.time(of(n / THREADS, THREADS, body)?)?;
            let alone = if is_wide {
                setting.time(of(1, lanes, body)?)?
            } else {
                0.0
            };
            Ok([own, alone])
        };
        let measured = |body: &str| timed(body, (wave as usize).min(THREADS));
        let base = measured(NOTHING)?;
        let unit = match is_wide {
            true => {
                let float = "%e = arith.bitcast %x : i32 to f32\n %a = arith.addf %e, %f : f32\n %y = arith.bitcast %a : f32 to i32";
                let [own, alone] = measured(float)?;
                let known =
                    figure(has, "float", "", wave).context("there are no costs of the target")?;
                [
                    (own - base[0]) / known.r#use,
                    (alone - base[1]) / known.latency,
                ]
            }
            false => [setting.copy(&name, n)? / 4.0, f64::INFINITY],
        };
        let of_unit = |seconds: f64, at: usize| (seconds.max(0.0) / unit[at] * 10.0).round() / 10.0;
        let mut row = |form: &str, op: &str, seconds: [f64; 2]| {
            let pipe = figure(has, form, op, wave).map_or("alu", |figure| figure.pipe);
            let mut row = json!({
                "targets": [has.name], "form": form, "pipe": pipe,
                "use": of_unit(seconds[0], 0), "latency": of_unit(seconds[1], 1), "source": source,
            });
            if !op.is_empty() {
                row["op"] = op.into();
                row["wave"] = wave.into();
            }
            if !is_wide {
                row["per"] = "lane".into();
            }
            rows.push(row);
        };
        for (op, number, body) in ROWS {
            let form = has.forms.iter().filter(|form| form.op == op).nth(number);
            let (Some(form), true) = (form, wave >= 4) else {
                continue;
            };
            let found = measured(body).with_context(|| op.to_owned())?;
            row(form.name, op, [0, 1].map(|at| found[at] - base[at]));
        }
        // The size of subgroups is nothing to the others.
        if wave != waves[0] {
            continue;
        }
        let int = base.map(|both| both / 2.0);
        row("int", "", int);
        for (class, count, beside, body) in CLASSES {
            // A subgroup by itself waits for nobody.
            let (found, base) = match class {
                "barrier" => (timed(body, THREADS), timed(NOTHING, THREADS)?),
                _ => (measured(body), base),
            };
            let found = found.with_context(|| class.to_owned())?;
            let of = |at: usize| (found[at] - base[at] - beside * int[at]) / count;
            row(class, "", [of(0), of(1)]);
        }
        if !is_wide {
            // Two are read and one written, beside an addition, in what a copy takes.
            let access = (unit[0] * 4.0 - int[0]) / 3.0;
            row("load", "", [access, 0.0]);
            row("store", "", [access, 0.0]);
        }
    }
    Ok(rows)
}

impl Setting {
    fn chain(
        &self,
        target: &str,
        blocks: usize,
        threads: usize,
        body: &str,
    ) -> anyhow::Result<Chain> {
        let load = |length: usize| -> anyhow::Result<Kernel> {
            let text = source(body, length, self.iterations, blocks, threads);
            Ok(Program::compile(&text, target)?.kernel("main")?)
        };
        Ok(Chain {
            kernels: [load(CHAIN)?, load(2 * CHAIN)?],
            times: Default::default(),
        })
    }

    fn launch(&self, kernel: &Kernel) -> anyhow::Result<Duration> {
        let arguments = [&self.inputs[0], &self.inputs[1], &self.out].map(Arg::from);
        let begin = self.stream.record()?;
        kernel.launch(&self.stream, &arguments)?;
        Ok(self.stream.record()?.since(&begin)?)
    }

    /// Seconds that one op of a chain takes, with what is beside it.
    fn time(&self, mut chain: Chain) -> anyhow::Result<f64> {
        // The first run of each is not timed.
        for turn in 0..=self.repeats {
            for (kernel, times) in chain.kernels.iter().zip(&mut chain.times) {
                let time = self.launch(kernel)?;
                if turn > 0 {
                    times.push(time);
                }
            }
        }
        let [short, long] = chain.times.map(median);
        Ok((long - short) / (CHAIN * self.iterations) as f64)
    }

    /// Seconds that a kernel takes which adds two arrays.
    fn copy(&self, target: &str, n: usize) -> anyhow::Result<f64> {
        let chain = self.chain(target, n / THREADS, THREADS, "")?;
        let mut times = Vec::new();
        for _ in 0..=self.repeats {
            times.push(self.launch(&chain.kernels[0])?);
        }
        times.remove(0);
        Ok(median(times))
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// A kernel that does `body` so often, one after the other; nothing, where that is empty.
fn source(body: &str, length: usize, iterations: usize, blocks: usize, threads: usize) -> String {
    let mut steps = String::new();
    for step in 0..length {
        let (from, to) = (format!("%x{step}"), format!("%x{}", step + 1));
        // Names of this step's own.
        let mut text = String::new();
        let mut letters = body.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                text.push(letter);
                continue;
            }
            let mut name = String::new();
            while let Some(next) = letters.next_if(|next| next.is_ascii_alphanumeric()) {
                name.push(next);
            }
            match name.as_str() {
                "x" => text.push_str(&from),
                name if COMMON.contains(&name) => text.push_str(&format!("%{name}")),
                _ => text.push_str(&format!("%{name}_{step}")),
            }
        }
        steps.push_str(&format!(
            "{text}\n %s{step} = arith.addi %y_{step}, {from} : i32\n {to} = arith.xori %s{step}, %v : i32\n"
        ));
    }
    let chain = match (body.is_empty(), iterations) {
        (true, _) => "%r = arith.addi %v, %w : i32".to_owned(),
        (_, 1) => format!("%x0 = arith.addi %v, %c1 : i32\n {steps} %r = arith.addi %x{length}, %c1 : i32"),
        _ => format!(
            "%times = arith.constant {iterations} : index\n %zero = arith.constant 0 : index\n %one = arith.constant 1 : index
             %r = scf.for %n = %zero to %times step %one iter_args(%x0 = %v) -> (i32) {{\n {steps} scf.yield %x{length} : i32\n }}"
        ),
    };
    format!(
        "qd.grid.kernel @main(%from: memref<?xi32>, %other: memref<?xi32>, %out: memref<?xi32>) {{
           %blocks = arith.constant {blocks} : index
           qd.grid.phase blocks(%blocks) threads({threads}) {{
             %c0 = arith.constant 0 : i32\n %c1 = arith.constant 1 : i32\n %c255 = arith.constant 255 : i32
             %threads = arith.constant {threads} : index
             %t = qd.simt.block.thread_id\n %block = qd.simt.block.id
             %first = arith.muli %block, %threads : index\n %i = arith.addi %first, %t : index
             %v = memref.load %from[%i] : memref<?xi32>\n %w = memref.load %other[%i] : memref<?xi32>
             %f = arith.uitofp %w : i32 to f32\n %f64 = arith.extf %f : f32 to f64
             %w64 = arith.extsi %w : i32 to i64\n %one64 = arith.constant 1 : i64
             %mantissa = arith.constant 0x7fffff : i32\n %exponent = arith.constant 0x3f800000 : i32
             %exponent64 = arith.constant 0x3ff0000000000000 : i64
             %shared = qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
             %prefix = qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
             %size = qd.simt.subgroup_size\n %last = arith.subi %size, %c1 : i32
             {chain}
             memref.store %r, %out[%i] : memref<?xi32>
           }}
         }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, fs, process};

    #[test]
    fn rows_of_the_cpu_are_what_a_file_of_costs_has() {
        let rows = measured("cpu,wave=8", 12, 1).unwrap();
        // Of both of its matches the cpu has one form; integers, loads and stores are beside the classes.
        assert_eq!(rows.len(), ROWS.len() - 1 + CLASSES.len() + 3);
        for row in &rows {
            assert_eq!(row.get("wave").is_some(), row.get("op").is_some(), "{row}");
            assert_eq!(row["per"], json!("lane"), "{row}");
            assert_eq!(row["latency"], json!(0.0), "{row}");
            // How much is for nobody to say whose machine does something else beside.
            assert!(
                row["use"].as_f64().is_some_and(|lanes| lanes >= 0.0),
                "{row}"
            );
        }
        let path = env::temp_dir().join(format!("qd-costs-{}.json", process::id()));
        fs::write(&path, file(&rows)).unwrap();
        let context = qd_frontend::lazy_context();
        let text = "func.func private @body() attributes {qd.threads = 64 : i64} { return }";
        let source = qd_frontend::Source::text("body.mlir", text);
        let mut parsed = qd_frontend::Parsed::new(&context, &source, &mut |_| ()).unwrap();
        let pass = format!(
            "qd-select-lowering{{target=cpu costs={}}}",
            path.to_string_lossy()
        );
        let taken = qd_dialects::pass::run_pipeline(&context, parsed.module_mut(), &pass);
        fs::remove_file(&path).unwrap();
        taken.unwrap();
    }

    #[test]
    fn a_chain_is_as_long_as_it_says_and_each_step_needs_the_one_before() {
        let text = source("%y = qd.simt.broadcast %x, %c1 : i32", 3, 1, 1, 32);
        assert_eq!(text.matches("qd.simt.broadcast").count(), 3);
        for step in 0..3 {
            let reads = format!("%y_{step} = qd.simt.broadcast %x{step}, %c1");
            assert!(text.contains(&reads), "{text}");
            let gives = format!("%x{} = arith.xori %s{step}, %v", step + 1);
            assert!(text.contains(&gives), "{text}");
        }
        assert!(source("", 3, 1, 1, 32).contains("%r = arith.addi %v, %w"));
    }
}
