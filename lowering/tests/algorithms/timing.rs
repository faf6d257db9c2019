//! What comes out where blocks wait for each other, whoever comes first.

use crate::{
    data::{Random, bits, buffer, count, scratch},
    support::{WAVES, context, parse},
};
use qd_dialects::pass;
use qd_interp::{Argument, Element, Options, Schedule, interpret};

/// Runs a kernel under many schedules; the results of each.
fn under_all_schedules(text: &str, arguments: &[Argument], waves: &[u32]) -> Vec<Vec<Argument>> {
    let context = context();
    let mut module = parse(&context, text);
    pass::run_pipeline(&context, &mut module, "qd-to-grid{target=nvptx:sm_90}").unwrap();
    let run = |wave: &u32, schedule| {
        let options = Options {
            wave: *wave,
            schedule,
            ..Options::default()
        };
        let mut arguments = arguments.to_vec();
        if let Err(fault) = interpret(&module, "k", &mut arguments, &options) {
            panic!("{options:?}: {fault}");
        }
        arguments
    };
    let schedules = |wave| {
        let hostile = (0..12).map(move |seed| run(wave, Schedule::Random { seed }));
        [run(wave, Schedule::InOrder)].into_iter().chain(hostile)
    };
    waves.iter().flat_map(schedules).collect()
}

/// Sums that round depend on the tree: where that is asked for, it is fixed by the
/// count. Only the width of a subgroup may matter.
#[test]
fn deterministic_float_sums_do_not_depend_on_timing() {
    let n = 60_000;
    let mut random = Random::new(11);
    let input: Vec<_> = (0..n)
        .map(|_| u64::from((random.below(1 << 20) as f32 / 7.0).to_bits()))
        .collect();
    for op in ["inclusive_scan", "exclusive_scan"] {
        let text = format!(
            "qd.grid.kernel @k(%a: memref<?xf32>, %o: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {{
               qd.algo.{op} add ins(%a : memref<?xf32>) outs(%o : memref<?xf32>)
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 deterministic
             }}"
        );
        let arguments = [
            buffer(Element::F32, &input),
            buffer(Element::F32, &input),
            scratch(Element::I32, 256),
            count(n),
        ];
        for wave in WAVES {
            let results = under_all_schedules(&text, &arguments, &[wave]);
            let first = bits(&results[0][1]);
            assert!(results.iter().all(|result| bits(&result[1]) == first));
        }
    }
}

/// Equal keys keep their order, whichever tile is ready first.
#[test]
fn sorts_are_stable_whoever_comes_first() {
    let n = 30_000;
    let mut random = Random::new(5);
    let keys: Vec<_> = (0..n).map(|_| random.below(600)).collect();
    let values: Vec<_> = (0..n).collect();
    let text = "qd.grid.kernel @k(%k: memref<?xi32>, %tk: memref<?xi32>, %v: memref<?xi32>, %tv: memref<?xi32>,
                                  %s: memref<?xi32>, %n: memref<i32>) {
        qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>) values(%v, %tv : memref<?xi32>, memref<?xi32>)
          scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
      }";
    let arguments = [
        buffer(Element::I32, &keys),
        buffer(Element::I32, &keys),
        buffer(Element::I32, &values),
        buffer(Element::I32, &values),
        scratch(Element::I32, 256 * n.div_ceil(256) + 118),
        count(n as usize),
    ];
    let mut expected: Vec<_> = keys.iter().zip(values).collect();
    expected.sort();
    for result in under_all_schedules(text, &arguments, &[32]) {
        let sorted = bits(&result[0]);
        let pairs: Vec<_> = sorted.iter().zip(bits(&result[2])).collect();
        assert_eq!(pairs, expected);
    }
}

/// Elements that are moved keep their order, whichever tile is ready first.
#[test]
fn moves_are_stable_whoever_comes_first() {
    let n = 40_000;
    let mut random = Random::new(7);
    let flags: Vec<_> = (0..n).map(|_| random.below(2)).collect();
    let values: Vec<_> = (0..n).collect();
    let is_flagged = |i: &u64| flags[*i as usize] != 0;
    let (flagged, others): (Vec<u64>, Vec<u64>) = values.iter().partition(|i| is_flagged(i));
    for (op, behind) in [("select", &[] as &[_]), ("partition", &others)] {
        let text = format!(
            "qd.grid.kernel @k(%a: memref<?xi32>, %f: memref<?xi32>, %o: memref<?xi32>, %m: memref<i32>,
                               %s: memref<?xi32>, %n: memref<i32>) {{
               qd.algo.{op} ins(%a, %f : memref<?xi32>, memref<?xi32>) outs(%o, %m : memref<?xi32>, memref<i32>)
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
             }}"
        );
        let arguments = [
            buffer(Element::I32, &values),
            buffer(Element::I32, &flags),
            buffer(Element::I32, &values),
            count(0),
            scratch(Element::I32, 2 * n),
            count(n as usize),
        ];
        let expected = [&flagged, behind].concat();
        for result in under_all_schedules(&text, &arguments, &[4, 32, 64]) {
            assert_eq!(bits(&result[2])[..expected.len()], expected);
            assert_eq!(bits(&result[3]), [flagged.len() as u64]);
        }
    }
}

/// A block that waits for a word that nobody writes is a fault, not a hang.
#[test]
fn waiting_for_ever_is_a_fault() {
    let text = "qd.grid.kernel @k(%a: memref<?xi32>) {
        %c2 = arith.constant 2 : index
        qd.grid.phase blocks(%c2) threads(64) {
          %c0 = arith.constant 0 : index
          %zero = arith.constant 0 : i32
          scf.while : () -> () {
            %seen = qd.grid.atomic.load %a[%c0] device relaxed : memref<?xi32>
            %wait = arith.cmpi eq, %seen, %zero : i32
            scf.condition(%wait)
          } do {
            scf.yield
          }
        }
      }";
    let context = context();
    let module = parse(&context, text);
    for schedule in [Schedule::InOrder, Schedule::Random { seed: 1 }] {
        let options = Options {
            schedule,
            fuel: 1 << 20,
            ..Options::default()
        };
        let mut arguments = [buffer(Element::I32, &[0])];
        let fault = interpret(&module, "k", &mut arguments, &options).unwrap_err();
        assert!(fault.to_string().contains("step limit"), "{fault}");
    }
}
