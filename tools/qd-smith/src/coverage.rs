//! Which ops ran, with which operand types and on which targets.

use crate::{generate::left_out, ods::OPS, supervise::Coverage};
use std::{collections::BTreeSet, fmt::Write};

/// The kinds of target that something ran on.
fn targets(coverage: &Coverage) -> Vec<String> {
    let all: BTreeSet<&String> = coverage.values().flat_map(|by| by.keys()).collect();
    all.into_iter().cloned().collect()
}

/// The op of a form such as `arith.addi(i32, i32)`.
fn op_of(form: &str) -> &str {
    form.split_once('(').map_or(form, |(op, _)| op)
}

/// Ops with reference semantics that no kernel had, and why, where there is a reason.
pub fn missing(coverage: &Coverage) -> Vec<(&'static str, &'static str)> {
    let seen: BTreeSet<&str> = coverage.keys().map(|form| op_of(form)).collect();
    qd_interp::supported_operations()
        .filter(|op| !seen.contains(op))
        .map(|op| (op, left_out(op).unwrap_or("")))
        .collect()
}

/// A table of text: forms down, targets across, how often each ran.
pub fn text(coverage: &Coverage) -> String {
    let targets = targets(coverage);
    let mut table = format!("{:<72}", "op and operand types");
    // Writing to a string does not fail.
    for target in &targets {
        let _ = write!(table, "{target:>10}");
    }
    table.push('\n');
    for (form, by) in coverage {
        let _ = write!(table, "{form:<72}");
        for target in &targets {
            let _ = write!(table, "{:>10}", by.get(target).copied().unwrap_or(0));
        }
        table.push('\n');
    }
    let defined = OPS.len();
    let seen: BTreeSet<&str> = coverage.keys().map(|form| op_of(form)).collect();
    let _ = writeln!(
        table,
        "\n{} forms of {} ops; {defined} ops are defined. Ops with reference semantics that no kernel had:",
        coverage.len(),
        seen.len(),
    );
    for (op, why) in missing(coverage) {
        let _ = writeln!(table, "  {op:<40} {why}");
    }
    table
}

/// The same as a page.
pub fn html(coverage: &Coverage) -> String {
    let targets = targets(coverage);
    let head: String = targets.iter().map(|t| format!("<th>{t}</th>")).collect();
    let mut rows = String::new();
    for (form, by) in coverage {
        let cells: String = targets
            .iter()
            .map(|target| match by.get(target).copied().unwrap_or(0) {
                0 => "<td class=\"none\">0</td>".to_string(),
                n => format!("<td>{n}</td>"),
            })
            .collect();
        let _ = writeln!(rows, "<tr><td><code>{form}</code></td>{cells}</tr>");
    }
    let missing: String = missing(coverage)
        .into_iter()
        .map(|(op, why)| format!("<li><code>{op}</code> {why}</li>\n"))
        .collect();
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>What qd-smith's kernels had</title>\n\
         <style>body{{font:14px sans-serif;margin:2em}}td,th{{padding:2px 10px;text-align:right}}\
         td:first-child{{text-align:left}}tr:nth-child(even){{background:#f4f4f4}}\
         .none{{background:#fbb}}</style>\n\
         <h1>What qd-smith's kernels had</h1>\n\
         <p>Ops with the types of their operands, and in how many runs on a target each was compared with the interpreter.</p>\n\
         <table><tr><th>op and operand types</th>{head}</tr>\n{rows}</table>\n\
         <h2>Ops with reference semantics that no kernel had</h2>\n<ul>\n{missing}</ul>\n"
    )
}
