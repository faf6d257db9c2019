//! IR types, for users that handle modules: [`build`](crate::build) needs none of them, and
//! [`Builder`](crate::builder::Builder) few.

pub use qd_dialects::{
    ir::{Block, Context, InsertionPoint, Op, OpExt, Region, Value},
    melior::ir::{
        Attribute, AttributeLike, BlockLike, Location, Module, RegionLike, Type, TypeLike,
        ValueLike, operation::OperationLike,
    },
};
