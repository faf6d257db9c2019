//! Functions of scalars, and their calls.

use super::{Function, Generator, Phase};
use crate::{
    program::{Node, Value},
    types::{Class, Level, Ty},
};

impl Generator<'_> {
    /// Some functions, which call those before them.
    pub(super) fn functions(&mut self) {
        for number in 0..self.random.usize(0..3) {
            self.function(format!("f{number}"));
        }
    }

    fn function(&mut self, name: String) {
        let count = self.random.usize(0..3);
        let types: Vec<Ty> = (0..count).map(|_| self.element()).collect();
        let result = self.element();
        let mut arguments = Vec::new();
        for ty in &types {
            let class = match ty.is_float() {
                true => Class::Rounded,
                false => Class::Integer,
            };
            arguments.push(self.scalar(*ty, Level::Varying, class));
        }
        let outside = std::mem::take(&mut self.scope);
        self.phase = Phase {
            budget: self.random.usize(2..8),
            block: self.blocks.len(),
            is_for_each: true,
            is_function: true,
            ..Phase::default()
        };
        let body = self.region(&arguments, |this| {
            this.statements(Level::Varying, 6);
            let value = this.find(result, Level::Varying);
            this.push("func.return", "", &[value], &[]);
        });
        self.scope = outside;
        let list: Vec<String> = types.iter().map(Ty::to_string).collect();
        self.symbols.push(Node {
            op: "func.func".into(),
            properties: format!(
                "function_type = ({}) -> {result}, sym_name = \"{name}\", sym_visibility = \"private\"",
                list.join(", ")
            ),
            operands: Vec::new(),
            results: Vec::new(),
            regions: vec![body],
        });
        self.functions.push(Function {
            name,
            parameters: types,
            result,
        });
    }

    /// A call, on values that are in scope.
    pub(super) fn call(&mut self) {
        if self.functions.is_empty() {
            return;
        }
        let function = self.functions[self.random.usize(0..self.functions.len())].clone();
        let operands: Vec<Value> = function
            .parameters
            .iter()
            .map(|ty| self.find(*ty, Level::Varying))
            .collect();
        let callee = format!("callee = @{}", function.name);
        let result = self.op("func.call", &callee, &operands, function.result);
        self.info[result as usize].level = Level::Varying;
        self.scope.push(result);
    }
}
