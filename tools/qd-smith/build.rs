//! Reads the op definitions, ours and those of the upstream dialects whose ops
//! compute scalars, and writes the generator's tables.

use serde_json::{Map, Value, json};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Definition files: ours, and upstream's below its include folder.
const OURS: &str = "../../dialects/sys/td";
const UPSTREAM: &[&str] = &[
    "mlir/Dialect/Arith/IR/ArithOps.td",
    "mlir/Dialect/Index/IR/IndexOps.td",
    "mlir/Dialect/Math/IR/MathOps.td",
];

fn main() {
    let prefix = PathBuf::from(
        env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into()),
    );
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={OURS}");
    let include = prefix.join("include");
    let mut files = vec![Path::new(OURS).join("Qd.td")];
    files.extend(UPSTREAM.iter().map(|file| include.join(file)));
    let mut ops = Vec::new();
    for file in files {
        let records = Records(records(&prefix, &include, &file));
        ops.extend(records.ops());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let text = serde_json::to_string(&ops).expect("plain data");
    fs::write(out.join("ops.json"), text).expect("OUT_DIR is writable");
}

fn records(prefix: &Path, include: &Path, file: &Path) -> Value {
    let output = Command::new(prefix.join("bin/llvm-tblgen"))
        .arg("--dump-json")
        .arg(format!("-I{OURS}"))
        .arg(format!("-I{}", include.display()))
        .arg(file)
        .output()
        .unwrap_or_else(|error| {
            panic!(
                "cannot run llvm-tblgen from {}: {error}; `cargo xtask setup` installs it",
                prefix.display()
            )
        });
    assert!(
        output.status.success(),
        "llvm-tblgen {}: {}",
        file.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("llvm-tblgen prints JSON")
}

/// What TableGen knows, by name.
struct Records(Value);

impl Records {
    fn get(&self, name: &str) -> &Value {
        &self.0[name]
    }

    /// The record that a field refers to.
    fn field<'a>(&'a self, record: &'a Value, field: &str) -> &'a Value {
        record[field]["def"]
            .as_str()
            .map_or(&Value::Null, |name| self.get(name))
    }

    fn ops(&self) -> Vec<Value> {
        let names = self.0["!instanceof"]["Op"].as_array();
        let mut ops: Vec<Value> = names
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(|name| self.op(self.get(name)))
            .collect();
        ops.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
        ops
    }

    fn op(&self, record: &Value) -> Value {
        let dialect = self.field(record, "opDialect");
        let dialect = dialect["name"].as_str().unwrap_or_default();
        let name = record["opName"].as_str().unwrap_or_default();
        let (mut operands, mut attributes) = (Vec::new(), Vec::new());
        for (definition, name) in arguments(&record["arguments"]) {
            // `Arg<…>` wraps what it decorates.
            let mut definition = self.get(definition);
            if definition["constraint"].is_object() {
                definition = self.field(definition, "constraint");
            }
            if is_a(definition, "TypeConstraint") {
                let summary = definition["summary"].as_str().unwrap_or_default();
                operands.push(json!({
                    "name": name,
                    "role": record["operandRoles"][operands.len()],
                    "is_optional": is_a(definition, "Optional"),
                    "is_word": summary.ends_with("memref of 32-bit signless integer values"),
                    "has_rows": summary.starts_with("1D/2D memref"),
                }));
            } else {
                attributes.push(self.attribute(definition, name));
            }
        }
        json!({
            "name": format!("{dialect}.{name}"),
            "operands": operands,
            "attributes": attributes,
            "results": arguments(&record["results"]).len(),
            "regions": arguments(&record["regions"]).len(),
        })
    }

    fn attribute<'a>(&'a self, mut definition: &'a Value, name: &str) -> Value {
        let mut is_optional = false;
        // Wrappers name what they wrap.
        while definition["baseAttr"].is_object() {
            is_optional |= is_a(definition, "OptionalAttr")
                || is_a(definition, "DefaultValuedAttr")
                || is_a(definition, "DefaultValuedOptionalAttr");
            definition = self.field(definition, "baseAttr");
        }
        let mut entry = Map::new();
        entry.insert("name".into(), name.into());
        entry.insert("values".into(), self.values(definition).into());
        let is_unit = definition["!name"] == "UnitAttr";
        entry.insert("is_optional".into(), (is_optional || is_unit).into());
        entry.into()
    }

    /// Some values that an attribute may have, as MLIR writes them; empty if
    /// this does not know the kind of attribute.
    fn values<'a>(&'a self, definition: &'a Value) -> Vec<String> {
        let cases = |definition: &'a Value| {
            let cases = definition["enumerants"].as_array().cloned();
            let cases = cases.unwrap_or_default();
            let known = cases.iter().filter_map(|case| case["def"].as_str());
            known.map(|case| self.get(case).clone()).collect::<Vec<_>>()
        };
        if definition["!name"] == "UnitAttr" {
            return vec!["unit".into()];
        }
        if is_a(definition, "EnumAttr") {
            let dialect = self.field(definition, "dialect");
            let dialect = dialect["name"].as_str().unwrap_or_default();
            let mnemonic = definition["mnemonic"].as_str().unwrap_or_default();
            let cases = cases(self.field(definition, "enum"));
            let is_bare = definition["assemblyFormat"] == "$value";
            return cases
                .iter()
                .filter_map(|case| case["str"].as_str())
                .map(|case| match is_bare {
                    true => format!("#{dialect}<{mnemonic} {case}>"),
                    false => format!("#{dialect}.{mnemonic}<{case}>"),
                })
                .collect();
        }
        for (class, r#type) in [("I32EnumAttr", "i32"), ("I64EnumAttr", "i64")] {
            if is_a(definition, class) {
                return cases(definition)
                    .iter()
                    .map(|case| format!("{} : {type}", case["value"]))
                    .collect();
            }
        }
        for (class, r#type) in [("I32Attr", "i32"), ("I64Attr", "i64")] {
            if definition["!name"] == class {
                let few = [0, 1, 2, 3, 4, 5, 6, 8, 16, 31, 32, 64];
                return few.map(|n| format!("{n} : {type}")).to_vec();
            }
        }
        Vec::new()
    }
}

/// The definitions and names of a DAG's arguments.
fn arguments(dag: &Value) -> Vec<(&str, &str)> {
    let arguments = dag["args"].as_array();
    arguments
        .into_iter()
        .flatten()
        .map(|argument| {
            let definition = argument[0]["def"].as_str().unwrap_or_default();
            (definition, argument[1].as_str().unwrap_or_default())
        })
        .collect()
}

fn is_a(record: &Value, class: &str) -> bool {
    let classes = record["!superclasses"].as_array();
    classes.into_iter().flatten().any(|name| name == class)
}
