//! Attributes of a function's arguments, as upstream's functions and our kernels
//! keep them: an array with a dictionary for each argument, `arg_attrs`.

use crate::{
    attributes,
    ir::{Op, OpExt, arguments, context_of},
};
use melior::ir::{
    Attribute, Identifier,
    attribute::{ArrayAttribute, DictionaryAttribute},
};

const ALL: &str = "arg_attrs";

/// An attribute of an argument.
pub fn get<'c>(function: Op<'c>, argument: usize, name: &str) -> Option<Attribute<'c>> {
    dictionaries(function).get(argument)?.element_by_name(name)
}

/// Whether an argument carries an attribute.
pub fn has(function: Op, argument: usize, name: &str) -> bool {
    get(function, argument, name).is_some()
}

/// Gives an argument an attribute, or takes it away.
pub fn set<'c>(function: Op<'c>, argument: usize, name: &str, value: Option<Attribute<'c>>) {
    let context = context_of(function);
    let mut all = dictionaries(function);
    let count = function.body().map_or(0, |body| arguments(body).len());
    all.resize(count, DictionaryAttribute::new(context, &[]));
    let Some(old) = all.get(argument) else {
        return;
    };
    let mut named: Vec<_> = (0..old.len())
        .filter_map(|i| old.element(i).ok())
        .filter(|(known, _)| known.as_string_ref().as_str() != Ok(name))
        .collect();
    named.extend(value.map(|value| (Identifier::new(context, name), value)));
    all[argument] = DictionaryAttribute::new(context, &named);
    store(function, &all);
}

/// Gives arguments that were added behind the others no attributes, where the
/// others have some: there must be as many dictionaries as arguments.
pub fn extend(function: Op) {
    let mut all = dictionaries(function);
    if all.is_empty() {
        return;
    }
    let count = function.body().map_or(0, |body| arguments(body).len());
    all.resize(count, DictionaryAttribute::new(context_of(function), &[]));
    store(function, &all);
}

fn dictionaries<'c>(function: Op<'c>) -> Vec<DictionaryAttribute<'c>> {
    let all = function.attr(ALL).map(attributes::elements);
    all.unwrap_or_default()
        .into_iter()
        .filter_map(|one| DictionaryAttribute::try_from(one).ok())
        .collect()
}

fn store<'c>(function: Op<'c>, all: &[DictionaryAttribute<'c>]) {
    if all.iter().all(DictionaryAttribute::is_empty) {
        return function.remove_attr(ALL);
    }
    let all: Vec<Attribute> = all.iter().map(|one| (*one).into()).collect();
    function.set_attr(ALL, ArrayAttribute::new(context_of(function), &all).into());
}
