//! The queries: text → symbols → a kernel with what it names → its artifact for a target.
//!
//! A value is plain data without places, so that it is equal, and nothing after it runs again, where
//! an edit only moved it. Contexts of MLIR live inside `outcome`, one each.

use crate::stored::{Lowered, View, find_or_compile, lower};
use qd_artifact::{Options, TargetSpec};
use qd_lowering::Stages;
use qd_request::{
    Outcome,
    cut::{Cut, Kind, Words, closure},
};
use qd_store::Store;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Instant,
};

/// What no kernel names, in the log.
pub const REST: &str = "the rest";

/// What queries need besides values.
#[salsa::db]
pub trait Db: salsa::Database {
    /// What other processes have compiled.
    fn store(&self) -> Option<&Store>;
    /// Notes that a query ran, of what, since when, and what stages it had.
    fn ran(&self, query: &'static str, of: &str, since: Instant, stages: Stages);
}

/// A source.
#[salsa::input(debug)]
pub struct File {
    pub name: String,
    pub text: Arc<str>,
}

/// All else that an artifact follows from.
#[salsa::input(singleton)]
pub struct Settings {
    pub options: Options,
}

#[salsa::interned]
pub struct Target<'db> {
    pub spec: TargetSpec,
}

/// What to look at, for a target.
#[salsa::interned]
pub struct Wanted<'db> {
    pub spec: TargetSpec,
    pub view: View,
}

/// A symbol or alias of the top level. Its name is what it is known by after an edit.
#[salsa::tracked]
pub struct Symbol<'db> {
    pub name: String,
    /// Its words, a word a line.
    #[tracked]
    pub text: String,
    #[tracked]
    pub names: Vec<String>,
    #[tracked]
    #[returns(copy)]
    pub kind: Kind,
}

/// Where the words of a file are, and those words alone, a word a line. None for a text that is no MLIR.
#[salsa::tracked(returns(ref))]
pub fn words(db: &dyn Db, file: File) -> Option<Words> {
    let begin = Instant::now();
    let words = Words::of(file.text(db).clone());
    db.ran("words", file.name(db), begin, Vec::new());
    words
}

/// The words without their places, which an edit of comments or whitespace does not change.
#[salsa::tracked(returns(ref))]
fn content(db: &dyn Db, file: File) -> Option<Arc<str>> {
    let words = words(db, file).as_ref()?;
    let all = 0..words.count();
    Some(words.joined(&[all]).into())
}

/// The cut of the words. Numbers of words in it are those of the file; places in it are not.
#[salsa::tracked(returns(ref))]
pub fn cut(db: &dyn Db, file: File) -> Option<Cut> {
    let content = content(db, file).clone()?;
    let begin = Instant::now();
    let cut = Cut::of(content);
    db.ran("cut", file.name(db), begin, Vec::new());
    cut
}

/// In the order of the text; none of a text that is not cut.
#[salsa::tracked(returns(ref))]
pub fn symbols<'db>(db: &'db dyn Db, file: File) -> Vec<Symbol<'db>> {
    let Some(cut) = cut(db, file) else {
        return Vec::new();
    };
    let items = cut.items().unwrap_or_default().iter();
    items
        .map(|item| {
            let (name, names) = (item.name.clone(), item.names.clone());
            Symbol::new(db, name, cut.text(item), names, item.kind)
        })
        .collect()
}

#[salsa::tracked(returns(ref))]
fn around(db: &dyn Db, file: File) -> Option<(String, String, Vec<String>)> {
    cut(db, file).as_ref()?.around()
}

#[salsa::tracked(returns(ref))]
fn numbers(db: &dyn Db, file: File) -> HashMap<String, usize> {
    let each = symbols(db, file).iter().enumerate();
    each.map(|(i, symbol)| (symbol.name(db).clone(), i))
        .collect()
}

/// The kernels of a file.
#[salsa::tracked(returns(ref))]
pub fn kernels<'db>(db: &'db dyn Db, file: File) -> Vec<Symbol<'db>> {
    let all = symbols(db, file).iter().copied();
    all.filter(|symbol| symbol.kind(db) == Kind::Kernel)
        .collect()
}

/// A symbol with all that it names.
#[salsa::tracked(returns(ref))]
fn slice<'db>(db: &'db dyn Db, file: File, kernel: Symbol<'db>) -> String {
    let root = numbers(db, file).get(kernel.name(db));
    let begin = Instant::now();
    let slice = sliced(db, file, root.copied().into_iter().collect());
    db.ran("slice", kernel.name(db), begin, Vec::new());
    slice
}

/// What no kernel names; all of a file without kernels. None if that is nothing but aliases.
#[salsa::tracked(returns(ref))]
fn rest(db: &dyn Db, file: File) -> Option<String> {
    let all = symbols(db, file);
    let numbers = numbers(db, file);
    db.ran("rest", file.name(db), Instant::now(), Vec::new());
    let number = |symbol: &Symbol<'_>| numbers.get(symbol.name(db)).copied();
    let kernels: Vec<usize> = kernels(db, file).iter().filter_map(number).collect();
    if kernels.is_empty() {
        let cut = cut(db, file).as_ref()?;
        return Some(cut.whole().text(cut.words()));
    }
    let reached = reached(db, file, kernels);
    let rest: Vec<usize> = (0..all.len()).filter(|i| !reached.contains(i)).collect();
    let has_symbols = rest.iter().any(|i| all[*i].kind(db) != Kind::Alias);
    has_symbols.then(|| sliced(db, file, rest))
}

fn reached(db: &dyn Db, file: File, roots: Vec<usize>) -> BTreeSet<usize> {
    let (all, numbers) = (symbols(db, file), numbers(db, file));
    let number = |name: &String| numbers.get(name).copied();
    let around = around(db, file).iter().flat_map(|(_, _, names)| names);
    closure(roots.into_iter().chain(around.filter_map(number)), |i| {
        all[i].names(db).iter().filter_map(number).collect()
    })
}

/// As `Cut::slice` has it, from symbols that are looked at one by one.
fn sliced(db: &dyn Db, file: File, roots: Vec<usize>) -> String {
    let reached = reached(db, file, roots).into_iter();
    let reached: Vec<Symbol<'_>> = reached.map(|i| symbols(db, file)[i]).collect();
    let (aliases, others): (Vec<_>, Vec<_>) =
        reached.into_iter().partition(|s| s.kind(db) == Kind::Alias);
    let (begin, end, _) = around(db, file).clone().unwrap_or_default();
    let text = |all: Vec<Symbol<'_>>| -> String { all.iter().map(|s| &**s.text(db)).collect() };
    text(aliases) + &begin + &text(others) + &end
}

/// What comes of compiling a kernel.
#[salsa::tracked(returns(ref))]
pub fn outcome<'db>(
    db: &'db dyn Db,
    file: File,
    kernel: Symbol<'db>,
    target: Target<'db>,
) -> Arc<Outcome> {
    let name = kernel.name(db)[1..].to_owned();
    let text = slice(db, file, kernel);
    compiled(db, text, Some(name), target)
}

/// What comes of compiling what no kernel names.
#[salsa::tracked(returns(ref))]
pub fn outcome_of_rest<'db>(
    db: &'db dyn Db,
    file: File,
    target: Target<'db>,
) -> Option<Arc<Outcome>> {
    let text = rest(db, file).as_ref()?;
    Some(compiled(db, text, None, target))
}

fn compiled(db: &dyn Db, text: &str, kernel: Option<String>, target: Target<'_>) -> Arc<Outcome> {
    // A long query: not begun for a revision that is past.
    db.unwind_if_revision_cancelled();
    let options = Settings::get(db).options(db);
    let spec = target.spec(db);
    let name = kernel.as_deref().unwrap_or(REST);
    let of = format!("{name} for {spec}");
    let kernels = kernel.clone().map(|name| vec![name]);
    let begin = Instant::now();
    let (outcome, stages) = find_or_compile(text, kernels.as_deref(), spec, options, db.store());
    let query = match (&outcome.result, &stages) {
        (Err(_), _) => "failed",
        (Ok(_), Some(_)) => "compiled",
        (Ok(_), None) => "found",
    };
    db.ran(query, &of, begin, stages.unwrap_or_default());
    Arc::new(outcome)
}

/// What is to be seen of a kernel, as text.
#[salsa::tracked(returns(ref))]
pub fn lowered<'db>(
    db: &'db dyn Db,
    file: File,
    kernel: Symbol<'db>,
    wanted: Wanted<'db>,
) -> Arc<Lowered> {
    let name = kernel.name(db)[1..].to_owned();
    let text = slice(db, file, kernel);
    db.unwind_if_revision_cancelled();
    let begin = Instant::now();
    let (spec, view) = (wanted.spec(db), *wanted.view(db));
    let to = match view {
        View::Level(level) => level.name,
        View::Plan => "its plan",
    };
    let of = format!("{name} to {to} for {spec}");
    let options = Settings::get(db).options(db);
    let (lowered, stages) = lower(text, Some(&[name]), spec, options, view);
    let query = match lowered.result {
        Ok(_) => "lowered",
        Err(_) => "failed",
    };
    db.ran(query, &of, begin, stages);
    Arc::new(lowered)
}

/// The names of all that a kernel follows from, itself among them.
pub fn follows_from<'db>(db: &'db dyn Db, file: File, kernel: Symbol<'db>) -> Vec<String> {
    let root = numbers(db, file).get(kernel.name(db));
    let reached = reached(db, file, root.copied().into_iter().collect());
    let name = |i: usize| symbols(db, file)[i].name(db).clone();
    reached.into_iter().map(name).collect()
}
