//! The items of a text's top level.

use super::words::{Words, end_of_string};
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A kernel.
    Kernel,
    /// A function.
    Function,
    /// A global memref.
    Global,
    /// An alias of an attribute or a type.
    Alias,
}

/// The words that begin items.
const HEADS: [(&str, Kind); 3] = [
    ("qd.grid.kernel", Kind::Kernel),
    ("func.func", Kind::Function),
    ("memref.global", Kind::Global),
];

/// A symbol or an alias of the top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// `@name`, or `#name` or `!name` of an alias.
    pub name: Arc<str>,
    /// Its words, a word a line.
    pub text: Arc<str>,
    /// Where it is.
    pub words: Range<usize>,
    /// What may be other items' names in it, each once, in the order of their first mention. Names
    /// of no items are among them.
    pub names: Arc<[Arc<str>]>,
    /// How many of those are in its text.
    named: usize,
}

type Around = Option<(Range<usize>, Range<usize>)>;

/// Items by how their texts begin, with their names: of those that begin alike the last.
type Known<'a> = HashMap<&'a [u8], &'a Item>;

/// Cuts the words of a text. None if it holds more than items, in a `module` or without one. What is known of an
/// earlier text's items is taken from there.
pub fn cut(words: &Words, before: &[Item]) -> Option<(Around, Vec<Item>)> {
    let known = before.iter().map(|item| (beginning(&item.text), item));
    let known = known.collect();
    let mut around = None;
    let mut items = Vec::new();
    let mut at = 0;
    while at < words.count() {
        if is_module(words.word(at)) {
            // The only symbol there is.
            let has_symbols = items.iter().any(|item: &Item| item.kind != Kind::Alias);
            if around.is_some() || has_symbols {
                return None;
            }
            let begin = at..begin_of_body(words, at)?;
            let end = end_of_body(words, begin.end)?;
            let inside = items_in(words, begin.end..end, 1, &known)?;
            // An alias is known everywhere, but stands outside.
            if inside.iter().any(|item| item.kind == Kind::Alias) {
                return None;
            }
            items.extend(inside);
            let next = end_of_item(words, end + 1, words.count(), 0);
            around = Some((begin, end..next));
            at = next;
        } else {
            let end = end_of_item(words, at + 1, words.count(), 0);
            let item = item(words, at..end, 0, &known)?;
            // A module that is not the only symbol would have to be named.
            if around.is_some() && item.kind != Kind::Alias {
                return None;
            }
            items.push(item);
            at = end;
        }
    }
    let mut names = HashSet::with_capacity(items.len());
    let are_distinct = items.iter().all(|item| names.insert(&*item.name));
    if !are_distinct {
        return None;
    }
    add_prefixes(&mut items);
    if are_used_before(words, &items) {
        return None;
    }
    Some((around, items))
}

fn is_module(word: &str) -> bool {
    matches!(word, "module" | "builtin.module")
}

/// The word after the brace that opens the body of a module.
fn begin_of_body(words: &Words, module: usize) -> Option<usize> {
    let mut at = module + 1;
    let word = |at: usize| (at < words.count()).then(|| words.word(at));
    if word(at)?.starts_with('@') {
        at += 1;
    }
    if word(at)? == "attributes" {
        at += 1;
        // A dictionary in words of its own.
        if !word(at)?.starts_with('{') {
            return None;
        }
        at += 1;
        while word(at)? != "{" || words.depth(at) > 0 {
            at += 1;
        }
    }
    (word(at)? == "{").then_some(at + 1)
}

/// The brace that closes what was opened before a word.
fn end_of_body(words: &Words, begin: usize) -> Option<usize> {
    // It is the first word that begins within one brace and ends outside.
    let is_end = |at: &usize| {
        let next = match at + 1 < words.count() {
            true => words.depth(at + 1),
            false => 0,
        };
        next == 0
    };
    let end = (begin..words.count()).find(is_end)?;
    (words.word(end) == "}").then_some(end)
}

fn items_in(
    words: &Words,
    range: Range<usize>,
    depth: u32,
    known: &Known<'_>,
) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let end = end_of_item(words, at + 1, range.end, depth);
        items.push(item(words, at..end, depth, known)?);
        at = end;
    }
    Some(items)
}

/// Where the next item begins, from a word on.
fn end_of_item(words: &Words, from: usize, end: usize, depth: u32) -> usize {
    let begins = |at: usize| is_module(words.word(at)) || head(words, at).is_some();
    let is_head = |at: &usize| words.depth(*at) == depth && begins(*at);
    (from..end).find(is_head).unwrap_or(end)
}

/// What begins with a word: none if nothing that is known does.
fn head(words: &Words, at: usize) -> Option<Kind> {
    let word = words.word(at);
    if let Some((_, kind)) = HEADS.iter().find(|(head, _)| *head == word) {
        return Some(*kind);
    }
    is_alias(words, at).then_some(Kind::Alias)
}

/// Whether `#name =` or `!name =` stands here, and not in a type that is before an equals sign.
fn is_alias(words: &Words, at: usize) -> bool {
    let word = words.word(at);
    let Some(rest) = word.strip_prefix(['#', '!']) else {
        return false;
    };
    let after = rest.trim_start_matches(is_of_name);
    let is_defined = match after.is_empty() {
        true => at + 1 < words.count() && is_equals(words.word(at + 1)),
        false => is_equals(after),
    };
    let goes_on = at > 0 && {
        let before = words.word(at - 1);
        before.ends_with([':', '=', ',', '<', '(', '[', '{']) || before.ends_with("->")
    };
    is_defined && !goes_on
}

fn is_equals(text: &str) -> bool {
    text.starts_with('=') && !text.starts_with("==")
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-')
}

/// Of a symbol after its `@`.
fn is_of_symbol(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.')
}

/// As much of a text as is looked for.
fn beginning(text: &str) -> &[u8] {
    const LENGTH: usize = 64;
    &text.as_bytes()[..text.len().min(LENGTH)]
}

/// The item of these words. None if it is none that is known, or another begins within a word of it.
fn item(words: &Words, range: Range<usize>, depth: u32, known: &Known<'_>) -> Option<Item> {
    let kind = head(words, range.start)?;
    // What follows is of the text alone.
    let text = words.lines_of(range.clone());
    let known = known.get(beginning(&text));
    if let Some(known) = known.filter(|known| *known.text == *text) {
        let mut item = (*known).clone();
        item.words = range;
        if item.named < item.names.len() {
            item.names = item.names[..item.named].into();
        }
        return Some(item);
    }
    for at in range.clone() {
        let word = words.word(at);
        if at > range.start && words.depth(at) == depth {
            // Visibilities are strings, too.
            let is_string = word.starts_with('"') && at > range.start + 1;
            if is_string || is_other(words, at) {
                return None;
            }
        }
    }
    let names = names(words, range.clone())?;
    let name = match kind {
        Kind::Alias => names.iter().find(|name| !name.starts_with('@')),
        _ => names.iter().find(|name| name.starts_with('@')),
    };
    Some(Item {
        kind,
        name: Arc::clone(name?),
        text: text.into(),
        words: range,
        named: names.len(),
        names: names.into(),
    })
}

/// Whether a word of the top level begins something else, or something else begins within it: the
/// name of an operation, its results, a label, an alias.
fn is_other(words: &Words, at: usize) -> bool {
    let word = words.word(at);
    if word.starts_with(['%', '^']) {
        return true;
    }
    // `1#next = …`.
    let stem = word.trim_end_matches(is_of_name);
    let ends_in_alias = stem.len() > 1 && stem.ends_with(['#', '!']);
    let is_before_equals = at + 1 < words.count() && is_equals(words.word(at + 1));
    (ends_in_alias && is_before_equals) || names_operation(word)
}

/// Whether a word has `dialect.operation` outside of its brackets.
fn names_operation(word: &str) -> bool {
    let (mut depth, mut before, mut rest) = (0_usize, ' ', word);
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(length.max(first.len_utf8()));
        let begins_name = first.is_ascii_alphabetic() || first == '_';
        let is_sigil = matches!(before, '@' | '#' | '!' | '%' | '^');
        if depth == 0 && begins_name && !is_sigil && name.contains('.') {
            return true;
        }
        match first {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '>' if before != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = name.chars().next_back().unwrap_or(first);
        rest = after;
    }
    false
}

/// The symbols and aliases that words may mention, each once.
pub fn names(words: &Words, range: Range<usize>) -> Option<Vec<Arc<str>>> {
    let mut names = Vec::new();
    let mut seen = HashSet::new();
    for at in range {
        for name in names_in(words.word(at))? {
            if !seen.contains(&name) {
                seen.insert(Arc::clone(&name));
                names.push(name);
            }
        }
    }
    Some(names)
}

/// The symbols and aliases that a word may mention. None for a symbol that is spelt with escapes, and
/// for what follows the end of a module.
fn names_in(word: &str) -> Option<Vec<Arc<str>>> {
    let bytes = word.as_bytes();
    let mut names = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at + 1..];
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at)?,
            b'@' if rest.first() == Some(&b'"') => {
                let end = end_of_string(bytes, at + 1)?;
                let name = &word[at + 2..end];
                if name.contains('\\') {
                    return None;
                }
                names.push(format!("@{name}").into());
                at = end;
            }
            sigil @ (b'@' | b'#' | b'!') => {
                let is_of = match sigil {
                    b'@' => is_of_symbol,
                    _ => is_of_name,
                };
                let length = rest.iter().take_while(|byte| is_of(**byte as char)).count();
                if length > 0 {
                    names.push(word[at..=at + length].into());
                }
                at += length;
            }
            // The file's resources.
            b'{' if rest.starts_with(b"-#") => return None,
            _ => {}
        }
        at += 1;
    }
    Some(names)
}

/// Whether an alias stands after an item that may name it, which is an error but for locations. A slice has
/// its aliases first.
fn are_used_before(words: &Words, items: &[Item]) -> bool {
    let last = items.iter().rposition(|item| item.kind == Kind::Alias);
    let mut named: HashSet<&str> = HashSet::new();
    // Most often aliases stand first, and this is over soon.
    items[..last.map_or(0, |last| last + 1)].iter().any(|item| {
        let is_location = || {
            let mut words = item.words.clone().map(|at| words.word(at));
            words.any(|word| word.trim_start_matches('=').starts_with("loc("))
        };
        let is_late = item.kind == Kind::Alias && named.contains(&*item.name);
        let others = item.names.iter().filter(|name| **name != item.name);
        named.extend(others.map(|name| &**name));
        is_late && !is_location()
    })
}

/// Adds aliases whose names begin what was taken for a name: `#map-1` may be `#map` less 1.
fn add_prefixes(items: &mut [Item]) {
    let aliases = items.iter().filter(|item| item.kind == Kind::Alias);
    let aliases: Vec<Arc<str>> = aliases.map(|item| Arc::clone(&item.name)).collect();
    for item in items {
        let begins = |alias: &&Arc<str>| {
            let mut names = item.names.iter();
            names.any(|name| name.len() > alias.len() && name.starts_with(&***alias))
                && !item.names.contains(alias)
        };
        let more: Vec<Arc<str>> = aliases.iter().filter(begins).cloned().collect();
        if !more.is_empty() {
            item.names = item.names.iter().cloned().chain(more).collect();
        }
    }
}
