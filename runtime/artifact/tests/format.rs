//! What artifacts of this format look like inside. Files outlive the program
//! that wrote them: whoever changes this raises `FORMAT`, unless older readers
//! still understand what is written.

use qd_artifact::{
    Argument, ArgumentKind, Artifact, BufferRef, Comparison, Dtype, Expr, FORMAT, Kernel, Operand,
    Operation, Requirements, Step, Variant, View,
};

fn buffer(name: &str, shape: &[Option<u64>]) -> Argument {
    Argument {
        name: name.into(),
        kind: ArgumentKind::Buffer {
            dtype: Dtype::U32,
            shape: shape.to_vec(),
        },
        length: None,
        minimum: None,
        is_input: false,
        limit: None,
    }
}

fn whole(argument: usize) -> BufferRef {
    BufferRef {
        argument,
        view: None,
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
    let launch = Step::Launch {
        id: 0,
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
                    length: Expr::Constant(4),
                    dtype: Dtype::F64,
                }),
            }),
            Operand::Scalar(Expr::Scalar(2)),
            Operand::Control { first: 1, words: 1 },
        ],
        after: vec![],
    };
    let fill = Step::Fill {
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
    let dispatch = Step::Dispatch {
        variants: vec![Variant {
            kernel: "main".into(),
            predicate: None,
        }],
        arguments: vec![Operand::Buffer(whole(0))],
    };
    Artifact {
        target: "cpu,wave=8".into(),
        wave: 8,
        requirements: Requirements {
            device: "a-processor".into(),
            features: vec!["vectors".into()],
            ..Requirements::default()
        },
        kernels: vec![Kernel {
            name: "main".into(),
            arguments: vec![
                Argument {
                    is_input: true,
                    ..buffer("a", &[None, Some(3)])
                },
                Argument {
                    length: Some(Expr::Constant(1)),
                    minimum: Some(Expr::Constant(1)),
                    limit: Some(Expr::Length(0, 0)),
                    ..buffer("n", &[])
                },
                Argument {
                    kind: ArgumentKind::Scalar { dtype: Dtype::I32 },
                    ..buffer("x", &[])
                },
            ],
            control: 2,
            steps: vec![
                fill,
                Step::DoWhile {
                    flag: whole(1),
                    steps: vec![launch],
                },
                Step::If {
                    condition: Operand::Control { first: 0, words: 1 },
                    steps: vec![dispatch],
                },
            ],
        }],
        binary: b"code".to_vec(),
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
        Artifact::from_bytes(&artifact.to_bytes()).expect("our own file"),
        artifact
    );
}
