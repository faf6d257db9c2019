//! Results of blocks that wait for each other, under any schedule.

use crate::{
    data::{Pattern, Random, bits, buffer, count, scratch, values},
    support::{context, parse},
};
use qd_dialects::pass;
use qd_interp::{Argument, Element, Options, Schedule, interpret};
use qd_lowering::algorithms::scratch::{
    reduce_by_key_scratch_slots, scan_scratch_slots, sort_scratch_slots,
};

/// Small tiles: many of them, beyond a window of most subgroups.
const SMALL: &str = "{qd.tuning = {threads = 64, items = 20}}";

/// Runs a kernel under many schedules; the results of each.
fn under_all_schedules(text: &str, arguments: &[Argument], waves: &[u32]) -> Vec<Vec<Argument>> {
    under_schedules(text, arguments, waves, 6)
}

/// Runs a kernel in order and under as many hostile schedules; the results of each.
fn under_schedules(
    text: &str,
    arguments: &[Argument],
    waves: &[u32],
    hostile: u64,
) -> Vec<Vec<Argument>> {
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
        let hostile = (0..hostile).map(move |seed| run(wave, Schedule::Random { seed }));
        [run(wave, Schedule::InOrder)].into_iter().chain(hostile)
    };
    waves.iter().flat_map(schedules).collect()
}

/// Order-sensitive sums depend on the tree: with `deterministic`, the count fixes it,
/// whatever ran first, at every width of a subgroup. Of wide elements there are more tiles
/// than a band has, and then more bands than a window of the smallest subgroup.
#[test]
fn deterministic_float_sums_do_not_depend_on_timing() {
    const WIDE: &str = "identity [0.0 : f64, 0.0 : f64, 0.0 : f64] combiner {
      ^bb0(%la: f64, %lb: f64, %lc: f64, %ra: f64, %rb: f64, %rc: f64):
        %a = arith.addf %la, %ra : f64
        %b = arith.addf %lb, %rb : f64
        %c = arith.addf %lc, %rc : f64
        qd.yield %a, %b, %c : f64, f64, f64
      }";
    /// Of wide elements.
    const TILE: usize = 1280;
    let one = ("add", "", Element::F32, "f32", Element::I32, "i32", 1);
    let wide = ("", WIDE, Element::F64, "f64", Element::I64, "i64", 3);
    let forms: [(_, _, &[u32], _); 3] = [
        (one, 33_000, &[8, 64], 12),
        (wide, 34 * TILE + 7, &[4, 32], 3),
        (wide, 170 * TILE + 7, &[4], 1),
    ];
    for ((kind, region, element, e, slots, s, scalars), n, waves, hostile) in forms {
        let mut random = Random::new(11);
        let number = |x: f64| match element {
            Element::F32 => u64::from((x as f32).to_bits()),
            _ => x.to_bits(),
        };
        let input: Vec<_> = (0..n)
            .map(|_| number(random.below(1 << 20) as f64 / 7.0))
            .collect();
        let list =
            |of: &dyn Fn(usize) -> String| (0..scalars).map(of).collect::<Vec<_>>().join(", ");
        let op = match scalars {
            1 => "exclusive_scan",
            _ => "inclusive_scan",
        };
        let text = format!(
            "qd.grid.kernel @k({}, {}, {}, %n: memref<i32>) {{
                   qd.algo.{op} {kind} ins({} : {buffers}) outs({} : {buffers}) scratch({} : {})
                     count(%n : memref<i32>) log256_max_n = 3 deterministic {region}
                 }}",
            list(&|i| format!("%a{i}: memref<?x{e}>")),
            list(&|i| format!("%o{i}: memref<?x{e}>")),
            list(&|i| format!("%s{i}: memref<?x{s}>")),
            list(&|i| format!("%a{i}")),
            list(&|i| format!("%o{i}")),
            list(&|i| format!("%s{i}")),
            list(&|_| format!("memref<?x{s}>")),
            buffers = list(&|_| format!("memref<?x{e}>")),
        );
        let mut arguments = vec![buffer(element, &input); 2 * scalars];
        arguments.extend(
            (0..scalars).map(|_| scratch(slots, scan_scratch_slots(n as u64, Some(3)).unwrap())),
        );
        arguments.push(count(n));
        let mut expected = arguments.clone();
        let context = context();
        interpret(
            &parse(&context, &text),
            "k",
            &mut expected,
            &Options::default(),
        )
        .unwrap();
        for result in under_schedules(&text, &arguments, waves, hostile) {
            for scalar in scalars..2 * scalars {
                assert!(
                    bits(&result[scalar]) == bits(&expected[scalar]),
                    "{op} of {e}"
                );
            }
        }
    }
}

/// A sum that does not round is the same however far a tile has to look back, in one
/// word of a descriptor and in two.
#[test]
fn sums_of_integers_do_not_depend_on_timing() {
    let n = 34 * 1280 + 7;
    for (element, slot) in [(Element::I32, "i32"), (Element::I64, "i64")] {
        let input = values(element, Pattern::Wild, n, 3);
        let mask = u64::MAX >> (64 - 8 * element.bytes());
        let mut sum = 0u64;
        let including: Vec<_> = (input.iter())
            .map(|x| {
                sum = sum.wrapping_add(*x) & mask;
                sum
            })
            .collect();
        let before = [&[0], &including[..n - 1]].concat();
        for (op, expected) in [("inclusive_scan", &including), ("exclusive_scan", &before)] {
            let text = format!(
                "qd.grid.kernel @k(%a: memref<?x{slot}>, %o: memref<?x{slot}>, %s: memref<?x{slot}>, %n: memref<i32>) {{
                   qd.algo.{op} add ins(%a : memref<?x{slot}>) outs(%o : memref<?x{slot}>)
                     scratch(%s : memref<?x{slot}>) count(%n : memref<i32>) log256_max_n = 2 {SMALL}
                 }}"
            );
            let arguments = [
                buffer(element, &input),
                buffer(element, &input),
                scratch(element, scan_scratch_slots(n as u64, Some(2)).unwrap()),
                count(n),
            ];
            for result in under_all_schedules(&text, &arguments, &[4, 32]) {
                assert_eq!(bits(&result[1]), *expected, "{op} {slot}");
            }
        }
    }
}

/// A run that spans tiles is whole, whichever of them is ready first.
#[test]
fn runs_are_whole_whoever_comes_first() {
    let n = 30 * 1280 + 7;
    let mut random = Random::new(13);
    let mut key = 0;
    // A few that are long, and many that are short.
    let mut ends = |i: usize| {
        random.below(if (i / 9000).is_multiple_of(2) {
            3
        } else {
            4000
        }) == 0
    };
    let keys: Vec<u64> = (0..n)
        .map(|i| {
            key += u64::from(ends(i));
            key
        })
        .collect();
    for (element, name) in [(Element::I32, "i32"), (Element::I64, "i64")] {
        let input = values(element, Pattern::Wild, n, 4);
        let mask = u64::MAX >> (64 - 8 * element.bytes());
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (key, x) in keys.iter().zip(&input) {
            match runs.last_mut() {
                Some((last, sum)) if last == key => *sum = sum.wrapping_add(*x) & mask,
                _ => runs.push((*key, *x)),
            }
        }
        let text = format!(
            "qd.grid.kernel @k(%k: memref<?xi32>, %v: memref<?x{name}>, %ko: memref<?xi32>, %vo: memref<?x{name}>,
                               %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {{
               qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?x{name}>)
                 outs(%ko, %vo, %m : memref<?xi32>, memref<?x{name}>, memref<i32>)
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 {SMALL}
             }}"
        );
        let arguments = [
            buffer(Element::I32, &keys),
            buffer(element, &input),
            buffer(Element::I32, &keys),
            buffer(element, &input),
            count(0),
            scratch(Element::I32, reduce_by_key_scratch_slots(n as u64)),
            count(n),
        ];
        for result in under_all_schedules(&text, &arguments, &[4, 32]) {
            assert_eq!(bits(&result[4]), [runs.len() as u64], "{name}");
            let keys = bits(&result[2]).into_iter();
            let got: Vec<_> = keys.zip(bits(&result[3])).take(runs.len()).collect();
            assert_eq!(got, runs, "{name}");
        }
    }
}

/// Keys alone are in order, whichever tile is ready first. Where all of their bits
/// take part the first digit is ranked without regard to their order.
#[test]
fn keys_are_in_order_whoever_comes_first() {
    let n = 4 * 4096 + 7;
    for (element, name, end_bit) in [
        (Element::I32, "i32", 32),
        (Element::I32, "i32", 16),
        (Element::I64, "i64", 64),
    ] {
        // Without a sign, so that all are in the order of their bits.
        let keys: Vec<_> = (values(element, Pattern::Wild, n, 6).into_iter())
            .map(|key| key & (u64::MAX >> (65 - end_bit)))
            .collect();
        let text = format!(
            "qd.grid.kernel @k(%k: memref<?x{name}>, %t: memref<?x{name}>, %s: memref<?xi32>, %n: memref<i32>) {{
               qd.algo.sort keys(%k, %t : memref<?x{name}>, memref<?x{name}>) scratch(%s : memref<?xi32>)
                 count(%n : memref<i32>) log256_max_n = 2 end_bit = {end_bit} {{qd.tuning = {{items = 8}}}}
             }}"
        );
        let arguments = [
            buffer(element, &keys),
            buffer(element, &keys),
            scratch(Element::I32, sort_scratch_slots(n as u64, Some(2)).unwrap()),
            count(n),
        ];
        let mut expected = keys.clone();
        expected.sort();
        for result in under_all_schedules(&text, &arguments, &[32]) {
            assert!(bits(&result[0]) == expected, "{name}, {end_bit} bits");
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
    for (op, strategy, behind) in [
        ("select", "lookback", &[] as &[_]),
        ("select", "reduce_then_scan", &[]),
        ("partition", "reduce_then_scan", &others),
    ] {
        let text = format!(
            "qd.grid.kernel @k(%a: memref<?xi32>, %f: memref<?xi32>, %o: memref<?xi32>, %m: memref<i32>,
                               %s: memref<?xi32>, %n: memref<i32>) {{
               qd.algo.{op} ins(%a, %f : memref<?xi32>, memref<?xi32>) outs(%o, %m : memref<?xi32>, memref<i32>)
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
                 strategy = \"{strategy}\" {SMALL}
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

/// A block that waits for a word that is never written is a fault, not a hang.
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
