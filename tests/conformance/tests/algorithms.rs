//! Every algorithm on a target against the interpreter: types, kinds,
//! capacities, waves, sizes and inputs, covered pairwise. Those that have forms need
//! nothing here.

#[path = "../../../lowering/tests/forms/known.rs"]
mod known;
#[path = "../../../lowering/tests/forms/mod.rs"]
mod listed;

use known::Given;
use qd_conformance::{
    Argument, Data, Expect, Input, Subject, affordable, element_types, generate, given,
    is_simulated, output, report, scratch, slots, takes_turns, waves,
};

/// Sizes that break things, by capacity.
fn sizes(depth: u32) -> Vec<usize> {
    let sizes: &[usize] = match depth {
        1 => &[0, 1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 255, 256],
        2 => &[0, 1, 256, 257, 1000, 65_535, 65_536],
        3 => &[0, 257, 65_536, 65_537],
        _ => &[0, 255, 65_537],
    };
    let mut sizes = affordable(sizes.iter().copied());
    if is_simulated() && depth > 1 {
        // Of more than one block, whatever a tile is.
        sizes.push(4099 + depth as usize);
    }
    sizes
}

/// Runs `check` over capacities and their sizes; wave and input turn with them,
/// so that every pair of choices meets. Runs that take turns have every other capacity, so that pairs are left out.
fn cover(salt: usize, inputs: &[Input], mut check: impl FnMut(u32, usize, u32, Input)) {
    for depth in 1..=4u32 {
        if takes_turns() && (salt + depth as usize).is_multiple_of(2) {
            continue;
        }
        // One wave a capacity: each is one compile.
        let wave = waves()[(salt + depth as usize) % waves().len()];
        for (i, n) in sizes(depth).into_iter().enumerate() {
            let input = inputs[(salt + i + depth as usize) % inputs.len()];
            check(depth, n, wave, input);
        }
    }
}

/// What float sums of these values may differ by, their trees being different:
/// the bound of any order of summation, n·ε·Σ|x|. `None`: not at all, for it is
/// no float sum, or every sum of some of these is a float.
fn closeness(element: &str, kind: &str, values: &Data) -> Option<f64> {
    let epsilon = match (element, kind) {
        ("f32", "add") => f64::from(f32::EPSILON),
        ("f64", "add") => f64::EPSILON,
        _ => return None,
    };
    // Of what is summed here, all are multiples of 1/4096.
    let exact = values.magnitude() * 4096.0 * epsilon < 1.0;
    (!exact).then(|| epsilon * values.len() as f64 * values.magnitude())
}

fn kinds(element: &str) -> &'static [&'static str] {
    match element {
        "i32" => &[
            "add", "mul", "minsi", "minui", "maxsi", "maxui", "and", "or", "xor",
        ],
        "i64" => &["add", "minsi", "maxui", "xor"],
        _ => &["add", "minnumf", "maxnumf"],
    }
}

/// Float sums of infinities and NaNs depend on the tree altogether.
fn inputs(element: &str, kind: &str) -> &'static [Input] {
    const EXTREMES: &[Input] = &[
        Input::Degenerate,
        Input::Random,
        Input::Extreme,
        Input::Sorted,
        Input::OneOutlier,
    ];
    match (element.starts_with('f'), kind) {
        (true, "add") => &Input::ALL[..7],
        (true, _) => EXTREMES,
        (false, _) => &Input::ALL,
    }
}

fn combining(algorithm: &str) {
    for (t, element) in element_types().into_iter().enumerate() {
        let wide = if element.ends_with("64") {
            "i64"
        } else {
            "i32"
        };
        for (k, kind) in kinds(element).iter().enumerate() {
            let source = |depth: u32, order: &str| {
                format!(
                    "qd.grid.kernel @main(%a: memref<?x{element}>, %o: memref<?x{element}>, \
                     %s: memref<?x{wide}>, %n: memref<i32>) {{
                       qd.algo.{algorithm} {kind} ins(%a : memref<?x{element}>) \
                     outs(%o : memref<?x{element}>) scratch(%s : memref<?x{wide}>) \
                     count(%n : memref<i32>) log256_max_n = {depth} {order}
                     }}"
                )
            };
            cover(t + 3 * k, inputs(element, kind), |depth, n, wave, input| {
                // What a kind combines by is the same at every capacity: of runs that take turns each has
                // sums at all of its capacities, and other kinds at one of several tiles.
                if takes_turns() && *kind != "add" && [1, 4].contains(&depth) {
                    return;
                }
                let rounds = element.starts_with('f') && *kind == "add";
                let order = if rounds && n % 2 == 1 {
                    "deterministic"
                } else {
                    ""
                };
                // Buffers may be longer than what is live in them.
                let length = n + n % 3;
                let data = generate(element, input, length, n as u64);
                let expect = match order {
                    "" => closeness(element, kind, &data).map_or(Expect::Same, Expect::Close),
                    _ => Expect::Same,
                };
                let out = if algorithm == "reduce" { 1 } else { length };
                let result = output(element, out, expect);
                Subject::new(source(depth, order)).check(
                    wave,
                    &[
                        given(data),
                        result,
                        scratch(element, slots(algorithm, length, depth)),
                        given(Data::Count(n as i32)),
                    ],
                    &format!(
                        "{algorithm} {kind} {element} {order}, n = {n}, D = {depth}, {input:?}"
                    ),
                );
            });
        }
    }
    report(algorithm);
}

#[test]
fn reduce() {
    combining("reduce");
}

#[test]
fn exclusive_scan() {
    combining("exclusive_scan");
}

#[test]
fn inclusive_scan() {
    combining("inclusive_scan");
}

/// Composition of affine maps x ↦ a·x + b: associative, not commutative.
const COMPOSE: &str = "identity [1 : i32, 0 : i32] combiner {
  ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
    %factor = arith.muli %la, %ra : i32
    %scaled = arith.muli %lb, %ra : i32
    %term = arith.addi %scaled, %rb : i32
    qd.yield %factor, %term : i32, i32
  }";

#[test]
fn combiner_regions_keep_the_order() {
    for (salt, algorithm) in ["reduce", "exclusive_scan", "inclusive_scan"]
        .into_iter()
        .enumerate()
    {
        cover(salt, &Input::ALL, |depth, n, wave, input| {
            let source = format!(
                "qd.grid.kernel @main(%a: memref<?xi32>, %b: memref<?xi32>, %x: memref<?xi32>, \
                 %y: memref<?xi32>, %s: memref<?xi32>, %t: memref<?xi32>, %n: memref<i32>) {{
                   qd.algo.{algorithm} ins(%a, %b : memref<?xi32>, memref<?xi32>) \
                 outs(%x, %y : memref<?xi32>, memref<?xi32>) \
                 scratch(%s, %t : memref<?xi32>, memref<?xi32>) \
                 count(%n : memref<i32>) log256_max_n = {depth} {COMPOSE}
                 }}"
            );
            let out = if algorithm == "reduce" { 1 } else { n };
            let slots = slots(algorithm, n, depth);
            Subject::new(source).check(
                wave,
                &[
                    given(generate("i32", input, n, 1)),
                    given(generate("i32", Input::Random, n, 2)),
                    output("i32", out, Expect::Same),
                    output("i32", out, Expect::Same),
                    scratch("i32", slots),
                    scratch("i32", slots),
                    given(Data::Count(n as i32)),
                ],
                &format!("{algorithm} by a region, n = {n}, D = {depth}, {input:?}"),
            );
        });
    }
    report("combiner regions");
}

/// A flag for each element: all, none, or a pattern.
fn flags(n: usize, salt: usize) -> Data {
    // Whatever is not 0.
    const SET: [i32; 7] = [1, 2, -1, 256, 65_536, i32::MIN, i32::MAX];
    let is_set = |i: usize| match salt % 4 {
        0 => false,
        1 => true,
        2 => i.is_multiple_of(3),
        _ => (i / 100).is_multiple_of(2),
    };
    let flag = |i: usize| i32::from(is_set(i)) * SET[i % SET.len()];
    Data::I32((0..n).map(flag).collect())
}

fn compacting(algorithm: &str) {
    for (t, element) in element_types().into_iter().enumerate() {
        cover(t, &Input::ALL, |depth, n, wave, input| {
            let source = format!(
                "qd.grid.kernel @main(%a: memref<?x{element}>, %f: memref<?xi32>, \
                 %o: memref<?x{element}>, %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {{
                   qd.algo.{algorithm} ins(%a, %f : memref<?x{element}>, memref<?xi32>) \
                 outs(%o, %m : memref<?x{element}>, memref<i32>) scratch(%s : memref<?xi32>) \
                 count(%n : memref<i32>) log256_max_n = {depth}
                 }}"
            );
            Subject::new(source).check(
                wave,
                &[
                    given(generate(element, input, n, 3)),
                    given(flags(n, n + depth as usize)),
                    // The rest must be untouched: all of it is compared.
                    output(element, n, Expect::Same),
                    given(Data::Count(-1)),
                    scratch("i32", slots(algorithm, n, depth)),
                    given(Data::Count(n as i32)),
                ],
                &format!("{algorithm} {element}, n = {n}, D = {depth}, {input:?}"),
            );
        });
    }
    report(algorithm);
}

#[test]
fn select() {
    compacting("select");
}

#[test]
fn partition() {
    compacting("partition");
}

/// Sorts by keys of one type; `t` turns the choices.
fn sorting(t: usize, key: &str, order: &str) {
    // Keys alone, with values of each width, and fewer bits.
    for (v, (value, end_bit)) in [("", ""), ("i32", ""), ("f64", ""), ("i32", "end_bit = 24")]
        .into_iter()
        .enumerate()
    {
        cover(t + v, &Input::ALL, |depth, n, wave, input| {
            let values = if value.is_empty() {
                String::new()
            } else {
                format!("values(%v, %w : memref<?x{value}>, memref<?x{value}>) ")
            };
            let extra = if value.is_empty() {
                String::new()
            } else {
                format!(", %v: memref<?x{value}>, %w: memref<?x{value}>")
            };
            let source = format!(
                "qd.grid.kernel @main(%k: memref<?x{key}>, %t: memref<?x{key}>, \
                 %s: memref<?xi32>, %n: memref<i32>{extra}) {{
                   qd.algo.sort keys(%k, %t : memref<?x{key}>, memref<?x{key}>) {values}\
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) \
                 log256_max_n = {depth} {order} {end_bit}
                 }}"
            );
            let workspace = |element: &str| Argument {
                data: generate(element, Input::AllEqual, n, 0),
                expect: Expect::Scratch,
            };
            let mut arguments = vec![
                given(generate(key, input, n, 4)),
                workspace(key),
                scratch("i32", slots("sort", n, depth)),
                given(Data::Count(n as i32)),
            ];
            if !value.is_empty() {
                // Values tell equal keys apart: stability shows.
                arguments.push(given(generate(value, Input::Sorted, n, 5)));
                arguments.push(workspace(value));
            }
            Subject::new(source).check(
                wave,
                &arguments,
                &format!("sort {key} {order} {value} {end_bit}, n = {n}, D = {depth}, {input:?}"),
            );
        });
    }
    report(&format!("sort {key} {order}"));
}

#[test]
fn sort_i32() {
    sorting(0, "i32", "");
}

#[test]
fn sort_u32() {
    sorting(1, "i32", "unsigned");
}

#[test]
fn sort_i64() {
    sorting(2, "i64", "");
}

#[test]
fn sort_u64() {
    sorting(3, "i64", "unsigned");
}

#[test]
fn sort_f32() {
    sorting(4, "f32", "");
}

#[test]
fn sort_f64() {
    sorting(5, "f64", "");
}

#[test]
fn reduce_by_key() {
    let choices = [
        ("i32", "i32", "add"),
        ("i32", "f32", "add"),
        ("f32", "i32", "add"),
        ("i32", "i32", "maxsi"),
        ("i64", "i64", "add"),
        ("f32", "f32", "minnumf"),
        ("i32", "f64", "add"),
    ];
    for (t, (key, value, kind)) in choices.into_iter().enumerate() {
        let keys = [
            Input::Grouped,
            Input::AllEqual,
            Input::FewDistinct,
            Input::Sorted,
            Input::OneOutlier,
            Input::Extreme,
        ];
        cover(t, &keys, |depth, n, wave, input| {
            let source = format!(
                "qd.grid.kernel @main(%k: memref<?x{key}>, %v: memref<?x{value}>, \
                 %ko: memref<?x{key}>, %vo: memref<?x{value}>, %m: memref<i32>, \
                 %s: memref<?xi32>, %n: memref<i32>) {{
                   qd.algo.reduce_by_key {kind} ins(%k, %v : memref<?x{key}>, memref<?x{value}>) \
                 outs(%ko, %vo, %m : memref<?x{key}>, memref<?x{value}>, memref<i32>) \
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {depth}
                 }}"
            );
            let values = match kind {
                "minnumf" => generate(value, Input::Degenerate, n, n as u64),
                _ => generate(value, Input::Random, n, 7),
            };
            let expect = closeness(value, kind, &values)
                .map_or(Expect::Prefix(4), |within| Expect::ClosePrefix(within, 4));
            Subject::new(source).check(
                wave,
                &[
                    given(generate(key, input, n, 6)),
                    given(values),
                    output(key, n, Expect::Prefix(4)),
                    output(value, n, expect),
                    given(Data::Count(-1)),
                    scratch("i32", slots("reduce_by_key", n, depth)),
                    given(Data::Count(n as i32)),
                ],
                &format!("reduce_by_key {kind} {key} {value}, n = {n}, D = {depth}, {input:?}"),
            );
        });
    }
    report("reduce_by_key");
}

/// An affine map x ↦ a·x + b modulo half a word, a in the upper half: associative, not commutative.
fn compose(value: &str) -> String {
    let half = if value == "i64" { 32 } else { 16 };
    let (identity, low) = (1_i64 << half, (1_i64 << half) - 1);
    format!(
        "identity [{identity} : {value}] combiner {{
  ^bb0(%l: {value}, %r: {value}):
    %half = arith.constant {half} : {value}
    %low = arith.constant {low} : {value}
    %la = arith.shrui %l, %half : {value}
    %ra = arith.shrui %r, %half : {value}
    %product = arith.muli %la, %ra : {value}
    %factor = arith.shli %product, %half : {value}
    %scaled = arith.muli %l, %ra : {value}
    %sum = arith.addi %scaled, %r : {value}
    %term = arith.andi %sum, %low : {value}
    %both = arith.ori %factor, %term : {value}
    qd.yield %both : {value}
  }}"
    )
}

/// Sums that are rounded, in an order that is said.
const ADD: &str = "deterministic identity [0.0 : f32] combiner {
  ^bb0(%l: f32, %r: f32):
    %sum = arith.addf %l, %r : f32
    qd.yield %sum : f32
  }";

#[test]
fn regions_combine_runs() {
    let choices = [
        ("i32", "i32", compose("i32")),
        ("f64", "i64", compose("i64")),
        ("i32", "f32", ADD.into()),
    ];
    for (t, (key, value, region)) in choices.into_iter().enumerate() {
        let keys = [
            Input::Grouped,
            Input::AllEqual,
            Input::Sorted,
            Input::FewDistinct,
        ];
        cover(t, &keys, |depth, n, wave, input| {
            // Capacities are the first's: each is a compilation.
            if t > 0 && depth != 2 {
                return;
            }
            let source = format!(
                "qd.grid.kernel @main(%k: memref<?x{key}>, %v: memref<?x{value}>, \
                 %ko: memref<?x{key}>, %vo: memref<?x{value}>, %m: memref<i32>, \
                 %s: memref<?xi32>, %n: memref<i32>) {{
                   qd.algo.reduce_by_key ins(%k, %v : memref<?x{key}>, memref<?x{value}>) \
                 outs(%ko, %vo, %m : memref<?x{key}>, memref<?x{value}>, memref<i32>) \
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {depth} {region}
                 }}"
            );
            Subject::new(source).check(
                wave,
                &[
                    given(generate(key, input, n, 6)),
                    given(generate(value, Input::Random, n, 7)),
                    output(key, n, Expect::Same),
                    output(value, n, Expect::Same),
                    given(Data::Count(-1)),
                    scratch("i32", slots("reduce_by_key", n, depth)),
                    given(Data::Count(n as i32)),
                ],
                &format!(
                    "reduce_by_key {key} {value} by a region, n = {n}, D = {depth}, {input:?}"
                ),
            );
        });
    }
    report("regions combine runs");
}

/// Combiners of structs, by the types of their members.
const STRUCTS: [(&str, &[&str], &str); 3] = [
    // The largest, and where it is: the first of several.
    (
        "i32",
        &["i32", "i64"],
        "identity [-2147483648 : i32, -1 : i64] combiner {
  ^bb0(%l: i32, %i: i64, %r: i32, %j: i64):
    %larger = arith.cmpi sge, %l, %r : i32
    %v = arith.select %larger, %l, %r : i32
    %at = arith.select %larger, %i, %j : i64
    qd.yield %v, %at : i32, i64
  }",
    ),
    // A sum in an order that is said, a number of elements, the last, and one more.
    (
        "f32",
        &["f32", "i16", "i8", "i64"],
        "deterministic identity [0.0 : f32, 0 : i16, 0 : i8, 0 : i64] combiner {
  ^bb0(%l: f32, %i: i16, %a: i8, %c: i64, %r: f32, %j: i16, %b: i8, %d: i64):
    %sum = arith.addf %l, %r : f32
    %count = arith.addi %i, %j : i16
    %zero = arith.constant 0 : i8
    %is_none = arith.cmpi eq, %b, %zero : i8
    %last = arith.select %is_none, %a, %b : i8
    %xor = arith.xori %c, %d : i64
    qd.yield %sum, %count, %last, %xor : f32, i16, i8, i64
  }",
    ),
    // More than a tile of a look-back holds.
    (
        "i64",
        &["i64", "i64", "i64", "i64"],
        "identity [0 : i64, 0 : i64, -1 : i64, 0 : i64] combiner {
  ^bb0(%a: i64, %b: i64, %c: i64, %d: i64, %e: i64, %f: i64, %g: i64, %h: i64):
    %sum = arith.addi %a, %e : i64
    %or = arith.ori %b, %f : i64
    %and = arith.andi %c, %g : i64
    %xor = arith.xori %d, %h : i64
    qd.yield %sum, %or, %and, %xor : i64, i64, i64, i64
  }",
    ),
];

#[test]
fn structs_combine_by_key() {
    for (t, (key, members, region)) in STRUCTS.into_iter().enumerate() {
        let keys = [Input::Grouped, Input::AllEqual, Input::FewDistinct];
        let list = |of: &dyn Fn(usize, &str) -> String| {
            let each = members.iter().enumerate().map(|(i, member)| of(i, member));
            each.collect::<Vec<_>>().join(", ")
        };
        let types = list(&|_, member| format!("memref<?x{member}>"));
        let parameters = |name| list(&|i, member| format!("%{name}{i}: memref<?x{member}>"));
        let names = |name| list(&|i, _| format!("%{name}{i}"));
        cover(t, &keys, |depth, n, wave, input| {
            // Capacities are the first's: each is a compilation.
            if t > 0 && depth as usize != 1 + t {
                return;
            }
            let source = format!(
                "qd.grid.kernel @main(%k: memref<?x{key}>, {}, %ko: memref<?x{key}>, {}, \
                 %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {{
                   qd.algo.reduce_by_key ins(%k, {} : memref<?x{key}>, {types}) \
                 outs(%ko, {}, %m : memref<?x{key}>, {types}, memref<i32>) \
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {depth} {region}
                 }}",
                parameters("v"),
                parameters("vo"),
                names("v"),
                names("vo"),
            );
            let values = (7..).zip(members);
            let values = values.map(|(seed, member)| generate(member, Input::Random, n, seed));
            let results = members.iter().map(|member| output(member, n, Expect::Same));
            let mut arguments = vec![given(generate(key, input, n, 6))];
            arguments.extend(values.map(given));
            arguments.push(output(key, n, Expect::Same));
            arguments.extend(results);
            arguments.extend([
                given(Data::Count(-1)),
                scratch("i32", slots("reduce_by_key", n, depth)),
                given(Data::Count(n as i32)),
            ]);
            let about = format!("structs of {members:?} by {key}, n = {n}, D = {depth}, {input:?}");
            Subject::new(source).check(wave, &arguments, &about);
        });
    }
    report("structs combine by key");
}

/// What an argument of a form is given.
fn argument(parameter: &known::Parameter, input: Input, n: usize, slots: u64) -> Argument {
    let element = &parameter.element;
    match parameter.given {
        Given::Data | Given::InPlace => given(generate(element, input, n, n as u64)),
        // What follows the results must be untouched: all of it is compared.
        Given::Result => output(element, n, Expect::Same),
        Given::Total if parameter.is_cell => given(Data::Count(-1)),
        Given::Total => output(element, 1, Expect::Same),
        Given::Workspace => output(element, n, Expect::Scratch),
        Given::Scratch => scratch(element, slots as usize),
        Given::Count => given(Data::Count(n as i32)),
    }
}

#[test]
fn forms() {
    let inputs = [&Input::ALL[..], &[Input::Degenerate, Input::AllEqual]].concat();
    let context = qd_frontend::lazy_context();
    for (salt, form) in listed::all().into_iter().enumerate() {
        let form = form.called("main");
        let known = known::of(&form, &context);
        cover(salt, &inputs, |depth, n, wave, input| {
            let slots = known.formula.slots(n as u64, depth);
            let parameters = known.parameters.iter();
            let arguments: Vec<_> = parameters
                .map(|parameter| argument(parameter, input, n, slots))
                .collect();
            let about = format!(
                "{}: {}, n = {n}, D = {depth}, {input:?}",
                known.op, form.name
            );
            Subject::new(form.with(depth, "").text).check(wave, &arguments, &about);
        });
        report(&form.name);
    }
}
