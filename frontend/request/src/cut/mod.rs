//! Splits a text into its top-level symbols without MLIR, and into slices: a kernel with everything
//! that it references.
//!
//! Only a text whose top level contains nothing but kernels, functions, globals and aliases is split,
//! each in its usual form: the words that begin one are known, and occur nowhere else on that level.
//! Any other text is [one slice](Cut::whole), which is correct as well, but is compiled as a whole.
//! Tests compare the result for every `.mlir` file of the repository with MLIR's parser.

mod items;
mod slice;
mod words;

pub use items::{Item, Kind};
pub use slice::{SLICE, Slice};
pub use words::{Place, Words};

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
    sync::Arc,
};

/// A text, cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    words: Words,
    /// What is around the items: `module {` and `}`.
    around: Option<(Range<usize>, Range<usize>)>,
    /// What that names.
    around_names: Vec<Arc<str>>,
    /// In the order of the text. None for a text that is not cut.
    items: Option<Vec<Item>>,
    /// The number of each item.
    numbers: HashMap<Arc<str>, usize>,
}

impl Cut {
    /// Cuts a text. None if it is no MLIR, by its strings and brackets.
    pub fn of(text: Arc<str>) -> Option<Self> {
        Some(Self::of_words(Words::of(text)?, None))
    }

    /// Cuts words. Of items that an earlier cut has, too, nothing is looked at again but their words.
    pub fn of_words(words: Words, before: Option<&Cut>) -> Self {
        let before = before.and_then(Cut::items).unwrap_or_default();
        let cut = items::cut(&words, before);
        let (around, items) = match cut {
            Some((around, items)) => (around, Some(items)),
            None => (None, None),
        };
        let around_words = around.iter().flat_map(|(begin, end)| [begin, end]);
        let around_names = around_words.flat_map(|range| items::names(&words, range.clone()));
        let around_names = around_names.flatten().collect();
        let each = items.iter().flatten().enumerate();
        let numbers = each.map(|(i, item)| (Arc::clone(&item.name), i)).collect();
        Self {
            words,
            around,
            around_names,
            items,
            numbers,
        }
    }

    /// Its words.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// Its top-level symbols and aliases, in their order. None if it is not cut.
    pub fn items(&self) -> Option<&[Item]> {
        self.items.as_deref()
    }

    /// All of it.
    pub fn whole(&self) -> Slice {
        let all = 0..self.words.count();
        Slice::of(vec![all])
    }

    /// The words around the items: before them, and after; and what those may name.
    pub fn around(&self) -> Option<(String, String, Vec<Arc<str>>)> {
        let (begin, end) = self.around.clone()?;
        let text = |range| self.words.joined(&[range]);
        Some((text(begin), text(end), self.around_names.clone()))
    }

    /// The number of the item of a name.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// The items and all that they name, directly or not, and what is named around them: their numbers,
    /// in order.
    pub fn closure(&self, roots: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let items = self.items().unwrap_or_default();
        let number = |name: &Arc<str>| self.number(name);
        let always = self.around_names.iter().filter_map(number);
        closure(roots.into_iter().chain(always), |i| {
            items[i].names.iter().filter_map(number).collect()
        })
    }

    /// What no kernel names, with what it names itself; none if that is nothing, or there is no kernel.
    pub fn rest(&self) -> Option<Slice> {
        let items = self.items()?;
        let is_kernel = |i: &usize| items[*i].kind == Kind::Kernel;
        let kernels: Vec<usize> = (0..items.len()).filter(is_kernel).collect();
        let reached = self.closure(kernels.iter().copied());
        let rest: Vec<usize> = (0..items.len()).filter(|i| !reached.contains(i)).collect();
        let is_some = !rest.is_empty() && !kernels.is_empty();
        is_some.then(|| self.slice(&self.closure(rest)))
    }

    /// These items, with what is around them.
    pub fn slice(&self, items: &BTreeSet<usize>) -> Slice {
        let all = self.items().unwrap_or_default();
        let is_alias = |i: &&usize| all[**i].kind == Kind::Alias;
        let range = |i: &usize| all[*i].words.clone();
        let mut ranges: Vec<_> = items.iter().filter(is_alias).map(range).collect();
        ranges.extend(self.around.as_ref().map(|(begin, _)| begin.clone()));
        ranges.extend(items.iter().filter(|i| !is_alias(i)).map(range));
        ranges.extend(self.around.as_ref().map(|(_, end)| end.clone()));
        Slice::of(ranges)
    }
}

/// What is reached from roots.
pub fn closure(
    roots: impl IntoIterator<Item = usize>,
    mut named: impl FnMut(usize) -> Vec<usize>,
) -> BTreeSet<usize> {
    let mut next: Vec<usize> = roots.into_iter().collect();
    let mut reached: BTreeSet<usize> = next.iter().copied().collect();
    while let Some(i) = next.pop() {
        next.extend(named(i).into_iter().filter(|i| reached.insert(*i)));
    }
    reached
}
