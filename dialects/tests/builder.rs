//! Kernels from the builder equal handwritten ones.

use qd_dialects::{
    builder::{Algorithm, Builder, Combiner, Kind, Order, Parameter, V, Workspace},
    context,
    ir::{Op, OpExt},
    melior::ir::{Location, operation::OperationLike},
    parse,
    report::span_of,
};

/// Holds a module that is built against one in text.
fn same(build: impl Fn(&Builder<'_>), text: &str) {
    let context = context();
    context.load_all_available_dialects();
    let module = Builder::module(&context, build);
    assert!(module.as_operation().verify(), "{}", module.as_operation());
    let expected = parse::parse(&context, text.as_bytes(), std::path::Path::new("k.mlir"))
        .expect("it is valid");
    assert_eq!(
        module.as_operation().to_string(),
        expected.as_operation().to_string()
    );
}

/// Kernels whose arguments are buffers of `i32` that are called by these names, but for counts of
/// rank 0, which are called n or m.
fn takes<'c>(b: &Builder<'c>, names: &str) -> Vec<Parameter<'c>> {
    let i32 = b.int_type(32);
    let parameter = |name: &str| match name {
        "n" | "m" => Parameter::cell(name, i32),
        _ => Parameter::buffer(name, i32),
    };
    names.split(' ').map(parameter).collect()
}

/// As [`takes`], in text, with `body` after it.
fn kernel(names: &str, body: &str) -> String {
    let parameter = |name| {
        let shape = if matches!(name, "n" | "m") { "" } else { "?x" };
        format!("%{name}: memref<{shape}i32> {{qd.name = \"{name}\"}}")
    };
    let parameters: Vec<_> = names.split(' ').map(parameter).collect();
    format!(
        "qd.grid.kernel @k({}) {{\n{body}\n}}",
        parameters.join(", ")
    )
}

/// Holds a kernel's body against one in text.
fn same_body(names: &str, body: impl for<'b, 'c> Fn(&'b Builder<'c>, &[V<'b, 'c>]), text: &str) {
    same(
        |b| {
            b.kernel("k", takes(b, names), |given| body(b, &given));
        },
        &kernel(names, text),
    );
}

#[test]
fn elementwise_kernels() {
    same(
        |b| {
            let f32 = b.f32_type();
            let takes = [
                Parameter::scalar("a", f32),
                Parameter::buffer("x", f32),
                Parameter::buffer("y", f32).may_alias(),
            ];
            b.kernel("saxpy", takes, |[a, x, y]| {
                b.for_each("saxpy", x.len(), None, |i| {
                    y.set(i, a * x.at(i) + y.at(i) * 0.5);
                });
            });
        },
        r#"qd.grid.kernel @saxpy(%a: f32 {qd.name = "a"}, %x: memref<?xf32> {qd.name = "x"},
                                 %y: memref<?xf32> {qd.may_alias, qd.name = "y"}) {
          %c0 = arith.constant 0 : index
          %n = memref.dim %x, %c0 : memref<?xf32>
          qd.grid.for_each "saxpy" %i to %n {
            %0 = memref.load %x[%i] : memref<?xf32>
            %1 = arith.mulf %a, %0 : f32
            %2 = memref.load %y[%i] : memref<?xf32>
            %half = arith.constant 5.0e-1 : f32
            %3 = arith.mulf %2, %half : f32
            %4 = arith.addf %1, %3 : f32
            memref.store %4, %y[%i] : memref<?xf32>
          }
        }"#,
    );
}

#[test]
fn parameters() {
    same(
        |b| {
            let i32 = b.int_type(32);
            let takes = [
                Parameter::buffer("keys", i32).shown_as("u32"),
                Parameter::array("points", b.f64_type(), &[None, Some(3)]),
                Parameter::array("sum", i32, &[Some(1)]),
                Parameter::buffer("s", b.int_type(64)).scratch(),
                Parameter::cell("n", i32),
                Parameter::scalar("from", b.index_type()),
            ];
            b.kernel("k", takes, |_| ());
            b.kernel("none", [], |[]| ());
        },
        r#"qd.grid.kernel @k(%keys: memref<?xi32> {qd.dtype = "u32", qd.name = "keys"},
             %points: memref<?x3xf64> {qd.name = "points"}, %sum: memref<1xi32> {qd.name = "sum"},
             %s: memref<?xi64> {qd.name = "s", qd.scratch}, %n: memref<i32> {qd.name = "n"},
             %from: index {qd.name = "from"}) {}
           qd.grid.kernel @none() {}"#,
    );
}

#[test]
fn phases_and_what_is_around_them() {
    same_body(
        "a n m",
        |b, given| {
            let [a, n, m] = given else { panic!() };
            b.do_while(*n, || {
                b.run_if(*m, || {
                    b.phase("count", b.index(4), 64, || {
                        let i = b.thread_id();
                        b.if_(i.lt(10), || a.set(i, -a.at(i).div_signed(3)));
                    });
                });
                b.for_each("few", a.len(), Some(*m), |i| {
                    a.set(i, a.at(i).max_signed(7))
                });
            });
        },
        r#"qd.grid.do_while %n : memref<i32> {
             qd.grid.if %m : memref<i32> {
               %c4 = arith.constant 4 : index
               qd.grid.phase "count" blocks(%c4) threads(64) {
                 %i = qd.simt.block.thread_id
                 %c10 = arith.constant 10 : index
                 %0 = arith.cmpi ult, %i, %c10 : index
                 scf.if %0 {
                   %x = memref.load %a[%i] : memref<?xi32>
                   %c3 = arith.constant 3 : i32
                   %third = arith.divsi %x, %c3 : i32
                   %c0 = arith.constant 0 : i32
                   %1 = arith.subi %c0, %third : i32
                   memref.store %1, %a[%i] : memref<?xi32>
                 }
               }
             }
             %zero = arith.constant 0 : index
             %len = memref.dim %a, %zero : memref<?xi32>
             qd.grid.for_each "few" %i to %len count(%m : memref<i32>) {
               %x = memref.load %a[%i] : memref<?xi32>
               %c7 = arith.constant 7 : i32
               %0 = arith.maxsi %x, %c7 : i32
               memref.store %0, %a[%i] : memref<?xi32>
             }
           }"#,
    );
}

#[test]
fn reductions_and_scans() {
    same_body(
        "in out s n",
        |b, given| {
            let [input, out, s, n] = given else { panic!() };
            let add = Combiner::kind(b.context(), Kind::Add, b.int_type(32));
            let plain = Workspace::new(*s, *n, 3);
            b.reduce(&add, *input, *out, &plain);
            b.inclusive_scan(&add, *input, *out, &plain);
            let exact = plain.strategy("hierarchical").deterministic().checked();
            b.exclusive_scan(&add, *input, *out, &exact);
        },
        "qd.algo.reduce add ins(%in : memref<?xi32>) outs(%out : memref<?xi32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
         qd.algo.inclusive_scan add ins(%in : memref<?xi32>) outs(%out : memref<?xi32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
         qd.algo.exclusive_scan add ins(%in : memref<?xi32>) outs(%out : memref<?xi32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
           strategy = \"hierarchical\" deterministic checked",
    );
}

#[test]
fn combiners_that_are_functions() {
    same_body(
        "a b out_a out_b s t n m",
        |b, given| {
            let [x, y, out_x, out_y, s, t, n, m] = given else {
                panic!()
            };
            let i32 = b.int_type(32);
            let identities = [i64::from(i32::MIN), -1].map(|one| b.int_attribute(i32, one));
            // The largest, and where it is: the first of several.
            let largest = Combiner::function(b.context(), identities.into(), |_, left, right| {
                let is_left = left[0].sge(right[0]);
                vec![
                    is_left.select(left[0], right[0]),
                    is_left.select(left[1], right[1]),
                ]
            });
            let workspace = Workspace::new([*s, *t], *n, 2);
            b.reduce(&largest, [*x, *y], [*out_x, *out_y], &workspace);
            let zero = vec![b.int_attribute(i32, 0)];
            let last = Combiner::function(b.context(), zero, |_, _, right| right.to_vec());
            b.reduce_by_key(
                &last,
                (*x, *y),
                (*out_x, *out_y),
                *m,
                &Workspace::new(*s, *n, 1),
            );
        },
        "qd.algo.reduce ins(%a, %b : memref<?xi32>, memref<?xi32>)
           outs(%out_a, %out_b : memref<?xi32>, memref<?xi32>)
           scratch(%s, %t : memref<?xi32>, memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
           identity [-2147483648 : i32, -1 : i32] combiner {
           ^bb0(%x: i32, %i: i32, %y: i32, %j: i32):
             %0 = arith.cmpi sge, %x, %y : i32
             %1 = arith.select %0, %x, %y : i32
             %2 = arith.select %0, %i, %j : i32
             qd.yield %1, %2 : i32, i32
           }
         qd.algo.reduce_by_key ins(%a, %b : memref<?xi32>, memref<?xi32>)
           outs(%out_a, %out_b, %m : memref<?xi32>, memref<?xi32>, memref<i32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
           identity [0 : i32] combiner {
           ^bb0(%x: i32, %y: i32):
             qd.yield %y : i32
           }",
    );
}

#[test]
fn selections_and_runs() {
    same_body(
        "a f out values s n m",
        |b, given| {
            let [a, f, out, values, s, n, m] = given else {
                panic!()
            };
            let workspace = Workspace::new(*s, *n, 4);
            b.select(*a, *f, *out, *m, &workspace);
            b.partition(*a, *f, *out, *m, &workspace);
            let least = Combiner::kind(b.context(), Kind::MinSi, b.int_type(32));
            b.reduce_by_key(&least, (*a, *f), (*out, *values), *m, &workspace);
        },
        "qd.algo.select ins(%a, %f : memref<?xi32>, memref<?xi32>)
           outs(%out, %m : memref<?xi32>, memref<i32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
         qd.algo.partition ins(%a, %f : memref<?xi32>, memref<?xi32>)
           outs(%out, %m : memref<?xi32>, memref<i32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
         qd.algo.reduce_by_key minsi ins(%a, %f : memref<?xi32>, memref<?xi32>)
           outs(%out, %values, %m : memref<?xi32>, memref<?xi32>, memref<i32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4",
    );
}

#[test]
fn sorts() {
    same_body(
        "k kt v vt s n",
        |b, given| {
            let [k, kt, v, vt, s, n] = given else {
                panic!()
            };
            let workspace = Workspace::new(*s, *n, 3);
            b.sort(*k, *kt, Order::signed(), &workspace);
            let order = Order::unsigned().low_bits(16);
            b.sort_pairs([*k, *kt], [*v, *vt], order, &workspace);
            b.parallel_sort(*k, None, Order::signed());
            b.parallel_sort(*k, Some(*v), Order::unsigned());
        },
        "qd.algo.sort keys(%k, %kt : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>)
           count(%n : memref<i32>) log256_max_n = 3
         qd.algo.sort keys(%k, %kt : memref<?xi32>, memref<?xi32>)
           values(%v, %vt : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>)
           count(%n : memref<i32>) log256_max_n = 3 unsigned end_bit = 16
         qd.algo.parallel_sort keys(%k : memref<?xi32>)
         qd.algo.parallel_sort keys(%k : memref<?xi32>) values(%v : memref<?xi32>) unsigned",
    );
}

#[test]
fn any_algorithm_by_its_name() {
    same_body(
        "a out lengths m s n",
        |b, given| {
            let [a, out, lengths, m, s, n] = given else {
                unreachable!("six buffers")
            };
            let workspace = Workspace::new(*s, *n, 2);
            b.algorithm(Algorithm::Unique, &[&[*a], &[*out], &[], &[*m]], &workspace);
            b.algorithm(
                Algorithm::Unique,
                &[&[*a], &[*out], &[*lengths], &[*m]],
                &workspace,
            );
            let least = Combiner::kind(b.context(), Kind::MinSi, b.int_type(32));
            b.inclusive_scan(&least, *a, *out, &workspace);
        },
        "qd.algo.unique ins(%a : memref<?xi32>) outs(%out, %m : memref<?xi32>, memref<i32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
         qd.algo.unique ins(%a : memref<?xi32>) outs(%out, %m : memref<?xi32>, memref<i32>)
           counts(%lengths : memref<?xi32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
         qd.algo.inclusive_scan minsi ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2",
    );
}

#[test]
fn slots_of_scratch() {
    same_body(
        "a",
        |b, given| {
            b.scratch_slots(Algorithm::ReduceByKey, given[0].len(), 3);
        },
        "%c0 = arith.constant 0 : index
         %n = memref.dim %a, %c0 : memref<?xi32>
         %slots = qd.algo.scratch_slots reduce_by_key %n, 3",
    );
}

#[test]
fn what_follows_is_where_it_was_said_to_be() {
    let context = context();
    context.load_all_available_dialects();
    let mut places = Vec::new();
    Builder::module(&context, |b| {
        b.locate("k.mine", 1, 1);
        let kernel = b.kernel("k", [Parameter::buffer("x", b.f32_type())], |[x]| {
            let length = x.len();
            b.locate("k.mine", 2, 3);
            b.for_each("halve", length, None, |i| x.set(i, x.at(i) * 0.5));
            b.set_location(Location::unknown(b.context()));
            b.for_each("nowhere", length, None, |_| ());
        });
        let place = |op: &Op<'_>| match span_of(op.location()) {
            Some(span) => format!("{} {span}", op.full_name()),
            None => op.full_name().into(),
        };
        places.push(place(&kernel));
        places.extend(kernel.nested().iter().map(place));
    });
    assert_eq!(
        places,
        [
            "qd.grid.kernel k.mine:1:1",
            "arith.constant k.mine:1:1",
            "memref.dim k.mine:1:1",
            "qd.grid.for_each k.mine:2:3",
            "memref.load k.mine:2:3",
            "arith.constant k.mine:2:3",
            "arith.mulf k.mine:2:3",
            "memref.store k.mine:2:3",
            "qd.grid.for_each",
        ]
    );
}
