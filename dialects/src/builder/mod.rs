//! The kernel builder: Rust in which a kernel body reads like a kernel.
//!
//! A [`Builder`] inserts at one place; a [`V`] is a value with operators. Loops
//! and branches take closures.
//!
//! ```no_run
//! # use qd_dialects::builder::*;
//! # fn body<'b, 'c>(b: &'b Builder<'c>, input: V<'b, 'c>, out: V<'b, 'c>, n: V<'b, 'c>) {
//! b.phase("scale", b.index(64), 256, || {
//!     let i = b.block_id() * b.block_dim() + b.thread_id();
//!     b.if_(i.lt(n), || out.set(i, input.at(i) * input.at(i)));
//! });
//! # }
//! ```
//!
//! Integers compare, divide and shift as unsigned unless the method says
//! signed: what they hold in kernels are sizes and indices.

mod combiner;
mod control;
mod memory;
mod simt;
mod value;

pub use combiner::Combiner;
pub use control::Values;
pub use value::V;

use crate::{
    attributes,
    ir::{self, Context, InsertionPoint, Op, OpExt, Value},
};
use melior::ir::{
    Attribute, Location, Operation, Type, attribute::IntegerAttribute, r#type::IntegerType,
};
use std::cell::Cell;

/// Builds IR at one insertion point.
pub struct Builder<'c> {
    context: &'c Context,
    location: Cell<Location<'c>>,
    at: Cell<InsertionPoint<'c>>,
}

impl<'c> Builder<'c> {
    /// A builder that inserts at `at`; its operations carry `location`.
    pub fn new(context: &'c Context, location: Location<'c>, at: InsertionPoint<'c>) -> Self {
        Self {
            context,
            location: Cell::new(location),
            at: Cell::new(at),
        }
    }

    /// A builder that inserts before `op`, with its location.
    pub fn before(op: Op<'c>) -> Self {
        use melior::ir::operation::OperationLike;
        Self::new(
            ir::context_of(op),
            op.location(),
            InsertionPoint::Before(op),
        )
    }

    /// The context.
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// The location new operations carry.
    pub fn location(&self) -> Location<'c> {
        self.location.get()
    }

    /// Where new operations go.
    pub fn insertion_point(&self) -> InsertionPoint<'c> {
        self.at.get()
    }

    /// Runs `body` with another insertion point.
    pub fn at<R>(&self, point: InsertionPoint<'c>, body: impl FnOnce() -> R) -> R {
        let before = self.at.replace(point);
        let result = body();
        self.at.set(before);
        result
    }

    /// Inserts a detached operation.
    pub fn insert(&self, op: impl Into<Operation<'c>>) -> Op<'c> {
        self.at.get().insert(op.into())
    }

    /// Builds and inserts an operation by name.
    pub fn op(
        &self,
        name: &str,
        operands: &[Value<'c>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> Op<'c> {
        self.insert(ir::build(
            name,
            self.location(),
            operands,
            results,
            attributes,
            Vec::new(),
        ))
    }

    /// Wraps a value of the IR.
    pub fn v(&self, value: Value<'c>) -> V<'_, 'c> {
        V::new(self, value)
    }

    /// Wraps several.
    pub fn vs(&self, values: &[Value<'c>]) -> Vec<V<'_, 'c>> {
        values.iter().map(|v| self.v(*v)).collect()
    }

    /// The first result of a new operation.
    pub fn result(
        &self,
        name: &str,
        operands: &[V<'_, 'c>],
        r#type: Type<'c>,
        attributes: &[(&str, Attribute<'c>)],
    ) -> V<'_, 'c> {
        let operands: Vec<_> = operands.iter().map(|v| v.value()).collect();
        self.v(self
            .op(name, &operands, &[r#type], attributes)
            .first_result())
    }

    // Types.

    /// `index`.
    pub fn index_type(&self) -> Type<'c> {
        Type::index(self.context)
    }

    /// A signless integer.
    pub fn int_type(&self, width: u32) -> Type<'c> {
        IntegerType::new(self.context, width).into()
    }

    /// A memref of one dynamic dimension.
    pub fn buffer_type(&self, element: Type<'c>) -> Type<'c> {
        Type::parse(self.context, &format!("memref<?x{element}>")).expect("a scalar element")
    }

    // Constants.

    /// A constant from an attribute of its type.
    pub fn constant(&self, value: Attribute<'c>, r#type: Type<'c>) -> V<'_, 'c> {
        self.result("arith.constant", &[], r#type, &[("value", value)])
    }

    /// An integer or index constant.
    pub fn int(&self, r#type: Type<'c>, value: i64) -> V<'_, 'c> {
        self.constant(IntegerAttribute::new(r#type, value).into(), r#type)
    }

    /// A constant of type `index`.
    pub fn index(&self, value: i64) -> V<'_, 'c> {
        self.int(self.index_type(), value)
    }

    /// A constant of type `i32`.
    pub fn i32(&self, value: i32) -> V<'_, 'c> {
        self.int(self.int_type(32), value.into())
    }

    /// A constant of type `i64`.
    pub fn i64(&self, value: i64) -> V<'_, 'c> {
        self.int(self.int_type(64), value)
    }

    /// A constant of type `i1`.
    pub fn bool(&self, value: bool) -> V<'_, 'c> {
        self.int(self.int_type(1), value.into())
    }

    /// 0 of any scalar type.
    pub fn zero(&self, r#type: Type<'c>) -> V<'_, 'c> {
        self.scalar(r#type, 0)
    }

    /// A small integer as a constant of any scalar type.
    pub fn scalar(&self, r#type: Type<'c>, value: i64) -> V<'_, 'c> {
        if ir::is_float(r#type) {
            let value = attributes::float_constant(self.context, r#type, value as f64);
            self.constant(value, r#type)
        } else {
            self.int(r#type, value)
        }
    }
}
