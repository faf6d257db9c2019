//! The definitions, as TableGen's records.

use serde_json::Value;
use std::{path::Path, process::Command};

/// What TableGen knows, by name.
pub struct Records(Value);

/// A record, with all others.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    all: &'a Records,
    value: &'a Value,
}

/// What `ins`, `outs` and `region` list: each with its name.
pub type Listed<'a> = Vec<(Record<'a>, &'a str)>;

impl Records {
    /// Reads `Qd.td` of a folder.
    pub fn read(prefix: &Path, folder: &Path) -> Result<Self, String> {
        let output = Command::new(prefix.join("bin/llvm-tblgen"))
            .arg("--dump-json")
            .arg(format!("-I{}", folder.display()))
            .arg(format!("-I{}", prefix.join("include").display()))
            .arg(folder.join("Qd.td"))
            .output()
            .map_err(|error| {
                format!(
                    "cannot run llvm-tblgen from {}: {error}; `cargo xtask setup` installs it",
                    prefix.display()
                )
            })?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let records = serde_json::from_slice(&output.stdout);
        records
            .map(Self)
            .map_err(|error| format!("llvm-tblgen prints no JSON: {error}"))
    }

    fn get(&self, name: &str) -> Record<'_> {
        Record {
            all: self,
            value: &self.0[name],
        }
    }

    /// The records of a class that are of our dialect, as `dialect`, a field of theirs, says; in the
    /// order of their names.
    pub fn ours(&self, class: &str, dialect: &str) -> Vec<Record<'_>> {
        let names = self.0["!instanceof"][class].as_array();
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        let mut ours: Vec<Record> = names
            .map(|name| self.get(name))
            .filter(|record| {
                record
                    .field(dialect)
                    .is_some_and(|d| d.text("name") == "qd")
            })
            .collect();
        ours.sort_by_key(|record| record.name());
        ours
    }
}

impl<'a> Record<'a> {
    /// Its own name.
    pub fn name(self) -> &'a str {
        self.text("!name")
    }

    /// A field that is a string; empty if it is not there.
    pub fn text(self, field: &str) -> &'a str {
        self.value[field].as_str().unwrap_or_default()
    }

    /// The record that a field refers to.
    pub fn field(self, field: &str) -> Option<Record<'a>> {
        let name = self.value[field]["def"].as_str()?;
        Some(self.all.get(name))
    }

    /// The records that a field lists.
    pub fn list(self, field: &str) -> Vec<Record<'a>> {
        let listed = self.value[field].as_array().into_iter().flatten();
        let names = listed.filter_map(|item| item["def"].as_str());
        names.map(|name| self.all.get(name)).collect()
    }

    /// The arguments of a field that is a DAG.
    pub fn listed(self, field: &str) -> Listed<'a> {
        let arguments = self.value[field]["args"].as_array().into_iter().flatten();
        arguments
            .map(|argument| {
                let record = argument[0]["def"].as_str().unwrap_or_default();
                let name = argument[1].as_str().unwrap_or_default();
                (self.all.get(record), name)
            })
            .collect()
    }

    /// The class that it is directly of.
    pub fn class(self) -> &'a str {
        let classes = self.value["!superclasses"].as_array();
        let last = classes.and_then(|classes| classes.last()?.as_str());
        last.unwrap_or_default()
    }

    /// Whether it is of a class.
    pub fn is_a(self, class: &str) -> bool {
        let classes = self.value["!superclasses"].as_array();
        classes.into_iter().flatten().any(|name| name == class)
    }
}
