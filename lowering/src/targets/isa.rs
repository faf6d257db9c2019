//! The forms of ops on a target.
//!
//! A [`Form`] is one way in which a target executes an op with its own instructions,
//! with the values, combiners and clusters for which it can. The forms of a target are
//! declared next to its conversion (`forms.rs` of each), and its row of capabilities
//! refers to them. Expansion keeps ops that have a form, conversions take the first form
//! that fits, and an op that fits none is an error that lists the forms.

use qd_dialects::{
    attributes::{self, Kind},
    interfaces::Collective,
    ir::{Op, OpExt, bit_width, is_float},
    melior::ir::{Type, TypeLike, ValueLike},
};
use std::fmt;

/// The scalar type of an operand or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// An integer of so many bits.
    Int(u32),
    /// A float of so many bits.
    Float(u32),
}

impl Scalar {
    /// The scalar that a type is; none for others.
    pub fn of(r#type: Type<'_>) -> Option<Self> {
        match (is_float(r#type), r#type.is_integer()) {
            (true, _) => Some(Self::Float(bit_width(r#type))),
            (_, true) => Some(Self::Int(bit_width(r#type))),
            _ => None,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Int(bits) => write!(f, "i{bits}"),
            Self::Float(bits) => write!(f, "f{bits}"),
        }
    }
}

/// The properties of an op that determine which forms it can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Primitive {
    /// The values that it combines, moves or is a function of; none if one of them
    /// is not a scalar.
    pub values: Option<Vec<Scalar>>,
    /// How it combines them, if by a kind.
    pub kind: Option<Kind>,
    /// Lanes in a cluster.
    pub cluster: u32,
    /// Lanes in a subgroup.
    pub wave: u32,
    /// Bits of each value that matter, if the op limits them.
    pub bits: Option<u32>,
}

impl Primitive {
    /// The properties of an op in a body for subgroups of `wave` lanes.
    pub fn of(op: Op<'_>, wave: u32) -> Self {
        let mut operands = op.operand_values();
        // Operands after these say where a value comes from.
        operands.truncate(op.result_count().max(1));
        let values = operands.iter().map(|value| Scalar::of(value.r#type()));
        let int = |name| op.attr(name).and_then(attributes::int);
        let log2 = Collective::of(op).and_then(|collective| collective.log2_cluster_size);
        Self {
            values: values.collect(),
            kind: op.attr("kind").and_then(Kind::of),
            cluster: log2.map_or(wave, |log2| 1 << log2),
            wave,
            bits: int("bits").and_then(|bits| u32::try_from(bits).ok()),
        }
    }
}

/// One way in which a target executes an op.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    /// The op, by full name.
    pub op: &'static str,
    /// As the target's documentation calls it, such as `redux.sync`.
    pub name: &'static str,
    /// Types that the values may have; empty: any.
    values: &'static [Scalar],
    /// Kinds that may combine them; empty: any combiner.
    kinds: &'static [Kind],
    /// Whether a cluster must be the whole subgroup.
    is_of_subgroup: bool,
    /// How many bits of the values may count, at most.
    most_bits: Option<u32>,
    /// The feature that a target of the family must have for it, by the family's name for it.
    feature: Option<&'static str>,
    /// Why it does what the op says, in a line.
    pub reason: &'static str,
}

impl Form {
    /// A form without restrictions.
    pub const fn of(op: &'static str, name: &'static str) -> Self {
        Self {
            op,
            name,
            values: &[],
            kinds: &[],
            is_of_subgroup: false,
            most_bits: None,
            feature: None,
            reason: "",
        }
    }

    /// It does what the op says, for this reason.
    pub const fn because(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }

    /// The same form for another op.
    pub const fn for_op(self, op: &'static str) -> Self {
        Self { op, ..self }
    }

    /// Only for values of these types.
    pub const fn on(self, values: &'static [Scalar]) -> Self {
        Self { values, ..self }
    }

    /// Only combined in one of these ways.
    pub const fn combining(self, kinds: &'static [Kind]) -> Self {
        Self { kinds, ..self }
    }

    /// Only where a cluster is the whole subgroup.
    pub const fn of_subgroup(self) -> Self {
        Self {
            is_of_subgroup: true,
            ..self
        }
    }

    /// Only where the op says that no more than so many bits of a value count.
    pub const fn up_to_bits(self, most: u32) -> Self {
        Self {
            most_bits: Some(most),
            ..self
        }
    }

    /// Only on targets of the family that have a feature.
    pub const fn with_feature(self, feature: &'static str) -> Self {
        Self {
            feature: Some(feature),
            ..self
        }
    }

    /// Whether a target with these features has the form.
    pub fn is_among(&self, features: &[&str]) -> bool {
        self.feature.is_none_or(|needed| features.contains(&needed))
    }

    /// Whether it applies to an op of its name with these properties.
    pub fn does(&self, primitive: &Primitive) -> bool {
        let values = primitive.values.as_deref();
        let takes = |values: &[Scalar]| values.iter().all(|value| self.values.contains(value));
        (self.values.is_empty() || values.is_some_and(takes))
            && (self.kinds.is_empty() || primitive.kind.is_some_and(|k| self.kinds.contains(&k)))
            && (!self.is_of_subgroup || primitive.cluster == primitive.wave)
            && self
                .most_bits
                .is_none_or(|most| primitive.bits.is_some_and(|bits| bits <= most))
    }
}

/// The form and what it applies to: `redux.sync of i32 by add or xor, of a whole subgroup`.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)?;
        if !self.values.is_empty() {
            write!(f, " of {}", any_of(self.values))?;
        }
        if !self.kinds.is_empty() {
            write!(f, " by {}", any_of(self.kinds))?;
        }
        if let Some(most) = self.most_bits {
            write!(f, ", for up to {most} bits")?;
        }
        if self.is_of_subgroup {
            f.write_str(", of a whole subgroup")?;
        }
        Ok(())
    }
}

fn any_of(items: &[impl ToString]) -> String {
    let items: Vec<_> = items.iter().map(ToString::to_string).collect();
    match items.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => items.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REDUX: Form = Form::of("qd.simt.reduce", "redux.sync")
        .on(&[Scalar::Int(32)])
        .combining(&[Kind::Add, Kind::Xor])
        .of_subgroup();

    fn sum() -> Primitive {
        Primitive {
            values: Some(vec![Scalar::Int(32)]),
            kind: Some(Kind::Add),
            cluster: 32,
            wave: 32,
            bits: None,
        }
    }

    #[test]
    fn each_condition_decides() {
        assert!(REDUX.does(&sum()));
        let values = Some(vec![Scalar::Float(32)]);
        assert!(!REDUX.does(&Primitive { values, ..sum() }));
        let values = Some(vec![Scalar::Int(32), Scalar::Int(64)]);
        assert!(!REDUX.does(&Primitive { values, ..sum() }));
        let values = None;
        assert!(!REDUX.does(&Primitive { values, ..sum() }));
        for kind in [None, Some(Kind::Mul)] {
            assert!(!REDUX.does(&Primitive { kind, ..sum() }));
        }
        assert!(!REDUX.does(&Primitive {
            cluster: 8,
            ..sum()
        }));
        assert!(REDUX.does(&Primitive {
            cluster: 8,
            wave: 8,
            ..sum()
        }));
    }

    #[test]
    fn bits_that_nobody_limits_are_too_many() {
        let ballots = Form::of("qd.simt.match_any", "vote.sync.ballot").up_to_bits(16);
        for (bits, fits) in [(None, false), (Some(16), true), (Some(17), false)] {
            assert_eq!(ballots.does(&Primitive { bits, ..sum() }), fits, "{bits:?}");
        }
    }

    #[test]
    fn a_feature_decides_for_a_target() {
        let clustered = Form::of("qd.simt.reduce", "x").with_feature("Clustered");
        assert!(clustered.is_among(&["Int8", "Clustered"]));
        assert!(!clustered.is_among(&["Int8"]));
        assert!(REDUX.is_among(&[]));
    }

    #[test]
    fn a_form_says_for_what_it_is_there() {
        assert_eq!(
            REDUX.to_string(),
            "redux.sync of i32 by add or xor, of a whole subgroup"
        );
    }
}
