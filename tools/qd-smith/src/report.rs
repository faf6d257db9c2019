//! Writes findings to files, one for each distinct failure.

use crate::{
    compare,
    job::{Finding, Kind},
    program::{Contents, Parameter, Program},
};
use qd_frontend::{Parsed, Source};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Examples of one thing that are kept.
const EXAMPLES: u64 = 3;

/// What was found, by what tells one thing from another.
pub struct Findings {
    folder: PathBuf,
    seen: BTreeMap<String, u64>,
    files: Vec<PathBuf>,
}

impl Finding {
    /// What tells it from others: its kind, and its words without names and numbers.
    pub fn key(&self) -> String {
        let target = self.target.split([',', ':']).next().unwrap_or_default();
        let line = self.message.lines().next().unwrap_or_default();
        let mut words = String::new();
        for c in line.chars().take(160) {
            match c {
                c if c.is_ascii_digit() => {
                    if !words.ends_with('#') {
                        words.push('#');
                    }
                }
                c => words.push(c),
            }
        }
        // What stands in quotes is a name.
        let parts: Vec<&str> = words.split('\'').step_by(2).collect();
        match self.kind {
            Kind::Difference => format!("{} on {target}", self.kind),
            _ => format!("{} on {target}: {}", self.kind, parts.join("…")),
        }
    }
}

impl Findings {
    /// Files go to this folder, which is made when there is one.
    pub fn new(folder: &Path) -> Result<Self, String> {
        Ok(Self {
            folder: folder.into(),
            seen: BTreeMap::new(),
            files: Vec::new(),
        })
    }

    /// How many findings there were, the same thing again included.
    pub fn len(&self) -> u64 {
        self.seen.values().sum()
    }

    /// The things that are wrong, and how often each was seen.
    pub fn by_key(&self) -> &BTreeMap<String, u64> {
        &self.seen
    }

    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Whether another example of this is worth shrinking and keeping.
    pub fn is_wanted(&self, finding: &Finding) -> bool {
        let seen = self.seen.get(&finding.key()).copied().unwrap_or(0);
        let most = match finding.kind {
            // Their words are all the same.
            Kind::Difference => 5 * EXAMPLES,
            _ => EXAMPLES,
        };
        seen < most
    }

    /// Counts what is not kept.
    pub fn count(&mut self, finding: &Finding) {
        *self.seen.entry(finding.key()).or_default() += 1;
    }

    fn write(&mut self, finding: &Finding, text: &str) -> Result<(), String> {
        self.count(finding);
        let name = format!("{:03}-{}.mlir", self.files.len() + 1, finding.kind);
        let path = self.folder.join(name);
        fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| format!("{}: {e}", path.display()))?;
        eprintln!("{}: {}", path.display(), one_line(&finding.message));
        self.files.push(path);
        Ok(())
    }

    /// Keeps a program as a FileCheck file.
    pub fn keep_program(
        &mut self,
        finding: &Finding,
        seed: u64,
        program: &Program,
    ) -> Result<(), String> {
        let wave = compare::wave_of(&finding.target).unwrap_or(32);
        let checks = if program.is_checked {
            compare::CHECKED
        } else {
            ""
        };
        let target = match finding.target.as_str() {
            "" => "cpu",
            target => target,
        };
        let arguments: Vec<String> = program
            .parameters
            .iter()
            .enumerate()
            .map(|(i, parameter)| format!("--arg '{i}={}'", given(program, parameter)))
            .collect();
        let arguments = arguments.join(" \\\n// RUN:   ");
        let printed: Vec<String> = (0..program.parameters.len())
            .filter(|i| program.parameters[*i].contents != Contents::Scratch)
            .map(|i| format!("--print {i}"))
            .collect();
        let printed = printed.join(" ");
        let text = format!(
            "// {} of qd-smith's kernel {seed} on {target}:\n{}\n\
             // RUN: qd-run %s --target={target}{checks} {arguments} {printed} > %t.target\n\
             // RUN: qd-run %s --interpret --wave={wave} {arguments} {printed} > %t.reference\n\
             // RUN: diff %t.reference %t.target\n\n{}",
            finding.kind,
            commented(&finding.message),
            pretty(&program.text()),
        );
        self.write(finding, &text)
    }

    /// Keeps a mutant.
    pub fn keep_text(&mut self, finding: &Finding, seed: u64) -> Result<(), String> {
        let text = format!(
            "// {} of qd-smith's mutant {seed} on {}:\n{}\n\
             // RUN: not qd-translate %s --target={} --emit=artifact -o %t 2>&1 | FileCheck %s\n\
             // CHECK: error:\n\n{}\n",
            finding.kind,
            finding.target,
            commented(&finding.message),
            finding.target,
            finding.input,
        );
        self.write(finding, &text)
    }
}

fn one_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn commented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("//   {line}")).collect();
    lines.join("\n")
}

/// An argument as qd-run's `--arg` takes it.
fn given(program: &Program, parameter: &Parameter) -> String {
    if let (Some((of, first)), Some(count)) = (program.part(parameter), parameter.length) {
        return format!("rows({of})[{first}:{}]", first + count);
    }
    let extents = parameter.length.iter().chain(&parameter.row);
    let extents: Vec<_> = extents.map(usize::to_string).collect();
    let length = match &extents[..] {
        [] => String::new(),
        some => format!("[{}]", some.join(", ")),
    };
    match parameter.contents {
        Contents::Constant(number) if parameter.length.is_none() => number.to_string(),
        Contents::Constant(number) => format!("const({number}){length}"),
        Contents::Scratch => format!("poison{length}"),
        _ => parameter.literals(),
    }
}

/// The module as people write it; as it is, if it does not parse.
pub fn pretty(text: &str) -> String {
    let context = qd_frontend::lazy_context();
    match Parsed::new(&context, &Source::text("program", text), &mut |_| ()) {
        Ok(parsed) => parsed.module().as_operation().to_string(),
        Err(_) => text.into(),
    }
}
