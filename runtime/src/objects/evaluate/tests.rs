//! Dependencies of ops, by plans of fills.

use super::Evaluated;
use crate::{
    objects::{
        arguments::Input,
        device::Device,
        fake::{Fake, Mood},
    },
    testing::step,
};
use qd_artifact::{
    Argument, ArgumentKind, Artifact, BufferRef, Dtype, Expr, Kernel, Operand, Plan, Step,
    StepKind, Variant,
};

fn fill(from: Expr) -> StepKind {
    StepKind::Fill {
        buffer: BufferRef {
            argument: 0,
            view: None,
        },
        lower: from,
        upper: Expr::constant(1),
        value: Expr::constant(0),
    }
}

fn one() -> StepKind {
    fill(Expr::constant(0))
}

/// Of no elements: there is no op for it.
fn none() -> StepKind {
    fill(Expr::Length(0, 0))
}

fn numbered(id: u64, after: &[u64], kind: StepKind) -> Step {
    Step {
        id,
        after: after.to_vec(),
        ..step(kind)
    }
}

fn kernel(name: &str, steps: Vec<Step>) -> Kernel {
    let dtype = Dtype::I32;
    let shape = vec![None];
    let plan = Plan {
        steps,
        ..Plan::default()
    };
    Kernel {
        name: name.into(),
        arguments: vec![Argument::new("a", ArgumentKind::Buffer { dtype, shape })],
        plans: vec![Some(plan)],
    }
}

/// What each op of a kernel `k` waits for, on a buffer of one element.
fn waits(kernels: Vec<Kernel>) -> Vec<Vec<u32>> {
    let (fake, _) = Fake::new(Mood::default(), &[]);
    let artifact = Artifact {
        targets: vec!["cpu".into()],
        kernels,
        modules: Vec::new(),
        ..Artifact::default()
    };
    let loaded = Device::of(Box::new(fake)).load(&artifact).expect("valid");
    let kernel = loaded.kernel("k").expect("a kernel");
    let input = Input::Buffer {
        address: 64,
        bytes: 4,
        dtype: Dtype::I32,
        shape: [1].into(),
    };
    let planned = kernel.0.planned().expect("a plan");
    let evaluated = Evaluated::of(&kernel.0.loaded, planned, &[input], 0);
    let ops = evaluated.expect("evaluated").shape.ops;
    ops.into_iter().map(|op| op.after).collect()
}

#[test]
fn ops_wait_for_what_the_plan_says() {
    let steps = vec![
        numbered(9, &[], one()),
        numbered(2, &[], one()),
        numbered(5, &[9, 2], one()),
        numbered(4, &[2], one()),
    ];
    assert_eq!(
        waits(vec![kernel("k", steps)]),
        [vec![], vec![], vec![0, 1], vec![1]]
    );
}

#[test]
fn who_waits_for_nothing_done_waits_for_what_that_waits_for() {
    let steps = vec![
        numbered(0, &[], one()),
        numbered(1, &[], one()),
        numbered(2, &[0], none()),
        numbered(3, &[1, 2], none()),
        numbered(4, &[3], one()),
        numbered(5, &[2, 4], one()),
        numbered(6, &[], none()),
        numbered(7, &[6], one()),
    ];
    let expected = [vec![], vec![], vec![0, 1], vec![0, 2], vec![]];
    assert_eq!(waits(vec![kernel("k", steps)]), expected);
}

#[test]
fn a_dispatched_kernel_is_between_what_is_before_and_behind_it() {
    let dispatch = |kernel: &str| StepKind::Dispatch {
        variants: vec![Variant {
            kernel: kernel.into(),
            predicate: None,
        }],
        arguments: vec![Operand::Buffer(BufferRef {
            argument: 0,
            view: None,
        })],
    };
    let outer = kernel(
        "k",
        vec![
            numbered(0, &[], one()),
            numbered(1, &[0], dispatch("inner")),
            numbered(2, &[1], one()),
        ],
    );
    // Its own numbers, two beginnings and two ends.
    let inner = kernel(
        "inner",
        vec![
            numbered(0, &[], one()),
            numbered(1, &[], none()),
            numbered(2, &[1], one()),
        ],
    );
    let expected = [vec![], vec![0], vec![1], vec![1], vec![2, 3], vec![4]];
    assert_eq!(waits(vec![outer.clone(), inner]), expected);
    let expected = [vec![], vec![0], vec![1], vec![2]];
    assert_eq!(waits(vec![outer, kernel("inner", Vec::new())]), expected);
}
