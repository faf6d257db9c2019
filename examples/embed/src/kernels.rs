//! What a frontend makes of a program: kernels, built step by step. A frontend with a syntax tree calls
//! the builder as it visits the nodes, and `locate` with their locations.

use qd_frontend::{
    Dtype,
    builder::{Builder, Combiner, Kind, Order, Parameter, Workspace},
};

/// At most 256^3 elements.
const LOG256_MOST: i32 = 3;

/// All kernels of the program.
pub fn program(b: &Builder<'_>) {
    saxpy(b);
    sum_of_squares(b);
    sort_pairs(b);
}

/// `y = a·x + y`.
fn saxpy(b: &Builder<'_>) {
    b.locate("program.toy", 1, 1);
    let f32 = b.f32_type();
    let takes = [
        Parameter::scalar("a", f32),
        Parameter::buffer("x", f32),
        Parameter::buffer("y", f32),
    ];
    b.kernel("saxpy", takes, |[a, x, y]| {
        b.for_each("saxpy", y.len(), None, |i| {
            y.set(i, a * x.at(i) + y.at(i));
        });
    });
}

/// `sum = Σ x²`: a transformation and a reduction, which become one.
fn sum_of_squares(b: &Builder<'_>) {
    b.locate("program.toy", 2, 1);
    let (f32, i32) = (b.f32_type(), b.int_type(32));
    let takes = [
        Parameter::buffer("x", f32),
        Parameter::array("sum", f32, &[Some(1)]),
        Parameter::cell("n", i32),
        Parameter::buffer("squares", f32).scratch(),
        Parameter::buffer("scratch", i32).scratch(),
    ];
    b.kernel("sum_of_squares", takes, |[x, sum, n, squares, scratch]| {
        b.for_each("square", x.len(), Some(n), |i| {
            squares.set(i, x.at(i) * x.at(i));
        });
        let add = Combiner::kind(b.context(), Kind::Add, f32);
        b.reduce(&add, squares, sum, &Workspace::new(scratch, n, LOG256_MOST));
    });
}

/// Keys in ascending order, and values with them.
fn sort_pairs(b: &Builder<'_>) {
    b.locate("program.toy", 3, 1);
    let (f32, i32) = (b.f32_type(), b.int_type(32));
    let takes = [
        Parameter::buffer("keys", i32).shown_as(Dtype::U32),
        Parameter::buffer("values", f32),
        Parameter::cell("n", i32),
        Parameter::buffer("more_keys", i32)
            .shown_as(Dtype::U32)
            .scratch(),
        Parameter::buffer("more_values", f32).scratch(),
        Parameter::buffer("scratch", i32).scratch(),
    ];
    b.kernel(
        "sort_pairs",
        takes,
        |[keys, values, n, more_keys, more_values, scratch]| {
            let workspace = Workspace::new(scratch, n, LOG256_MOST);
            let (keys, values) = ([keys, more_keys], [values, more_values]);
            b.sort_pairs(keys, values, Order::unsigned(), &workspace);
        },
    );
}

/// A program with an error: a float is added to an integer, at line 5.
pub fn nonsense(b: &Builder<'_>) {
    b.locate("program.toy", 4, 1);
    let takes = [
        Parameter::buffer("x", b.f32_type()),
        Parameter::buffer("k", b.int_type(32)),
    ];
    b.kernel("nonsense", takes, |[x, k]| {
        b.for_each("add", x.len(), None, |i| {
            b.locate("program.toy", 5, 10);
            x.set(i, x.at(i) + k.at(i));
        });
    });
}
