//! Atomic loads and stores, which the dialect lacks: in the words of a module.
//!
//! An `OpAtomicOr` with 0 that does not release is an `OpAtomicLoad`, and an
//! `OpAtomicExchange` whose result nobody uses and that does not acquire is an
//! `OpAtomicStore`. They mean the same, but a device serves loads of one place at
//! once and updates one after the other, and look-back waits on loads.

use std::collections::{HashMap, HashSet};

/// Words before the first instruction.
const HEADER: usize = 5;

// Instructions, by their number.
const CONSTANT: u32 = 43;
const CONSTANT_NULL: u32 = 46;
const ATOMIC_LOAD: u32 = 227;
const ATOMIC_STORE: u32 = 228;
const ATOMIC_EXCHANGE: u32 = 229;
const ATOMIC_OR: u32 = 241;

// Memory semantics.
const ACQUIRE: u32 = 2;
const RELEASE: u32 = 4;
const ACQUIRE_RELEASE: u32 = 8;

/// The instructions of a module: each one's number and operands.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (first, _) = rest.split_first()?;
        let count = (first >> 16).max(1) as usize;
        let (instruction, behind) = rest.split_at_checked(count)?;
        rest = behind;
        Some((first & 0xFFFF, &instruction[1..]))
    })
}

/// The same module with loads and stores where it has what means the same.
pub fn with_loads_and_stores(words: Vec<u32>) -> Vec<u32> {
    let constants = constants(&words);
    let unused = unused_exchanges(&words);
    let orders = |semantics: &u32, bits: u32| {
        // Semantics that are no constant could be anything.
        constants.get(semantics).is_none_or(|value| value & bits != 0)
    };
    let mut new = words[..HEADER.min(words.len())].to_vec();
    for (number, operands) in instructions(&words) {
        match (number, operands) {
            (ATOMIC_OR, [kept @ .., value])
                if constants.get(value) == Some(&0)
                    && !orders(&kept[4], RELEASE | ACQUIRE_RELEASE) =>
            {
                push(&mut new, ATOMIC_LOAD, kept);
            }
            (ATOMIC_EXCHANGE, [_, result, kept @ ..])
                if unused.contains(result) && !orders(&kept[2], ACQUIRE | ACQUIRE_RELEASE) =>
            {
                push(&mut new, ATOMIC_STORE, kept);
            }
            _ => push(&mut new, number, operands),
        }
    }
    new
}

fn push(words: &mut Vec<u32>, number: u32, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | number);
    words.extend(operands);
}

/// Constants of which all words but the first are 0, by their id.
fn constants(words: &[u32]) -> HashMap<u32, u32> {
    let all = instructions(words).filter_map(|(number, operands)| match (number, operands) {
        (CONSTANT, [_, id, value, high @ ..]) => {
            high.iter().all(|word| *word == 0).then_some((*id, *value))
        }
        (CONSTANT_NULL, [_, id]) => Some((*id, 0)),
        _ => None,
    });
    all.collect()
}

/// Results of exchanges that are no operand of anything. A literal may look like
/// one, and then counts as a use.
fn unused_exchanges(words: &[u32]) -> HashSet<u32> {
    let mut unused: HashSet<u32> = instructions(words)
        .filter(|(number, _)| *number == ATOMIC_EXCHANGE)
        .filter_map(|(_, operands)| operands.get(1).copied())
        .collect();
    for (number, operands) in instructions(words) {
        let own = (number == ATOMIC_EXCHANGE).then_some(1);
        for (i, word) in operands.iter().enumerate() {
            if Some(i) != own {
                unused.remove(word);
            }
        }
    }
    unused
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module of these instructions; `%1` is a type, `%2` a pointer.
    fn module(instructions: &[(u32, &[u32])]) -> Vec<u32> {
        let mut words = vec![0; HEADER];
        for (number, operands) in instructions {
            push(&mut words, *number, operands);
        }
        words
    }

    const ZERO: (u32, &[u32]) = (CONSTANT, &[1, 100, 0]);
    const ONE: (u32, &[u32]) = (CONSTANT, &[1, 101, 1]);
    const ACQUIRES: (u32, &[u32]) = (CONSTANT, &[1, 102, 0x4000 | 0x40 | ACQUIRE]);
    const RELEASES: (u32, &[u32]) = (CONSTANT, &[1, 103, 0x2000 | 0x40 | RELEASE]);

    fn after(instructions: &[(u32, &[u32])]) -> Vec<u32> {
        let mut all = vec![ZERO, ONE, ACQUIRES, RELEASES];
        let constants = module(&all).len();
        all.extend(instructions);
        with_loads_and_stores(module(&all))[constants..].to_vec()
    }

    #[test]
    fn an_or_with_nothing_is_a_load() {
        let load = after(&[(ATOMIC_OR, &[1, 200, 2, 101, 102, 100])]);
        assert_eq!(load, [6 << 16 | ATOMIC_LOAD, 1, 200, 2, 101, 102]);
    }

    #[test]
    fn an_exchange_for_nobody_is_a_store() {
        let store = after(&[(ATOMIC_EXCHANGE, &[1, 200, 2, 101, 103, 101])]);
        assert_eq!(store, [5 << 16 | ATOMIC_STORE, 2, 101, 103, 101]);
    }

    #[test]
    fn what_a_load_or_a_store_cannot_do_stays() {
        let cases: [&[(u32, &[u32])]; 4] = [
            // Something is set.
            &[(ATOMIC_OR, &[1, 200, 2, 101, 102, 101])],
            &[(ATOMIC_OR, &[1, 200, 2, 101, 103, 100])],
            &[(ATOMIC_EXCHANGE, &[1, 200, 2, 101, 102, 101])],
            // Its result is used.
            &[
                (ATOMIC_EXCHANGE, &[1, 200, 2, 101, 103, 101]),
                (ATOMIC_OR, &[1, 201, 2, 101, 103, 200]),
            ],
        ];
        for instructions in cases {
            assert_eq!(after(instructions), module(instructions)[HEADER..]);
        }
    }
}
