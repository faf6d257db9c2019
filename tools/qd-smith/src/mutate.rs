//! Mutants: valid texts, bytecode and artifacts with random changes.
//!
//! The compiler must either accept one, or report one error with a location, and
//! must not crash.

use crate::{
    job::{Done, Finding, Kind},
    worker::stage,
};
use fastrand::Rng;
use qd_artifact::Artifact;
use qd_conformance::open;
use qd_dialects::ops::Yield;
use qd_dialects::{ir::Context, serialize::bytecode};
use qd_frontend::{CompileOptions, Diagnostic, Diagnostics, Parsed, Source, compile_text};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What mutants are compiled for.
const TARGETS: &[&str] = &[
    "cpu",
    "cpu,wave=4",
    "nvptx:sm_90",
    "vulkan:1.3,subgroup=8",
    "vulkan:1.3,subgroup=32",
];

/// Words of the implementation, which the input must not be answered with unless it
/// has them itself.
const INTERNAL: &[&str] = &[
    "unrealized_conversion_cast",
    "LLVMTranslationDialectInterface",
    "LLVM ERROR",
    "UNKNOWN SSA",
    "panicked",
    "LLVM Translation failed",
];

/// What upstream's verifier says of an input in words of its own, and `mlir-opt` as well:
/// `docs/rationale/limits.md`.
const UPSTREAM: &[&str] = &["block with no terminator, has"];

/// One rejected text in so many goes through the program as well, which takes longer.
const EVERY: u64 = 64;

/// Tokens that mean something, to be put where they do not.
const TOKENS: &[&str] = &[
    "-1",
    "0",
    "1",
    "3",
    "64",
    "65537",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "0xFFFFFFFFFFFFFFFF",
    "i1",
    "i8",
    "i32",
    "i64",
    "f32",
    "f64",
    "index",
    "bf16",
    "vector<4xf32>",
    "memref<?xi32>",
    "memref<i32>",
    "memref<0xi32>",
    "memref<*xi32>",
    "memref<?x?xi32, strided<[?, 1]>>",
    "tensor<4xi32>",
    "none",
    "()",
    "{}",
    "[]",
    "<>",
    "\"\"",
    "@main",
    "%0",
    "^bb0",
    "loc(unknown)",
    "unit",
    "true",
    "arith.constant",
    "func.call",
    "scf.yield",
    Yield::NAME,
    "memref.alloc()",
    "dense<0>",
];

/// Mutates the texts of a folder.
pub struct Mutator {
    texts: Vec<String>,
}

impl Mutator {
    /// The files below a folder.
    pub fn new(corpus: &Path) -> Result<Self, String> {
        let mut paths = Vec::new();
        collect(corpus, &mut paths).map_err(|e| format!("{}: {e}", corpus.display()))?;
        paths.sort();
        let mut texts = Vec::new();
        for path in &paths {
            let text = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
            let text = String::from_utf8_lossy(&text);
            texts.extend(text.split("// -----").map(uncommented));
        }
        texts.retain(|text| !text.trim().is_empty() && text.len() < 20_000);
        match texts.is_empty() {
            true => Err(format!("{}: no .mlir files", corpus.display())),
            false => Ok(Self { texts }),
        }
    }

    /// The mutant of a seed, and what the compiler makes of it.
    pub fn try_seed(&self, seed: u64) -> Done {
        let mut random = Rng::with_seed(seed);
        let text = &self.texts[random.usize(0..self.texts.len())];
        let target = TARGETS[random.usize(0..TARGETS.len())];
        match random.usize(0..10) {
            0 => try_bytecode(text, &mut random),
            1 => try_artifact(text, &mut random),
            _ => {
                let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
                for _ in 0..random.usize(1..4) {
                    self.mutate(&mut lines, &mut random);
                }
                let text = lines.join("\n");
                let mut done = try_text(&text, target);
                if done.is_rejected && seed.is_multiple_of(EVERY) {
                    done.findings.extend(try_program(&text, target));
                }
                done
            }
        }
    }

    fn mutate(&self, lines: &mut Vec<String>, random: &mut Rng) {
        if lines.is_empty() {
            return;
        }
        let at = random.usize(0..lines.len());
        match random.usize(0..8) {
            0 => drop(lines.remove(at)),
            1 => {
                let again = lines[at].clone();
                let to = random.usize(0..=lines.len());
                lines.insert(to, again);
            }
            2 => {
                let other = &self.texts[random.usize(0..self.texts.len())];
                let other: Vec<&str> = other.lines().collect();
                lines.insert(at, other[random.usize(0..other.len())].to_string());
            }
            3 => {
                let with = random.usize(0..lines.len());
                lines.swap(at, with);
            }
            4 => {
                let bytes: Vec<char> = lines[at].chars().collect();
                if !bytes.is_empty() {
                    let from = random.usize(0..bytes.len());
                    let to = random.usize(from..=bytes.len().min(from + 6));
                    let kept = bytes[..from].iter().chain(&bytes[to..]);
                    lines[at] = kept.collect();
                }
            }
            _ => lines[at] = retoken(&lines[at], random),
        }
    }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|e| e == "mlir") {
            paths.push(path);
        }
    }
    Ok(())
}

/// Without lines that are comments: they say how a test is run.
fn uncommented(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A line with one of its tokens replaced.
fn retoken(line: &str, random: &mut Rng) -> String {
    let is_part = |c: char| c.is_alphanumeric() || "_.%@#".contains(c);
    let mut tokens: Vec<String> = Vec::new();
    let mut last = false;
    for c in line.chars() {
        let part = is_part(c);
        match tokens.last_mut() {
            Some(token) if part && last => token.push(c),
            _ => tokens.push(c.to_string()),
        }
        last = part;
    }
    let words: Vec<usize> = (0..tokens.len())
        .filter(|i| !tokens[*i].trim().is_empty())
        .collect();
    if words.is_empty() {
        return line.to_string();
    }
    let at = words[random.usize(0..words.len())];
    tokens[at] = match random.usize(0..3) {
        0 => tokens[words[random.usize(0..words.len())]].clone(),
        _ => TOKENS[random.usize(0..TOKENS.len())].to_string(),
    };
    tokens.concat()
}

/// Compiles a text for a target.
pub fn try_text(text: &str, target: &str) -> Done {
    stage(format!("parsing\n{text}"));
    let mut done = Done {
        is_rejected: true,
        ..Done::default()
    };
    let mut report = |kind, message: String| {
        done.findings.push(Finding {
            kind,
            target: target.into(),
            message,
            input: text.into(),
        });
    };
    let context = qd_frontend::lazy_context();
    let compile = || {
        let mut parsed = parsed(&context, text)?;
        stage(format!("compilation for {target}\n{text}"));
        let targets = [target.parse()?];
        parsed.compile(&targets, &CompileOptions::default(), &mut |_| ())
    };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(compile)) {
        Err(_) => report(Kind::Crash, "a panic in the compilation".into()),
        Ok(Ok(_)) => done.is_rejected = false,
        Ok(Err(diagnostics)) => {
            for diagnostic in &*diagnostics {
                judge(diagnostic, text, &mut report);
            }
        }
    }
    done
}

fn parsed<'c>(context: &'c Context, text: &str) -> Result<Parsed<'c>, Diagnostics> {
    Parsed::new(context, &Source::text("mutant", text), &mut |_| ())
}

/// What is wrong with how an error of an input is said.
fn judge(error: &Diagnostic, input: &str, report: &mut impl FnMut(Kind, String)) {
    let message = &error.message;
    let is_upstreams = UPSTREAM.iter().any(|words| message.starts_with(words));
    let is_said =
        |word: &&&str| !is_upstreams && message.contains(**word) && !input.contains(**word);
    if let Some(word) = INTERNAL.iter().find(is_said) {
        let kind = if *word == "panicked" {
            Kind::Crash
        } else {
            Kind::Message
        };
        report(kind, message.clone());
    } else if error.at.is_none() && !input.contains("loc(unknown)") {
        report(Kind::Message, format!("no place: {message}"));
    }
}

/// The program that compiles, which lies beside this one.
pub fn program() -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|e| format!("where this program is: {e}"))?;
    let path = here.with_file_name("qd-translate");
    match path.exists() {
        true => Ok(path),
        false => Err(format!(
            "{}: not there; mutants need it: cargo build -p qd-translate",
            path.display()
        )),
    }
}

/// What the program does with a text that has an error: it says so, exits with 1, and
/// leaves no file.
fn try_program(text: &str, target: &str) -> Vec<Finding> {
    stage(format!("qd-translate for {target}\n{text}"));
    let run = || -> Result<Option<String>, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (input, output) = (folder.path().join("in.mlir"), folder.path().join("out"));
        fs::write(&input, text).map_err(|e| e.to_string())?;
        let ran = Command::new(program()?)
            .arg(&input)
            .args(["--target", target, "-o"])
            .arg(&output)
            .output()
            .map_err(|e| e.to_string())?;
        Ok(match ran.status.code() {
            Some(1) if output.exists() => Some("a file is left after an error".into()),
            Some(1) if ran.stderr.is_empty() => Some("an error that says nothing".into()),
            Some(1) => None,
            _ => Some(format!("of an error: {}", ran.status)),
        })
    };
    let message = run().unwrap_or_else(|error| Some(format!("qd-translate: {error}")));
    let finding = |message| Finding {
        kind: Kind::Output,
        target: target.into(),
        message,
        input: text.into(),
    };
    message.map(finding).into_iter().collect()
}

/// What [`try_bytecode`] is at when upstream's reader has the bytes.
pub const READING: &str = "reading bytecode";

/// A module's bytecode with bytes changed. Upstream's reader takes what it reads for
/// its own writer's, and writes where the bytes tell it to: see
/// `docs/rationale/limits.md`. So it is read and no more, and by a worker that ends
/// with it.
fn try_bytecode(text: &str, random: &mut Rng) -> Done {
    let mut done = Done {
        is_rejected: true,
        is_last: true,
        ..Done::default()
    };
    let context = qd_frontend::lazy_context();
    let parsed = parsed(&context, text).ok();
    let Some(mut bytes) = parsed.and_then(|parsed| bytecode(parsed.module())) else {
        return Done::default();
    };
    for _ in 0..random.usize(1..4) {
        damage(&mut bytes, random);
    }
    stage(format!("{READING}\n{}", hex(&bytes)));
    let source = Source::Bytecode(bytes.into());
    let Err(why) = Parsed::new(&context, &source, &mut |_| ()) else {
        done.is_rejected = false;
        return done;
    };
    if why.iter().any(|error| error.at.is_none()) {
        done.findings.push(Finding {
            kind: Kind::Message,
            target: String::new(),
            message: format!("no place in bytecode that is not read: {why}"),
            input: hex(source.bytes()),
        });
    }
    done
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("hex:{digits}")
}

fn damage(bytes: &mut Vec<u8>, random: &mut Rng) {
    if bytes.is_empty() {
        return;
    }
    let at = random.usize(0..bytes.len());
    match random.usize(0..4) {
        0 => bytes.truncate(at),
        1 => drop(bytes.remove(at)),
        2 => bytes[at] = random.u8(..),
        _ => bytes[at] ^= 1 << random.u8(0..8),
    }
}

/// An artifact with bytes changed, or with another plan and the right checksum.
fn try_artifact(text: &str, random: &mut Rng) -> Done {
    let Ok(artifact) = compile_text(text, "cpu") else {
        return Done::default();
    };
    let bytes = artifact.to_bytes();
    let mut mutant = bytes.clone();
    if random.bool() {
        damage(&mut mutant, random);
    } else {
        match replanned(&artifact, random) {
            Some(artifact) => mutant = artifact.to_bytes(),
            None => return Done::default(),
        }
    }
    stage(format!("loading an artifact\n{}", hex(&mutant)));
    let is_rejected = match Artifact::from_bytes(mutant.clone()) {
        Err(_) => true,
        Ok(artifact) => {
            let loaded = open("cpu", None).and_then(|device| device.load(&artifact));
            loaded.is_err()
        }
    };
    let mut done = Done {
        is_rejected,
        ..Done::default()
    };
    // Code that is damaged must not be taken for code that is not.
    let code = |bytes: &[u8]| {
        let artifact = Artifact::from_bytes(bytes.to_vec()).ok()?;
        let ids = artifact.modules.iter().map(|module| module.id());
        Some(ids.collect::<Vec<_>>())
    };
    if !is_rejected && code(&mutant) != code(&bytes) {
        done.findings.push(Finding {
            kind: Kind::Output,
            target: "cpu".into(),
            message: "an artifact with damaged code was loaded".into(),
            input: hex(&mutant),
        });
    }
    done
}

/// The artifact with one number of its plan replaced.
fn replanned(artifact: &Artifact, random: &mut Rng) -> Option<Artifact> {
    let mut plan = serde_json::to_value(artifact).ok()?;
    let mut count = 0;
    visit(&mut plan, &mut |_| count += 1);
    if count == 0 {
        return None;
    }
    let (at, mut i) = (random.usize(0..count), 0);
    let numbers = [0, 1, -1, 7, i64::MAX, i64::MIN, 1 << 32];
    let number = numbers[random.usize(0..numbers.len())];
    visit(&mut plan, &mut |value| {
        if i == at {
            *value = number.into();
        }
        i += 1;
    });
    let mut changed: Artifact = serde_json::from_value(plan).ok()?;
    for (module, of) in changed.modules.iter_mut().zip(&artifact.modules) {
        module.set_bytes(of.bytes().clone());
    }
    Some(changed)
}

fn visit(value: &mut serde_json::Value, number: &mut impl FnMut(&mut serde_json::Value)) {
    match value {
        serde_json::Value::Number(_) => number(value),
        serde_json::Value::Array(all) => all.iter_mut().for_each(|v| visit(v, number)),
        serde_json::Value::Object(all) => all.values_mut().for_each(|v| visit(v, number)),
        _ => {}
    }
}
