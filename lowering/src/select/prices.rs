//! What was priced before, for other bodies and other modules.
//!
//! A price depends on the target, on its costs and on what an op is, and on nothing else of a module. So a process keeps
//! those by our own costs. An op with regions is known by itself alone, and in its module alone.

use super::price::{Candidate, Shape, Subject};
use qd_dialects::{
    ir::{Key, Op, OpExt},
    melior::ir::ValueLike,
};
use rustc_hash::FxHashMap as HashMap;
use std::{
    fmt::Write,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

/// What is priced, by what it costs depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Known {
    /// A term, in subgroups of so many lanes.
    Term(Shape, u32),
    /// An op of a signature, in blocks of so many threads and subgroups of so many lanes.
    Alike(String, i64, u32),
    /// An op with regions.
    Itself(Key, i64, u32),
}

impl Known {
    /// As what a subject is known.
    pub fn of(subject: &Subject<'_>) -> Self {
        match subject {
            Subject::Term(shape, wave) => Self::Term(shape.clone(), *wave),
            Subject::Op(op, threads, wave) => match signature(*op) {
                Some(signature) => Self::Alike(signature, *threads, *wave),
                None => Self::Itself(op.key(), *threads, *wave),
            },
        }
    }
}

/// For each target.
type Prices = HashMap<String, HashMap<Known, Vec<Candidate>>>;

fn prices() -> MutexGuard<'static, Prices> {
    static PRICES: LazyLock<Mutex<Prices>> = LazyLock::new(Mutex::default);
    PRICES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What of a target was priced before.
pub fn found<'k>(
    target: &str,
    asked: impl IntoIterator<Item = &'k Known>,
) -> Vec<(Known, Vec<Candidate>)> {
    let prices = prices();
    let Some(of_target) = prices.get(target) else {
        return Vec::new();
    };
    let asked = asked.into_iter();
    let found = asked.filter_map(|known| Some((known.clone(), of_target.get(known)?.clone())));
    found.collect()
}

/// Keeps what was priced.
pub fn keep(target: &str, priced: &[(Known, Vec<Candidate>)]) {
    let mut prices = prices();
    let of_target = prices.entry(target.to_owned()).or_default();
    let is_of_any_module = |known: &Known| !matches!(known, Known::Itself(..));
    let priced = priced.iter().filter(|(known, _)| is_of_any_module(known));
    of_target.extend(priced.cloned());
}

/// What an op without regions is, but for its operands; none of one with some.
fn signature(op: Op<'_>) -> Option<String> {
    if (0..op.region_count()).any(|region| op.region_block(region).is_some()) {
        return None;
    }
    let mut text = op.full_name().to_owned();
    for value in op.operand_values() {
        let _ = write!(text, " {}", value.r#type());
    }
    for (name, value) in op.attributes() {
        let _ = write!(text, " {:?}={value}", name.as_string_ref().as_str());
    }
    Some(text)
}
