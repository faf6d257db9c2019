//! What an edit changed, by symbols: why something was compiled again.

use blake3::Hash;
use std::collections::BTreeMap;

/// The symbols and aliases of a file's top level, as they were once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols(BTreeMap<String, Hash>);

/// What an edit did to a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Added(String),
    /// It is there no more.
    Removed(String),
    /// Its text is another, comments and whitespace aside.
    Edited(String),
}

impl Change {
    /// Of which symbol.
    pub fn name(&self) -> &str {
        match self {
            Change::Added(name) | Change::Removed(name) | Change::Edited(name) => name,
        }
    }
}

impl Symbols {
    /// Of names and texts.
    pub(super) fn of<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let hashed = all.map(|(name, text)| (name.to_owned(), blake3::hash(text.as_bytes())));
        Self(hashed.collect())
    }

    /// What is otherwise in a later state: what was removed, then the others by name.
    pub fn changes(&self, later: &Self) -> Vec<Change> {
        let removed = self.0.keys().filter(|name| !later.0.contains_key(*name));
        let removed = removed.cloned().map(Change::Removed);
        let others = later
            .0
            .iter()
            .filter_map(|(name, hash)| match self.0.get(name) {
                None => Some(Change::Added(name.clone())),
                Some(before) if before != hash => Some(Change::Edited(name.clone())),
                Some(_) => None,
            });
        removed.chain(others).collect()
    }
}
