//! `qd-verify-convergence`: collectives are reached by all their threads
//! together.
//!
//! The lanes of a subgroup must reach a subgroup collective together, and the
//! threads of a block a block collective or a barrier. Under a branch or a loop
//! that is not uniform, hardware deadlocks or computes something else. This pass
//! reports that, names the branch, and traces its condition to the source of the
//! difference between threads.
//!
//! Uniformity depends on the wave: `thread_id < 32` is uniform in subgroups of
//! 32 but not of 64. Every size that a subgroup may have is checked, or the one
//! that `wave` names, or the body's. The lane of a
//! `broadcast` and the distance of a `rotate` must be uniform as well.
//!
//! Limits: [`crate::uniformity`] states the assumptions and limits of the
//! analysis. A function that holds collectives and is called counts as a
//! collective at its call, and is checked by itself with arguments that may be
//! anything.
//!
//! Accepted at every wave, for `threads(256)`:
//! ```mlir
//! %first = arith.cmpi ult, %thread_id, %c64 : index
//! scf.if %first { %s = qd.simt.reduce_all add %v : i32 ... }
//! ```
//! Rejected at wave 64, with a note at the comparison and one at `thread_id`:
//! ```mlir
//! %first = arith.cmpi ult, %thread_id, %c32 : index
//! scf.if %first { %s = qd.simt.reduce_all add %v : i32 ... }
//! ```

use crate::{
    select_subgroup_size::{WAVES, bodies, wave_of},
    uniformity::{Step, Uniformity},
};
use qd_dialects::{
    attributes::{self, names},
    diagnostic::{Diagnostic, Result},
    interfaces::{Collective, Convergence, Scope},
    ir::{Block, Op, OpExt},
    ops::simt,
    options,
    pass::Pass,
};
use std::collections::HashMap;

options! {
    /// Options of `qd-verify-convergence`.
    pub struct ConvergenceOptions {
        /// lanes in a subgroup; 0: every size there is
        wave: u32 = 0u32,
    }
}

/// The pass.
pub struct VerifyConvergence;

impl Pass for VerifyConvergence {
    type Options = ConvergenceOptions;
    const NAME: &'static str = "qd-verify-convergence";
    const SUMMARY: &'static str = "Reject collectives under control flow that is not uniform";

    fn run<'c>(module: Op<'c>, options: &ConvergenceOptions) -> Result<'c> {
        if options.wave != 0 && !WAVES.contains(&options.wave) {
            let wave = options.wave;
            let message = format!("cannot have subgroups of {wave}: expected 4, 8, 16, 32 or 64");
            return Err(Diagnostic::at(module, message));
        }
        let calls = Calls::new(module);
        let mut errors = undeclared(module);
        for (body, threads) in bodies(module) {
            errors.extend(verify(body, threads, &waves(body, options.wave), &calls));
        }
        // Functions that bodies call: checked for blocks of any size.
        for function in calls.called() {
            errors.extend(verify(function, 0, &waves(function, options.wave), &calls));
        }
        let last = errors.pop();
        errors.into_iter().for_each(Diagnostic::emit);
        last.map_or(Ok(()), Err)
    }
}

/// The first error in a body of blocks of `threads`, in subgroups of `wave` lanes, if there is one.
pub fn error_at<'c>(
    body: Op<'c>,
    threads: i64,
    wave: u32,
    calls: &Calls<'c>,
) -> Option<Diagnostic<'c>> {
    verify(body, threads, &[wave], calls).into_iter().next()
}

/// The sizes among `waves` at which a body of blocks of `threads` breaks a rule, each with the first error as a text;
/// and the uniformity of values in subgroups of the widest, where it was looked at.
pub fn refused<'c>(
    body: Op<'c>,
    threads: i64,
    waves: &[u32],
    calls: &Calls<'c>,
) -> (Vec<(u32, String)>, Option<Uniformity<'c>>) {
    let (mut refused, mut widest) = (Vec::new(), None);
    each_size(body, threads, waves, calls, |wave, found, uniformity| {
        if let Some((op, what, _)) = found.first() {
            let error = Diagnostic::at(*op, format!("{what}, at wave {wave}"));
            refused.push((wave, error.message().to_owned()));
        }
        widest.get_or_insert(uniformity);
    });
    (refused, widest)
}

/// The wave sizes at which to check a body: the option's, the body's own, or every one.
fn waves(body: Op<'_>, option: u32) -> Vec<u32> {
    let own = wave_of(body).and_then(|wave| u32::try_from(wave).ok());
    match (option, own) {
        (0, None) => WAVES.to_vec(),
        (0, Some(wave)) | (wave, _) => vec![wave],
    }
}

/// Ops of ours that declare neither that they are collective nor that they are
/// not.
fn undeclared<'c>(module: Op<'c>) -> Vec<Diagnostic<'c>> {
    let is_undeclared = |op: &Op<'c>| {
        op.full_name().starts_with(simt::PREFIX)
            && matches!(Convergence::of(*op), Convergence::Unknown)
    };
    let ops = module.nested().into_iter().filter(is_undeclared);
    ops.map(|op| {
        let message = format!(
            "does not say whether threads execute it together, which '{}' has to know: \
             define it as a 'Simt_Collective' or a 'Simt_PerThreadOp'",
            VerifyConvergence::NAME
        );
        Diagnostic::at(op, message)
    })
    .collect()
}

/// A rule that an op breaks, at some of the wave sizes.
struct Broken<'c> {
    op: Op<'c>,
    what: String,
    waves: Vec<u32>,
    why: Vec<Step<'c>>,
}

/// The errors in one body: at most one for each op.
fn verify<'c>(
    function: Op<'c>,
    threads: i64,
    waves: &[u32],
    calls: &Calls<'c>,
) -> Vec<Diagnostic<'c>> {
    let mut broken: Vec<Broken<'c>> = Vec::new();
    let mut of_wave = Vec::new();
    each_size(function, threads, waves, calls, |wave, found, _| {
        of_wave.push((wave, found));
    });
    of_wave.sort_by_key(|(wave, _)| *wave);
    for (wave, found) in of_wave {
        for (op, what, why) in found {
            match broken.iter_mut().find(|b| b.op.key() == op.key()) {
                Some(known) => known.waves.push(wave),
                None => broken.push(Broken {
                    op,
                    what,
                    waves: vec![wave],
                    why,
                }),
            }
        }
    }
    broken
        .into_iter()
        .map(|b| {
            let at = match b.waves.len() {
                all if all == waves.len() && all > 1 => "at every wave size".into(),
                _ => format!("at wave {}", list(&b.waves)),
            };
            let error = Diagnostic::at(b.op, format!("{}, {at}", b.what));
            b.why
                .into_iter()
                .fold(error, |error, step| error.note(step.location, step.text))
        })
        .collect()
}

/// An op that breaks a rule, which one, and why.
type Fault<'c> = (Op<'c>, String, Vec<Step<'c>>);

/// Calls `visit` with what a body breaks at each size of which that is not known without an analysis, the widest first,
/// and with the analysis.
///
/// Subgroups of half the lanes are parts of the wide ones: what is the same in these is the same in them, and what
/// breaks nothing in these breaks nothing in them. That is so where the body does not count by the size, and all
/// subgroups are full.
fn each_size<'c>(
    function: Op<'c>,
    threads: i64,
    waves: &[u32],
    calls: &Calls<'c>,
    mut visit: impl FnMut(u32, Vec<Fault<'c>>, Uniformity<'c>),
) {
    let Some(body) = function.body() else {
        return;
    };
    let nested = function.nested();
    let collectives: Vec<(Op<'c>, Scope)> = nested
        .iter()
        .filter_map(|op| Some((*op, calls.scope_of(*op)?)))
        .filter(|(op, _)| may_break(*op, body))
        .collect();
    if collectives.is_empty() {
        return;
    }
    let mut waves = waves.to_vec();
    waves.sort_unstable_by(|a, b| b.cmp(a));
    let counts = || nested.iter().any(|op| COUNTING.contains(&op.full_name()));
    let in_parts = threads % waves.first().map_or(1, |wave| i64::from(*wave)) == 0 && !counts();
    for wave in waves {
        // A function of unknown callers has arguments of unknown uniformity.
        let uniformity = match threads {
            0 => Uniformity::analyse_called(body, wave),
            _ => Uniformity::analyse(body, threads, wave),
        };
        let found = collectives.iter().filter_map(|(op, scope)| {
            let (what, why) = check(*op, *scope, &uniformity)?;
            Some((*op, what, why))
        });
        let found: Vec<Fault<'c>> = found.collect();
        let is_known = in_parts && found.is_empty();
        visit(wave, found, uniformity);
        if is_known {
            return;
        }
    }
}

/// Ops whose results say how many lanes a subgroup has, or which of them a thread is.
const COUNTING: [&str; 5] = [
    simt::LaneId::NAME,
    simt::SubgroupId::NAME,
    simt::SubgroupSize::NAME,
    simt::Log2SubgroupSize::NAME,
    simt::NumSubgroups::NAME,
];

/// Whether a collective may be where or what it may not: not if it stands in the body's block itself, where all threads
/// come, and has no operand that is to be uniform.
fn may_break<'c>(op: Op<'c>, body: Block<'c>) -> bool {
    let needs = || Collective::of(op).is_some_and(|op| !op.uniform_operands().is_empty());
    op.block() != Some(body) || needs()
}

/// What is wrong with one collective at one wave, and why.
fn check<'c>(
    op: Op<'c>,
    scope: Scope,
    uniformity: &Uniformity<'c>,
) -> Option<(String, Vec<Step<'c>>)> {
    if let Some(branch) = uniformity.divergence(op, scope) {
        let what = format!("stands under control flow that is not uniform in its {scope}");
        return Some((what, uniformity.explain_branch(branch, scope)));
    }
    let operands = Collective::of(op)?.uniform_operands().into_iter();
    let mut varying = operands.filter(|(_, value)| !uniformity.is_uniform(*value, scope));
    let (name, value) = varying.next()?;
    let instead = match op.is(simt::Broadcast::NAME) {
        true => ": use 'qd.simt.shuffle idx'",
        false => "",
    };
    let each = match scope {
        Scope::Subgroup => "lane",
        Scope::Block | Scope::Grid => "thread",
    };
    Some((
        format!("needs the same '{name}' in every {each}{instead}"),
        uniformity.explain(value, scope),
    ))
}

fn list(waves: &[u32]) -> String {
    let names: Vec<_> = waves.iter().map(u32::to_string).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// The functions that bodies call, and the collectives in them.
pub struct Calls<'c> {
    functions: HashMap<String, (Op<'c>, Option<Scope>)>,
}

impl<'c> Calls<'c> {
    /// Of a module.
    pub fn new(module: Op<'c>) -> Self {
        let mut functions = HashMap::new();
        for op in module.nested() {
            let is_body = op.attr(names::THREADS).is_some();
            if op.is("func.func")
                && !is_body
                && let Some(name) = symbol(op, "sym_name")
            {
                functions.insert(name, (op, None));
            }
        }
        let mut calls = Self { functions };
        // A caller's scope is the largest of its callees': at most two
        // iterations more than the depth of the call graph.
        loop {
            let found: Vec<_> = calls
                .functions
                .iter()
                .filter_map(|(name, (function, known))| {
                    let nested = function.nested().into_iter();
                    let scope = nested.filter_map(|op| calls.scope_of(op)).max();
                    (scope > *known).then(|| (name.clone(), scope))
                })
                .collect();
            if found.is_empty() {
                return calls;
            }
            for (name, scope) in found {
                if let Some((_, known)) = calls.functions.get_mut(&name) {
                    *known = scope;
                }
            }
        }
    }

    /// The scope in which threads execute an op together, calls included.
    fn scope_of(&self, op: Op<'c>) -> Option<Scope> {
        if op.is("func.call") {
            let callee = op.attr("callee").and_then(attributes::symbol_name)?;
            return self.functions.get(&callee)?.1;
        }
        Some(Collective::of(op)?.scope)
    }

    /// The functions with collectives in them.
    fn called(&self) -> Vec<Op<'c>> {
        let mut all: Vec<_> = self.functions.iter().collect();
        all.sort_by_key(|(name, _)| name.as_str());
        all.into_iter()
            .filter(|(_, (_, scope))| scope.is_some())
            .map(|(_, (function, _))| *function)
            .collect()
    }
}

fn symbol(op: Op, name: &str) -> Option<String> {
    op.attr(name).and_then(attributes::text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use qd_dialects::{
        ir::{InsertionPoint, Value, build},
        melior::ir::{Module, Type},
    };

    #[test]
    fn an_op_that_does_not_say_who_executes_it_is_an_error() {
        let context = qd_dialects::context();
        let text = "qd.grid.kernel @k(%out: memref<?xi32>) {
            %c1 = arith.constant 1 : index
            qd.grid.phase blocks(%c1) threads(256) {
              %t = qd.simt.block.thread_id
              %b = qd.simt.block.id
              %first = arith.cmpi eq, %t, %b : index
              scf.if %first {
                %v = arith.index_cast %t : index to i32
                memref.store %v, %out[%t] : memref<?xi32>
              }
            }
          }";
        let module = Module::parse(&context, text).unwrap();
        // Safety: the module outlives the handle.
        let root = unsafe { Op::from_raw(module.as_operation().to_raw()) };
        let options = ConvergenceOptions::default();
        assert!(VerifyConvergence::run(root, &options).is_ok());

        // As an op that has been added to the dialect, without the trait.
        let store = root.nested().into_iter().find(|op| op.is("memref.store"));
        let store = store.unwrap();
        let operands: Vec<Value> = store.operand_values()[..1].to_vec();
        let i32 = Type::parse(&context, "i32").unwrap();
        let new = build(
            "qd.simt.count_false",
            store.location(),
            &operands,
            &[i32],
            &[],
            vec![],
        );
        InsertionPoint::Before(store).insert(new);
        let error = VerifyConvergence::run(root, &options).unwrap_err();
        let message = error.message();
        assert!(
            message.starts_with("'qd.simt.count_false' op does not say"),
            "{message}"
        );
        assert!(message.contains("'qd-verify-convergence'"), "{message}");
    }
}
