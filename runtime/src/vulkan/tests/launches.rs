//! Launches: their arguments, their order, their number of blocks.

use super::*;
use qd_artifact::TargetSpec;

#[test]
fn launches_get_their_words() {
    let Some(device) = device("launches_get_their_words") else {
        return;
    };
    let blocks = 5;
    let count = u64::from(threads(&device)) * blocks;
    let main = kernel(
        "main",
        vec![
            array("out", Dtype::I32),
            parameter("add", ArgumentKind::Scalar { dtype: Dtype::I32 }),
        ],
        vec![launch(
            &device,
            "iota",
            blocks,
            vec![whole(0), Operand::Scalar(Expr::Scalar(1))],
        )],
    );
    let artifact = artifact(&device, bodies(&device), vec![main]);
    for loaded in ways(&artifact) {
        // Neither full blocks nor no element at all.
        for length in [count, count - 3, 1, 0] {
            let mut arguments = [ints(length as usize, -1), Given::Scalar(7)];
            loaded.run("main", &mut arguments).expect("runs");
            let expected: Vec<_> = (7..7 + length as i32).collect();
            assert_eq!(values(&arguments[0]), expected);
        }
    }
}

#[test]
fn what_waits_sees_what_was_waited_for() {
    let Some(device) = device("what_waits_sees_what_was_waited_for") else {
        return;
    };
    let blocks = 300;
    let length = u64::from(threads(&device)) * blocks;
    // From one buffer to the other and back, and half of it over itself.
    let mut steps = Vec::new();
    let mut expected = 1i32;
    for id in 0..20u64 {
        let (to, from) = ((id % 2) as usize, (1 - id % 2) as usize);
        let operands = vec![whole(to), whole(from), scalar(id)];
        steps.push(launch(&device, "triple", blocks, operands));
        expected = expected.wrapping_mul(3).wrapping_add(id as i32);
    }
    let (a, b) = (part(1, 0, length / 2), part(1, 0, length / 2));
    let operands = vec![Operand::Buffer(a), Operand::Buffer(b), scalar(5)];
    steps.push(launch(&device, "triple", blocks / 2, operands));
    let main = kernel(
        "main",
        vec![array("a", Dtype::I32), array("b", Dtype::I32)],
        steps,
    );
    let artifact = artifact(&device, bodies(&device), vec![main]);
    for loaded in ways(&artifact) {
        let mut arguments = [ints(length as usize, 0), ints(length as usize, 1)];
        loaded.run("main", &mut arguments).expect("runs");
        let half = length as usize / 2;
        let last = expected.wrapping_mul(3).wrapping_add(5);
        assert!(values(&arguments[1])[..half].iter().all(|v| *v == last));
        assert!(values(&arguments[1])[half..].iter().all(|v| *v == expected));
    }
}

#[test]
fn views_overlap() {
    let Some(device) = device("views_overlap") else {
        return;
    };
    let n = u64::from(threads(&device));
    // [0, n) then [n/2, 3n/2), which begins at no binding's alignment, then back.
    let views = [(0, 100), (n / 2 + 1, 1000)];
    let mut steps = Vec::new();
    for (begin, add) in views {
        let operands = vec![Operand::Buffer(part(0, 4 * begin, n)), scalar(add)];
        steps.push(launch(&device, "iota", 1, operands));
    }
    let main = kernel("main", vec![array("a", Dtype::I32)], steps);
    let loaded = load(&artifact(&device, bodies(&device), vec![main]));
    let mut arguments = [ints(2 * n as usize, -1)];
    loaded.run("main", &mut arguments).expect("runs");
    let mut expected = vec![-1; 2 * n as usize];
    for (begin, add) in views {
        for i in 0..n {
            expected[(begin + i) as usize] = (add + i) as i32;
        }
    }
    assert_eq!(values(&arguments[0]), expected);
}

#[test]
fn more_blocks_than_a_dimension_has() {
    let Some(device) = device("more_blocks_than_a_dimension_has") else {
        return;
    };
    for count in [0, 1, 65_535, 65_536, 2 * 65_535, 140_000u64] {
        let main = kernel(
            "main",
            vec![array("out", Dtype::I32), cell("sum")],
            vec![launch(&device, "blocks", count, vec![whole(0), whole(1)])],
        );
        let loaded = load(&artifact(&device, bodies(&device), vec![main]));
        let mut arguments = [ints(count as usize + 1, -1), zero()];
        loaded.run("main", &mut arguments).expect("runs");
        let expected: Vec<_> = (count..2 * count).map(|v| v as i32).collect();
        assert_eq!(values(&arguments[0])[..count as usize], expected);
        assert_eq!(values(&arguments[0])[count as usize], -1);
        assert_eq!(values(&arguments[1])[0] as u64, count);
    }
    let too_many = 65_535 * 65_535 + 1;
    let main = kernel(
        "main",
        vec![array("out", Dtype::I32), cell("sum")],
        vec![launch(
            &device,
            "blocks",
            too_many,
            vec![whole(0), whole(1)],
        )],
    );
    let loaded = load(&artifact(&device, bodies(&device), vec![main]));
    let error = loaded
        .run("main", &mut [ints(1, 0), zero()])
        .expect_err("too many");
    assert!(
        error
            .to_string()
            .ends_with("takes at most 4294836225 blocks"),
        "{error}"
    );
}

#[test]
fn subgroups_have_the_size() {
    let Some(device) = device("subgroups_have_the_size") else {
        return;
    };
    let main = kernel(
        "main",
        vec![array("out", Dtype::I32)],
        vec![launch(&device, "size", 3, vec![whole(0)])],
    );
    let artifact = artifact(&device, bodies(&device), vec![main]);
    let mut arguments = [ints(3 * threads(&device) as usize, 0)];
    load(&artifact).run("main", &mut arguments).expect("runs");
    let wave = device.subgroups.usual as i32;
    assert!(values(&arguments[0]).iter().all(|size| *size == wave));

    let mut other = artifact;
    for body in &mut other.modules[0].bodies {
        body.wave = 2 * device.subgroups.usual + 1;
    }
    let error = refused(&other);
    let right = format!("--target=vulkan:1.3,subgroup={wave}");
    assert!(error.contains(&right), "{error}");
}

#[test]
fn targets_get_the_size_of_the_device() {
    let Some(device) = device("targets_get_the_size_of_the_device") else {
        return;
    };
    let opened = Opened::of(Box::new(raw(Copies::Direct)));
    let any = TargetSpec::new("vulkan:1.3");
    let usual = format!("subgroup={}", device.subgroups.usual);
    assert_eq!(opened.resolve(&any), any.clone().with(usual));
    let given = any.with("subgroup=64");
    assert_eq!(opened.resolve(&given), given);
}
