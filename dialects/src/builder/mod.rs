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
//!
//! Whole kernels begin with [`Builder::module`] and [`Builder::kernel`]. An op that has no method here is
//! built by name: `b.result("math.sqrt", &[x], x.ty(), &[])`. The builder checks nothing: the module is
//! verified when it is read, and errors have the locations that [`Builder::locate`] was given.

mod algo;
mod combiner;
mod control;
mod kernel;
mod known;
mod memory;
mod simt;
mod value;

pub use crate::attributes::Kind;
pub use crate::ops::Algorithm;
pub use algo::{Order, Workspace};
pub use combiner::Combiner;
pub use control::Values;
pub use kernel::{Parameter, Parameters};
pub use value::{Operand, V};

use crate::{
    attributes,
    ir::{self, Block, Context, InsertionPoint, Op, OpExt, Value},
};
use known::{Known, Which};
use melior::ir::{
    Attribute, Location, Operation, Type, attribute::IntegerAttribute, r#type::IntegerType,
};
use std::cell::{Cell, RefCell};

/// Builds IR at one insertion point.
pub struct Builder<'c> {
    context: &'c Context,
    location: Cell<Location<'c>>,
    at: Cell<InsertionPoint<'c>>,
    known: Option<RefCell<Known<'c>>>,
}

impl<'c> Builder<'c> {
    /// A builder that inserts at `at`; its operations carry `location`.
    pub fn new(context: &'c Context, location: Location<'c>, at: InsertionPoint<'c>) -> Self {
        Self {
            context,
            location: Cell::new(location),
            at: Cell::new(at),
            known: None,
        }
    }

    /// The same, but a builder that reuses constants where they dominate. Operations
    /// that it inserts must not be moved while it is used.
    pub fn remembering(self) -> Self {
        Self {
            known: Some(RefCell::default()),
            ..self
        }
    }

    /// A builder that inserts before `op`, with its location.
    #[track_caller]
    pub fn before(op: Op<'c>) -> Self {
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
        // Nothing is known of what is there.
        let known = self.known.as_ref().map(RefCell::take);
        let before = self.at.replace(point);
        let result = body();
        self.at.set(before);
        if let (Some(known), Some(to)) = (known, &self.known) {
            to.replace(known);
        }
        result
    }

    /// Runs `body` at the end of an empty block of an operation that will be inserted
    /// where the builder is.
    fn within<R>(&self, block: Block<'c>, body: impl FnOnce() -> R) -> R {
        if let Some(known) = &self.known {
            known.borrow_mut().enter();
        }
        let before = self.at.replace(InsertionPoint::End(block));
        let result = body();
        self.at.set(before);
        if let Some(known) = &self.known {
            known.borrow_mut().leave();
        }
        result
    }

    /// The result of `make`, unless it has been made before.
    fn once<'b>(
        &'b self,
        r#type: Type<'c>,
        op: &'static str,
        number: i64,
        make: impl FnOnce() -> V<'b, 'c>,
    ) -> V<'b, 'c> {
        let Some(known) = &self.known else {
            return make();
        };
        let which = Which::new(r#type, op, number);
        if let Some(value) = known.borrow().get(&which) {
            return self.v(value);
        }
        let made = make();
        known.borrow_mut().add(which, made.value());
        made
    }

    /// Inserts a detached operation.
    #[track_caller]
    pub fn insert(&self, op: impl Into<Operation<'c>>) -> Op<'c> {
        self.at.get().insert(op.into())
    }

    /// Builds and inserts an operation by name.
    #[track_caller]
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
    #[track_caller]
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

    /// `f32`.
    pub fn f32_type(&self) -> Type<'c> {
        Type::float32(self.context)
    }

    /// `f64`.
    pub fn f64_type(&self) -> Type<'c> {
        Type::float64(self.context)
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

    /// An integer as an attribute: a combiner's identity.
    pub fn int_attribute(&self, r#type: Type<'c>, value: i64) -> Attribute<'c> {
        IntegerAttribute::new(r#type, value).into()
    }

    /// A float as an attribute.
    pub fn float_attribute(&self, r#type: Type<'c>, value: f64) -> Attribute<'c> {
        attributes::float_constant(self.context, r#type, value)
    }

    /// An integer or index constant.
    pub fn int(&self, r#type: Type<'c>, value: i64) -> V<'_, 'c> {
        self.once(r#type, "arith.constant", value, || {
            self.constant(self.int_attribute(r#type, value), r#type)
        })
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

    /// A constant of type `f32`.
    pub fn f32(&self, value: f32) -> V<'_, 'c> {
        self.float(self.f32_type(), value.into())
    }

    /// A constant of type `f64`.
    pub fn f64(&self, value: f64) -> V<'_, 'c> {
        self.float(self.f64_type(), value)
    }

    /// A float constant of that type.
    pub fn float(&self, r#type: Type<'c>, value: f64) -> V<'_, 'c> {
        self.constant(self.float_attribute(r#type, value), r#type)
    }

    /// A small integer as a constant of any scalar type.
    pub fn scalar(&self, r#type: Type<'c>, value: i64) -> V<'_, 'c> {
        if ir::is_float(r#type) {
            self.float(r#type, value as f64)
        } else {
            self.int(r#type, value)
        }
    }
}
