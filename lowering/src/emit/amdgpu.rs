//! Bodies as AMD's code objects: ELF files that HIP loads, linked by LLD.

use super::{
    CompileError, Setting,
    backend::{Backend, Output, lacks},
    gpu, lld,
    llvm::{self, Machine},
};
use crate::{
    convert::qd_to_rocdl,
    targets::{Capabilities, Kind},
};
use inkwell::{
    targets::{InitializationConfig, Target},
    values::FunctionValue,
};
use qd_artifact::Format;
use qd_dialects::{
    attributes::{self, names},
    ir::{Op, OpExt, operations},
};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// See the module.
pub const AMDGPU: Backend = Backend {
    conversion,
    dynamic_shared_bytes: qd_to_rocdl::dynamic_shared_bytes,
    // The target says it all.
    requirements: |_, _| Default::default(),
    emit,
    format: Format::Hsaco,
    code,
};

fn conversion(capabilities: &Capabilities) -> String {
    let convert = format!("qd-convert-to-rocdl{{arch={}}}", architecture(capabilities));
    gpu::conversion(&convert, "rocdl", capabilities)
}

fn architecture(capabilities: &Capabilities) -> &'static str {
    match capabilities.kind {
        Kind::Amdgpu(architecture) => architecture.name,
        _ => "",
    }
}

fn emit(parts: &[Op<'_>], setting: &Setting<'_>, output: Output) -> Result<Vec<u8>, CompileError> {
    let Output::Llvm(output) = output else {
        return Err(lacks(
            setting,
            "SPIR-V",
            "its bodies are code objects (--emit=obj) and their assembly (--emit=asm)",
        ));
    };
    let emit = |(wave, parts): (_, Vec<(usize, Op<'_>)>)| {
        let parts: Vec<_> = parts.into_iter().map(|(_, part)| part).collect();
        llvm::emit_linked(&parts, &machine(setting, wave)?, output, is_kernel)
    };
    let made = by_wave(parts).into_iter().map(emit);
    let made = made.collect::<Result<Vec<_>, _>>()?;
    match output {
        llvm::Output::Object => lld::link(&made, setting.options),
        _ => Ok(made.concat()),
    }
}

fn code(parts: &[Op<'_>], setting: &Setting<'_>) -> Result<Vec<Vec<u8>>, CompileError> {
    let (mut places, mut groups) = (Vec::new(), Vec::new());
    for (wave, parts) in by_wave(parts) {
        let (of_wave, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        places.extend(of_wave);
        groups.push((parts, machine(setting, wave)?));
    }
    let groups: Vec<_> = (groups.iter())
        .map(|(parts, machine)| (&**parts, machine))
        .collect();
    let objects = llvm::emit_each(&groups, llvm::Output::Object, is_kernel)?;
    let linked = objects.par_chunks(1);
    let linked = linked.map(|object| lld::link(object, setting.options));
    let mut made = vec![Vec::new(); parts.len()];
    for (place, code) in places
        .into_iter()
        .zip(linked.collect::<Result<Vec<_>, _>>()?)
    {
        made[place] = code;
    }
    Ok(made)
}

/// Parts, each with its place, by the subgroup size of their kernels: to LLVM that is a feature
/// of what it compiles for.
fn by_wave<'c>(parts: &[Op<'c>]) -> BTreeMap<Option<i64>, Vec<(usize, Op<'c>)>> {
    let mut by_wave = BTreeMap::<_, Vec<_>>::new();
    for (place, part) in parts.iter().enumerate() {
        by_wave.entry(wave(*part)).or_default().push((place, *part));
    }
    by_wave
}

/// Lanes in a subgroup of the kernel in a part; nothing if it has none.
fn wave(part: Op<'_>) -> Option<i64> {
    let ops = part.body().map(operations).unwrap_or_default();
    let waves = ops.into_iter().filter_map(|op| op.attr(names::WAVE));
    waves.filter_map(attributes::int).next()
}

fn is_kernel(function: FunctionValue<'_>) -> bool {
    function.get_call_conventions() == AMDGPU_KERNEL
}

/// What LLVM compiles for.
fn machine(setting: &Setting<'_>, wave: Option<i64>) -> Result<Machine<'static>, CompileError> {
    let Kind::Amdgpu(architecture) = setting.target.capabilities.kind else {
        return Err(lacks(setting, "code objects", "it is no AMD device"));
    };
    Target::initialize_amd_gpu(&InitializationConfig::default());
    let wave = wave.unwrap_or_else(|| architecture.waves[0].into());
    let features = format!("+wavefrontsize{wave}");
    Ok(Machine {
        // Initial registers that are never read need not be given.
        passes: format!("{},amdgpu-attributor", gpu::passes(&[])),
        ..gpu::machine("amdgcn-amd-amdhsa", architecture.name, &features, &[])
    })
}

/// LLVM's number of how kernels are called.
const AMDGPU_KERNEL: u32 = 91;
