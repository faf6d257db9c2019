//! Reflection of a kernel's arguments for tools, at any level above the
//! target's.

use super::{CompileError, handle, lengths, plan, said};
use melior::ir::Module;
use qd_artifact::Kernel;
use qd_dialects::{
    algorithm::{Algorithm, Role},
    attributes,
    interfaces::{Use, before_swaps, view_source},
    ir::{Block, Key, Op, OpExt, Value, ValueExt, arguments, operations},
    melior,
    ops::grid,
};
use std::{collections::HashMap, rc::Rc};

/// The module's kernels and their arguments, without plans.
///
/// # Errors
///
/// An argument that no data file can hold; said through the context's
/// diagnostic handlers.
pub fn reflect(module: &Module<'_>) -> Result<Vec<Kernel>, CompileError> {
    let module = handle(module);
    let lengths = lengths::lengths(module);
    let mut callees = Callees::of(module);
    let kernels = symbols(module, grid::Kernel::NAME).map(|(name, op)| {
        let mut arguments = plan::arguments(op).map_err(said)?;
        let bounds = lengths.get(&name).map(Vec::as_slice).unwrap_or_default();
        for (argument, bounds) in arguments.iter_mut().zip(bounds) {
            argument.length = bounds.length.clone();
            argument.minimum = bounds.minimum.clone();
            argument.limit = bounds.limit.clone();
            if argument.role == qd_artifact::Role::Data {
                argument.role = bounds.role();
            }
        }
        let body = op.body().expect("a kernel's body");
        for (argument, first) in arguments.iter_mut().zip(first_accesses(&mut callees, body)) {
            argument.is_input = first == Some(Access::Read);
        }
        Ok(Kernel {
            name,
            arguments,
            plans: Vec::new(),
        })
    });
    kernels.collect()
}

/// The operations of one kind that have a symbol.
fn symbols<'c>(module: Op<'c>, kind: &str) -> impl Iterator<Item = (String, Op<'c>)> {
    let body = module.body().expect("a module's body");
    operations(body)
        .into_iter()
        .filter(move |op| op.is(kind))
        .map(|op| {
            let name = op.attr("sym_name").and_then(attributes::text);
            (name.unwrap_or_default(), op)
        })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// What kernels launch and dispatch, by name.
struct Callees<'c> {
    of_names: HashMap<String, Op<'c>>,
    /// The first access to each of their arguments, computed on demand.
    known: HashMap<Key, Rc<[Option<Access>]>>,
}

impl<'c> Callees<'c> {
    fn of(module: Op<'c>) -> Self {
        let kinds = [grid::Kernel::NAME, "func.func"].into_iter();
        Self {
            of_names: kinds.flat_map(|kind| symbols(module, kind)).collect(),
            known: HashMap::new(),
        }
    }

    /// The first access of one of them to each of its arguments.
    fn first_accesses(&mut self, name: &str) -> Rc<[Option<Access>]> {
        let Some(op) = self.of_names.get(name).copied() else {
            return Rc::default();
        };
        if let Some(known) = self.known.get(&op.key()) {
            return Rc::clone(known);
        }
        let found: Rc<[_]> = match op.body() {
            Some(body) => first_accesses(self, body).into(),
            None => Rc::default(),
        };
        self.known.insert(op.key(), Rc::clone(&found));
        found
    }
}

/// What is done first with each argument of a block, in the order of the text:
/// loops and branches are taken to run.
fn first_accesses<'c>(callees: &mut Callees<'c>, block: Block<'c>) -> Vec<Option<Access>> {
    let mut first = First {
        callees,
        block,
        accesses: vec![None; arguments(block).len()],
    };
    for op in operations(block) {
        first.visit(op);
    }
    first.accesses
}

struct First<'f, 'c> {
    callees: &'f mut Callees<'c>,
    block: Block<'c>,
    accesses: Vec<Option<Access>>,
}

impl<'c> First<'_, 'c> {
    /// Notes an access to the argument behind a value, if there is one.
    fn note(&mut self, value: Value<'c>, access: Access) {
        let mut base = before_swaps(value);
        while let Some(op) = base.defining_op() {
            match view_source(op) {
                Some(source) => base = before_swaps(source),
                None => return,
            }
        }
        if let Some((block, argument)) = base.block_argument()
            && block == self.block
        {
            self.accesses[argument].get_or_insert(access);
        }
    }

    fn visit(&mut self, op: Op<'c>) {
        if matches!(op.full_name(), grid::Launch::NAME | grid::Dispatch::NAME) {
            return self.call(op);
        }
        // The flag of a loop is read when its body has run.
        let flag_at_end = op.is(grid::DoWhile::NAME);
        if !flag_at_end {
            self.operands(op);
        }
        for inner in children(op) {
            self.visit(inner);
        }
        if flag_at_end {
            self.operands(op);
        }
    }

    /// What an op reads, it reads before it writes.
    fn operands(&mut self, op: Op<'c>) {
        let accesses = accesses(op);
        for access in [Access::Read, Access::Write] {
            for (value, _) in accesses.iter().filter(|(_, first)| *first == access) {
                self.note(*value, access);
            }
        }
    }

    /// What a launched body or a dispatched kernel does with its arguments.
    fn call(&mut self, op: Op<'c>) {
        let (callees, arguments) = match grid::Launch::of(op) {
            Some(launch) => (vec![launch.body()], launch.args()),
            None => {
                let variants = op.body().map(operations).unwrap_or_default();
                let variants = variants.into_iter().filter_map(grid::Variant::of);
                let callees = variants.map(grid::Variant::callee).collect();
                (callees, op.operand_values().into_vec())
            }
        };
        for name in callees {
            let accesses = self.callees.first_accesses(&name);
            for (value, access) in arguments.iter().zip(accesses.iter().copied()) {
                if let Some(access) = access {
                    self.note(*value, access);
                }
            }
        }
    }
}

/// The operations directly in an operation's regions.
fn children(op: Op<'_>) -> Vec<Op<'_>> {
    let blocks = (0..).map_while(|i| op.region_block(i));
    blocks.flat_map(operations).collect()
}

/// What an op does first with each of its operands.
fn accesses<'c>(op: Op<'c>) -> Vec<(Value<'c>, Access)> {
    if let Some(algorithm) = Algorithm::of(op) {
        // Workspace counts as written: it arrives uninitialised.
        let access = |role: Role| match role.is_read() {
            true => Access::Read,
            false => Access::Write,
        };
        let operands = algorithm.operands.iter();
        return operands.map(|o| (o.value, access(o.role))).collect();
    }
    let access = |number: usize| match Use::of(op, number) {
        Use::Access(effects) if effects.reads => Some(Access::Read),
        Use::Access(effects) if effects.writes => Some(Access::Write),
        Use::Access(_) | Use::View => None,
        Use::Unknown => Some(Access::Read),
    };
    let operands = op.operand_values().into_iter().enumerate();
    operands
        .filter_map(|(number, value)| Some((value, access(number)?)))
        .collect()
}
