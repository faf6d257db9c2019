//! Whole modules and kernels: parameters, and elementwise phases.

use super::{Builder, V, Values};
use crate::{
    argument_attributes, attributes,
    attributes::names,
    ir::{self, Block, Context, InsertionPoint, Op},
    ops::grid,
};
use melior::ir::{
    Attribute, BlockLike, Location, Module, Type,
    attribute::TypeAttribute,
    r#type::{FunctionType, MemRefType},
};
use std::fmt::Display;

/// A parameter of a kernel: a buffer or a number, by name.
#[derive(Clone, Debug)]
pub struct Parameter<'c> {
    name: String,
    r#type: Type<'c>,
    /// Attributes of the argument.
    says: Vec<(&'static str, Says)>,
}

#[derive(Clone, Debug)]
enum Says {
    Text(String),
    Unit,
}

impl<'c> Parameter<'c> {
    /// A buffer of any number of scalars.
    pub fn buffer(name: &str, element: Type<'c>) -> Self {
        Self::array(name, element, &[None])
    }

    /// A buffer of one scalar, of rank 0: a count, or a result.
    pub fn cell(name: &str, element: Type<'c>) -> Self {
        Self::array(name, element, &[])
    }

    /// A buffer of any shape. Of its extents, outermost first, only the first may be dynamic.
    pub fn array(name: &str, element: Type<'c>, shape: &[Option<u64>]) -> Self {
        let extents: Vec<_> = shape
            .iter()
            .map(|extent| extent.map_or(i64::MIN, |extent| extent as i64))
            .collect();
        Self::scalar(name, MemRefType::new(element, &extents, None, None).into())
    }

    /// A number, which the host passes with each launch.
    pub fn scalar(name: &str, r#type: Type<'c>) -> Self {
        Self {
            name: name.into(),
            r#type,
            says: Vec::new(),
        }
    }

    /// The type in which its elements are read and printed, since its integers are signless:
    /// `u32`, `bool`, `f16`.
    pub fn shown_as(mut self, dtype: impl Display) -> Self {
        self.says
            .push((names::DTYPE, Says::Text(dtype.to_string())));
        self
    }

    /// Marks it `qd.scratch`: its contents before and after the kernel are undefined.
    pub fn scratch(mut self) -> Self {
        self.says.push((names::SCRATCH, Says::Unit));
        self
    }

    /// Marks it `qd.may_alias`: it may overlap other arguments with that mark.
    pub fn may_alias(mut self) -> Self {
        self.says.push((names::MAY_ALIAS, Says::Unit));
        self
    }

    fn attributes(&self, b: &Builder<'c>) -> Vec<(&'static str, Attribute<'c>)> {
        let context = b.context();
        let says = self.says.iter().map(|(name, what)| match what {
            Says::Text(text) => (*name, attributes::string(context, text)),
            Says::Unit => (*name, attributes::unit(context)),
        });
        let name = (names::NAME, attributes::string(context, &self.name));
        std::iter::once(name).chain(says).collect()
    }
}

/// A kernel's parameters: an array where the number is known, a vector where it is not.
pub trait Parameters<'b, 'c> {
    /// As many values.
    type Values: Values<'b, 'c>;
    /// As a vector.
    fn to_vec(self) -> Vec<Parameter<'c>>;
}

impl<'b, 'c: 'b, const N: usize> Parameters<'b, 'c> for [Parameter<'c>; N] {
    type Values = [V<'b, 'c>; N];
    fn to_vec(self) -> Vec<Parameter<'c>> {
        self.into_iter().collect()
    }
}

impl<'b, 'c: 'b> Parameters<'b, 'c> for Vec<Parameter<'c>> {
    type Values = Vec<V<'b, 'c>>;
    fn to_vec(self) -> Vec<Parameter<'c>> {
        self
    }
}

impl<'c> Builder<'c> {
    /// A module that is written from its top: kernels, and the functions that they call.
    pub fn module(context: &'c Context, write: impl FnOnce(&Self)) -> Module<'c> {
        let nowhere = Location::unknown(context);
        let module = Module::new(nowhere);
        // Safety: the block is the module's, which is there as long as the builder.
        let top = unsafe { Block::from_raw(module.body().to_raw()) };
        write(&Self::new(context, nowhere, InsertionPoint::End(top)));
        module
    }

    /// A kernel, whose body makes phases and algorithms of its arguments. At the top of a module.
    pub fn kernel<'b, P: Parameters<'b, 'c>>(
        &'b self,
        name: &str,
        takes: P,
        body: impl FnOnce(P::Values),
    ) -> Op<'c> {
        let takes = takes.to_vec();
        let types: Vec<_> = takes.iter().map(|parameter| parameter.r#type).collect();
        let function = FunctionType::new(self.context(), &types, &[]);
        let op = self.insert(ir::build(
            grid::Kernel::NAME,
            self.location(),
            &[],
            &[],
            &[
                ("sym_name", attributes::string(self.context(), name)),
                ("function_type", TypeAttribute::new(function.into()).into()),
            ],
            vec![self.region(&types)],
        ));
        for (i, parameter) in takes.iter().enumerate() {
            for (name, value) in parameter.attributes(self) {
                argument_attributes::set(op, i, name, Some(value));
            }
        }
        self.fill(op, 0, |arguments| body(Values::from_vec(arguments)));
        op
    }

    /// A phase that runs its body once for each index below `extent`, which the host evaluates, and
    /// below the count in `count` on the device, if given.
    pub fn for_each<'b>(
        &'b self,
        name: &str,
        extent: V<'b, 'c>,
        count: Option<V<'b, 'c>>,
        body: impl FnOnce(V<'b, 'c>),
    ) -> Op<'c> {
        let operands: Vec<_> = [Some(extent), count]
            .iter()
            .flatten()
            .map(|v| v.value())
            .collect();
        let op = self.insert(ir::build(
            grid::ForEach::NAME,
            self.location(),
            &operands,
            &[],
            &[("name", attributes::string(self.context(), name))],
            vec![self.region(&[self.index_type()])],
        ));
        self.fill(op, 0, |arguments| body(arguments[0]));
        op
    }

    /// Sets the source location of later ops, in any language: diagnostics name it. Lines and
    /// columns begin at 1.
    pub fn locate(&self, file: &str, line: usize, column: usize) {
        self.set_location(Location::new(self.context(), file, line, column));
    }

    /// Sets the location of later ops.
    pub fn set_location(&self, location: Location<'c>) {
        self.location.set(location);
    }
}
