//! The forms of an op: those that MLIR's own verifier accepts.
//!
//! An op's definition has the number of operands and the attributes; whether a
//! cast takes given types is asked of MLIR, once for each form, by parsing an op
//! that has it.

use crate::{ods::OpDef, types::Ty};
use qd_dialects::ir::Context;
use qd_frontend::{Parsed, Source};
use std::collections::HashMap;

/// Knows the forms that have been asked for.
pub struct Forms {
    context: Context,
    known: HashMap<String, Vec<Vec<Ty>>>,
}

impl Default for Forms {
    fn default() -> Self {
        Self {
            context: qd_frontend::lazy_context(),
            known: HashMap::new(),
        }
    }
}

impl Forms {
    /// The types that the results of an op may have on operands of these types,
    /// with these attributes; empty if there is no such form. A cast has several.
    pub fn results(&mut self, op: &OpDef, operands: &[Ty], properties: &str) -> &[Vec<Ty>] {
        let key = format!("{} {operands:?} {properties}", op.name);
        if !self.known.contains_key(&key) {
            let mut found = candidates(op.results, operands);
            found.retain(|results| self.verifies(op, operands, results, properties));
            self.known.insert(key.clone(), found);
        }
        &self.known[&key]
    }

    fn verifies(&self, op: &OpDef, operands: &[Ty], results: &[Ty], properties: &str) -> bool {
        let parameters: Vec<_> = operands
            .iter()
            .enumerate()
            .map(|(i, ty)| format!("%a{i}: {ty}"))
            .collect();
        let names: Vec<_> = (0..operands.len()).map(|i| format!("%a{i}")).collect();
        let list = |types: &[Ty]| {
            let all: Vec<_> = types.iter().map(Ty::to_string).collect();
            all.join(", ")
        };
        let assigned = match results.len() {
            0 => String::new(),
            n => format!("%r:{n} = "),
        };
        let regions = match op.regions {
            0 => String::new(),
            n => format!("({})", vec!["{}"; n].join(", ")),
        };
        let properties = match properties {
            "" => String::new(),
            text => format!("<{{{text}}}>"),
        };
        let text = format!(
            "func.func private @f({}) {{ {assigned}\"{}\"({}) {properties} {regions} : ({}) -> ({}) return }}",
            parameters.join(", "),
            op.name,
            names.join(", "),
            list(operands),
            list(results),
        );
        // That a form is rejected is an answer, not an error.
        Parsed::new(&self.context, &Source::text("form", text), &mut |_| ()).is_ok()
    }
}

/// What an op's results may be: mostly its operands' types.
fn candidates(results: usize, operands: &[Ty]) -> Vec<Vec<Ty>> {
    let mut likely: Vec<Ty> = operands.to_vec();
    likely.extend(Ty::ALL);
    let mut seen = Vec::new();
    likely.retain(|ty| {
        !seen.contains(ty) && {
            seen.push(*ty);
            true
        }
    });
    match results {
        0 => vec![Vec::new()],
        1 => likely.into_iter().map(|ty| vec![ty]).collect(),
        2 => {
            let mut pairs = vec![operands.to_vec()];
            pairs.retain(|pair| pair.len() == 2);
            for first in &likely {
                pairs.extend([*first, Ty::I1].map(|second| vec![*first, second]));
            }
            pairs
        }
        // Several are of one type.
        many => likely.into_iter().map(|ty| vec![ty; many]).collect(),
    }
}
