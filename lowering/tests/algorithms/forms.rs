//! Every form of every algorithm that has some: each strategy against what the op means.

use crate::{
    data::{Pattern, buffer, count, scratch, values},
    known::{self, Given, Known},
    listed::{self, Form},
    support::{Case, Same, WAVES, context, depth, parse},
};
use qd_dialects::pass;
use qd_interp::{Argument, Buffer, Element};
use qd_lowering::algorithms::strategies;

/// Small tiles.
const TILE: usize = 64 * 20;
const TUNING: &str = "{qd.tuning = {threads = 64, items = 20}}";

/// About the borders of subgroups, blocks, tiles and chunks.
const SIZES: [usize; 16] = [
    0,
    1,
    2,
    63,
    65,
    255,
    256,
    257,
    TILE - 1,
    TILE,
    TILE + 1,
    3 * TILE + 777,
    12 * TILE + 777,
    65_535,
    65_537,
    131_073,
];

/// Those of them for which each pattern takes its turn.
const SMALL: usize = 3 * TILE + 777;

const PATTERNS: [Pattern; 13] = [
    Pattern::AllEqual,
    Pattern::Wild,
    Pattern::LongRuns,
    Pattern::Nans,
    Pattern::Runs,
    Pattern::Distinct,
    Pattern::Small,
    Pattern::Sorted,
    Pattern::Zeros,
    Pattern::Reversed,
    Pattern::FewDistinct,
    Pattern::Extreme,
    Pattern::Outlier,
];

fn element(name: &str) -> Element {
    let all = [
        Element::I8,
        Element::I16,
        Element::I32,
        Element::I64,
        Element::F32,
        Element::F64,
    ];
    let found = all.into_iter().find(|element| element.to_string() == name);
    found.unwrap_or_else(|| panic!("no elements of {name}"))
}

/// A form with a strategy, in buffers of some length.
struct Run<'a> {
    form: &'a Form,
    known: &'a Known,
    strategy: &'static str,
    length: usize,
    pattern: Pattern,
    number: usize,
}

impl Run<'_> {
    /// With so many elements at a capacity of so many, and slots for as many.
    fn case(&self, depth: u32, live: Argument, slots: u64) -> Case {
        let options = format!("strategy = \"{}\" {TUNING}", self.strategy);
        let form = self.form.with(depth, &options).called("k");
        let label = format!(
            "{} {} of {}, {:?}, D = {depth}",
            form.name, self.strategy, self.length, self.pattern
        );
        let mut case = Case::new(label, form.text, self.number);
        case.same = Same::Numbers;
        for (nth, parameter) in (0..).zip(&self.known.parameters) {
            let of = element(&parameter.element);
            let data = |pattern| buffer(of, &values(of, pattern, self.length, nth));
            case = match parameter.given {
                Given::Data => case.with(data(self.pattern)),
                Given::InPlace => case.with_result(data(self.pattern)),
                Given::Result => case.with_result(data(Pattern::Wild)),
                Given::Total if parameter.is_cell => case.with_result(Buffer::scalar(-5).into()),
                Given::Total => case.with_result(Buffer::from_slice(&[-5]).into()),
                Given::Workspace => case.with(scratch(of, self.length as u64)),
                Given::Scratch => case.with(scratch(of, slots)),
                Given::Count => case.with(live.clone()),
            };
        }
        case
    }
}

/// Runs `check` with each form and strategy.
fn each(mut check: impl FnMut(&Form, &Known, &'static str)) {
    let context = context();
    for form in listed::all() {
        let known = known::of(&form, &context);
        let strategies = strategies(&known.op);
        assert!(!strategies.is_empty(), "{} has no strategy", form.name);
        for strategy in strategies {
            check(&form, &known, strategy);
        }
    }
}

#[test]
fn every_strategy_is_what_the_op_means() {
    let mut number = 0;
    each(|form, known, strategy| {
        for n in SIZES {
            // Each form meets each size of the small ones, and some of the large ones.
            if n <= SMALL || (number + n) % 3 == 0 {
                let run = Run {
                    form,
                    known,
                    strategy,
                    length: n + [0, 3][(number + number / SIZES.len()) % 2],
                    pattern: PATTERNS[number % PATTERNS.len()],
                    number,
                };
                let depth = depth(n, number);
                let slots = known.formula.slots(n as u64, depth);
                let mut case = run.case(depth, count(n), slots);
                case.options.wave = WAVES[number / 2 % WAVES.len()];
                case.check();
            }
            number += 1;
        }
    });
}

/// Counts that no algorithm may be given: what is expanded keeps to its buffers all the
/// same, and to its capacity.
#[test]
fn counts_that_are_none() {
    let sizes = [(1, 1), (300, 1), (700, 2), (1300, 4)];
    let mut number = 0;
    each(|form, known, strategy| {
        for (length, depth) in sizes {
            // Each form meets all counts, each at another length than the form before it.
            let counts = [-1, i32::MIN, length + 1, i32::MAX];
            let given = counts[(number + number / sizes.len()) % counts.len()];
            let run = Run {
                form,
                known,
                strategy,
                length: length as usize,
                pattern: Pattern::Small,
                number,
            };
            let meant = given.clamp(0, length.min(256i32.saturating_pow(depth)));
            let live = Buffer::scalar(given).into();
            // More than any formula asks for.
            let mut case = run.case(depth, live, 4 * length as u64 + 4096);
            let mut parameters = known.parameters.iter();
            let place = parameters.position(|p| p.given == Given::Count);
            case.meant = place.map(|place| (place, count(meant as usize)));
            case.check();
            number += 1;
        }
    });
}

/// What a map yields is computed where it is read.
#[test]
fn there_is_no_map_left() {
    let context = context();
    each(|form, _, strategy| {
        for depth in 1..=4 {
            let form = form.with(depth, &format!("strategy = \"{strategy}\""));
            let mut module = parse(&context, &form.text);
            pass::run_pipeline(&context, &mut module, "qd-to-grid").expect("a strategy");
            let printed = module.as_operation().to_string();
            assert!(!printed.contains("\"map\""), "{}: {printed}", form.name);
        }
    });
}
