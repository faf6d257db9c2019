//! Counts at multiples of 2^31 − 1, and buffers of more than 2^32 bytes. They run on command,
//! since they take a device of 80 GB and more, and as much memory of the host.
//!
//! The interpreter does not reach these sizes: the results are known in advance, and compared
//! on the device. The inputs are generated there as well.

use qd_conformance::{any_wave, load_for};
use qd_lowering::algorithms::scratch as sizing;
use qd_runtime::{
    Dtype, Element, Error,
    objects::{Arg, Buffer, Stream},
};

/// The largest count of 32 bits.
const MOST: u64 = (1 << 31) - 1;

/// An algorithm on `%len` elements, and what makes its input and looks at its output.
struct Large {
    name: &'static str,
    /// The type of the count.
    count: &'static str,
    n: u64,
    /// What it takes besides, such as `(\"o\", I32, n)`.
    buffers: Vec<(&'static str, Dtype, u64)>,
    /// Of `%i`, in a loop of its own in front.
    before: &'static str,
    /// Of `%i`, in a loop that is fused into the algorithm.
    fused: &'static str,
    algorithm: String,
    /// Of `%i`, in a loop after the algorithm, up to `%end`: whether it `%differs`.
    behind: &'static str,
    /// How many elements come out.
    results: u64,
}

fn mlir(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::I8 => "i8",
        Dtype::I64 => "i64",
        _ => "i32",
    }
}

impl Large {
    fn text(&self) -> String {
        let declared = self.buffers.iter().map(|(name, dtype, _)| {
            // Nothing else uses what a fused loop makes.
            let attribute = if *name == "y" { " {qd.scratch}" } else { "" };
            format!(", %{name}: memref<?x{}>{attribute}", mlir(*dtype))
        });
        let each = |name: &str, body: &str| match body {
            "" => String::new(),
            _ => format!("  qd.grid.for_each \"{name}\" %i to %len {{\n{body}\n  }}\n"),
        };
        format!(
            "qd.grid.kernel @main(%n: memref<{count}>, %wrong: memref<?xi32>{}) {{
  %zero = arith.constant 0 : index
  %len = arith.constant {} : index
  %end = arith.constant {} : index
  %step = arith.constant 2654435761 : i64
  %modulus = arith.constant {} : i64
{}{}  {} count(%n : memref<{count}>) log256_max_n = 4
  qd.grid.for_each \"compare\" %i to %end {{
{}
    scf.if %differs {{
      %one = arith.constant 1 : i32
      %before = qd.grid.atomic.rmw add %one, %wrong[%zero] device relaxed : memref<?xi32>
    }}
  }}
}}",
            declared.collect::<String>(),
            self.n,
            self.results,
            self.n,
            each("make", self.before),
            each("map", self.fused),
            self.algorithm,
            self.behind,
            count = self.count,
        )
    }

    /// Runs it, and says what it was; yields the number of elements that came out, where
    /// there is one.
    fn run(&self) -> Option<u32> {
        let Self { name, count, n, .. } = self;
        let buffers = self.buffers.iter();
        let bytes: u64 = buffers
            .map(|(_, dtype, length)| dtype.size() as u64 * length)
            .sum();
        let about = format!("{name} of {n} elements by an {count}");
        println!("{about}: buffers of {:.1} GB", bytes as f64 / 1e9);
        let main =
            load_for(&self.text(), any_wave())?.unwrap_or_else(|why| panic!("{about}: {why}"));
        let run = || -> Result<_, Error> {
            let stream = main.stream()?;
            let counter = match *count {
                "i32" => one(&stream, i32::try_from(*n).expect("a count of this type"))?,
                _ => one(&stream, *n as i64)?,
            };
            let mut arguments = vec![counter, Buffer::zeros(&stream, Dtype::I32, &[1])?];
            for (name, dtype, length) in &self.buffers {
                let shape: &[u64] = if *name == "m" { &[1] } else { &[*length] };
                arguments.push(Buffer::new(&stream, *dtype, shape)?);
            }
            let given: Vec<_> = arguments.iter().map(Arg::from).collect();
            main.kernel().prepare(&stream, &given)?;
            let begin = stream.record()?;
            main.kernel().launch(&stream, &given)?;
            let time = stream.record()?.since(&begin)?;
            let word = |buffer: &Buffer| Ok::<i32, Error>(buffer.to_vec(&stream)?[0]);
            let number = self.buffers.iter().position(|(name, ..)| *name == "m");
            let number = number.map(|at| word(&arguments[at + 2])).transpose()?;
            Ok((time, word(&arguments[1])?, number))
        };
        let (time, wrong, number) = run().unwrap_or_else(|why| panic!("{about}: {why}"));
        println!(
            "{about}: {:.3} s; {wrong} of {} wrong",
            time.as_secs_f64(),
            self.results
        );
        assert_eq!(wrong, 0, "{about}");
        number.map(|number| number as u32)
    }
}

/// A buffer of rank 0.
fn one<T: Element>(on: &Stream, value: T) -> Result<Buffer, Error> {
    Buffer::from_slice(on, &[value])?.cast(T::DTYPE, &[])
}

/// The counts, each by the types that hold it. There is no way to ask for more than 2^31 − 1
/// by an `i32`: `qd-run` says so (`tests/filecheck/run/count-out-of-range.mlir`), and the
/// library takes no other number. Nor is there a count of more than 2^32 elements. The
/// largest first: a device that is too small for it says so at once.
const COUNTS: [(&str, u64); 3] = [("i64", 2 * MOST), ("i64", MOST), ("i32", MOST)];

/// `%w` is the number of the element.
const NUMBERS: &str = "    %w = arith.index_castui %i : index to i32
    memref.store %w, %y[%i] : memref<?xi32>";

/// The sum of the numbers of all elements, in 32 bits. They are nowhere in memory.
#[test]
#[ignore = "takes a large device"]
fn reduce() {
    for (count, n) in COUNTS {
        let slots = sizing::reduce_scratch_slots(n, Some(4)).expect("a depth");
        Large {
            name: "reduce",
            count,
            n,
            buffers: vec![
                ("y", Dtype::I32, n),
                ("o", Dtype::I32, 1),
                ("s", Dtype::I32, slots),
            ],
            before: "",
            fused: NUMBERS,
            algorithm: "qd.algo.reduce add ins(%y : memref<?xi32>) outs(%o : memref<?xi32>) \
                        scratch(%s : memref<?xi32>)"
                .into(),
            // n (n − 1) / 2, of which one factor is even.
            behind: "    %x = memref.load %o[%i] : memref<?xi32>
    %less = arith.constant -1 : i64
    %one64 = arith.constant 1 : i64
    %before64 = arith.addi %modulus, %less : i64
    %half = arith.shrui %modulus, %one64 : i64
    %other_half = arith.shrui %before64, %one64 : i64
    %bit = arith.andi %modulus, %one64 : i64
    %is_odd = arith.cmpi eq, %bit, %one64 : i64
    %a = arith.select %is_odd, %modulus, %half : i64
    %b = arith.select %is_odd, %other_half, %before64 : i64
    %sum = arith.muli %a, %b : i64
    %expected = arith.trunci %sum : i64 to i32
    %differs = arith.cmpi ne, %x, %expected : i32",
            results: 1,
        }
        .run();
    }
}

/// Each element is the number of those before it.
#[test]
#[ignore = "takes a large device"]
fn exclusive_scan() {
    for (count, n) in COUNTS {
        let slots = sizing::scan_scratch_slots(n, Some(4)).expect("a depth");
        Large {
            name: "exclusive_scan",
            count,
            n,
            buffers: vec![
                ("y", Dtype::I32, n),
                ("o", Dtype::I32, n),
                ("s", Dtype::I32, slots),
            ],
            before: "",
            fused: "    %w = arith.constant 1 : i32
    memref.store %w, %y[%i] : memref<?xi32>",
            algorithm: "qd.algo.exclusive_scan add ins(%y : memref<?xi32>) \
                        outs(%o : memref<?xi32>) scratch(%s : memref<?xi32>)"
                .into(),
            behind: "    %x = memref.load %o[%i] : memref<?xi32>
    %expected = arith.index_castui %i : index to i32
    %differs = arith.cmpi ne, %x, %expected : i32",
            results: n,
        }
        .run();
    }
}

/// Every third byte, and for partitions the others after them in their order.
fn compact(algorithm: &'static str, count: &'static str, n: u64) {
    let kept = n.div_ceil(3);
    let number = Large {
        name: algorithm,
        count,
        n,
        buffers: vec![
            ("x", Dtype::I8, n),
            ("y", Dtype::I32, n),
            ("o", Dtype::I8, n),
            ("m", Dtype::I32, 1),
            ("s", Dtype::I32, sizing::select_scratch_slots(n)),
        ],
        before: "    %nth = arith.index_castui %i : index to i64
    %mixed = arith.muli %nth, %step : i64
    %shift = arith.constant 24 : i64
    %high = arith.shrui %mixed, %shift : i64
    %byte = arith.trunci %high : i64 to i8
    memref.store %byte, %x[%i] : memref<?xi8>",
        fused: "    %three = arith.constant 3 : index
    %none = arith.constant 0 : index
    %rest = arith.remui %i, %three : index
    %p = arith.cmpi eq, %rest, %none : index
    %w = arith.extui %p : i1 to i32
    memref.store %w, %y[%i] : memref<?xi32>",
        algorithm: format!(
            "qd.algo.{algorithm} ins(%x, %y : memref<?xi8>, memref<?xi32>) \
             outs(%o, %m : memref<?xi8>, memref<?xi32>) scratch(%s : memref<?xi32>)"
        ),
        // Of those that follow, the kth is the element 3k/2 + 1, rounded down.
        behind: "    %three = arith.constant 3 : index
    %two = arith.constant 2 : index
    %first = arith.constant 1 : index
    %up = arith.addi %len, %two : index
    %kept = arith.divui %up, %three : index
    %is_kept = arith.cmpi ult, %i, %kept : index
    %of_kept = arith.muli %i, %three : index
    %kth = arith.subi %i, %kept : index
    %tripled = arith.muli %kth, %three : index
    %halved = arith.divui %tripled, %two : index
    %of_others = arith.addi %halved, %first : index
    %from = arith.select %is_kept, %of_kept, %of_others : index
    %x0 = memref.load %x[%from] : memref<?xi8>
    %x1 = memref.load %o[%i] : memref<?xi8>
    %differs = arith.cmpi ne, %x0, %x1 : i8",
        results: if algorithm == "select" { kept } else { n },
    }
    .run();
    assert_eq!(number.map(u64::from), Some(kept), "{algorithm} of {n}");
}

#[test]
#[ignore = "takes a large device"]
fn select() {
    COUNTS
        .into_iter()
        .for_each(|(count, n)| compact("select", count, n));
}

#[test]
#[ignore = "takes a large device"]
fn partition() {
    COUNTS
        .into_iter()
        .for_each(|(count, n)| compact("partition", count, n));
}

/// Keys are the numbers below n, mixed: the nth is `n · step mod n`'s.
#[test]
#[ignore = "takes a large device"]
fn sort() {
    for (count, n) in COUNTS {
        let slots = sizing::sort_scratch_slots(n, Some(4)).expect("a depth");
        Large {
            name: "sort",
            count,
            n,
            buffers: vec![
                ("k", Dtype::I32, n),
                ("t", Dtype::I32, n),
                ("s", Dtype::I32, slots),
            ],
            // The step, which is prime, is no factor of n: all products differ. It is reduced
            // first, so that a product has 64 bits.
            before: "    %nth = arith.index_castui %i : index to i64
    %small = arith.remui %step, %modulus : i64
    %product = arith.muli %nth, %small : i64
    %rest = arith.remui %product, %modulus : i64
    %key = arith.trunci %rest : i64 to i32
    memref.store %key, %k[%i] : memref<?xi32>",
            fused: "",
            algorithm: "qd.algo.sort keys(%k, %t : memref<?xi32>, memref<?xi32>) \
                        scratch(%s : memref<?xi32>)"
                .into(),
            // As signed: those of 2^31 and more come first.
            behind: "    %x = memref.load %k[%i] : memref<?xi32>
    %sign = arith.constant 2147483648 : index
    %none = arith.constant 0 : index
    %is_long = arith.cmpi ugt, %len, %sign : index
    %over = arith.subi %len, %sign : index
    %negative = arith.select %is_long, %over, %none : index
    %is_negative = arith.cmpi ult, %i, %negative : index
    %upper = arith.addi %i, %sign : index
    %lower = arith.subi %i, %negative : index
    %nth = arith.select %is_negative, %upper, %lower : index
    %expected = arith.index_castui %nth : index to i32
    %differs = arith.cmpi ne, %x, %expected : i32",
            results: n,
        }
        .run();
    }
}

/// Runs of three keys each, of which values are ones: each comes to 3, but the last.
#[test]
#[ignore = "takes a large device"]
fn reduce_by_key() {
    for (count, n) in [("i64", MOST), ("i32", MOST)] {
        let runs = n.div_ceil(3);
        let number = Large {
            name: "reduce_by_key",
            count,
            n,
            buffers: vec![
                ("k", Dtype::I32, n),
                ("y", Dtype::I32, n),
                ("ko", Dtype::I32, n),
                ("vo", Dtype::I32, n),
                ("m", Dtype::I32, 1),
                ("s", Dtype::I32, sizing::reduce_by_key_scratch_slots(n)),
            ],
            before: "    %three = arith.constant 3 : index
    %nth = arith.divui %i, %three : index
    %key = arith.index_castui %nth : index to i32
    memref.store %key, %k[%i] : memref<?xi32>",
            fused: "    %w = arith.constant 1 : i32
    memref.store %w, %y[%i] : memref<?xi32>",
            algorithm: "qd.algo.reduce_by_key add ins(%k, %y : memref<?xi32>, memref<?xi32>) \
                        outs(%ko, %vo, %m : memref<?xi32>, memref<?xi32>, memref<?xi32>) \
                        scratch(%s : memref<?xi32>)"
                .into(),
            behind: "    %x = memref.load %ko[%i] : memref<?xi32>
    %y1 = memref.load %vo[%i] : memref<?xi32>
    %key = arith.index_castui %i : index to i32
    %three = arith.constant 3 : index
    %first = arith.muli %i, %three : index
    %rest = arith.subi %len, %first : index
    %length = arith.minui %rest, %three : index
    %sum = arith.index_castui %length : index to i32
    %other_key = arith.cmpi ne, %x, %key : i32
    %other_sum = arith.cmpi ne, %y1, %sum : i32
    %differs = arith.ori %other_key, %other_sum : i1",
            results: runs,
        }
        .run();
        assert_eq!(number.map(u64::from), Some(runs), "reduce_by_key of {n}");
    }
}

/// Buffers of more than 2^32 bytes, of elements that are fewer than 2^32 by far: what is
/// the address of an element is not counted in 32 bits.
#[test]
#[ignore = "takes a large device"]
fn wide_elements_beyond_4_gib() {
    let n = (1 << 29) + 11;
    let slots = sizing::scan_scratch_slots(n, Some(4)).expect("a depth");
    Large {
        name: "inclusive_scan of i64",
        count: "i32",
        n,
        buffers: vec![
            ("x", Dtype::I64, n),
            ("o", Dtype::I64, n),
            ("s", Dtype::I64, slots),
        ],
        before: "    %w = arith.index_castui %i : index to i64
    memref.store %w, %x[%i] : memref<?xi64>",
        fused: "",
        algorithm: "qd.algo.inclusive_scan add ins(%x : memref<?xi64>) outs(%o : memref<?xi64>) \
                    scratch(%s : memref<?xi64>)"
            .into(),
        behind: "    %sum = memref.load %o[%i] : memref<?xi64>
    %nth = arith.index_castui %i : index to i64
    %one64 = arith.constant 1 : i64
    %next = arith.addi %nth, %one64 : i64
    %product = arith.muli %nth, %next : i64
    %expected = arith.shrui %product, %one64 : i64
    %differs = arith.cmpi ne, %sum, %expected : i64",
        results: n,
    }
    .run();
    let slots = sizing::sort_scratch_slots(n, Some(4)).expect("a depth");
    Large {
        name: "sort of i64",
        count: "i64",
        n,
        buffers: vec![
            ("k", Dtype::I64, n),
            ("t", Dtype::I64, n),
            ("s", Dtype::I32, slots),
        ],
        before: "    %nth = arith.index_castui %i : index to i64
    %small = arith.remui %step, %modulus : i64
    %product = arith.muli %nth, %small : i64
    %key = arith.remui %product, %modulus : i64
    memref.store %key, %k[%i] : memref<?xi64>",
        fused: "",
        algorithm: "qd.algo.sort keys(%k, %t : memref<?xi64>, memref<?xi64>) \
                    scratch(%s : memref<?xi32>)"
            .into(),
        behind: "    %x = memref.load %k[%i] : memref<?xi64>
    %expected = arith.index_castui %i : index to i64
    %differs = arith.cmpi ne, %x, %expected : i64",
        results: n,
    }
    .run();
}
