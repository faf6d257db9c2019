//! Kernels that a frontend builds: they run, and errors have the frontend's own
//! locations.

mod common;

use common::open;
use qd_frontend::{
    CompileRequest, Diagnostics, Dtype, Role, Severity, Source, Span, Stage, args, build,
    builder::{Builder, Combiner, Kind, Parameter, Workspace},
    compile,
    ir::Type,
    objects::{Buffer, Device, Executable},
};

fn loaded(device: &Device, source: Source) -> Result<Executable, Diagnostics> {
    let target = device.target().clone();
    let artifact = compile(&CompileRequest {
        source,
        targets: vec![target],
        ..CompileRequest::default()
    })?;
    Ok(device.load(&artifact).expect("loads"))
}

/// `sum = Σ √x`, of which the roots are scratch.
fn sum_of_roots(b: &Builder<'_>) {
    let f32 = b.f32_type();
    let takes = vec![
        Parameter::buffer("x", f32),
        Parameter::buffer("roots", f32).scratch(),
        Parameter::array("sum", f32, &[Some(1)]),
        Parameter::buffer("s", b.int_type(32)),
        Parameter::cell("n", b.int_type(32)),
    ];
    b.kernel("sum_of_roots", takes, |given| {
        let [x, roots, sum, s, n] = given[..] else {
            panic!("five parameters");
        };
        b.for_each("root", x.len(), Some(n), |i| {
            let x = x.at(i);
            roots.set(i, b.result("math.sqrt", &[x], x.ty(), &[]));
        });
        let add = Combiner::kind(b.context(), Kind::Add, f32);
        b.reduce(&add, roots, sum, &Workspace::new(s, n, 3));
    });
}

#[test]
fn a_reduction_runs_with_none_of_its_scratch_given() {
    let (device, stream) = open(None);
    let loaded = loaded(&device, build(sum_of_roots).expect("built")).expect("compiles");
    let kernel = loaded.kernel("sum_of_roots").expect("there");
    let roles: Vec<_> = kernel.signature().iter().map(|one| one.role).collect();
    let (data, scratch) = (Role::Data, Role::Scratch);
    assert_eq!(roles, [data, scratch, data, scratch, Role::Count]);
    for length in [0, 1, 1000, 70_000_u32] {
        // Squares: their roots, and sums of as many, are exact.
        let host: Vec<f32> = (0..length).map(|i| ((i % 16) * (i % 16)) as f32).collect();
        let expected: u32 = (0..length).map(|i| i % 16).sum();
        let x = Buffer::from_slice(&stream, &host).expect("memory");
        let sum = Buffer::new(&stream, Dtype::F32, &[1]).expect("memory");
        let n = Buffer::from_slice(&stream, &[length as i32]).expect("memory");
        let n = n.cast(Dtype::I32, &[]).expect("one element");
        let launched = kernel.launch(&stream, &args![&x, _, &sum, _, &n]);
        launched.expect("runs");
        assert_eq!(sum.to_vec::<f32>(&stream).expect("read"), [expected as f32]);
    }
}

/// A kernel that adds what is not of the same type, at line 7 of a source.
fn wrong(b: &Builder<'_>) {
    b.locate("program.mine", 6, 1);
    let takes = [
        Parameter::buffer("x", b.f32_type()),
        Parameter::buffer("i", b.int_type(32)),
    ];
    b.kernel("wrong", takes, |[x, ints]| {
        b.for_each("add", x.len(), None, |i| {
            let (x, y) = (x.at(i), ints.at(i));
            b.locate("program.mine", 7, 12);
            let sum = x + y;
            b.locate("program.mine", 7, 1);
            ints.set(i, sum.bitcast(b.int_type(32)));
        });
    });
}

#[test]
fn an_error_is_where_the_frontend_says() {
    let (device, _) = open(None);
    let Err(errors) = loaded(&device, build(wrong).expect("built")) else {
        panic!("nonsense compiles");
    };
    assert_eq!(errors.len(), 1, "{errors}");
    let error = &errors[0];
    let at = Span {
        file: "program.mine".into(),
        line: 7,
        column: 12,
    };
    assert_eq!(
        (error.severity, error.stage),
        (Severity::Error, Stage::Parse)
    );
    assert_eq!(error.at.as_ref(), Some(&at));
    assert!(
        error
            .message
            .contains("'arith.addf' op operand #1 must be floating-point-like, but got 'i32'"),
        "{error}"
    );
}

#[test]
fn every_dialect_is_there_at_once() {
    let source = build(|b| {
        let context = b.context();
        assert!(Type::parse(context, "!llvm.ptr").is_some());
        for name in [
            "math.sqrt",
            "vector.load",
            "cf.assert",
            "func.func",
            "gpu.barrier",
        ] {
            assert!(context.is_registered_operation(name), "{name}");
        }
    });
    assert!(!source.expect("built").bytes().is_empty());
}
