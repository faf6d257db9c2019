//! Whole kernels: what they take, and elementwise phases.

use super::{Builder, V};
use crate::{
    argument_attributes, attributes,
    ir::{self, Op},
};
use melior::ir::{
    Attribute, Location, Type,
    attribute::TypeAttribute,
    r#type::{FunctionType, MemRefType},
};

/// What a kernel takes: a buffer or a number, by name.
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

    /// A buffer of any shape. Of its extents, outermost first, the first alone may be unknown.
    pub fn array(name: &str, element: Type<'c>, shape: &[Option<u64>]) -> Self {
        let extents: Vec<_> = shape
            .iter()
            .map(|extent| extent.map_or(i64::MIN, |extent| extent as i64))
            .collect();
        Self::scalar(name, MemRefType::new(element, &extents, None, None).into())
    }

    /// A number, which the host gives with each launch.
    pub fn scalar(name: &str, r#type: Type<'c>) -> Self {
        Self {
            name: name.into(),
            r#type,
            says: Vec::new(),
        }
    }

    /// How its elements are read and shown, since MLIR's integers have no sign: `u32`, `bool`, `f16`.
    pub fn shown_as(mut self, dtype: &str) -> Self {
        self.says.push(("qd.dtype", Says::Text(dtype.into())));
        self
    }

    /// It is the kernel's own while it runs: what it holds before and afterwards is undefined.
    pub fn scratch(mut self) -> Self {
        self.says.push(("qd.scratch", Says::Unit));
        self
    }

    /// It may share memory with others that may.
    pub fn may_alias(mut self) -> Self {
        self.says.push(("qd.may_alias", Says::Unit));
        self
    }

    fn attributes(&self, b: &Builder<'c>) -> Vec<(&'static str, Attribute<'c>)> {
        let context = b.context();
        let says = self.says.iter().map(|(name, what)| match what {
            Says::Text(text) => (*name, attributes::string(context, text)),
            Says::Unit => (*name, attributes::unit(context)),
        });
        let name = ("qd.name", attributes::string(context, &self.name));
        std::iter::once(name).chain(says).collect()
    }
}

impl<'c> Builder<'c> {
    /// A kernel, whose body makes its phases and algorithms of its arguments. At the top of a module.
    pub fn kernel<const N: usize>(
        &self,
        name: &str,
        takes: [Parameter<'c>; N],
        body: impl for<'b> FnOnce([V<'b, 'c>; N]),
    ) -> Op<'c> {
        let types = takes.each_ref().map(|parameter| parameter.r#type);
        let function = FunctionType::new(self.context(), &types, &[]);
        let op = self.insert(ir::build(
            "qd.grid.kernel",
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
        self.fill(op, 0, |arguments| {
            let arguments = <[V<'_, 'c>; N]>::try_from(arguments);
            body(arguments.unwrap_or_else(|_| unreachable!("an argument a parameter")));
        });
        op
    }

    /// A phase that does something once for each index below `extent`, a number of the host's, and
    /// below what `count` holds on the device, if it is given.
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
            "qd.grid.for_each",
            self.location(),
            &operands,
            &[],
            &[("name", attributes::string(self.context(), name))],
            vec![self.region(&[self.index_type()])],
        ));
        self.fill(op, 0, |arguments| body(arguments[0]));
        op
    }

    /// What follows is at this place of a source, of a frontend's own: diagnostics name it.
    pub fn locate(&self, file: &str, line: usize, column: usize) {
        self.location
            .set(Location::new(self.context(), file, line, column));
    }
}
