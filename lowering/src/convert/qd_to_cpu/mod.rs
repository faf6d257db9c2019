//! `qd-convert-to-cpu`: outlined bodies as host functions that run blocks.
//!
//! A body `@f(args…)` of one thread becomes `@f(first, end, grid, words)`, which runs blocks
//! `first … end − 1` of a grid of `grid` blocks, one after another. The kernel arguments are an
//! array of 64-bit words: for each buffer its pointer and, unless its rank is 0, its leading
//! extent; for each scalar its bits. See [`body`] for the loops over threads.
//!
//! Subgroups keep their size, whatever it is: a subgroup is a contiguous part of an array.

pub mod body;
mod bools;
pub mod collectives;
pub mod minima;
mod private_memory;
pub mod scalar;

pub use bools::BoolsAsBytes;

use crate::{
    convert::{check_arguments, descriptor, shared, subgroup_size},
    targets::{Target, isa::Form},
};
use body::BodyLowering;
use melior::{
    dialect::DialectHandle,
    ir::{
        Attribute, Location, RegionLike, Type, ValueLike, attribute::TypeAttribute,
        r#type::FunctionType,
    },
};
use qd_dialects::{
    argument_attributes, attributes,
    attributes::names,
    builder::{Builder, V},
    clone::Mapping,
    diagnostic::{Diagnostic, Result},
    ir::{self, InsertionPoint, Op, OpExt, Value, arguments, context_of, operations},
    melior,
    ops::grid,
    pass::{NoOptions, Pass},
};
use qd_passes::mark_noalias::NOALIAS;

/// The pass.
pub struct ConvertToCpu;

/// What a processor has: everything is a loop.
pub fn forms() -> impl Iterator<Item = &'static Form> {
    collectives::FORMS.iter().map(|(form, _)| form)
}

impl Pass for ConvertToCpu {
    type Options = NoOptions;
    const NAME: &'static str = "qd-convert-to-cpu";
    const SUMMARY: &'static str = "Turn outlined bodies into host functions that run blocks";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::func(),
            DialectHandle::llvm(),
            DialectHandle::memref(),
            DialectHandle::scf(),
            qd_dialects::math_dialect(),
        ]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let target = Target::host();
        let block = module.body().expect("a module's body");
        for op in operations(block) {
            if op.is("func.func") && op.attr(names::THREADS).is_some() {
                check_arguments(op)?;
                convert(op, &target, subgroup_size(op, &target)?)?;
            } else if op.is(grid::Kernel::NAME) {
                // Kernels have become launch plans by now.
                op.erase();
            }
        }
        minima::lower(module);
        Ok(())
    }
}

/// Builds `func.func @name(types…)` before `next`, with an empty entry block.
fn function<'c>(
    next: Op<'c>,
    name: &str,
    types: &[Type<'c>],
    attributes: &[(&str, Attribute<'c>)],
) -> Op<'c> {
    let context = context_of(next);
    let location: Location<'c> = next.location();
    let region = melior::ir::Region::new();
    region.append_block(ir::new_block(types, location));
    let r#type = FunctionType::new(context, types, &[]).into();
    let mut all = vec![
        ("sym_name", attributes::string(context, name)),
        ("function_type", TypeAttribute::new(r#type).into()),
    ];
    all.extend_from_slice(attributes);
    InsertionPoint::Before(next).insert(ir::build(
        "func.func",
        location,
        &[],
        &[],
        &all,
        vec![region],
    ))
}

fn convert<'c>(old: Op<'c>, target: &Target, wave: i64) -> Result<'c> {
    let context = context_of(old);
    let threads = old
        .attr(names::THREADS)
        .and_then(attributes::int)
        .unwrap_or(0);
    if threads <= 0 || threads % wave != 0 {
        return Err(Diagnostic::at(
            old,
            format!("has blocks of {threads} threads, not a multiple of the subgroup's {wave}"),
        ));
    }
    let name = old
        .attr("sym_name")
        .and_then(attributes::text)
        .unwrap_or_default();
    let old_body = old
        .body()
        .ok_or_else(|| Diagnostic::at(old, "has no body"))?;
    // They are on the stack of a host thread, as what threads allocate is.
    shared::arrays(&Builder::before(old), old, &target.capabilities)?;
    private_memory::share(old_body, threads)?;
    let old_arguments = arguments(old_body);

    // The function that runs blocks: pointers are arguments of its own, so that
    // LLVM can be told which of them do not overlap (`qd-mark-noalias`).
    let probe = Builder::before(old);
    let (index, word) = (probe.index_type(), probe.int_type(64));
    let pointer = descriptor::pointer_type(&probe);
    let mut types = vec![index, index, index];
    let parse = |text| Attribute::parse(context, text).expect("an attribute");
    let plain = parse("{}");
    let mut dictionaries = vec![plain; 3];
    for (i, argument) in old_arguments.iter().enumerate() {
        match descriptor::is_buffer(argument.r#type()) {
            Some(has_length) => {
                types.push(pointer);
                dictionaries.push(match argument_attributes::has(old, i, NOALIAS) {
                    true => parse("{llvm.noalias, llvm.nonnull, llvm.noundef}"),
                    false => parse("{llvm.nonnull, llvm.noundef}"),
                });
                if has_length {
                    types.push(word);
                    dictionaries.push(plain);
                }
            }
            None => {
                types.push(argument.r#type());
                dictionaries.push(plain);
            }
        }
    }
    let dictionaries = melior::ir::attribute::ArrayAttribute::new(context, &dictionaries).into();
    let blocks_name = format!("{name}.blocks");
    let runner = function(
        old,
        &blocks_name,
        &types,
        &[
            ("sym_visibility", attributes::string(context, "private")),
            // Only the entry point is seen from outside. What is inlined into it would be compiled
            // with less that is known of its pointers.
            ("llvm.linkage", parse("#llvm.linkage<internal>")),
            ("passthrough", parse("[\"noinline\"]")),
            ("arg_attrs", dictionaries),
        ],
    );
    let runner_body = runner.body().expect("just made");
    let b = Builder::new(context, old.location(), InsertionPoint::End(runner_body));
    let passed = b.vs(&arguments(runner_body));

    let mut mapping = Mapping::new();
    let mut next = 3;
    for argument in &old_arguments {
        let value = match descriptor::is_buffer(argument.r#type()) {
            Some(has_length) => {
                let length = has_length.then(|| passed[next + 1]);
                let memref =
                    descriptor::memref_from_pointer(&b, passed[next], length, argument.r#type());
                next += 1 + usize::from(has_length);
                memref
            }
            None => {
                next += 1;
                passed[next - 1]
            }
        };
        mapping.insert(*argument, value.value());
    }
    // Arrays are allocated before the loop over blocks, once.
    let outcome = run_blocks(&b, &passed, |block_id| {
        let loop_op = match b.insertion_point() {
            InsertionPoint::End(block) => block.parent_operation(),
            InsertionPoint::Before(op) => op.parent(),
        }
        .expect("inside the loop over blocks");
        BodyLowering::new(
            &b,
            old_body,
            mapping,
            InsertionPoint::Before(loop_op),
            target,
            (threads, wave),
            (block_id, passed[2]),
        )
        .block(old_body)
    });
    b.op("func.return", &[], &[], &[]);
    outcome?;
    scalar::lower(runner)?;
    entry(old, &name, &blocks_name, &types, &old_arguments);
    old.erase();
    Ok(())
}

fn run_blocks<'b, 'c>(
    b: &'b Builder<'c>,
    passed: &[V<'b, 'c>],
    body: impl FnOnce(V<'b, 'c>) -> Result<'c>,
) -> Result<'c> {
    let mut outcome = Ok(());
    b.for_(passed[0], passed[1], b.index(1), [], |block_id, []| {
        outcome = body(block_id);
        []
    });
    outcome
}

/// `@name(first, end, grid, words)`: unpacks the kernel arguments and calls the runner.
fn entry<'c>(old: Op<'c>, name: &str, runner: &str, types: &[Type<'c>], passed: &[Value<'c>]) {
    let context = context_of(old);
    let probe = Builder::before(old);
    let word = probe.int_type(64);
    let pointer = descriptor::pointer_type(&probe);
    let entry = function(
        old,
        &format!("{name}.entry"),
        &[word, word, word, pointer],
        &[],
    );
    let body = entry.body().expect("just made");
    let b = Builder::new(context, old.location(), InsertionPoint::End(body));
    let given = b.vs(&arguments(body));
    let words = given[3];
    let mut values: Vec<_> = given[..3].iter().map(|v| v.to_index().value()).collect();
    let mut next = 0;
    let mut load = |r#type: Type<'c>| {
        next += 1;
        descriptor::load_word(&b, words, next - 1, r#type)
    };
    for argument in passed {
        let r#type = argument.r#type();
        match descriptor::is_buffer(r#type) {
            Some(has_length) => {
                values.push(load(pointer).value());
                if has_length {
                    values.push(load(word).value());
                }
            }
            None => values.push(descriptor::scalar_from_word(load(word), r#type).value()),
        }
    }
    assert_eq!(values.len(), types.len(), "one value per argument");
    b.op(
        "func.call",
        &values,
        &[],
        &[("callee", attributes::symbol(context, runner))],
    );
    b.op("func.return", &[], &[], &[]);
    // The entry takes the body's name: the old function goes.
    old.set_attr(
        "sym_name",
        attributes::string(context, &format!("{name}.old")),
    );
    entry.set_attr("sym_name", attributes::string(context, name));
}
