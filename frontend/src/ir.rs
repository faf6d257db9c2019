//! What modules are made of, for those who hold them: [`build`](crate::build) needs none of it, and
//! [`Builder`](crate::builder::Builder) little.

pub use qd_dialects::{
    ir::{Block, Context, InsertionPoint, Op, OpExt, Region, Value},
    melior::ir::{
        Attribute, AttributeLike, BlockLike, Location, Module, RegionLike, Type, TypeLike,
        ValueLike, operation::OperationLike,
    },
};
