//! Plans around launches: loops, dispatches, fills, and repeated runs.

use super::*;

/// A loop that is gone round as often as its flag says, in a kernel that another
/// dispatches to, with a fill before and a launch after it.
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
                flag: whole(0),
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
    for loaded in ways(&artifact) {
        let mut arguments = [Given::Cell([6]), zero(), ints(3, 0)];
        loaded.run("outer", &mut arguments).expect("runs");
        assert_eq!(values(&arguments[0]), [0]);
        assert_eq!(values(&arguments[1]), [6]);
        assert_eq!(values(&arguments[2]), [21; 3]);
    }
}

/// What is chosen after a launch that makes the condition, by a buffer and by a word
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
    for loaded in ways(&artifact) {
        for (flag, expected) in [(0, 3), (5, 9)] {
            let mut arguments = [ints(1, flag), ints(4, 1)];
            loaded.run("main", &mut arguments).expect("runs");
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
    let options = LaunchOptions {
        max_iterations: Some(10),
    };
    let error = loaded
        .run_with("inner", &mut arguments, &options)
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
    for loaded in ways(&artifact) {
        let (kernel, on) = (loaded.executable.kernel("main"), &loaded.stream);
        let kernel = kernel.expect("there");
        let a = Buffer::from_slice(on, &[1; 5]).expect("memory");
        for expected in [3, 9, 27] {
            kernel.launch(on, &[Arg::from(&a)]).expect("runs");
            assert_eq!(a.to_vec::<i32>(on).expect("read"), [expected; 5]);
        }
        a.write(on, &[2; 5]).expect("written");
        kernel.launch(on, &[Arg::from(&a)]).expect("runs");
        assert_eq!(a.to_vec::<i32>(on).expect("read"), [6; 5]);
    }
}

#[test]
fn fills_of_every_size_at_every_place() {
    let Some(device) = device("fills_of_every_size_at_every_place") else {
        return;
    };
    let value = 0x0102_0304_0506_0708_u64;
    for copies in [Copies::Direct, Copies::Staged] {
        for dtype in [Dtype::U8, Dtype::I16, Dtype::F32, Dtype::I64] {
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
                let loaded = loaded(raw(copies), &plan).expect("no code is needed");
                let (kernel, on) = (loaded.executable.kernel("main"), &loaded.stream);
                let a = Buffer::filled(on, dtype, &[40_003], 0xEE).expect("memory");
                let launched = kernel.expect("there").launch(on, &[Arg::from(&a)]);
                launched.expect("runs");
                let mut after = vec![0; a.bytes() as usize];
                a.read_bytes(on, &mut after).expect("read");
                let size = dtype.size();
                let mut expected = vec![0xEE; after.len()];
                for i in lower..upper {
                    let at = i as usize * size;
                    expected[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
                }
                assert!(after == expected, "{dtype} {lower}..{upper}");
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
                let mut arguments = [Given::Cell([start]), zero(), ints(3, 0)];
                loaded.run("inner", &mut arguments).expect("runs");
                assert_eq!(values(&arguments[1]), [start]);
            });
        }
    });
}
