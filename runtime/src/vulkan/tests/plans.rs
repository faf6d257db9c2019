//! What is around launches: loops, dispatches, fills, and runs of the same.

use super::*;

/// A loop that is gone round as often as its flag says, in a kernel that another
/// dispatches to, with a fill before and a launch behind it.
fn loops(device: &Device) -> Artifact {
    let body = launch(device, "count_down", 1, vec![whole(0), whole(1)]);
    let inner = kernel(
        "inner",
        vec![cell("flag"), cell("count"), array("out", Dtype::I32)],
        vec![
            step(StepKind::Fill {
                buffer: BufferRef {
                    argument: 2,
                    view: None,
                },
                lower: Expr::constant(0),
                upper: Expr::Length(2, 0),
                value: Expr::constant(2),
            }),
            step(StepKind::DoWhile {
                flag: BufferRef {
                    argument: 0,
                    view: None,
                },
                steps: vec![body],
            }),
            launch(device, "triple", 1, vec![whole(2), whole(2), scalar(1)]),
        ],
    );
    let outer = kernel(
        "outer",
        inner.arguments.clone(),
        vec![
            launch(device, "count_down", 1, vec![whole(0), whole(1)]),
            step(StepKind::Dispatch {
                variants: vec![Variant {
                    kernel: "inner".into(),
                    predicate: None,
                }],
                arguments: vec![whole(0), whole(1), whole(2)],
            }),
            launch(device, "triple", 1, vec![whole(2), whole(2), scalar(0)]),
        ],
    );
    artifact(device, bodies(device), vec![inner, outer])
}

#[test]
fn loops_go_round() {
    let Some(device) = device("loops_go_round") else {
        return;
    };
    let artifact = loops(&device);
    for (copies, options) in ways() {
        let loaded = driver(copies).load(&artifact).expect("loaded");
        let mut arguments = [zero(), zero(), ints(3, 0)];
        if let Argument::Buffer(flag) = &mut arguments[0] {
            flag.as_mut_slice::<i32>()[0] = 6;
        }
        let timing = loaded.run("outer", &mut arguments, &options).expect("runs");
        assert_eq!(values(&arguments[0]), [0]);
        assert_eq!(values(&arguments[1]), [6]);
        assert_eq!(values(&arguments[2]), [21; 3]);
        assert_eq!(timing.launches, 8);
        assert!(timing.total > std::time::Duration::ZERO);
    }
}

/// What is chosen behind a launch that makes the condition, by a buffer and by a word
/// of control that is 0.
#[test]
fn an_if_runs_once_if_its_condition_is_set() {
    let Some(device) = device("an_if_runs_once_if_its_condition_is_set") else {
        return;
    };
    let triple = |of| launch(&device, "triple", 1, vec![whole(of), whole(of), scalar(0)]);
    let mut main = kernel(
        "main",
        vec![array("flag", Dtype::I32), array("out", Dtype::I32)],
        vec![
            triple(0),
            step(StepKind::If {
                condition: whole(0),
                steps: vec![triple(1)],
            }),
            step(StepKind::If {
                condition: Operand::Control { first: 0, words: 1 },
                steps: vec![triple(1)],
            }),
            triple(1),
        ],
    );
    plan_of(&mut main).control = 1;
    let artifact = artifact(&device, bodies(&device), vec![main]);
    for (copies, options) in ways() {
        let loaded = driver(copies).load(&artifact).expect("loaded");
        for (flag, expected) in [(0, 3), (5, 9)] {
            let mut arguments = [ints(1, flag), ints(4, 1)];
            loaded.run("main", &mut arguments, &options).expect("runs");
            assert_eq!(values(&arguments[1]), [expected; 4]);
        }
    }
}

#[test]
fn loops_without_end_are_errors() {
    let Some(device) = device("loops_without_end_are_errors") else {
        return;
    };
    let loaded = load(&loops(&device));
    let mut arguments = [zero(), zero(), ints(3, 0)];
    let options = Options {
        max_iterations: Some(10),
        ..Options::default()
    };
    let error = loaded
        .run("inner", &mut arguments, &options)
        .expect_err("goes down from 0");
    assert!(
        matches!(error, Error::TooManyIterations { limit: 10, .. }),
        "{error}"
    );
}

#[test]
fn runs_go_on_from_what_the_last_one_left() {
    let Some(device) = device("runs_go_on_from_what_the_last_one_left") else {
        return;
    };
    let operands = vec![whole(0), whole(0), scalar(0)];
    let main = kernel(
        "main",
        vec![array("a", Dtype::I32)],
        vec![launch(&device, "triple", 1, operands)],
    );
    let artifact = artifact(&device, bodies(&device), vec![main]);
    for (copies, options) in ways() {
        let loaded = driver(copies).load(&artifact).expect("loaded");
        let mut arguments = [ints(5, 1)];
        let mut prepared = loaded
            .prepare("main", &arguments, &options)
            .expect("prepared");
        for expected in [3, 9, 27] {
            prepared.run().expect("runs");
            prepared.read(&mut arguments).expect("read");
            assert_eq!(values(&arguments[0]), [expected; 5]);
        }
        prepared.write(&[ints(5, 2)]).expect("written");
        prepared.run().expect("runs");
        prepared.read(&mut arguments).expect("read");
        assert_eq!(values(&arguments[0]), [6; 5]);
        let error = prepared.write(&[ints(6, 2)]).expect_err("another shape");
        assert!(matches!(error, Error::OtherArguments { .. }), "{error}");
    }
}

#[test]
fn fills_of_every_size_at_every_place() {
    let Some(device) = device("fills_of_every_size_at_every_place") else {
        return;
    };
    let value = 0x0102_0304_0506_0708_u64;
    let types = [Dtype::U8, Dtype::I16, Dtype::F32, Dtype::I64];
    for (copies, options) in ways() {
        for dtype in types {
            for (lower, upper) in [(0, 5), (1, 2), (1, 4), (3, 40_000), (2, 2), (7, 3)] {
                let main = kernel(
                    "main",
                    vec![array("a", dtype)],
                    vec![step(StepKind::Fill {
                        buffer: BufferRef {
                            argument: 0,
                            view: None,
                        },
                        lower: Expr::constant(lower),
                        upper: Expr::constant(upper),
                        value: Expr::constant(value),
                    })],
                );
                let plan = Artifact {
                    modules: Vec::new(),
                    ..artifact(&device, Module::new(), vec![main])
                };
                let loaded = driver(copies).load(&plan).expect("no code is needed");
                let before = Buffer::filled(dtype, &[40_003], 0xEE).expect("little memory");
                let mut expected = before.as_bytes().to_vec();
                let size = dtype.size();
                for i in lower..upper {
                    let at = i as usize * size;
                    expected[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
                }
                let mut arguments = [before.into()];
                let timing = loaded.run("main", &mut arguments, &options).expect("runs");
                let after = arguments[0].as_buffer().expect("a buffer");
                assert!(after.as_bytes() == expected, "{dtype} {lower}..{upper}");
                assert_eq!(timing.launches, 0);
            }
        }
    }
}

#[test]
fn threads_share_the_device() {
    let Some(device) = device("threads_share_the_device") else {
        return;
    };
    let artifact = loops(&device);
    let loaded = load(&artifact);
    std::thread::scope(|scope| {
        for start in 1..9 {
            let loaded = &loaded;
            scope.spawn(move || {
                let mut arguments = [ints(0, 0), zero(), ints(3, 0)];
                let mut flag = Buffer::zeros(Dtype::I32, &[]).expect("little memory");
                flag.as_mut_slice::<i32>()[0] = start;
                arguments[0] = flag.into();
                let options = Options::default();
                loaded.run("inner", &mut arguments, &options).expect("runs");
                assert_eq!(values(&arguments[1]), [start]);
            });
        }
    });
}
