//! Values that a builder creates only once: constants and thread ids.
//!
//! Every number in a kernel's arithmetic is a constant, so a body that is built
//! step by step holds one for each. Removing duplicates by `canonicalize` costs
//! more than not building them.

use crate::ir::Value;
use melior::ir::{Type, TypeLike};
use std::collections::HashMap;

/// The key of such a value: its type, the op, and the number if it is a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Which(usize, &'static str, i64);

impl Which {
    pub fn new(r#type: Type<'_>, op: &'static str, number: i64) -> Self {
        Self(r#type.to_raw().ptr as usize, op, number)
    }
}

/// The values that may be used where the builder inserts: those of the block, and
/// of the blocks around it.
pub(super) struct Known<'c> {
    /// Outermost first.
    scopes: Vec<HashMap<Which, Value<'c>>>,
}

impl Default for Known<'_> {
    fn default() -> Self {
        Self {
            scopes: vec![HashMap::new()],
        }
    }
}

impl<'c> Known<'c> {
    /// Begins a block within the one at hand.
    pub fn enter(&mut self) {
        self.scopes.push(HashMap::new());
    }

    /// Ends it.
    pub fn leave(&mut self) {
        self.scopes.pop();
    }

    pub fn get(&self, which: &Which) -> Option<Value<'c>> {
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|scope| scope.get(which)).copied()
    }

    /// Remembers a value that was just made.
    pub fn add(&mut self, which: Which, value: Value<'c>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(which, value);
        }
    }
}
