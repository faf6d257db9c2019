//! Kernels that the builder writes are those that one writes in text.

use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, Order, Parameter, Room},
    context,
    ir::InsertionPoint,
    melior::ir::{BlockLike, Location, Module, operation::OperationLike},
    parse,
};

/// Holds a module that is built against one in text.
fn same(build: impl for<'c> Fn(&Builder<'c>), text: &str) {
    let context = context();
    let module = Module::new(Location::unknown(&context));
    // Safety: the block lives as long as the module.
    let body = unsafe { qd_dialects::melior::ir::BlockRef::from_raw(module.body().to_raw()) };
    build(&Builder::new(
        &context,
        Location::unknown(&context),
        InsertionPoint::End(body),
    ));
    assert!(module.as_operation().verify(), "{}", module.as_operation());
    let expected = parse::parse(&context, text.as_bytes(), std::path::Path::new("k.mlir"))
        .expect("it is valid");
    assert_eq!(
        module.as_operation().to_string(),
        expected.as_operation().to_string()
    );
}

#[test]
fn elementwise_kernels() {
    same(
        |b| {
            let f32 = qd_dialects::melior::ir::Type::float32(b.context());
            let takes = [
                Parameter::scalar("a", f32),
                Parameter::buffer("x", f32),
                Parameter::buffer("y", f32).may_alias(),
            ];
            b.kernel("saxpy", takes, |[a, x, y]| {
                let builder = x.builder();
                builder.for_each("saxpy", x.len(), None, |i| {
                    let half = builder.float(f32, 0.5);
                    y.set(i, a * x.at(i) + y.at(i) * half);
                });
            });
        },
        r#"qd.grid.kernel @saxpy(%a: f32 {qd.name = "a"}, %x: memref<?xf32> {qd.name = "x"},
                                 %y: memref<?xf32> {qd.may_alias, qd.name = "y"}) {
          %c0 = arith.constant 0 : index
          %n = memref.dim %x, %c0 : memref<?xf32>
          qd.grid.for_each "saxpy" %i to %n {
            %half = arith.constant 5.0e-1 : f32
            %0 = memref.load %x[%i] : memref<?xf32>
            %1 = arith.mulf %a, %0 : f32
            %2 = memref.load %y[%i] : memref<?xf32>
            %3 = arith.mulf %2, %half : f32
            %4 = arith.addf %1, %3 : f32
            memref.store %4, %y[%i] : memref<?xf32>
          }
        }"#,
    );
}

#[test]
fn algorithms() {
    same(
        |b| {
            let i32 = b.int_type(32);
            let buffers = ["k", "kt", "v", "vt"].map(|name| Parameter::buffer(name, i32));
            let [k, kt, v, vt] = buffers;
            let takes = [
                k.shown_as("u32"),
                kt,
                v,
                vt,
                Parameter::array("sum", i32, &[Some(1)]),
                Parameter::buffer("s", i32).scratch(),
                Parameter::cell("n", i32),
                Parameter::cell("m", i32),
            ];
            b.kernel("all", takes, |[k, kt, v, vt, sum, scratch, count, m]| {
                let b = k.builder();
                let room = Room {
                    scratch,
                    count,
                    log256_max_n: 3,
                };
                let add = Combiner::kind(b.context(), Kind::Add, i32);
                b.sort_pairs([k, kt], [v, vt], Order::Unsigned, room);
                b.sort(k, kt, Order::Signed, room);
                b.reduce(&add, v, sum, room);
                b.inclusive_scan(&add, v, vt, room);
                b.exclusive_scan(&add, v, vt, room);
                b.select(k, v, kt, m, room);
                b.partition(k, v, kt, m, room);
                b.reduce_by_key(&add, [k, v], [kt, vt], m, room);
                let zero = qd_dialects::melior::ir::attribute::IntegerAttribute::new(i32, 0);
                let last = Combiner::function(b.context(), vec![zero.into()], |_, _, right| {
                    right.to_vec()
                });
                b.inclusive_scan(&last, v, vt, room);
            });
        },
        r#"qd.grid.kernel @all(
            %k: memref<?xi32> {qd.dtype = "u32", qd.name = "k"}, %kt: memref<?xi32> {qd.name = "kt"},
            %v: memref<?xi32> {qd.name = "v"}, %vt: memref<?xi32> {qd.name = "vt"},
            %sum: memref<1xi32> {qd.name = "sum"}, %s: memref<?xi32> {qd.name = "s", qd.scratch},
            %n: memref<i32> {qd.name = "n"}, %m: memref<i32> {qd.name = "m"}) {
          qd.algo.sort keys(%k, %kt : memref<?xi32>, memref<?xi32>)
            values(%v, %vt : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>)
            count(%n : memref<i32>) log256_max_n = 3 unsigned
          qd.algo.sort keys(%k, %kt : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>)
            count(%n : memref<i32>) log256_max_n = 3
          qd.algo.reduce add ins(%v : memref<?xi32>) outs(%sum : memref<1xi32>)
            scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
          qd.algo.inclusive_scan add ins(%v : memref<?xi32>) outs(%vt : memref<?xi32>)
            scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
          qd.algo.exclusive_scan add ins(%v : memref<?xi32>) outs(%vt : memref<?xi32>)
            scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
          qd.algo.select ins(%k, %v : memref<?xi32>, memref<?xi32>)
            outs(%kt, %m : memref<?xi32>, memref<i32>)
            scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
          qd.algo.partition ins(%k, %v : memref<?xi32>, memref<?xi32>)
            outs(%kt, %m : memref<?xi32>, memref<i32>)
            scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
          qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xi32>)
            outs(%kt, %vt, %m : memref<?xi32>, memref<?xi32>, memref<i32>)
            scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
          qd.algo.inclusive_scan ins(%v : memref<?xi32>) outs(%vt : memref<?xi32>)
            scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
            identity [0 : i32] combiner {
            ^bb0(%left: i32, %right: i32):
              qd.yield %right : i32
            }
        }"#,
    );
}
