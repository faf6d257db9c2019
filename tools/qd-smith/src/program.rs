//! A random program as data: a kernel and its arguments, in a form that can be
//! printed, sent to another process, and made smaller.
//!
//! Ops are kept as MLIR's generic form has them, so that one printer serves
//! all of them and the shrinker needs to know none.

use qd_artifact::Dtype;
use qd_conformance::{Argument, Data, Expect, Input, generate};
use qd_dialects::ops::grid;
use serde::{Deserialize, Serialize};
use std::fmt::{Debug, Write};

/// A value's number; its type stands in [`Program::types`].
pub type Value = u32;

/// An operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Node {
    /// Full name.
    pub op: String,
    /// Inherent attributes as a dictionary's inside, such as `value = 1 : i32`.
    pub properties: String,
    pub operands: Vec<Value>,
    pub results: Vec<Value>,
    pub regions: Vec<Block>,
}

/// A region of one block.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Block {
    pub arguments: Vec<Value>,
    pub nodes: Vec<Node>,
}

/// What an argument holds at first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Contents {
    /// Integers of all bits; floats that are multiples of 1/4 up to 8, so that
    /// short sums are exact.
    Plain,
    /// Extreme integers, NaN, infinities and zeros of both signs.
    Extreme,
    /// 0 and 1.
    Flags,
    /// Few distinct numbers, in runs.
    Runs,
    /// One number everywhere.
    Constant(i64),
    /// Nothing: scratch.
    Scratch,
}

/// How an argument is compared after a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Comparison {
    Same,
    /// Floats of functions that targets may round in their own way.
    Loose,
    Ignored,
}

/// How far results of such functions may be off; their arguments are chosen so
/// that they stay below about 4.
const LOOSE: f64 = 4e-3;

/// An argument of the kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameter {
    pub value: Value,
    /// `i1`, `i8`, `i16`, `i32`, `i64`, `f16`, `bf16`, `f32` or `f64`.
    pub element: String,
    /// Its length; none where its rank is 0.
    pub length: Option<usize>,
    /// The further extents, and whether its type leaves them open.
    pub row: Vec<usize>,
    pub is_open: bool,
    /// Whether its type says its length.
    pub is_fixed: bool,
    pub contents: Contents,
    pub comparison: Comparison,
    pub seed: u64,
    /// Whether it may overlap others that say so.
    pub may_alias: bool,
    /// The argument of whose buffer it is elements, and the first of them.
    pub part: Option<(Value, usize)>,
}

impl Parameter {
    pub fn memref(&self) -> String {
        let row = self.row.iter().map(|extent| match self.is_open {
            true => "?x".to_string(),
            false => format!("{extent}x"),
        });
        let first = match self.length {
            Some(length) if self.is_fixed => format!("{length}x"),
            length => length.map_or("", |_| "?x").into(),
        };
        format!("memref<{first}{}{}>", row.collect::<String>(), self.element)
    }

    /// What it holds at first, as `[1, 2, 3]`, or as `[[1, 2], [3, 4]]`.
    pub fn literals(&self) -> String {
        let mut data = self.argument().data;
        let mut extents = Vec::new();
        while let Data::Rows(of, row) = data {
            extents.push(row);
            data = *of;
        }
        // What was the last to be made a row of is the first of these.
        let mut items = items(data);
        for extent in extents.into_iter().rev() {
            let rows = items
                .chunks(extent)
                .map(|row| format!("[{}]", row.join(", ")));
            items = rows.collect();
        }
        match self.length {
            None => items.concat(),
            Some(_) => format!("[{}]", items.join(", ")),
        }
    }

    /// What it is run with and how it is compared.
    fn argument(&self) -> Argument {
        let n = self.length.unwrap_or(1) * self.row.iter().product::<usize>();
        let data = match self.contents {
            Contents::Plain if self.element.contains('f') => quarters(&self.element, n, self.seed),
            Contents::Plain => generate(&self.element, Input::Random, n, self.seed),
            Contents::Extreme => extremes(&self.element, n, self.seed),
            Contents::Runs => generate(&self.element, Input::Grouped, n, self.seed),
            Contents::Flags => {
                let mut random = fastrand::Rng::with_seed(self.seed);
                numbers(&self.element, (0..n).map(|_| random.i64(0..2)))
            }
            Contents::Constant(value) => numbers(&self.element, (0..n).map(|_| value)),
            Contents::Scratch => numbers(&self.element, (0..n).map(|_| 0)),
        };
        let data = match (self.length, data) {
            (None, Data::I32(values)) => Data::Count(values[0]),
            (None, Data::I64(values)) => Data::LongCount(values[0]),
            (_, data) => self
                .row
                .iter()
                .rev()
                .fold(data, |data, extent| data.rows(*extent)),
        };
        let expect = match (self.contents, self.comparison) {
            (Contents::Scratch, _) => Expect::Scratch,
            (_, Comparison::Same) => Expect::Same,
            (_, Comparison::Loose) => Expect::Close(LOOSE),
            (_, Comparison::Ignored) => Expect::Ignored,
        };
        Argument { data, expect }
    }
}

fn numbers(element: &str, values: impl Iterator<Item = i64>) -> Data {
    match element {
        "i1" => Data::Bool(values.map(|v| v & 1 != 0).collect()),
        "i8" => Data::I8(values.map(|v| v as i8).collect()),
        "i16" => Data::I16(values.map(|v| v as i16).collect()),
        "f16" => Data::F16(values.map(|v| Dtype::F16.to_half(v as f64)).collect()),
        "bf16" => Data::BF16(values.map(|v| Dtype::BF16.to_half(v as f64)).collect()),
        "i64" => Data::I64(values.collect()),
        "f32" => Data::F32(values.map(|v| v as f32).collect()),
        "f64" => Data::F64(values.map(|v| v as f64).collect()),
        _ => Data::I32(values.map(|v| v as i32).collect()),
    }
}

fn quarters(element: &str, n: usize, seed: u64) -> Data {
    let mut random = fastrand::Rng::with_seed(seed);
    let values: Vec<i64> = (0..n).map(|_| random.i64(-32..=32)).collect();
    match numbers(element, values.into_iter()) {
        Data::F16(v) => Data::F16(v.into_iter().map(|x| quarter(Dtype::F16, x)).collect()),
        Data::BF16(v) => Data::BF16(v.into_iter().map(|x| quarter(Dtype::BF16, x)).collect()),
        Data::F32(v) => Data::F32(v.into_iter().map(|x| x / 4.0).collect()),
        Data::F64(v) => Data::F64(v.into_iter().map(|x| x / 4.0).collect()),
        other => other,
    }
}

fn quarter(half: Dtype, bits: u16) -> u16 {
    half.to_half(half.of_half(bits) / 4.0)
}

/// Elements as text.
fn items(data: Data) -> Vec<String> {
    fn each<T: Debug>(values: impl IntoIterator<Item = T>) -> Vec<String> {
        let texts = values.into_iter().map(|v| format!("{v:?}").to_lowercase());
        texts.collect()
    }
    match data {
        Data::Bool(v) => each(v.into_iter().map(u8::from)),
        Data::F16(v) => each(v.iter().map(|bits| Dtype::F16.of_half(*bits))),
        Data::BF16(v) => each(v.iter().map(|bits| Dtype::BF16.of_half(*bits))),
        Data::I8(v) => each(v),
        Data::I16(v) => each(v),
        Data::I32(v) => each(v),
        Data::I64(v) => each(v),
        Data::F32(v) => each(v),
        Data::F64(v) => each(v),
        Data::Count(v) | Data::Number(v) => each([v]),
        Data::LongCount(v) => each([v]),
        Data::Rows(of, _) => items(*of),
    }
}

/// No denormals: a device may flush them.
fn extremes(element: &str, n: usize, seed: u64) -> Data {
    let (data, _) = generate(element, Input::Extreme, n, seed).without_denormals();
    data
}

/// A kernel `@main` and what it is run on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// What it was made from.
    pub seed: u64,
    /// The least subgroup size it is right at: its tiles are no larger.
    pub least_wave: u32,
    /// Whether it is compiled with checks, of which it fails one at most.
    pub is_checked: bool,
    /// The types of values, by their numbers.
    pub types: Vec<String>,
    pub parameters: Vec<Parameter>,
    /// Functions and kernels beside `@main`.
    pub symbols: Vec<Node>,
    /// The body of `@main`.
    pub body: Vec<Node>,
}

impl Program {
    /// The module as text: generic ops, one a line.
    pub fn text(&self) -> String {
        let mut printer = Printer {
            types: &self.types,
            text: String::new(),
        };
        for symbol in &self.symbols {
            printer.node(symbol, 0);
        }
        printer.node(&self.kernel("main", self.body.clone()), 0);
        printer.text
    }

    /// A kernel of these parameters.
    pub fn kernel(&self, name: &str, nodes: Vec<Node>) -> Node {
        let types: Vec<_> = self.parameters.iter().map(Parameter::memref).collect();
        let marks = self.parameters.iter().map(|p| match p.contents {
            Contents::Scratch => "{qd.scratch}",
            _ if p.may_alias => "{qd.may_alias}",
            _ => "{}",
        });
        let marks: Vec<_> = marks.collect();
        Node {
            op: grid::Kernel::NAME.into(),
            properties: format!(
                "function_type = ({}) -> (), sym_name = \"{name}\", arg_attrs = [{}]",
                types.join(", "),
                marks.join(", ")
            ),
            operands: Vec::new(),
            results: Vec::new(),
            regions: vec![Block {
                arguments: self.parameters.iter().map(|p| p.value).collect(),
                nodes,
            }],
        }
    }

    /// What the arguments are run with and how they are compared.
    pub fn arguments(&self) -> Vec<Argument> {
        let arguments = self.parameters.iter().map(|parameter| {
            let mut argument = parameter.argument();
            if let Some((of, first)) = self.part(parameter) {
                argument.expect = Expect::Part { of, first };
            }
            argument
        });
        arguments.collect()
    }

    /// The number of the argument that one is part of, and the first of its elements.
    pub fn part(&self, parameter: &Parameter) -> Option<(usize, usize)> {
        let (whole, first) = parameter.part?;
        let of = self.parameters.iter().position(|p| p.value == whole)?;
        Some((of, first))
    }

    /// Whether an argument is part of another without saying that it may overlap.
    pub fn overlaps_unsaid(&self) -> bool {
        let mut unsaid = self.parameters.iter().filter(|p| !p.may_alias);
        unsaid.any(|p| self.part(p).is_some())
    }

    /// The number of ops in it.
    pub fn size(&self) -> usize {
        fn count(nodes: &[Node]) -> usize {
            let inner = |node: &Node| node.regions.iter().map(|r| count(&r.nodes)).sum::<usize>();
            nodes.iter().map(|node| 1 + inner(node)).sum()
        }
        count(&self.symbols) + count(&self.body)
    }

    /// Its ops with the types of their operands, such as `arith.addi(i32, i32)`.
    pub fn forms(&self) -> Vec<String> {
        let mut forms = Vec::new();
        let mut visit = |node: &Node| {
            let types: Vec<_> = node.operands.iter().map(|v| self.ty(*v)).collect();
            forms.push(format!("{}({})", node.op, types.join(", ")));
        };
        for node in self.symbols.iter().chain(&self.body) {
            walk(node, &mut visit);
        }
        forms.sort();
        forms.dedup();
        forms
    }

    pub fn ty(&self, value: Value) -> &str {
        &self.types[value as usize]
    }
}

/// Visits an op and those in it.
pub fn walk(node: &Node, visit: &mut impl FnMut(&Node)) {
    visit(node);
    for region in &node.regions {
        for inner in &region.nodes {
            walk(inner, visit);
        }
    }
}

struct Printer<'a> {
    types: &'a [String],
    text: String,
}

impl Printer<'_> {
    fn list(&self, values: &[Value], show: impl Fn(Value) -> String) -> String {
        values
            .iter()
            .map(|v| show(*v))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn ty(&self, value: Value) -> String {
        self.types[value as usize].clone()
    }

    // Writing to a string does not fail.
    fn node(&mut self, node: &Node, depth: usize) {
        let indent = "  ".repeat(depth);
        self.text += &indent;
        if !node.results.is_empty() {
            let names = self.list(&node.results, |v| format!("%{v}"));
            let _ = write!(self.text, "{names} = ");
        }
        let operands = self.list(&node.operands, |v| format!("%{v}"));
        let _ = write!(self.text, "\"{}\"({operands})", node.op);
        if !node.properties.is_empty() {
            let _ = write!(self.text, " <{{{}}}>", node.properties);
        }
        if !node.regions.is_empty() {
            self.text += " (";
            for (i, region) in node.regions.iter().enumerate() {
                self.text += if i == 0 { "{" } else { ", {" };
                self.text.push('\n');
                // Of an empty region and an empty block these want the latter.
                let needs_block = matches!(
                    node.op.as_str(),
                    grid::If::NAME | grid::DoWhile::NAME | grid::Phase::NAME
                );
                if region.nodes.is_empty() && region.arguments.is_empty() && needs_block {
                    let _ = writeln!(self.text, "{indent}^bb0:");
                }
                if !region.arguments.is_empty() {
                    let arguments =
                        self.list(&region.arguments, |v| format!("%{v}: {}", self.ty(v)));
                    let _ = writeln!(self.text, "{indent}^bb0({arguments}):");
                }
                for inner in &region.nodes {
                    self.node(inner, depth + 1);
                }
                let _ = write!(self.text, "{indent}}}");
            }
            self.text.push(')');
        }
        let from = self.list(&node.operands, |v| self.ty(v));
        let to = self.list(&node.results, |v| self.ty(v));
        let _ = writeln!(self.text, " : ({from}) -> ({to})");
    }
}
