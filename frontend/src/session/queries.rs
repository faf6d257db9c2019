//! The queries: text → symbols → a kernel with what it names.
//!
//! A value is plain data without places, so that it is equal, and nothing after it runs again, where
//! an edit only moved it. Each query has one argument, whose end is the end of its value: a session does
//! not grow. What comes of a kernel has more, and is in [`results`](super::results).

use super::results::Results;
use blake3::Hash;
use qd_artifact::Options;
use qd_lowering::Stages;
use qd_request::cut::{Cut, Kind, Words, closure};
use qd_store::Store;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Instant,
};

/// What queries need besides values.
#[salsa::db]
pub trait Db: salsa::Database {
    /// What other processes have compiled.
    fn store(&self) -> Option<&Store>;
    /// What came of kernels.
    fn results(&self) -> &Results;
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

/// A symbol or alias of the top level of a file. Its name is what it is known by after an edit.
#[salsa::tracked]
pub struct Symbol<'db> {
    #[returns(copy)]
    pub file: File,
    pub name: Arc<str>,
    /// Its words, a word a line.
    #[tracked]
    pub text: Arc<str>,
    #[tracked]
    pub names: Arc<[Arc<str>]>,
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
fn content(db: &dyn Db, file: File) -> Option<Words> {
    Some(words(db, file).as_ref()?.content())
}

/// The cut of the words. Numbers of words in it are those of the file; places in it are not. What an edit left as it
/// was is not looked at again.
#[salsa::tracked(returns(ref))]
pub fn cut(db: &dyn Db, file: File) -> Option<Arc<Cut>> {
    let content = content(db, file).clone()?;
    let begin = Instant::now();
    let cut = db.results().cut(file, content);
    db.ran("cut", file.name(db), begin, Vec::new());
    Some(cut)
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
            let item = item.clone();
            Symbol::new(db, file, item.name, item.text, item.names, item.kind)
        })
        .collect()
}

#[salsa::tracked(returns(ref))]
fn around(db: &dyn Db, file: File) -> Option<(String, String, Vec<Arc<str>>)> {
    cut(db, file).as_ref()?.around()
}

#[salsa::tracked(returns(ref))]
fn numbers(db: &dyn Db, file: File) -> HashMap<Arc<str>, usize> {
    let each = symbols(db, file).iter().enumerate();
    each.map(|(i, symbol)| (Arc::clone(symbol.name(db)), i))
        .collect()
}

/// The kernels of a file.
#[salsa::tracked(returns(ref))]
pub fn kernels<'db>(db: &'db dyn Db, file: File) -> Vec<Symbol<'db>> {
    let all = symbols(db, file).iter().copied();
    all.filter(|symbol| symbol.kind(db) == Kind::Kernel)
        .collect()
}

/// What a symbol with all that it names is, by its text.
#[salsa::tracked(returns(copy))]
pub fn slice<'db>(db: &'db dyn Db, symbol: Symbol<'db>) -> Hash {
    let begin = Instant::now();
    let hash = blake3::hash(slice_text(db, symbol).as_bytes());
    db.ran("slice", symbol.name(db), begin, Vec::new());
    hash
}

/// A symbol with all that it names.
pub fn slice_text(db: &dyn Db, symbol: Symbol<'_>) -> String {
    let file = symbol.file(db);
    let root = numbers(db, file).get(symbol.name(db));
    sliced(db, file, root.copied().into_iter().collect())
}

/// What that is which no kernel names, by its text. None if there is no such thing.
#[salsa::tracked(returns(copy))]
pub fn rest(db: &dyn Db, file: File) -> Option<Hash> {
    let begin = Instant::now();
    let text = rest_text(db, file);
    db.ran("rest", file.name(db), begin, Vec::new());
    Some(blake3::hash(text?.as_bytes()))
}

/// What no kernel names; all of a file without kernels. None if there is no such thing.
pub fn rest_text(db: &dyn Db, file: File) -> Option<String> {
    let all = symbols(db, file);
    let numbers = numbers(db, file);
    let number = |symbol: &Symbol<'_>| numbers.get(symbol.name(db)).copied();
    let kernels: Vec<usize> = kernels(db, file).iter().filter_map(number).collect();
    if kernels.is_empty() {
        let cut = cut(db, file).as_ref()?;
        return Some(cut.whole().text(cut.words()));
    }
    let reached = reached(db, file, kernels);
    let rest: Vec<usize> = (0..all.len()).filter(|i| !reached.contains(i)).collect();
    (!rest.is_empty()).then(|| sliced(db, file, rest))
}

fn reached(db: &dyn Db, file: File, roots: Vec<usize>) -> BTreeSet<usize> {
    let (all, numbers) = (symbols(db, file), numbers(db, file));
    let number = |name: &Arc<str>| numbers.get(name).copied();
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

/// The names of all that a kernel follows from, itself among them.
pub fn follows_from(db: &dyn Db, kernel: Symbol<'_>) -> Vec<String> {
    let file = kernel.file(db);
    let root = numbers(db, file).get(kernel.name(db));
    let reached = reached(db, file, root.copied().into_iter().collect());
    let name = |i: usize| symbols(db, file)[i].name(db).to_string();
    reached.into_iter().map(name).collect()
}
