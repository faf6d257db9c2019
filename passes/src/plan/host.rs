//! Expressions that the host evaluates before it launches anything, compared by
//! structure.
//!
//! An index expression is a sum of atoms with integer factors. An operation that
//! is neither a sum nor a product with a constant is an atom, and equal
//! operations on equal operands are the same atom. Atoms are sizes and offsets,
//! never negative.

use qd_dialects::ir::{Key, Op, OpExt, Value, ValueExt};
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

/// A sum of atoms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linear {
    factors: BTreeMap<usize, i64>,
    constant: i64,
}

impl Linear {
    /// A number.
    pub fn constant(constant: i64) -> Self {
        Self {
            factors: BTreeMap::new(),
            constant,
        }
    }

    fn atom(atom: usize) -> Self {
        Self {
            factors: BTreeMap::from([(atom, 1)]),
            constant: 0,
        }
    }

    /// Its value, if it has no atoms.
    pub fn as_constant(&self) -> Option<i64> {
        self.factors.is_empty().then_some(self.constant)
    }

    /// `self + factor · other`; nothing if numbers overflow.
    pub fn plus(&self, factor: i64, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum
            .constant
            .checked_add(factor.checked_mul(other.constant)?)?;
        for (atom, by) in &other.factors {
            let entry = sum.factors.entry(*atom).or_default();
            *entry = entry.checked_add(factor.checked_mul(*by)?)?;
        }
        sum.factors.retain(|_, by| *by != 0);
        Some(sum)
    }

    /// `factor · self`; nothing if numbers overflow.
    pub fn times(&self, factor: i64) -> Option<Self> {
        Self::default().plus(factor, self)
    }

    /// Whether it cannot be negative, whatever the atoms are.
    pub fn is_not_negative(&self) -> bool {
        self.constant >= 0 && self.factors.values().all(|by| *by >= 0)
    }
}

impl fmt::Display for Linear {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (atom, by) in &self.factors {
            write!(f, "{by}*#{atom}+")?;
        }
        write!(f, "{}", self.constant)
    }
}

/// Numbers host expressions.
#[derive(Default)]
pub struct Host {
    atoms: HashMap<String, usize>,
    known: HashMap<Key, Linear>,
}

impl Host {
    /// What an index or integer value is a sum of.
    pub fn linear(&mut self, value: Value) -> Linear {
        if let Some(known) = self.known.get(&value.key()) {
            return known.clone();
        }
        let linear = self
            .expand(value)
            .unwrap_or_else(|| self.atom(format!("{:?}", value.key())));
        self.known.insert(value.key(), linear.clone());
        linear
    }

    /// Whether two values are known to be equal.
    pub fn equal(&mut self, a: Value, b: Value) -> bool {
        self.linear(a) == self.linear(b)
    }

    fn atom(&mut self, text: String) -> Linear {
        let next = self.atoms.len();
        Linear::atom(*self.atoms.entry(text).or_insert(next))
    }

    fn expand(&mut self, value: Value) -> Option<Linear> {
        if let Some(constant) = value.constant_int() {
            return Some(Linear::constant(constant));
        }
        let op = value.defining_op()?;
        let operands = op.operand_values();
        match op.full_name() {
            "arith.addi" => {
                let (a, b) = (self.linear(operands[0]), self.linear(operands[1]));
                a.plus(1, &b)
            }
            "arith.subi" => {
                let (a, b) = (self.linear(operands[0]), self.linear(operands[1]));
                a.plus(-1, &b)
            }
            "arith.muli" => {
                let (a, b) = (self.linear(operands[0]), self.linear(operands[1]));
                match (a.as_constant(), b.as_constant()) {
                    (Some(a), _) => b.times(a),
                    (_, Some(b)) => a.times(b),
                    _ => None,
                }
            }
            "arith.index_cast" | "arith.index_castui" => Some(self.linear(operands[0])),
            _ => None,
        }
        .or_else(|| self.opaque(op, value))
    }

    /// An operation as an atom. Effect-free, as all of a kernel's arithmetic is.
    fn opaque(&mut self, op: Op, value: Value) -> Option<Linear> {
        use std::fmt::Write;
        if op.region_count() != 0 {
            return None;
        }
        let mut text = format!("{}.{}(", op.full_name(), value.result_number()?);
        for operand in op.operand_values() {
            let _ = write!(text, "{},", self.linear(operand));
        }
        for (name, attribute) in op.attributes() {
            let _ = write!(text, "{:?}={attribute},", name.as_string_ref().as_str());
        }
        Some(self.atom(text))
    }
}
