//! Select and partition: all and no flags, rows, every width.

use crate::{
    data::{
        CHUNKED_SIZES, LOOK_BACK_SIZES, Pattern, Random, SIZES, SMALL_SIZES, buffer, count, rows,
        scratch, values,
    },
    support::{Case, WAVES, depth},
};
use qd_interp::{Buffer, Element};
use qd_lowering::algorithms::scratch::select_scratch_slots;

#[derive(Clone, Copy, Debug)]
enum Flags {
    None,
    All,
    Half,
    One,
    Runs,
}

const FLAGS: [Flags; 5] = [
    Flags::None,
    Flags::All,
    Flags::Half,
    Flags::One,
    Flags::Runs,
];

impl Flags {
    fn make(self, n: usize, seed: u64) -> Vec<i32> {
        let mut random = Random::new(seed);
        let is_set = |i| match self {
            Self::None => false,
            Self::All => true,
            Self::Half => random.below(2) == 1,
            Self::One => i == n / 2,
            Self::Runs => i / 300 % 2 == 1,
        };
        // Whatever is not 0 is a flag.
        const SET: [i32; 7] = [1, 2, -1, 256, 65_536, i32::MIN, i32::MAX];
        let flags = (0..n).map(is_set).enumerate();
        flags
            .map(|(i, set)| i32::from(set) * SET[(i + seed as usize) % 7])
            .collect()
    }
}

/// An op, and rows of how many of which scalars it moves.
#[derive(Clone, Copy, Debug)]
struct Moves {
    op: &'static str,
    row: usize,
    element: Element,
}

/// The `number`-th of a series; `strategy` is what the op says of that.
fn case(moves: Moves, strategy: &str, n: usize, flags: Flags, number: usize) -> Case {
    let Moves { op, row, element } = moves;
    let shape = match row {
        1 => "?".into(),
        _ => format!("?x{row}"),
    };
    let count_shape = ["", "1x", "?x"][number % 3];
    let depth = depth(n, number);
    let text = format!(
        "qd.grid.kernel @k(%a: memref<{shape}x{element}>, %f: memref<?xi32>, %out: memref<{shape}x{element}>,
                           %num: memref<{count_shape}i32>, %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.{op} ins(%a, %f : memref<{shape}x{element}>, memref<?xi32>)
             outs(%out, %num : memref<{shape}x{element}>, memref<{count_shape}i32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {depth} {strategy}
         }}"
    );
    let room = [0, 5][number % 2];
    let length = (n + room) * row;
    let data = |bits: &[u64]| match row {
        1 => buffer(element, bits),
        _ => rows(element, bits, row),
    };
    let input = values(element, Pattern::Wild, length, number as u64);
    let output = values(element, Pattern::Wild, length, 77);
    let num_out = match count_shape {
        "" => Buffer::scalar(-5),
        _ => Buffer::from_slice(&[-5]),
    };
    let label = format!("{op} of {n} rows of {row} {element}, flags: {flags:?}, D = {depth}");
    Case::new(label, text, number)
        .with(data(&input))
        .with(Buffer::from_slice(&flags.make(n + room, number as u64)).into())
        .with_result(data(&output))
        .with_result(num_out.into())
        .with(scratch(Element::I32, select_scratch_slots(n as u64)))
        .with(count(n))
}

/// What an op asks for, and what it is expanded for.
type Way = (&'static str, &'static str);

const HIERARCHICAL: Way = ("strategy = \"hierarchical\"", "any");
const TWO_PASSES: Way = ("strategy = \"reduce_then_scan\"", "any");
const FEW_CORES: Way = ("", "cpu");
const MANY_CORES: Way = ("", "nvptx:sm_90");

fn check(op: &'static str, n: usize, flags: Flags, number: usize, (strategy, target): Way) {
    let moves = Moves {
        op,
        row: [1, 3, 1, 1, 20][number % 5],
        element: [Element::I32, Element::F64, Element::F32, Element::I64][number % 4],
    };
    let mut case = case(moves, strategy, n, flags, number);
    case.target = target;
    case.check();
}

fn all(op: &'static str, large: &[usize], way: Way) {
    let mut number = 0;
    for n in SMALL_SIZES {
        for flags in FLAGS {
            check(op, n, flags, number, way);
            number += 1;
        }
    }
    for n in large {
        // Scalars: rows of 20 take an interpreter long.
        check(op, *n, FLAGS[number % 5], [0, 2, 3][number % 3], way);
        number += 1;
    }
}

#[test]
fn select() {
    all("select", &SIZES[SMALL_SIZES.len()..], HIERARCHICAL);
    all("select", &SIZES[SMALL_SIZES.len()..], TWO_PASSES);
}

#[test]
fn select_where_latency_counts() {
    all("select", &CHUNKED_SIZES, FEW_CORES);
}

#[test]
fn select_where_throughput_counts() {
    all("select", &LOOK_BACK_SIZES, MANY_CORES);
}

#[test]
fn partition() {
    all("partition", &SIZES[SMALL_SIZES.len()..], HIERARCHICAL);
    all("partition", &SIZES[SMALL_SIZES.len()..], TWO_PASSES);
}

#[test]
fn partition_where_latency_counts() {
    all("partition", &CHUNKED_SIZES, FEW_CORES);
}

#[test]
fn partition_where_throughput_counts() {
    all("partition", &LOOK_BACK_SIZES, MANY_CORES);
}

const LOOK_BACK: &str = "strategy = \"lookback\" {qd.tuning = {threads = 64, items = 20}}";

/// Chunks of several subgroup tiles, and more of them than 64 threads scan at a time.
const REDUCE_THEN_SCAN: &str =
    "strategy = \"reduce_then_scan\" {qd.tuning = {threads = 64, items = 20, blocks = 8}}";

/// Elements of a tile of both.
const TILE: usize = 64 * 20;

/// About the borders of tiles, and of what a lane and the lanes of a subgroup have of
/// them; for every width of subgroups.
fn tiles_on_every_wave(op: &'static str, strategy: &str) {
    const SIZES: [usize; 11] = [
        0,
        1,
        2,
        63,
        65,
        257,
        TILE - 1,
        TILE,
        TILE + 1,
        3 * TILE + 777,
        12 * TILE + 777,
    ];
    let kinds = [
        (1, Element::I32),
        (1, Element::I8),
        (1, Element::F64),
        (3, Element::F32),
    ];
    let mut number = 0;
    for (kind, (row, element)) in kinds.into_iter().enumerate() {
        let moves = Moves { op, row, element };
        for n in SIZES {
            for (turn, wave) in WAVES.into_iter().enumerate() {
                // Kinds of elements take turns with the waves at sizes that take long.
                if n > TILE + 1 && (turn + kind) % 4 != 0 {
                    number += 1;
                    continue;
                }
                // Of no kind of flags twice at the same size and wave.
                let flags = FLAGS[(number / WAVES.len() + turn) % FLAGS.len()];
                let mut case = case(moves, strategy, n, flags, number);
                case.options.wave = wave;
                case.check();
                number += 1;
            }
        }
    }
}

#[test]
fn select_on_every_wave() {
    tiles_on_every_wave("select", LOOK_BACK);
    tiles_on_every_wave("select", REDUCE_THEN_SCAN);
}

#[test]
fn partition_on_every_wave() {
    tiles_on_every_wave("partition", REDUCE_THEN_SCAN);
}
