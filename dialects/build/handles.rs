//! Generates a handle for each op and for each TableGen class of ops with the same operands, in a module
//! for each family, and an enum for each enum attribute. The types that they use are in `src/ops.rs`.

use crate::records::{Listed, Record, Records};
use std::{collections::BTreeMap, fmt::Write};

/// The text of all.
pub fn all(records: &Records) -> String {
    let mut text = String::new();
    for attribute in records.ours("EnumAttr", "dialect") {
        if known(attribute).is_none() {
            text += &cases(attribute);
        }
    }
    let mut families: BTreeMap<&str, Vec<Op>> = BTreeMap::new();
    for op in records.ours("Op", "opDialect").into_iter().map(Op::of) {
        match op.record.text("opName").split_once('.') {
            Some((family, _)) => families.entry(family).or_default().push(op),
            None => text += &op.handle(),
        }
    }
    for (family, ops) in families {
        let handles: String = ops.iter().map(Op::handle).collect();
        let handles = handles + &classes(&ops);
        let doc = format!("/// The ops of `qd.{family}`.");
        let prefix = "/// What their names begin with.\npub const PREFIX: &str";
        let _ = write!(
            text,
            "{doc}\npub mod {family} {{\nuse super::*;\n{prefix} = \"qd.{family}.\";\n{handles}}}\n"
        );
    }
    text
}

/// The enum that is written by hand for an attribute.
fn known(attribute: Record<'_>) -> Option<&'static str> {
    (attribute.text("mnemonic") == "kind").then_some("attributes::Kind")
}

fn cases(attribute: Record<'_>) -> String {
    let definition = attribute.field("enum").expect("an enum's attribute");
    let (name, mnemonic) = (definition.text("className"), attribute.text("mnemonic"));
    let cases = definition.list("enumerants");
    let cases: Vec<String> = cases
        .iter()
        .map(|case| format!("{} = {:?}", case.text("symbol"), case.text("str")))
        .collect();
    let summary = sentence(definition.text("summary"));
    format!(
        "cases! {{ {summary:?}, {name}, {mnemonic:?}, [{}] }}\n",
        cases.join(", ")
    )
}

/// An op's definition.
struct Op<'a> {
    record: Record<'a>,
    full_name: String,
    accessors: String,
}

impl<'a> Op<'a> {
    fn of(record: Record<'a>) -> Self {
        Self {
            record,
            full_name: format!("qd.{}", record.text("opName")),
            accessors: accessors(record),
        }
    }

    fn handle(&self) -> String {
        let (name, full_name) = (short(self.record.name()), &self.full_name);
        let (summary, accessors) = (sentence(self.record.text("summary")), &self.accessors);
        format!(
            "handle! {{ {summary:?}, {name}, {full_name:?} }}\nimpl<'c> {name}<'c> {{\n{accessors}}}\n"
        )
    }
}

/// The classes of which there are several ops that have the same operands and all else.
fn classes(ops: &[Op]) -> String {
    let mut text = String::new();
    let mut by_class: BTreeMap<&str, Vec<&Op>> = BTreeMap::new();
    for op in ops {
        by_class.entry(op.record.class()).or_default().push(op);
    }
    for (class, ops) in by_class {
        let accessors = &ops[0].accessors;
        if ops.len() < 2 || accessors.is_empty() || ops.iter().any(|op| op.accessors != *accessors)
        {
            continue;
        }
        let name = short(class);
        let names: Vec<&String> = ops.iter().map(|op| &op.full_name).collect();
        let _ = write!(
            text,
            "handle! {{ {name}, {names:?} }}\nimpl<'c> {name}<'c> {{\n{accessors}}}\n"
        );
    }
    text
}

/// `Simt_ShuffleOp` is `Shuffle`, as its class in C++ is `ShuffleOp`.
fn short(name: &str) -> &str {
    let (_, name) = name.split_once('_').expect("a family's prefix");
    name.strip_suffix("Op").unwrap_or(name)
}

fn accessors(op: Record<'_>) -> String {
    let mut text = String::new();
    let is_operand = |(record, _): &(Record, &str)| plain(*record).is_a("TypeConstraint");
    let (operands, attributes): (Listed, Listed) =
        op.listed("arguments").into_iter().partition(is_operand);
    let has_trait = |name: &str| op.list("traits").iter().any(|is| is.name() == name);
    let sized = |what| has_trait(&format!("AttrSized{what}Segments"));
    values(&mut text, "operand", &operands, sized("Operand"));
    values(&mut text, "result", &op.listed("results"), sized("Result"));
    for (attribute, name) in attributes {
        let (r#type, value) = read(attribute, name);
        method(&mut text, "Attribute", name, &r#type, &value);
    }
    for (index, (region, name)) in op.listed("regions").into_iter().enumerate() {
        let block = format!("self.0.region_block({index})");
        let (r#type, value) = match region.is_a("SizedRegion") {
            true => ("Block<'c>", format!("{block}.expect(\"a block\")")),
            false => ("Option<Block<'c>>", block),
        };
        method(&mut text, "The block of region", name, r#type, &value);
    }
    text
}

/// Accessors of operands or results. Where one stands for several, those after it are counted from the end.
fn values(text: &mut String, what: &str, all: &Listed<'_>, is_sized: bool) {
    let number = |(record, _): &(Record, &str)| match plain(*record) {
        record if record.is_a("Variadic") => Number::Several,
        record if record.is_a("Optional") => Number::ZeroOrOne,
        _ => Number::One,
    };
    let numbers: Vec<Number> = all.iter().map(number).collect();
    let grouped: Vec<usize> = (0..all.len())
        .filter(|i| numbers[*i] != Number::One)
        .collect();
    assert!(
        is_sized || grouped.len() < 2,
        "several groups of {what}s whose sizes nothing says"
    );
    for (index, (_, name)) in all.iter().enumerate() {
        let after = all.len() - 1 - index;
        let group = match is_sized {
            true => format!("{what}_group(self.0, {index})"),
            false => format!("{what}s_between(self.0, {index}, {after})"),
        };
        let (r#type, value) = match numbers[index] {
            Number::Several => ("Vec<Value<'c>>", group),
            Number::ZeroOrOne => ("Option<Value<'c>>", format!("{group}.pop()")),
            Number::One if is_sized => ("Value<'c>", format!("{group}.swap_remove(0)")),
            Number::One if grouped.iter().any(|group| *group < index) => {
                ("Value<'c>", format!("{what}_from_end(self.0, {after})"))
            }
            Number::One => ("Value<'c>", format!("{what}(self.0, {index})")),
        };
        let doc = if what == "operand" {
            "Operand"
        } else {
            "Result"
        };
        method(text, doc, name, r#type, &value);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Number {
    One,
    ZeroOrOne,
    Several,
}

/// The type of an attribute, and the expression that reads it.
fn read(attribute: Record<'_>, name: &str) -> (String, String) {
    let (mut inner, mut is_optional, mut has_default) = (attribute, false, false);
    // Wrappers name what they wrap.
    while let Some(base) = inner.field("baseAttr") {
        is_optional |= inner.is_a("OptionalAttr");
        has_default |= inner.is_a("DefaultValuedAttr") || inner.is_a("DefaultValuedOptionalAttr");
        inner = base;
    }
    let storage = inner.text("storageType").trim();
    let (r#type, reader) = match storage {
        "::mlir::UnitAttr" => return ("bool".into(), format!("self.0.attr({name:?}).is_some()")),
        "::mlir::DenseI64ArrayAttr" => {
            let value = format!("self.0.attr({name:?}).map(attributes::i64s).unwrap_or_default()");
            return ("Vec<i64>".into(), value);
        }
        "::mlir::IntegerAttr" => ("i64", "attributes::int".to_owned()),
        "::mlir::StringAttr" => ("String", "attributes::text".to_owned()),
        "::mlir::FlatSymbolRefAttr" => ("String", "attributes::symbol_name".to_owned()),
        _ if inner.is_a("EnumAttr") => {
            let definition = inner.field("enum").expect("an enum's attribute");
            let name = known(inner).unwrap_or(definition.text("className"));
            (name, format!("{name}::of"))
        }
        _ => ("Attribute<'c>", "Some".to_owned()),
    };
    match is_optional || has_default {
        true if reader == "Some" => (format!("Option<{type}>"), format!("self.0.attr({name:?})")),
        true => (
            format!("Option<{type}>"),
            format!("self.0.attr({name:?}).and_then({reader})"),
        ),
        false => (
            r#type.into(),
            format!("attribute(self.0, {name:?}, {reader})"),
        ),
    }
}

/// What `Arg` and `Res` decorate.
fn plain(record: Record<'_>) -> Record<'_> {
    match record.is_a("OpVariable") {
        true => record.field("constraint").unwrap_or(record),
        false => record,
    }
}

fn method(text: &mut String, what: &str, name: &str, r#type: &str, value: &str) {
    // What a handle of any op has.
    let renamed = match name {
        "op" | "of" | "cast" => format!("{name}_"),
        "type" | "ref" | "in" | "where" | "yield" => format!("r#{name}"),
        _ => name.to_owned(),
    };
    let _ = writeln!(
        text,
        "/// {what} `{name}`.\npub fn {renamed}(self) -> {type} {{ {value} }}"
    );
}

/// A summary as the sentence that it is in a comment.
fn sentence(summary: &str) -> String {
    let mut letters = summary.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
