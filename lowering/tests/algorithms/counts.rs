//! Invalid counts: expanded algorithms stay within their buffers and their capacity all
//! the same.

use crate::{
    data::{Pattern, buffer, scratch, values},
    support::Case,
};
use qd_interp::{Argument, Buffer, Element};

/// What comes in of elements, what goes out, and what an op says of them; each buffer of
/// `i32`. `LEN` is how long they are.
const OPS: [(&str, &[&str], &[&str]); 7] = [
    (
        "reduce add ins(%a : BUFFER) outs(%b : BUFFER)",
        &["a"],
        &["b"],
    ),
    (
        "exclusive_scan add ins(%a : BUFFER) outs(%b : BUFFER)",
        &["a"],
        &["b"],
    ),
    (
        "inclusive_scan maxsi ins(%a : BUFFER) outs(%b : BUFFER)",
        &["a"],
        &["b"],
    ),
    (
        "select ins(%a, %b : BUFFER, BUFFER) outs(%c, %d : BUFFER, BUFFER)",
        &["a", "b"],
        &["c", "d"],
    ),
    (
        "partition ins(%a, %b : BUFFER, BUFFER) outs(%c, %d : BUFFER, BUFFER)",
        &["a", "b"],
        &["c", "d"],
    ),
    ("sort keys(%a, %b : BUFFER, BUFFER)", &["a", "b"], &[]),
    (
        "reduce_by_key add ins(%a, %b : BUFFER, BUFFER) outs(%c, %d, %e : BUFFER, BUFFER, BUFFER)",
        &["a", "b"],
        &["c", "d", "e"],
    ),
];

fn check(
    op: (&str, &[&str], &[&str]),
    way: (&str, &'static str),
    length: usize,
    depth: u32,
    number: usize,
) {
    let (op, read, written) = op;
    let (strategy, target) = way;
    for (given, element) in [
        (-1, Element::I32),
        (i64::from(i32::MIN), Element::I32),
        (length as i64 + 1, Element::I32),
        (i64::from(i32::MAX), Element::I32),
        (-1, Element::I64),
        (i64::MIN, Element::I64),
        ((1 << 32) + 3, Element::I64),
        (i64::MAX, Element::I64),
    ] {
        let meant = given.clamp(0, (length as i64).min(256i64.pow(depth)));
        let names: Vec<_> = [read, written].concat();
        let arguments: Vec<_> = names
            .iter()
            .map(|name| format!("%{name}: BUFFER"))
            .collect();
        let text = format!(
            "qd.grid.kernel @k({}, %s: BUFFER, %n: memref<{element}>) {{
               qd.algo.{op} scratch(%s : BUFFER) count(%n : memref<{element}>) log256_max_n = {depth} {strategy}
             }}",
            arguments.join(", ")
        )
        .replace("BUFFER", "memref<?xi32>");
        let count = |n: i64| -> Argument {
            match element {
                Element::I32 => Buffer::scalar(n as i32).into(),
                _ => Buffer::scalar(n).into(),
            }
        };
        let label = format!("{op} of {given} elements in buffers of {length}, D = {depth}");
        let mut case = Case::new(label, text, number);
        for (i, name) in names.iter().enumerate() {
            let is_result = written.contains(name) || (op.starts_with("sort") && i == 0);
            let data = values(Element::I32, Pattern::FewDistinct, length, i as u64);
            let data = buffer(Element::I32, &data);
            case = match is_result {
                true => case.with_result(data),
                false => case.with(data),
            };
        }
        // More than any formula asks for.
        case = case
            .with(scratch(Element::I32, 4 * length as u64 + 4096))
            .with(count(given));
        case.meant = Some((names.len() + 1, count(meant)));
        case.target = target;
        case.check();
    }
}

#[test]
fn counts_that_are_none() {
    let ways = [
        ("strategy = \"hierarchical\"", "any"),
        ("", "cpu"),
        ("", "nvptx:sm_90"),
    ];
    let mut number = 0;
    for op in OPS {
        for way in ways {
            for (length, depth) in [(1, 1), (100, 1), (300, 1), (700, 2), (700, 4)] {
                check(op, way, length, depth, number);
                number += 1;
            }
        }
    }
    for op in OPS.into_iter().filter(|(op, ..)| op.starts_with("select")) {
        check(
            op,
            ("strategy = \"lookback\"", "nvptx:sm_90"),
            700,
            2,
            number,
        );
    }
}
