//! The contents of artifacts of this format. Files outlive the program that
//! wrote them: a change of the format has to increment `FORMAT`, unless older
//! readers can still read the files.

use qd_artifact::{
    Access, Argument, ArgumentKind, Artifact, Body, BufferRef, Comparison, Dtype, Expr, FORMAT,
    Format, Kernel, Module, Operand, Operation, Origins, Plan, Requirements, Role, Site, Step,
    StepKind, Variant, View,
};

fn buffer(name: &str, shape: &[Option<u64>]) -> Argument {
    let kind = ArgumentKind::Buffer {
        dtype: Dtype::U32,
        shape: shape.to_vec(),
    };
    Argument::new(name, kind)
}

fn whole(argument: usize) -> BufferRef {
    BufferRef {
        argument,
        view: None,
    }
}

fn module(target: usize, format: Format, body: &str, wave: u32) -> Module {
    let body = Body {
        name: body.into(),
        wave,
    };
    Module::new(target, format, vec![body], b"code".as_slice())
}

fn step(id: u64, after: &[u64], kind: StepKind) -> Step {
    Step {
        id,
        after: after.to_vec(),
        kind,
    }
}

/// One of everything a plan can hold.
fn everything() -> Artifact {
    let blocks = Expr::Binary {
        operation: Operation::CeilDivUnsigned,
        width: 64,
        left: Box::new(Expr::Length(0, 0)),
        right: Box::new(Expr::Constant(256)),
    };
    let launch = StepKind::Launch {
        body: "main_first_0".into(),
        name: "first".into(),
        blocks,
        threads: 256,
        dynamic_shared_bytes: 61_440,
        arguments: vec![
            Operand::Buffer(BufferRef {
                argument: 0,
                view: Some(View {
                    offset_bytes: Expr::Constant(8),
                    length: Some(Expr::Constant(4)),
                    row: Some(3),
                    dtype: Dtype::F64,
                }),
            }),
            Operand::Scalar(Expr::Scalar(2)),
            Operand::Control { first: 1, words: 1 },
            Operand::Faults,
            Operand::Site(0),
            Operand::Prints,
            Operand::Site(1),
        ],
    };
    let fill = StepKind::Fill {
        buffer: whole(0),
        lower: Expr::Constant(0),
        upper: Expr::Select {
            condition: Box::new(Expr::Compare {
                comparison: Comparison::LtSigned,
                width: 32,
                left: Box::new(Expr::Scalar(2)),
                right: Box::new(Expr::Constant(9)),
            }),
            then: Box::new(Expr::Constant(1)),
            otherwise: Box::new(Expr::Resize {
                to: 32,
                signed: true,
                value: Box::new(Expr::Scalar(2)),
            }),
        },
        value: Expr::Constant(7),
    };
    let dispatch = StepKind::Dispatch {
        variants: vec![Variant {
            kernel: "main".into(),
            predicate: None,
        }],
        arguments: vec![Operand::Buffer(whole(0))],
    };
    let repeat = StepKind::DoWhile {
        flag: whole(1).into(),
        steps: vec![step(2, &[], launch)],
    };
    let choice = StepKind::If {
        condition: Operand::Control { first: 0, words: 1 },
        steps: vec![step(4, &[], dispatch)],
    };
    Artifact {
        targets: vec!["cpu,wave=8".into(), "nvptx:sm_90".into()],
        kernels: vec![Kernel {
            name: "main".into(),
            arguments: vec![
                Argument {
                    access: Access::Read,
                    may_alias: true,
                    is_input: true,
                    ..buffer("a", &[None, Some(3)])
                },
                Argument {
                    length: Some(Expr::Constant(1)),
                    minimum: Some(Expr::Constant(1)),
                    limit: Some(Expr::Length(0, 0)),
                    role: Role::Count,
                    ..buffer("n", &[])
                },
                Argument::new("x", ArgumentKind::Scalar { dtype: Dtype::I32 }),
                Argument {
                    access: Access::Write,
                    role: Role::Scratch,
                    ..buffer("s", &[None])
                },
            ],
            plans: vec![
                Some(Plan {
                    control: 2,
                    steps: vec![
                        step(0, &[], fill),
                        step(1, &[0], repeat),
                        step(3, &[0, 1], choice),
                    ],
                    sites: vec![
                        Site {
                            text: "inside".into(),
                            phase: "first".into(),
                            relation: Some(Comparison::LtUnsigned),
                            printed: None,
                        },
                        Site {
                            text: "%d\n".into(),
                            phase: "first".into(),
                            relation: None,
                            printed: Some(vec![Dtype::I32]),
                        },
                    ],
                    needs: Requirements {
                        device: "a-processor".into(),
                        features: vec!["vectors".into()],
                    },
                }),
                None,
            ],
        }],
        modules: vec![
            module(0, Format::Object, "main_first_0", 8),
            module(1, Format::Ptx, "main_first_0", 32),
            module(1, Format::Spirv, "other", 64),
            module(1, Format::Hsaco, "third", 32),
        ],
        origins: vec![
            Origins {
                reasons: [("vectors".into(), "arith.addf at k.mlir:3:4".into())].into(),
                sites: [(
                    "kernel".into(),
                    vec!["k.mlir:5:6".into(), "k.mlir:7:6".into()],
                )]
                .into(),
                steps: [("kernel".into(), [(3, "k.mlir:9:6".into())].into())].into(),
            },
            Origins::default(),
        ],
    }
}

#[test]
fn the_plan_as_json() {
    insta::assert_json_snapshot!(format!("format-{FORMAT}"), everything());
}

#[test]
fn a_file_holds_all_of_it() {
    let artifact = everything();
    assert_eq!(
        Artifact::from_bytes(artifact.to_bytes()).expect("our own file"),
        artifact
    );
}
