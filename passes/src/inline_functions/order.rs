//! The call graph, and the order in which functions are inlined.

use super::name_of;
use crate::select_subgroup_size::threads_of;
use qd_dialects::{
    attributes,
    diagnostic::{Diagnostic, Result},
    ir::{Key, Op, OpExt, operations},
};
use std::collections::{HashMap, HashSet};

/// The functions of a module and of the modules in it.
pub struct Functions<'c> {
    all: Vec<Op<'c>>,
    /// By the module that they are in, and their name.
    named: HashMap<(Key, String), Op<'c>>,
}

/// Whether a function's calls have been followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    /// Its calls are being followed.
    Open,
    Done,
}

/// A function whose calls are being followed, and those still to be.
struct Frame<'c> {
    function: Op<'c>,
    /// The call that led here; none at the start.
    through: Option<Op<'c>>,
    rest: std::vec::IntoIter<Op<'c>>,
}

impl<'c> Functions<'c> {
    pub fn new(module: Op<'c>) -> Self {
        let mut functions = Self {
            all: Vec::new(),
            named: HashMap::new(),
        };
        let mut modules = vec![module];
        while let Some(module) = modules.pop() {
            for op in module.body().map(operations).unwrap_or_default() {
                if op.is("builtin.module") {
                    modules.push(op);
                } else if op.is("func.func") {
                    functions.named.insert((module.key(), name_of(op)), op);
                    functions.all.push(op);
                }
            }
        }
        functions
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn all(&self) -> impl Iterator<Item = Op<'c>> + Clone {
        self.all.iter().copied()
    }

    /// The function that a `func.call` is of.
    pub fn callee(&self, call: Op<'c>) -> Option<Op<'c>> {
        let name = call.attr("callee").and_then(attributes::symbol_name)?;
        let module = std::iter::successors(call.parent(), |around| around.parent())
            .find(|around| around.is("builtin.module"))?;
        self.named.get(&(module.key(), name)).copied()
    }

    /// The outlined bodies, and the functions that they or kernels call.
    pub fn reached_from(&self, kernels: &[Op<'c>]) -> HashSet<Key> {
        let bodies = self
            .all()
            .filter(|function| threads_of(*function).is_some());
        let mut reached: HashSet<Key> = bodies.clone().map(OpExt::key).collect();
        let mut next: Vec<Op<'c>> = kernels.iter().copied().chain(bodies).collect();
        while let Some(caller) = next.pop() {
            for callee in calls_in(caller)
                .into_iter()
                .filter_map(|call| self.callee(call))
            {
                if reached.insert(callee.key()) {
                    next.push(callee);
                }
            }
        }
        reached
    }

    /// All functions, each after those it calls.
    ///
    /// # Errors
    ///
    /// A function that calls itself, be it through others.
    pub fn callees_first(&self) -> Result<'c, Vec<Op<'c>>> {
        let mut visits = HashMap::new();
        let mut ordered = Vec::new();
        for function in self.all() {
            self.visit(function, &mut visits, &mut ordered)?;
        }
        Ok(ordered)
    }

    /// Depth first, without recursion of our own: calls may be deep.
    fn visit(
        &self,
        root: Op<'c>,
        visits: &mut HashMap<Key, Visit>,
        ordered: &mut Vec<Op<'c>>,
    ) -> Result<'c> {
        if visits.contains_key(&root.key()) {
            return Ok(());
        }
        let mut open: Vec<Frame<'c>> = Vec::new();
        let mut next = Some((root, None));
        loop {
            if let Some((function, through)) = next.take() {
                visits.insert(function.key(), Visit::Open);
                open.push(Frame {
                    function,
                    through,
                    rest: calls_in(function).into_iter(),
                });
            }
            let Some(frame) = open.last_mut() else {
                return Ok(());
            };
            let Some(call) = frame.rest.next() else {
                visits.insert(frame.function.key(), Visit::Done);
                ordered.push(frame.function);
                open.pop();
                continue;
            };
            let Some(callee) = self.callee(call) else {
                continue;
            };
            match visits.get(&callee.key()) {
                Some(Visit::Done) => {}
                Some(Visit::Open) => return Err(cycle(&open, call, callee)),
                None => next = Some((callee, Some(call))),
            }
        }
    }
}

/// The error of a call to a function that is open.
fn cycle<'c>(open: &[Frame<'c>], call: Op<'c>, callee: Op<'c>) -> Diagnostic<'c> {
    let from = open.iter().position(|f| f.function.key() == callee.key());
    let around = &open[from.unwrap_or(0)..];
    let error = |name: &str| {
        let message = format!("is recursive: it calls '{name}' from within; no target can do that");
        Diagnostic::at(call, message)
    };
    let name = name_of(callee);
    if around.len() == 1 {
        return error(&name).note(callee.location(), format!("'{name}' calls itself"));
    }
    let mut error = error(&name);
    for pair in around.windows(2) {
        let says = format!(
            "'{}' calls '{}'",
            name_of(pair[0].function),
            name_of(pair[1].function)
        );
        let at = pair[1].through.unwrap_or(pair[1].function);
        error = error.note(at.location(), says);
    }
    let last = around.last().map_or(callee, |frame| frame.function);
    error.note(
        call.location(),
        format!("'{}' calls '{name}'", name_of(last)),
    )
}

/// The calls in an op, in program order.
pub fn calls_in<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let mut all = op.nested();
    all.retain(|op| op.is("func.call"));
    all
}
