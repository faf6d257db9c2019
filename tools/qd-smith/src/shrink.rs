//! Reduces a failing program, as long as it fails in the same way.

use crate::program::{Block, Contents, Node, Program, Value};
use qd_dialects::ops::{Yield, grid};
use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

/// Trials that a finding is worth, and how long they may take in all.
const TRIALS: usize = 400;
const TIME: Duration = Duration::from_secs(90);

/// The smallest program found for which `fails` holds.
pub fn program(start: Program, fails: &mut impl FnMut(&Program) -> bool) -> Program {
    let mut best = start;
    let mut trials = TRIALS;
    let begin = Instant::now();
    let mut accept = |candidate: &Program, trials: &mut usize| {
        *trials = match begin.elapsed() < TIME {
            true => trials.saturating_sub(1),
            false => 0,
        };
        *trials > 0 && fails(candidate)
    };
    for i in (0..best.symbols.len()).rev() {
        for candidate in [promoted(&best, i), without_symbol(&best, i)] {
            if candidate.size() < best.size() && accept(&candidate, &mut trials) {
                best = candidate;
                break;
            }
        }
    }
    loop {
        let before = best.size();
        // Ever shorter sequences of ops, from the last to the first.
        let mut chunk = before.next_power_of_two() / 2;
        while chunk > 0 && trials > 0 {
            let mut end = count(&best);
            while end > 0 && trials > 0 {
                let from = end.saturating_sub(chunk);
                let candidate = cleaned(without(&best, from..end));
                if candidate.size() < best.size() && accept(&candidate, &mut trials) {
                    best = candidate;
                }
                end = from.min(count(&best));
            }
            chunk /= 2;
        }
        // What a branch or a loop holds, once, in its place.
        let mut at = count(&best);
        while at > 0 && trials > 0 {
            at -= 1;
            if let Some(candidate) = unwrapped(&best, at)
                && accept(&candidate, &mut trials)
            {
                best = cleaned(candidate);
                at = at.min(count(&best));
            }
        }
        if best.size() >= before || trials == 0 {
            break;
        }
    }
    for i in 0..best.parameters.len() {
        let mut candidate = best.clone();
        let parameter = &mut candidate.parameters[i];
        if matches!(
            parameter.contents,
            Contents::Scratch | Contents::Constant(_)
        ) {
            continue;
        }
        parameter.contents = Contents::Constant(1);
        if accept(&candidate, &mut trials) {
            best = candidate;
        }
    }
    let candidate = used_alone(&best);
    if candidate.parameters.len() < best.parameters.len() && accept(&candidate, &mut trials) {
        best = candidate;
    }
    best
}

/// The program with the body of a kernel beside `@main` for its own.
fn promoted(program: &Program, symbol: usize) -> Program {
    let mut candidate = program.clone();
    let symbol = candidate.symbols.remove(symbol);
    if symbol.op == grid::Kernel::NAME {
        candidate.body = symbol.regions.into_iter().flat_map(|r| r.nodes).collect();
    }
    candidate
}

/// The program without a function and its calls.
fn without_symbol(program: &Program, symbol: usize) -> Program {
    let mut candidate = program.clone();
    let name = candidate.symbols.remove(symbol).properties;
    let name = name.split('"').nth(1).unwrap_or_default().to_string();
    let call = format!("callee = @{name}");
    fn replace(nodes: &mut [Node], call: &str, types: &[String]) {
        for node in nodes {
            if node.op == "func.call"
                && node.properties == call
                && let Some(constant) = node.results.first().and_then(|v| zero(*v, types))
            {
                *node = constant;
            }
            for region in &mut node.regions {
                replace(&mut region.nodes, call, types);
            }
        }
    }
    replace(&mut candidate.body, &call, &program.types);
    replace(&mut candidate.symbols, &call, &program.types);
    candidate
}

fn is_kept(node: &Node) -> bool {
    matches!(
        node.op.as_str(),
        "scf.yield" | "scf.condition" | Yield::NAME | "func.return" | "arith.constant"
    )
}

fn each(nodes: &[Node], visit: &mut impl FnMut(&Node)) {
    for node in nodes {
        crate::program::walk(node, visit);
    }
}

fn count(program: &Program) -> usize {
    let mut total = 0;
    each(&program.body, &mut |_| total += 1);
    total
}

/// The program without the ops of these numbers, in the order of the text; for
/// results that are still used stand constants.
fn without(program: &Program, range: std::ops::Range<usize>) -> Program {
    fn filter(
        nodes: &[Node],
        types: &[String],
        at: &mut usize,
        range: &std::ops::Range<usize>,
    ) -> Vec<Node> {
        let mut kept = Vec::new();
        for node in nodes {
            let number = *at;
            *at += 1;
            let mut copy = node.clone();
            for (new, old) in copy.regions.iter_mut().zip(&node.regions) {
                new.nodes = filter(&old.nodes, types, at, range);
            }
            if !range.contains(&number) || is_kept(node) {
                kept.push(copy);
                continue;
            }
            kept.extend(node.results.iter().filter_map(|v| zero(*v, types)));
        }
        kept
    }
    let mut smaller = program.clone();
    smaller.body = filter(&program.body, &program.types, &mut 0, &range);
    smaller
}

/// A constant that defines a value.
fn zero(value: Value, types: &[String]) -> Option<Node> {
    let ty = &types[value as usize];
    let literal = match ty.as_str() {
        "i1" => "value = false".to_string(),
        "f16" | "bf16" | "f32" | "f64" => format!("value = 0.0 : {ty}"),
        "i8" | "i16" | "i32" | "i64" | "index" => format!("value = 0 : {ty}"),
        _ => return None,
    };
    Some(Node {
        op: "arith.constant".into(),
        properties: literal,
        operands: Vec::new(),
        results: vec![value],
        regions: Vec::new(),
    })
}

/// Without unused constants.
fn cleaned(mut program: Program) -> Program {
    let mut used: HashSet<Value> = HashSet::new();
    each(&program.body, &mut |node| used.extend(&node.operands));
    fn filter(nodes: &mut Vec<Node>, used: &HashSet<Value>) {
        nodes.retain(|node| node.op != "arith.constant" || used.contains(&node.results[0]));
        for node in nodes {
            for region in &mut node.regions {
                filter(&mut region.nodes, used);
            }
        }
    }
    filter(&mut program.body, &used);
    program
}

/// The program with what op number `at` holds in its place, once.
fn unwrapped(program: &Program, at: usize) -> Option<Program> {
    fn replace(
        nodes: &[Node],
        at: usize,
        number: &mut usize,
        done: &mut Vec<(Value, Value)>,
    ) -> Vec<Node> {
        let mut kept = Vec::new();
        for node in nodes {
            let here = *number == at;
            *number += 1;
            let mut copy = node.clone();
            for (new, old) in copy.regions.iter_mut().zip(&node.regions) {
                new.nodes = replace(&old.nodes, at, number, done);
            }
            let wraps = matches!(
                node.op.as_str(),
                "scf.if" | "scf.for" | grid::If::NAME | grid::DoWhile::NAME
            );
            let Some(Block {
                arguments,
                nodes: mut inner,
            }) = copy.regions.first().cloned()
            else {
                kept.push(copy);
                continue;
            };
            if !here || !wraps {
                kept.push(copy);
                continue;
            }
            let last = match inner.last() {
                Some(node) if node.op == "scf.yield" => inner.pop(),
                _ => None,
            };
            // A loop's arguments are what it begins with.
            if node.op == "scf.for" {
                done.push((arguments[0], node.operands[0]));
                let carried = arguments[1..].iter().zip(&node.operands[3..]);
                done.extend(carried.map(|(to, from)| (*to, *from)));
            }
            kept.extend(inner);
            if let Some(last) = last {
                done.extend(
                    node.results
                        .iter()
                        .zip(last.operands)
                        .map(|(to, from)| (*to, from)),
                );
            }
        }
        kept
    }
    let mut done = Vec::new();
    let mut candidate = program.clone();
    candidate.body = replace(&program.body, at, &mut 0, &mut done);
    if candidate.size() >= program.size() {
        return None;
    }
    // A value may stand for one that another stands for.
    for (from, to) in done.iter().rev() {
        rename(&mut candidate.body, *from, *to);
    }
    Some(candidate)
}

fn rename(nodes: &mut [Node], from: Value, to: Value) {
    for node in nodes {
        for operand in &mut node.operands {
            if *operand == from {
                *operand = to;
            }
        }
        for region in &mut node.regions {
            rename(&mut region.nodes, from, to);
        }
    }
}

/// Without parameters that nothing refers to.
fn used_alone(program: &Program) -> Program {
    let mut used: HashSet<Value> = HashSet::new();
    each(&program.body, &mut |node| used.extend(&node.operands));
    let mut candidate = program.clone();
    if program
        .symbols
        .iter()
        .all(|symbol| symbol.op != grid::Kernel::NAME)
    {
        let wholes = program
            .parameters
            .iter()
            .filter(|p| used.contains(&p.value));
        let wholes: Vec<Value> = wholes.filter_map(|p| p.part).map(|(of, _)| of).collect();
        used.extend(wholes);
        candidate.parameters.retain(|p| used.contains(&p.value));
    }
    candidate
}

/// The fewest lines found for which `fails` holds.
pub fn lines(text: &str, fails: &mut impl FnMut(&str) -> bool) -> String {
    let mut best: Vec<String> = text.lines().map(str::to_string).collect();
    let mut trials = TRIALS;
    let begin = Instant::now();
    let mut chunk = best.len().next_power_of_two() / 2;
    while chunk > 0 && trials > 0 {
        let mut end = best.len();
        while end > 0 && trials > 0 {
            let from = end.saturating_sub(chunk);
            let mut candidate = best.clone();
            candidate.drain(from..end);
            trials = if begin.elapsed() < TIME {
                trials - 1
            } else {
                0
            };
            if fails(&candidate.join("\n")) {
                best = candidate;
            }
            end = from.min(best.len());
        }
        chunk /= 2;
    }
    best.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{forms::Forms, generate};
    use qd_dialects::ops::algo;

    #[test]
    fn lines_that_do_not_matter_go() {
        let text = (0..100)
            .map(|i| i.to_string())
            .collect::<Vec<_>>()
            .join("\n");
        let kept = lines(&text, &mut |text| {
            let lines: Vec<&str> = text.lines().collect();
            lines.contains(&"17") && lines.contains(&"60")
        });
        assert_eq!(kept, "17\n60");
    }

    #[test]
    fn a_program_shrinks_to_what_matters() {
        let mut forms = Forms::default();
        let has_sort = |program: &Program| {
            let mut found = false;
            each(&program.body, &mut |node| {
                found |= node.op == algo::Sort::NAME
            });
            found
        };
        let program = (0..1000)
            .map(|seed| generate::generate(seed, generate::Has::of(&["cpu".into()]), &mut forms))
            .find(|program| has_sort(program) && program.size() > 60)
            .expect("a program with a sort among others");
        let small = super::program(program, &mut |program| has_sort(program));
        assert_eq!(small.size(), 1, "{}", small.text());
    }
}
