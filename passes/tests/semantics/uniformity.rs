//! The uniformity analysis of values and branches, compared with the
//! interpreter: random programs, every subgroup size.

use crate::support::*;
use qd_dialects::{
    ir::{Block, Op, OpExt, Value, operations},
    melior::ir::Module,
    pass::run_pipeline,
};
use qd_interp::{Argument, Options, interpret};
use qd_passes::uniformity::{Scope, Shape, Uniformity};
use std::fmt::Write;

const BLOCKS: usize = 2;
const PREDICATES: [&str; 8] = ["eq", "ne", "slt", "sle", "ult", "ule", "ugt", "sge"];

/// A random program over `i32` values.
struct Program {
    numbers: Numbers,
    body: String,
    /// Names of the values in scope.
    visible: Vec<String>,
    names: usize,
}

impl Program {
    fn new(seed: u64) -> Self {
        Self {
            numbers: Numbers::new(seed),
            body: String::new(),
            visible: Vec::new(),
            names: 0,
        }
    }

    fn line(&mut self, text: &str) {
        writeln!(self.body, "    {text}").unwrap();
    }

    /// A new value: `code` with its name for `%x`.
    fn value(&mut self, code: &str) -> String {
        self.names += 1;
        let name = format!("%x{}", self.names);
        let code = code
            .replace("%x ", &format!("{name} "))
            .replace("%@", &format!("%t{}_", self.names));
        self.line(&code);
        self.visible.push(name.clone());
        name
    }

    /// A value there is, sooner a late one.
    fn any(&mut self) -> String {
        let count = self.visible.len() as u64;
        let place = self.numbers.below(count).max(self.numbers.below(count));
        self.visible[place as usize].clone()
    }

    /// A number of the kind that kernels have.
    fn number(&mut self) -> i64 {
        let power = 1 << self.numbers.below(9);
        match self.numbers.below(9) {
            0 => 0,
            1 => power - 1,
            2 => -power,
            3 => 3 * power,
            4 => self.numbers.below(300) as i64,
            _ => power,
        }
    }

    /// A constant, out of sight.
    fn constant(&mut self, value: i64) -> String {
        let name = self.value(&format!("%x = arith.constant {value} : i32"));
        self.visible.pop();
        name
    }

    fn sources(&mut self) {
        for source in ["lane_id", "subgroup_id", "subgroup_size", "num_subgroups"] {
            self.value(&format!("%x = qd.simt.{source}"));
        }
        for source in ["block.thread_id", "block.id", "block.dim", "grid.dim"] {
            self.value(&format!(
                "%@ = qd.simt.{source}\n    %x = arith.index_cast %@ : index to i32"
            ));
        }
        self.line("%thread = qd.simt.block.thread_id");
        self.value("%x = memref.load %data[%thread] : memref<?xi32>");
    }

    /// Arithmetic, legal in any region.
    fn arithmetic(&mut self) -> String {
        let (a, b, c) = (self.any(), self.any(), self.any());
        if self.numbers.below(3) == 0 {
            let ops = [
                "addi", "subi", "muli", "andi", "xori", "minui", "maxsi", "select", "index",
            ];
            return match self.numbers.pick(&ops) {
                "select" => {
                    let p = self.numbers.pick(&PREDICATES);
                    self.value(&format!(
                        "%@ = arith.cmpi {p}, {a}, {b} : i32
    %x = arith.select %@, {c}, {a} : i32"
                    ))
                }
                "index" => self.value(&format!(
                    "%@a = arith.index_castui {a} : i32 to index
    %@b = arith.addi %@a, %thread : index
    %x = arith.index_cast %@b : index to i32"
                )),
                op => self.value(&format!("%x = arith.{op} {a}, {b} : i32")),
            };
        }
        let ops = [
            "addi",
            "subi",
            "muli",
            "divui",
            "divsi",
            "floordivsi",
            "remui",
            "remsi",
            "andi",
            "ori",
            "xori",
            "shli",
            "shrui",
            "shrsi",
            "cmpi",
            "cmpi",
            "cmpi",
        ];
        let op = self.numbers.pick(&ops);
        let number = match (op, self.number()) {
            ("divui" | "divsi" | "floordivsi" | "remui" | "remsi", 0) => 64,
            ("shli" | "shrui" | "shrsi", n) => n.rem_euclid(9),
            (_, n) => n,
        };
        let k = self.constant(number);
        match op {
            "cmpi" => {
                let p = self.numbers.pick(&PREDICATES);
                let (l, r) = if self.numbers.below(3) == 0 {
                    (k, a)
                } else {
                    (a, k)
                };
                self.value(&format!(
                    "%@ = arith.cmpi {p}, {l}, {r} : i32\n    %x = arith.extui %@ : i1 to i32"
                ))
            }
            _ => self.value(&format!("%x = arith.{op} {a}, {k} : i32")),
        }
    }

    /// A condition.
    fn condition(&mut self) -> String {
        let (a, b) = (self.any(), self.any());
        let p = self.numbers.pick(&PREDICATES);
        let n = self.number();
        let right = match self.numbers.below(3) {
            0 => b,
            _ => self.constant(n),
        };
        let name = self.value(&format!("%x = arith.cmpi {p}, {a}, {right} : i32"));
        self.visible.pop();
        name
    }

    /// Some values of a region's own: the last.
    fn region(&mut self) -> String {
        let seen = self.visible.len();
        let mut last = self.any();
        for _ in 0..self.numbers.below(3) {
            last = self.arithmetic();
        }
        self.visible.truncate(seen);
        last
    }

    fn branch(&mut self) {
        let condition = self.condition();
        let result = self.value(&format!("%x = scf.if {condition} -> i32 {{"));
        self.visible.pop();
        let a = self.region();
        self.line(&format!("scf.yield {a} : i32\n    }} else {{"));
        let b = self.region();
        self.line(&format!("scf.yield {b} : i32\n    }}"));
        self.visible.push(result);
    }

    fn repeat(&mut self) {
        let (a, b, start) = (self.any(), self.any(), self.any());
        let mask = self.constant(63);
        let step = self.numbers.pick(&[1, 3, 32, 64]);
        let step = self.constant(step);
        let lower = self.value(&format!("%x = arith.andi {a}, {mask} : i32"));
        let upper = self.value(&format!("%x = arith.andi {b}, {mask} : i32"));
        let result = self.value(&format!(
            "%x = scf.for %@i = {lower} to {upper} step {step} iter_args(%@c = {start}) -> (i32) : i32 {{"
        ));
        self.visible.pop();
        let own = self.names;
        let seen = self.visible.len();
        self.visible.push(format!("%t{own}_i"));
        self.visible.push(format!("%t{own}_c"));
        let end = self.region();
        self.visible.truncate(seen);
        self.line(&format!("scf.yield {end} : i32\n    }}"));
        self.visible.push(result);
    }

    /// At the top, where all threads are.
    fn collective(&mut self) {
        let a = self.any();
        let ops = [
            "reduce_all add",
            "inclusive_scan add",
            "reduce_all maxui tile2",
            "broadcast_first",
            "block.reduce_all maxui",
        ];
        let op = self.numbers.pick(&ops);
        match op.strip_suffix(" tile2") {
            Some(op) => self.value(&format!("%x = qd.simt.{op} {a} tile(2) : i32")),
            None => self.value(&format!("%x = qd.simt.{op} {a} : i32")),
        };
    }

    fn grow(&mut self) {
        match self.numbers.below(12) {
            0 => self.branch(),
            1 => self.repeat(),
            2 => self.collective(),
            _ => _ = self.arithmetic(),
        }
    }

    /// Stores each value at the top in a row of the output.
    fn finish(&mut self) -> Vec<String> {
        let stored = self.visible.clone();
        self.line("%row = arith.muli %block, %threads : index\n    %at = arith.addi %row, %thread : index");
        for (row, name) in stored.iter().enumerate() {
            let code = format!(
                "%row{row} = arith.constant {row} : index
    memref.store {name}, %out[%row{row}, %at] : memref<?x{MOST}xi32>"
            );
            self.line(&code);
        }
        stored
    }

    fn kernel(&self, threads: usize) -> String {
        format!(
            "qd.grid.kernel @k(%data: memref<?xi32>, %out: memref<?x{MOST}xi32>) {{
  %g = arith.constant {BLOCKS} : index
  qd.grid.phase blocks(%g) threads({threads}) {{
    %block = qd.simt.block.id
    %threads = qd.simt.block.dim
{}  }}
}}",
            self.body
        )
    }
}

/// Threads of all blocks at most.
const MOST: usize = 512;

/// What a value is in each thread.
struct Row<'a> {
    values: &'a [i32],
    threads: usize,
    wave: usize,
}

impl Row<'_> {
    /// Whether a shape is true of all groups of a scope.
    fn has(&self, shape: Shape, scope: Scope) -> bool {
        let group = match scope {
            Scope::Subgroup => self.wave,
            Scope::Block => self.threads,
            Scope::Grid => self.values.len(),
        };
        let aligned = |value: i32, align: u32| value.trailing_zeros() >= align.min(32);
        self.values.chunks(group).all(|group| match shape {
            Shape::Varying => true,
            Shape::Uniform { align } => {
                group.iter().all(|v| *v == group[0]) && aligned(group[0], align)
            }
            Shape::Strided { log2_stride, align } => {
                let along = |rank: usize| group[0].wrapping_add((rank as i32) << log2_stride);
                let mut ranks = group.iter().enumerate();
                ranks.all(|(rank, v)| *v == along(rank)) && aligned(group[0], align)
            }
        })
    }
}

fn top_level<'c>(module: &'c Module) -> Option<Block<'c>> {
    let find = |block: Block<'c>, name: &str| operations(block).into_iter().find(|op| op.is(name));
    // Safety: handles live as long as the module, which outlives them here.
    let body: Block<'c> = unsafe { std::mem::transmute(module.body()) };
    let kernel: Op<'c> = find(body, "qd.grid.kernel")?;
    find(kernel.body()?, "qd.grid.phase")?.body()
}

#[test]
fn what_is_said_of_values_is_true_of_them() {
    let (mut known, mut uniform, mut all) = (0, 0, 0);
    for seed in 0..300 {
        let mut program = Program::new(seed);
        program.sources();
        for _ in 0..25 {
            program.grow();
        }
        let stored = program.finish();
        let threads = program.numbers.pick(&[64usize, 128, 192, 256]);
        let text = program.kernel(threads);
        let context = context();
        let Some(module) = Module::parse(&context, &text) else {
            panic!("not valid:\n{text}");
        };
        for wave in WAVES {
            let data: Vec<i32> = (0..threads).map(|t| (t as i32 * 7919) % 257).collect();
            let mut out = qd_interp::Buffer::from_slice(&vec![0i32; stored.len() * MOST]);
            out.shape = vec![stored.len(), MOST];
            let mut arguments = [buffer(&data), Argument::Buffer(out)];
            let options = Options {
                wave,
                ..Options::default()
            };
            if let Err(fault) = interpret(&module, "k", &mut arguments, &options) {
                panic!("seed {seed}, wave {wave}: {fault}\n{text}");
            }
            let Argument::Buffer(out) = &arguments[1] else {
                unreachable!()
            };
            let out: Vec<i32> = out.to_vec();
            let body = top_level(&module).expect("the phase");
            let analysis = Uniformity::analyse(body, threads as i64, wave);
            let stores: Vec<Value> = operations(body)
                .into_iter()
                .filter(|op| op.is("memref.store"))
                .map(|op| op.operand_values()[0])
                .collect();
            for (row, value) in stores.into_iter().enumerate() {
                let values = &out[row * MOST..row * MOST + BLOCKS * threads];
                let values = Row {
                    values,
                    threads,
                    wave: wave as usize,
                };
                for scope in Scope::ALL {
                    let shape = analysis.shape(value, scope);
                    assert!(
                        values.has(shape, scope),
                        "seed {seed}, wave {wave}: {} ({value}) is not {shape:?} in its {scope}: {:?}\n{text}",
                        stored[row],
                        values.values
                    );
                    all += 1;
                    known += usize::from(shape != Shape::Varying);
                    uniform += usize::from(shape.is_uniform());
                }
                if let Some(constant) = analysis.constant(value) {
                    assert!(
                        values.values.iter().all(|v| i64::from(*v) == constant),
                        "{text}"
                    );
                }
            }
        }
    }
    // The analysis knows something, and not everything.
    assert!(
        known > all / 3 && uniform > all / 4 && known < all,
        "{uniform} {known} {all}"
    );
}

#[test]
fn what_is_accepted_converges() {
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 1000..1400 {
        let mut program = Program::new(seed);
        program.sources();
        for _ in 0..8 {
            program.grow();
        }
        let condition = program.condition();
        let collective = program
            .numbers
            .pick(&["qd.simt.sync", "qd.simt.block.sync"]);
        program.line(&format!("scf.if {condition} {{\n    {collective}\n    }}"));
        program.finish();
        let threads = program.numbers.pick(&[64usize, 128, 192, 256]);
        let text = program.kernel(threads);
        let context = context();
        // Errors are expected here.
        let _quiet = context.attach_diagnostic_handler(|_| true);
        for wave in WAVES {
            let mut module = Module::parse(&context, &text).expect("a valid module");
            let pass = format!("qd-verify-convergence{{wave={wave}}}");
            if run_pipeline(&context, &mut module, &pass).is_err() {
                rejected += 1;
                continue;
            }
            accepted += 1;
            let data: Vec<i32> = (0..threads).map(|t| (t as i32 * 7919) % 257).collect();
            let mut out = qd_interp::Buffer::from_slice(&vec![0i32; 64 * MOST]);
            out.shape = vec![64, MOST];
            let mut arguments = [buffer(&data), Argument::Buffer(out)];
            let options = Options {
                wave,
                ..Options::default()
            };
            if let Err(fault) = interpret(&module, "k", &mut arguments, &options) {
                panic!("seed {seed}, wave {wave}: accepted, but {fault}\n{text}");
            }
        }
    }
    assert!(
        accepted > 300 && rejected > 300,
        "{accepted} accepted, {rejected} rejected"
    );
}
