//! From the LLVM dialect through LLVM, for all of its back ends.

use super::{CompileError, diagnosed::diagnosed};
use inkwell::{
    OptimizationLevel,
    attributes::{Attribute, AttributeLoc},
    builder::BuilderError,
    context::{Context, ContextRef},
    llvm_sys::core::{
        LLVMConstIntGetZExtValue, LLVMGetAggregateElement, LLVMGetCalledValue, LLVMIsAConstantInt,
        LLVMIsAInlineAsm,
    },
    module::Module as LlvmModule,
    passes::PassBuilderOptions,
    targets::{CodeModel, FileType, RelocMode, Target, TargetMachine, TargetTriple},
    types::BasicTypeEnum,
    values::{AsValueRef, BasicValueEnum, CallSiteValue, FunctionValue, InstructionValue, Operand},
};
use qd_dialects::{
    attributes,
    ir::{Op, OpExt, context_of},
    melior,
};
use rayon::prelude::*;
use std::cmp::Reverse;

/// What LLVM compiles for. Its target has been initialised.
pub struct Machine<'a> {
    pub triple: String,
    pub cpu: &'a str,
    pub features: String,
    /// The passes, as `opt` spells them.
    pub passes: String,
    /// Passes of code generation that are left out of long bodies, with commas between.
    pub skipped: &'a str,
    /// How hard code generation tries.
    pub level: OptimizationLevel,
    /// The same where more than `DEEPEST` loops are in one another.
    pub deep_level: OptimizationLevel,
    /// Whether loops are turned into vectors of the target's.
    pub vectorize: bool,
    /// Whether there are libraries to call.
    pub has_libraries: bool,
}

/// Ops of a body that is long.
const LONG: usize = 1000;

/// Instructions of an innermost loop, beyond which it is not vectorized, and of a
/// block, beyond which `SLOW_IN_LONG` is left out. The time of all these grows with
/// their square: in a loop of 12,500 ops the vectorizer takes 10 s.
const LONGEST: usize = 2000;

/// Passes that compare each instruction of a block with each other.
const SLOW_IN_LONG: &str = "loop-load-elim,machine-scheduler,post-RA-sched";

/// Loops in one another, beyond which `WITHOUT_LOOPS` are the passes: the time of
/// those on loops grows with the third power of the depth (500 took 19 s).
const DEEPEST: usize = 64;

/// What needs no loops.
const WITHOUT_LOOPS: &str = "function(sroa<modify-cfg>,early-cse<memssa>,infer-address-spaces,\
     instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg,sccp,adce,simplifycfg),globaldce";

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A relocatable object.
    Object,
    /// Optimised IR as text.
    LlvmIr,
    /// Assembly.
    Assembly,
}

/// An error of LLVM's.
pub fn failed(what: &str, why: &dyn std::fmt::Display) -> CompileError {
    CompileError::Llvm(format!("{what}: {why}"))
}

/// Modules in the LLVM dialect, and what they are compiled for.
pub type Group<'a, 'c> = (&'a [Op<'c>], &'a Machine<'a>);

/// Optimises and emits independent modules in the LLVM dialect, in parallel, those of all groups at once; in their
/// order. Functions that are no entry points are named after one that is: parts may have functions
/// of the same name.
pub fn emit_each(
    groups: &[Group<'_, '_>],
    output: Output,
    is_entry: fn(FunctionValue<'_>) -> bool,
) -> Result<Vec<Vec<u8>>, CompileError> {
    let mut longest_first = Vec::new();
    for (parts, to) in groups {
        let layout = layout(to)?;
        for part in *parts {
            prepare(*part, to, &layout);
            let place = longest_first.len();
            longest_first.push((part.nested().len(), place, Part(part.to_raw()), *to));
        }
    }
    longest_first.sort_by_key(|(ops, ..)| Reverse(*ops));
    // One at a time, so that no thread is left with several when others are done.
    let one_by_one = longest_first.into_iter().par_bridge();
    let made = one_by_one.map(|(ops, place, part, to)| {
        let skipped = if ops > LONG { to.skipped } else { "" };
        let made = diagnosed(|context| {
            // Safety: by `Part`.
            let module = translate(unsafe { Op::from_raw(part.0) }, context)?;
            name_after_entry(&module, is_entry);
            finish(&module, to, skipped, output)
        });
        Ok((place, made?))
    });
    let mut made = made.collect::<Result<Vec<_>, CompileError>>()?;
    made.sort_by_key(|(place, _)| *place);
    Ok(made.into_iter().map(|(_, bytes)| bytes).collect())
}

/// The same as one module.
pub fn emit_linked(
    parts: &[Op<'_>],
    to: &Machine<'_>,
    output: Output,
    is_entry: fn(FunctionValue<'_>) -> bool,
) -> Result<Vec<u8>, CompileError> {
    diagnosed(|context| linked(parts, to, output, is_entry, context))
}

fn linked(
    parts: &[Op<'_>],
    to: &Machine<'_>,
    output: Output,
    is_entry: fn(FunctionValue<'_>) -> bool,
    context: &Context,
) -> Result<Vec<u8>, CompileError> {
    let all = context.create_module("bodies");
    all.set_triple(&TargetTriple::create(&to.triple));
    let mut level = to.level;
    let layout = machine(to, level)?.get_target_data().get_data_layout();
    all.set_data_layout(&layout);
    let layout = layout.as_str().to_string_lossy();
    for part in parts {
        prepare(*part, to, &layout);
        let module = translate(*part, context)?;
        name_after_entry(&module, is_entry);
        if optimise(&module, to, "")?.1 == to.deep_level {
            level = to.deep_level;
        }
        let linked = all.link_in_module(module);
        linked.map_err(|e| failed("linking", &e.to_string_lossy()))?;
    }
    written(&all, &machine(to, level)?, output)
}

/// Puts the name of a module's entry point before those of its other functions.
fn name_after_entry(module: &LlvmModule<'_>, is_entry: fn(FunctionValue<'_>) -> bool) {
    let functions = || {
        module
            .get_functions()
            .filter(|f| f.count_basic_blocks() > 0)
    };
    let Some(entry) = functions().find(|function| is_entry(*function)) else {
        return;
    };
    let entry = entry.get_name().to_string_lossy().into_owned();
    for other in functions().filter(|function| !is_entry(*function)) {
        let name = other.get_name().to_string_lossy().into_owned();
        other.as_global_value().set_name(&format!("{entry}${name}"));
    }
}

/// A module that one thread at a time looks at. What modules share is in the
/// context, which MLIR guards.
struct Part(mlir_sys::MlirOperation);
// Safety: see there.
unsafe impl Send for Part {}

fn machine(to: &Machine<'_>, level: OptimizationLevel) -> Result<TargetMachine, CompileError> {
    let triple = TargetTriple::create(&to.triple);
    Target::from_triple(&triple)
        .map_err(|e| failed("target", &e.to_string_lossy()))?
        .create_target_machine(
            &triple,
            to.cpu,
            &to.features,
            level,
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| failed("target machine", &to.triple))
}

/// The layout of data. The translation writes the alignment of each access, and without a layout takes an i64
/// to be aligned to 4 bytes.
fn layout(to: &Machine<'_>) -> Result<String, CompileError> {
    let layout = machine(to, to.level)?.get_target_data().get_data_layout();
    Ok(layout.as_str().to_string_lossy().into_owned())
}

/// Says in a module what the translation has to know of the target. For one module
/// after the other: it changes the context.
fn prepare(module: Op<'_>, to: &Machine<'_>, layout: &str) {
    let context = context_of(module);
    let text = |text: &str| attributes::string(context, text);
    module.set_attr("llvm.data_layout", text(layout));
    module.set_attr("llvm.target_triple", text(&to.triple));
    melior::utility::register_all_llvm_translations(context);
}

/// In LLVM's form, and verified.
fn translate<'l>(module: Op<'_>, context: &'l Context) -> Result<LlvmModule<'l>, CompileError> {
    let _span = tracing::info_span!("translate").entered();
    // Safety: both contexts live; the result is owned below.
    let raw =
        unsafe { mlir_sys::mlirTranslateModuleToLLVMIR(module.to_raw(), context.raw().cast()) };
    if raw.is_null() {
        return Err(failed("translation", &"see the diagnostics above"));
    }
    // Safety: the module was just made in this context.
    Ok(unsafe { LlvmModule::new(raw.cast()) })
}

/// Optimised and emitted, with some passes left out.
fn finish(
    module: &LlvmModule<'_>,
    to: &Machine<'_>,
    skipped: &str,
    output: Output,
) -> Result<Vec<u8>, CompileError> {
    let (machine, _) = optimise(module, to, skipped)?;
    written(module, &machine, output)
}

/// As what is asked for.
fn written(
    module: &LlvmModule<'_>,
    by: &TargetMachine,
    output: Output,
) -> Result<Vec<u8>, CompileError> {
    let kind = match output {
        Output::LlvmIr => return Ok(module.print_to_string().to_bytes().to_vec()),
        Output::Assembly => FileType::Assembly,
        Output::Object => FileType::Object,
    };
    let _span = tracing::info_span!("codegen").entered();
    let buffer = by
        .write_to_memory_buffer(module, kind)
        .map_err(|e| failed("code generation", &e.to_string_lossy()))?;
    Ok(buffer.as_slice().to_vec())
}

/// Optimised, with some passes left out of this and of what follows; yields what generates the code, and how
/// hard that tries.
fn optimise(
    module: &LlvmModule<'_>,
    to: &Machine<'_>,
    skipped: &str,
) -> Result<(TargetMachine, OptimizationLevel), CompileError> {
    keep_assembly_together(module);
    // Safety: the module is valid.
    let shape = unsafe { qd_dialects::llvm::prepare(module.as_mut_ptr().cast(), LONGEST, DEEPEST) };
    let slow = match shape.longest_block > LONGEST {
        true => SLOW_IN_LONG,
        false => "",
    };
    let skipped: Vec<_> = [skipped, slow]
        .into_iter()
        .filter(|names| !names.is_empty())
        .collect();
    if !skipped.is_empty() {
        let context = module.get_context().raw().cast();
        // Safety: the context is that of the module, which is valid.
        unsafe { qd_dialects::llvm::skip_passes(context, &skipped.join(",")) };
    }
    let (passes, level) = match shape.deepest_loop > DEEPEST {
        true => (WITHOUT_LOOPS, to.deep_level),
        false => (&*to.passes, to.level),
    };
    let machine = machine(to, level)?;
    {
        let _span = tracing::info_span!("optimise").entered();
        let options = PassBuilderOptions::create();
        options.set_loop_vectorization(to.vectorize);
        options.set_loop_slp_vectorization(to.vectorize);
        options.set_loop_unrolling(true);
        module
            .run_passes(passes, &machine, options)
            .map_err(|e| failed("optimisation", &e.to_string_lossy()))?;
    }
    if to.vectorize {
        store_single_lanes(module).map_err(|error| failed("a masked store", &error))?;
    }
    if !to.has_libraries {
        called_elsewhere(module)?;
    }
    Ok((machine, level))
}

/// Makes a masked store of integers whose mask has one lane a store of that lane. LLVM 22's x86 backend does so, too,
/// but where the lanes were truncated it stores what was not, and so overwrites what is behind.
fn store_single_lanes(module: &LlvmModule<'_>) -> Result<(), BuilderError> {
    let is_masked_store = |function: &FunctionValue<'_>| {
        function
            .get_name()
            .to_bytes()
            .starts_with(b"llvm.masked.store.")
    };
    let intrinsics: Vec<_> = module.get_functions().filter(is_masked_store).collect();
    if intrinsics.is_empty() {
        return Ok(());
    }
    let blocks = module
        .get_functions()
        .flat_map(|function| function.get_basic_blocks());
    let instructions: Vec<_> = blocks.flat_map(|block| block.get_instructions()).collect();
    for instruction in instructions {
        let call = CallSiteValue::try_from(instruction).ok();
        let callee = call.and_then(|call| call.get_called_fn_value());
        if let (Some(call), Some(callee)) = (call, callee)
            && intrinsics.contains(&callee)
        {
            store_single_lane(module.get_context(), instruction, call)?;
        }
    }
    Ok(())
}

/// Likewise for one of them.
fn store_single_lane<'c>(
    context: ContextRef<'c>,
    store: InstructionValue<'c>,
    call: CallSiteValue<'c>,
) -> Result<(), BuilderError> {
    let operand = |at| store.get_operand(at).and_then(Operand::value);
    let (
        Some(BasicValueEnum::VectorValue(lanes)),
        Some(BasicValueEnum::PointerValue(pointer)),
        Some(BasicValueEnum::VectorValue(mask)),
    ) = (operand(0), operand(1), operand(2))
    else {
        return Ok(());
    };
    let BasicTypeEnum::IntType(element) = lanes.get_type().get_element_type() else {
        return Ok(());
    };
    if !mask.is_const() {
        return Ok(());
    }
    let is_set = |lane: &u32| {
        // Safety: it is a constant; what is asked for is null where there is none.
        unsafe {
            let bit = LLVMGetAggregateElement(mask.as_value_ref(), *lane);
            !bit.is_null()
                && !LLVMIsAConstantInt(bit).is_null()
                && LLVMConstIntGetZExtValue(bit) != 0
        }
    };
    let set: Vec<u32> = (0..mask.get_type().get_size()).filter(is_set).collect();
    let [lane] = set[..] else { return Ok(()) };
    let builder = context.create_builder();
    builder.position_before(&store);
    let lane = context.i64_type().const_int(lane.into(), false);
    let value = builder.build_extract_element(lanes, lane, "")?;
    // Safety: the mask says that the lane is there.
    let place = unsafe { builder.build_gep(element, pointer, &[lane], "")? };
    let single = builder.build_store(place, value)?;
    let align = Attribute::get_named_enum_kind_id("align");
    let align = call.get_enum_attribute(AttributeLoc::Param(1), align);
    let align = align.map_or(1, |align| align.get_enum_value() as u32);
    // A lane stands at a multiple of its size.
    let align = align.min(element.get_bit_width().div_ceil(8).next_power_of_two());
    single
        .set_alignment(align)
        .expect("a store has an alignment");
    store.erase_from_basic_block();
    Ok(())
}

/// Inline assembly may hold collectives, and LLVM must not move it into branches,
/// of which MLIR's op has no way to tell it.
fn keep_assembly_together(module: &LlvmModule<'_>) {
    let convergent = Attribute::get_named_enum_kind_id("convergent");
    let convergent = module.get_context().create_enum_attribute(convergent, 0);
    let blocks = module
        .get_functions()
        .flat_map(|function| function.get_basic_blocks());
    for instruction in blocks.flat_map(|block| block.get_instructions()) {
        // Safety: a call has a callee, of whatever kind.
        let is_assembly = |call: &CallSiteValue<'_>| unsafe {
            !LLVMIsAInlineAsm(LLVMGetCalledValue(call.as_value_ref())).is_null()
        };
        let call = CallSiteValue::try_from(instruction).ok();
        if let Some(call) = call.filter(is_assembly) {
            call.add_attribute(AttributeLoc::Function, convergent);
        }
    }
}

/// An error if something is called that is not in the module. Unused declarations
/// are gone after optimisation.
fn called_elsewhere(module: &LlvmModule<'_>) -> Result<(), CompileError> {
    for function in module.get_functions() {
        let name = function.get_name().to_string_lossy();
        if function.count_basic_blocks() == 0 && !name.starts_with("llvm.") {
            return Err(CompileError::Llvm(format!(
                "'{name}' is called, and the target has no library that it could be in"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Context, DEEPEST, LONGEST};
    use inkwell::memory_buffer::MemoryBuffer;
    use std::fmt::Write;

    /// How many loops are in one another in a function of these blocks, each with what
    /// it goes on to.
    fn depth(blocks: &[(&str, &[&str])]) -> usize {
        let mut text = String::from("define void @f(i1 %either) {\n");
        for (name, next) in blocks {
            let _ = match next {
                [] => writeln!(text, "{name}:\n  ret void"),
                [only] => writeln!(text, "{name}:\n  br label %{only}"),
                [one, other, ..] => {
                    writeln!(
                        text,
                        "{name}:\n  br i1 %either, label %{one}, label %{other}"
                    )
                }
            };
        }
        text += "}\n\n";
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "f");
        let module = context
            .create_module_from_ir(buffer)
            .expect("what is written above");
        // Safety: the module is valid.
        unsafe { qd_dialects::llvm::prepare(module.as_mut_ptr().cast(), LONGEST, DEEPEST) }
            .deepest_loop
    }

    #[test]
    fn loops_in_one_another_are_counted() {
        assert_eq!(depth(&[("entry", &["end"]), ("end", &[])]), 0);
        // A block that goes on to itself, in a loop of two ends, in another.
        let nest: &[(&str, &[&str])] = &[
            ("entry", &["a"]),
            ("a", &["b"]),
            ("b", &["c"]),
            ("c", &["c", "d"]),
            ("d", &["b", "e"]),
            ("e", &["b", "f"]),
            ("f", &["a", "end"]),
            ("end", &[]),
        ];
        assert_eq!(depth(nest), 3);
    }

    #[test]
    fn loops_beside_one_another_are_not() {
        let beside: &[(&str, &[&str])] = &[
            ("entry", &["outer"]),
            ("outer", &["a"]),
            ("a", &["a", "b"]),
            ("b", &["c"]),
            ("c", &["b", "d"]),
            ("d", &["outer", "e"]),
            ("e", &["e", "end"]),
            ("end", &[]),
        ];
        assert_eq!(depth(beside), 2);
    }

    #[test]
    fn two_ways_into_a_circle_make_no_loop() {
        let circle: &[(&str, &[&str])] = &[
            ("entry", &["a", "b"]),
            ("a", &["b", "end"]),
            ("b", &["a"]),
            ("end", &[]),
            ("lost", &["lost"]),
        ];
        assert_eq!(depth(circle), 0);
    }
}
