//! What is wrong with a store, said once by both programs of a tool.

use qd_store::{Store, Trouble};
use std::env;

/// What a tool has said of the store before it became the program that compiles, a line each: a variable of the
/// environment.
pub(crate) const SAID: &str = "QD_SAID";

/// What was wrong with a store, as it was said.
#[derive(Debug, Default)]
pub struct Troubles {
    /// A line each.
    pub said: String,
    /// Whether the store that a team shares does not answer: nobody is to wait for it again.
    pub is_unreachable: bool,
}

/// Prints what is wrong with a store, as a tool's warnings, but what has been said.
pub fn print_troubles(tool: &str, store: &Store) -> Troubles {
    store.flush();
    let mut all = Troubles {
        said: env::var(SAID).unwrap_or_default(),
        is_unreachable: false,
    };
    for trouble in store.troubles() {
        all.is_unreachable |= matches!(trouble, Trouble::Unreachable(..));
        let line = trouble.to_string();
        if !all.said.lines().any(|known| known == line) {
            eprintln!("{tool}: warning: {line}");
            all.said += &format!("{line}\n");
        }
    }
    all
}
