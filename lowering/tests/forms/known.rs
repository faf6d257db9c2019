//! The arguments of a form's kernel: they follow from the roles of the op's operands.

use crate::listed::Form;
use qd_dialects::{
    algorithm::{Algorithm, Role},
    ir::{Op, OpExt, Value, element_type},
    melior::{
        Context,
        ir::{BlockLike, Module, ValueLike},
    },
    scratch::Formula,
};

/// What an argument is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// Any elements.
    Data,
    /// What is written: as many elements as there are.
    Result,
    /// What is written: one element.
    Total,
    /// What is read and changed.
    InPlace,
    /// Garbage, of as many elements as there are.
    Workspace,
    /// Garbage, of as many slots as there have to be.
    Scratch,
    /// How many elements there are.
    Count,
}

/// An argument of a form.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub given: Given,
    /// Type of its elements.
    pub element: String,
    /// Whether it is of rank 0.
    pub is_cell: bool,
}

/// What there is to know of a form.
pub struct Known {
    /// The op, by full name.
    pub op: String,
    pub parameters: Vec<Parameter>,
    pub formula: Formula,
}

/// What there is to know of it.
pub fn of(form: &Form, context: &Context) -> Known {
    let module = Module::parse(context, &form.text);
    let module = module.unwrap_or_else(|| panic!("does not parse:\n{}", form.text));
    let kernel: Op = module.body().first_operation().expect("a kernel").into();
    let mut ops = kernel.nested().into_iter();
    let op = ops.find(|op| Algorithm::of(*op).is_some());
    let op = op.expect("an algorithm");
    let said = Algorithm::of(op).expect("one");
    let arguments = qd_dialects::ir::arguments(kernel.body().expect("a body"));
    let parameter = |(number, argument): (usize, &Value)| {
        let element = element_type(argument.r#type()).expect("a buffer");
        let element = element.to_string();
        let mut operands = said.operands.iter();
        let role = operands.find(|operand| operand.value == *argument);
        let is_scratch = qd_dialects::argument_attributes::has(kernel, number, "qd.scratch");
        Parameter {
            given: match role.map(|operand| operand.role) {
                _ if is_scratch => Given::Workspace,
                None | Some(Role::Input) => Given::Data,
                Some(Role::Output) => Given::Result,
                Some(Role::Total) => Given::Total,
                Some(Role::Key | Role::Value) => Given::InPlace,
                Some(Role::Workspace) => Given::Workspace,
                Some(Role::Scratch) => Given::Scratch,
                Some(Role::Count) => Given::Count,
            },
            is_cell: argument.r#type().to_string() == format!("memref<{element}>"),
            element,
        }
    };
    Known {
        parameters: arguments.iter().enumerate().map(parameter).collect(),
        formula: said.scratch.expect("a formula"),
        op: op.full_name().into(),
    }
}
