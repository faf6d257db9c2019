//! How values are combined: a kind, or any associative function as a region.

use super::{Builder, V};
use crate::{
    attributes::{self, Kind, names},
    clone::Mapping,
    ir::{Block, Context, InsertionPoint, Op, OpExt, Value, context_of},
    ops,
};
use melior::ir::{
    Attribute, Location, Operation, RegionLike, Type, ValueLike,
    attribute::{ArrayAttribute, TypeAttribute},
};
use std::rc::Rc;

/// A combining function over K scalars, as an op carries it.
#[derive(Clone)]
pub struct Combiner<'c> {
    context: &'c Context,
    types: Vec<Type<'c>>,
    form: Form<'c>,
    /// What a kind's results are rounded to, each.
    rounds: Option<Type<'c>>,
}

#[derive(Clone)]
enum Form<'c> {
    Kind(Kind),
    Region {
        block: Block<'c>,
        identities: Vec<Attribute<'c>>,
    },
    Function {
        function: Rc<Function<'c>>,
        identities: Vec<Attribute<'c>>,
    },
}

/// `left ∘ right`, written with the builder.
type Function<'c> =
    dyn for<'b> Fn(&'b Builder<'c>, &[V<'b, 'c>], &[V<'b, 'c>]) -> Vec<V<'b, 'c>> + 'c;

/// Attributes of an op, and its region.
type Carried<'c> = (Vec<(&'static str, Attribute<'c>)>, melior::ir::Region<'c>);

impl<'c> Combiner<'c> {
    /// A kind, on one scalar.
    pub fn kind(context: &'c Context, kind: Kind, r#type: Type<'c>) -> Self {
        Self {
            context,
            types: vec![r#type],
            form: Form::Kind(kind),
            rounds: None,
        }
    }

    /// A function on scalars in algorithms: associative, with these identities,
    /// its left operand the lower index. It may use no value but its operands.
    /// Identities are [`Builder::int_attribute`]s or
    /// [`Builder::float_attribute`]s, whose types are the scalars'.
    pub fn function<F>(context: &'c Context, identities: Vec<Attribute<'c>>, function: F) -> Self
    where
        F: for<'b> Fn(&'b Builder<'c>, &[V<'b, 'c>], &[V<'b, 'c>]) -> Vec<V<'b, 'c>> + 'c,
    {
        Self {
            context,
            types: identities
                .iter()
                .map(|value| attributes::type_of(*value))
                .collect(),
            form: Form::Function {
                function: Rc::new(function),
                identities,
            },
            rounds: None,
        }
    }

    /// The combiner of a verified op that combines scalars of these types.
    pub fn of(op: Op<'c>, types: &[Type<'c>]) -> Self {
        let form = match op.attr("kind").and_then(Kind::of) {
            Some(kind) => Form::Kind(kind),
            None => Form::Region {
                block: op.body().expect("a verified combiner"),
                identities: op
                    .attr("identities")
                    .map(attributes::elements)
                    .unwrap_or_default(),
            },
        };
        Self {
            context: context_of(op),
            types: types.to_vec(),
            form,
            rounds: op
                .attr(names::ROUNDS)
                .and_then(|rounds| TypeAttribute::try_from(rounds).ok())
                .map(|rounds| rounds.value()),
        }
    }

    /// The same kind on a wider float, with each result rounded to the narrower one.
    pub fn rounding(self, wide: Type<'c>, to: Type<'c>) -> Self {
        Self {
            types: vec![wide],
            rounds: Some(to),
            ..self
        }
    }

    /// The combiner of a verified subgroup or block op.
    pub fn of_simt(op: Op<'c>) -> Self {
        let types: Vec<_> = op.result_values().iter().map(|v| v.r#type()).collect();
        Self::of(op, &types)
    }

    /// The scalars' types.
    pub fn types(&self) -> &[Type<'c>] {
        &self.types
    }

    /// Its kind, unless it is a region.
    pub fn as_kind(&self) -> Option<Kind> {
        match self.form {
            Form::Kind(kind) => Some(kind),
            Form::Region { .. } | Form::Function { .. } => None,
        }
    }

    /// Whether it is known to commute: true of every kind, and false of a
    /// region.
    pub fn is_commutative(&self) -> bool {
        self.as_kind().is_some()
    }

    /// The identities, as attributes: the result of an empty input.
    pub fn identity_attributes(&self) -> Vec<Attribute<'c>> {
        match &self.form {
            Form::Kind(kind) => vec![kind.identity(self.context, self.types[0])],
            Form::Region { identities, .. } | Form::Function { identities, .. } => {
                identities.clone()
            }
        }
    }

    /// Neutral values, which leave a combination unchanged, as attributes; see
    /// [`Kind::neutral`].
    pub fn neutral_attributes(&self) -> Vec<Attribute<'c>> {
        match self.form {
            Form::Kind(kind) => vec![kind.neutral(self.context, self.types[0])],
            _ => self.identity_attributes(),
        }
    }

    /// Neutral values that leave even the sign of a zero unchanged, as attributes: −0 for
    /// a sum of floats.
    pub fn exact_neutral_attributes(&self) -> Vec<Attribute<'c>> {
        let r#type = self.types[0];
        match self.form {
            Form::Kind(Kind::Add) if crate::ir::is_float(r#type) => {
                vec![attributes::float_constant(self.context, r#type, -0.0)]
            }
            _ => self.neutral_attributes(),
        }
    }

    /// Whether the identities are neutral values.
    pub fn identity_is_neutral(&self) -> bool {
        self.identity_attributes() == self.neutral_attributes()
    }

    /// The identities, as constants.
    pub fn identity<'b>(&self, b: &'b Builder<'c>) -> Vec<V<'b, 'c>> {
        self.constants(b, self.identity_attributes())
    }

    /// Neutral values, as constants.
    pub fn neutral<'b>(&self, b: &'b Builder<'c>) -> Vec<V<'b, 'c>> {
        self.constants(b, self.neutral_attributes())
    }

    /// The neutral values of [`Self::exact_neutral_attributes`], as constants.
    pub fn exact_neutral<'b>(&self, b: &'b Builder<'c>) -> Vec<V<'b, 'c>> {
        self.constants(b, self.exact_neutral_attributes())
    }

    fn constants<'b>(&self, b: &'b Builder<'c>, values: Vec<Attribute<'c>>) -> Vec<V<'b, 'c>> {
        let typed = values.into_iter().zip(&self.types);
        typed
            .map(|(value, r#type)| b.constant(value, *r#type))
            .collect()
    }

    /// `left ∘ right`, inlined: `left` is the lower index.
    pub fn apply<'b>(
        &self,
        b: &'b Builder<'c>,
        left: &[V<'b, 'c>],
        right: &[V<'b, 'c>],
    ) -> Vec<V<'b, 'c>> {
        match &self.form {
            Form::Kind(kind) => {
                let float = crate::ir::is_float(self.types[0]);
                let name = match kind {
                    Kind::Add if float => "arith.addf",
                    Kind::Add => "arith.addi",
                    Kind::Mul if float => "arith.mulf",
                    Kind::Mul => "arith.muli",
                    Kind::MinSi => "arith.minsi",
                    Kind::MinUi => "arith.minui",
                    Kind::MinNumF => "arith.minnumf",
                    Kind::MaxSi => "arith.maxsi",
                    Kind::MaxUi => "arith.maxui",
                    Kind::MaxNumF => "arith.maxnumf",
                    Kind::And => "arith.andi",
                    Kind::Or => "arith.ori",
                    Kind::Xor => "arith.xori",
                };
                let result = b.result(name, &[left[0], right[0]], self.types[0], &[]);
                let rounded = self.rounds.map(|to| {
                    let narrow = b.result("arith.truncf", &[result], to, &[]);
                    b.result("arith.extf", &[narrow], self.types[0], &[])
                });
                vec![rounded.unwrap_or(result)]
            }
            Form::Region { block, .. } => {
                let values: Vec<Value<'c>> = left.iter().chain(right).map(|v| v.value()).collect();
                let results = Mapping::new().inline(*block, &values, b.insertion_point());
                b.vs(&results)
            }
            Form::Function { function, .. } => function(b, left, right),
        }
    }

    /// What was combined with `own`, an integer, without it; none where the kind is not
    /// [invertible](attributes::INVERTIBLE_KINDS).
    pub fn without<'b>(&self, combined: V<'b, 'c>, own: V<'b, 'c>) -> Option<V<'b, 'c>> {
        match self.as_kind()? {
            Kind::Add => Some(combined - own),
            Kind::Xor => Some(combined ^ own),
            _ => None,
        }
    }

    /// Builds an op of the given name that carries this combiner.
    pub fn build(
        &self,
        name: &str,
        location: Location<'c>,
        operands: &[Value<'c>],
    ) -> Operation<'c> {
        let (named, region) = self.carried(location);
        crate::ir::build(name, location, operands, &self.types, &named, vec![region])
    }

    /// The combiner on an op: attributes, and a region that is empty for a kind.
    pub(super) fn carried(&self, location: Location<'c>) -> Carried<'c> {
        let region = melior::ir::Region::new();
        let mut named = Vec::new();
        match &self.form {
            Form::Kind(kind) if self.rounds.is_none() => {
                named.push(("kind", kind.attribute(self.context)));
            }
            _ => {
                let identities = self.identity_attributes();
                let identities = ArrayAttribute::new(self.context, &identities);
                named.push(("identities", identities.into()));
                region.append_block(self.block(location));
            }
        }
        (named, region)
    }

    /// A block that takes both operands and yields their combination.
    fn block(&self, location: Location<'c>) -> melior::ir::Block<'c> {
        let operands = [self.types.as_slice(), &self.types].concat();
        let block = crate::ir::new_block(&operands, location);
        // Safety: the block outlives its use here and is then owned by an op.
        let at: Block<'c> = unsafe { Block::from_raw(block.to_raw()) };
        let b = Builder::new(self.context, location, InsertionPoint::End(at));
        let arguments = b.vs(&crate::ir::arguments(at));
        let (left, right) = arguments.split_at(self.types.len());
        let combined: Vec<_> = self
            .apply(&b, left, right)
            .iter()
            .map(|v| v.value())
            .collect();
        b.op(ops::Yield::NAME, &combined, &[], &[]);
        block
    }
}
