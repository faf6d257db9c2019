//! From a module to an artifact: the launch plan as data, bodies through the target's
//! `backend` to a binary.

mod amdgpu;
pub(crate) mod backend;
mod diagnosed;
pub(crate) mod draw;
mod effects;
mod expr;
mod fallible;
mod gpu;
mod host;
mod kept;
mod lengths;
mod lld;
mod llvm;
mod nvptx;
mod plan;
mod ptx;
mod reflect;
mod spirv;
mod waits;

pub use kept::KeptCode;
pub use reflect::reflect;

use crate::{Options, targets::Target};
use backend::{Backend, Output};
use kept::{KeptParts, Made};
use melior::ir::Module;
use plan::Planned;
use qd_artifact::{
    self as artifact, Artifact, Body, Kernel, Origins, Plan, Requirements, TargetSpec,
};
use qd_dialects::{
    attributes,
    diagnostic::Diagnostic,
    ir::{self, Op, OpExt, context_of, operations},
    melior,
    pass::run_pipeline,
    report,
};
use qd_passes::select_subgroup_size::{bodies, wave_at};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};
use waits::Waits;

/// A kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// A relocatable object of the bodies.
    Object,
    /// The bodies' LLVM IR, optimised.
    LlvmIr,
    /// The bodies' assembly, optimised.
    Assembly,
    /// The launch plan and the kernels' arguments, as JSON.
    Plan,
    /// The launch plan as a page: a graph of its steps, and why they wait.
    PlanHtml,
    /// The bodies as a SPIR-V module.
    Spirv,
    /// That module as text.
    SpirvAssembly,
    /// What that module declares, as JSON.
    Reflection,
}

/// Why a module could not be compiled. MLIR's diagnostics have been reported through the
/// context's handlers.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The target is not one.
    #[error("{0}")]
    Target(String),
    /// A pass failed; its diagnostics have the reason.
    #[error("{0}")]
    Pipeline(String),
    /// An error of LLVM.
    #[error("LLVM: {0}")]
    Llvm(String),
    /// The emitted module is not what its runtime expects.
    #[error("SPIR-V: {0}")]
    Spirv(String),
}

/// Compiles a module for a target.
///
/// # Errors
///
/// There is no such target, or the module cannot be compiled for it.
pub fn compile(
    module: &mut Module<'_>,
    target: &TargetSpec,
    options: &Options,
) -> Result<Artifact, CompileError> {
    compile_timed(module, target, options, None, &mut Stages::new())
}

/// Stages of a compilation that are over, and how long each took.
pub type Stages = Vec<(&'static str, Duration)>;

/// As [`compile`]. Bodies whose code is kept are neither converted nor emitted, in a module with several: that
/// with one is kept as a whole by whoever keeps. How long each stage took is added to `stages`, also where a later one
/// fails.
///
/// # Errors
///
/// As for [`compile`].
pub fn compile_timed(
    module: &mut Module<'_>,
    target: &TargetSpec,
    options: &Options,
    kept: Option<&dyn KeptCode>,
    stages: &mut Stages,
) -> Result<Artifact, CompileError> {
    let mut begin = Instant::now();
    let mut end = |stage| {
        let now = Instant::now();
        stages.push((stage, now - begin));
        begin = now;
    };
    let setting = Setting::new(target, options)?;
    let lowered = SubgroupLevel::of(module, &setting)?;
    end("lower");
    let converted = lowered.convert(kept)?;
    end("convert");
    let artifact = converted.artifact()?;
    end("emit");
    Ok(artifact)
}

/// From here on a body's name identifies its contents, also in the plan, and its assertions are
/// like other code.
pub(crate) const NAMED: &str = "qd-expand-asserts,qd-expand-prints,qd-name-bodies";

/// From bodies at the subgroup level to the dialects that are emitted, each in a module of its own, as a pipeline.
pub(crate) fn conversion(target: &Target) -> String {
    format!("{SEPARATED},{}", conversion_of_each(target))
}

const SEPARATED: &str = "qd-separate-bodies";

/// From bodies at the subgroup level that are in modules of their own.
fn conversion_of_each(target: &Target) -> String {
    let each = (backend::of(target).conversion)(&target.capabilities);
    format!("builtin.module({each})")
}

/// Compiles a module for a target and yields one kind of output.
///
/// # Errors
///
/// As for [`compile`], and where the target has no such output.
pub fn translate(
    module: &mut Module<'_>,
    target: &TargetSpec,
    options: &Options,
    emit: Emit,
) -> Result<Vec<u8>, CompileError> {
    let setting = Setting::new(target, options)?;
    let lowered = SubgroupLevel::of(module, &setting)?;
    let output = match emit {
        Emit::LlvmIr => Output::Llvm(llvm::Output::LlvmIr),
        Emit::Assembly => Output::Llvm(llvm::Output::Assembly),
        Emit::Object => Output::Llvm(llvm::Output::Object),
        Emit::Spirv => Output::Spirv(spirv::Output::Words),
        Emit::SpirvAssembly => Output::Spirv(spirv::Output::Text),
        Emit::Reflection => Output::Spirv(spirv::Output::Reflection),
        Emit::PlanHtml => {
            let waits = lowered.waits();
            let page = draw::page(&lowered.convert(None)?.without_code(), Some(&waits));
            return Ok(page.into_bytes());
        }
        Emit::Plan => {
            let text = serde_json::to_vec_pretty(&lowered.convert(None)?.without_code())
                .map_err(|e| CompileError::Pipeline(e.to_string()))?;
            return Ok(text);
        }
    };
    match output {
        // Tools of others take one module a file.
        Output::Spirv(spirv::Output::Words) => lowered.convert_together()?.emit(output),
        _ => lowered.convert(None)?.emit(output),
    }
}

/// An artifact's launch plans as a page. The artifact lacks the effects of steps, so the
/// page shows dependencies without reasons.
pub fn draw(artifact: &Artifact) -> String {
    draw::page(artifact, None)
}

/// What a module is compiled for.
pub(crate) struct Setting<'a> {
    spec: &'a TargetSpec,
    target: Target,
    options: &'a Options,
}

impl<'a> Setting<'a> {
    fn new(spec: &'a TargetSpec, options: &'a Options) -> Result<Self, CompileError> {
        Ok(Self {
            target: Target::of(spec).map_err(CompileError::Target)?,
            spec,
            options,
        })
    }

    fn backend(&self) -> &'static Backend {
        backend::of(&self.target)
    }
}

/// A module whose bodies are for one subgroup size, and the plans of its kernels.
struct SubgroupLevel<'a, 'c> {
    module: &'a mut Module<'c>,
    setting: &'a Setting<'a>,
    planned: Vec<Planned>,
    waves: Waves,
}

impl<'a, 'c> SubgroupLevel<'a, 'c> {
    /// Lowers a module from any level above.
    fn of(module: &'a mut Module<'c>, setting: &'a Setting<'a>) -> Result<Self, CompileError> {
        // Before algorithms are expanded, which have the sizes and roles of arguments.
        let signatures = reflect(module)?;
        let passes = format!("qd-to-subgroup{{target={}}},{NAMED}", setting.spec);
        pipeline(module, &passes)?;
        Ok(Self {
            planned: plan::plan(handle(module), signatures, setting).map_err(said)?,
            waves: waves(handle(module)),
            module,
            setting,
        })
    }

    /// The reasons for the dependencies of its kernels' steps.
    fn waits(&self) -> Vec<Waits> {
        waits::waits(handle(self.module), &self.planned)
    }

    /// Parts whose code is kept stay as they are.
    fn convert(self, kept: Option<&'a dyn KeptCode>) -> Result<Converted<'a, 'c>, CompileError> {
        pipeline(self.module, SEPARATED)?;
        let root = handle(self.module);
        let all = operations(root.body().expect("a module's body")).into_iter();
        let all = all.filter(|op| op.is("builtin.module")).map(Part::of);
        let mut parts: Vec<_> = all.collect();
        let kept = kept.filter(|_| parts.len() > 1);
        let kept = kept.and_then(|kept| KeptParts::of(kept, self.setting));
        if let Some(kept) = &kept {
            let launched = plan::bodies(&self.planned);
            for part in parts.iter_mut().filter(|part| part.is_launched(&launched)) {
                part.find(kept);
            }
        }
        let each = conversion_of_each(&self.setting.target);
        // By its whole name: it would be taken for that of the outer module.
        let passes = format!("builtin.module({each})");
        let convert = || pipeline(self.module, &passes);
        let (converted, was_said) = report::overhear(context_of(root), convert);
        converted?;
        Ok(Converted {
            parts,
            // It would not be said again.
            kept: kept.filter(|_| !was_said),
            setting: self.setting,
            planned: self.planned,
            waves: self.waves,
            _module: self.module,
        })
    }

    /// As one part.
    fn convert_together(self) -> Result<Converted<'a, 'c>, CompileError> {
        let each = self.setting.backend().conversion;
        pipeline(self.module, &each(&self.setting.target.capabilities))?;
        Ok(Converted {
            parts: vec![Part::of(handle(self.module))],
            kept: None,
            setting: self.setting,
            planned: self.planned,
            waves: self.waves,
            _module: self.module,
        })
    }
}

/// Lanes in a subgroup of each body, by its name.
type Waves = BTreeMap<String, u32>;

/// The waves of the bodies in a module at the subgroup level.
fn waves(module: Op<'_>) -> Waves {
    let bodies = bodies(module).into_iter();
    let of = |(body, _): (Op<'_>, i64)| {
        let name = body.attr("sym_name").and_then(attributes::text)?;
        Some((name, u32::try_from(wave_at(body)?).ok()?))
    };
    bodies.filter_map(of).collect()
}

/// A module within a module, of one body or of several that share ops.
struct Part<'c> {
    form: Form<'c>,
    /// What it is kept by, where it can be.
    key: Option<String>,
    /// The symbols of the functions in it.
    symbols: BTreeSet<String>,
}

/// A part, to be emitted or not.
enum Form<'c> {
    /// In the target's own dialects, once it is converted.
    Ir(Op<'c>),
    /// The code of which was kept.
    Kept(Made),
}

impl<'c> Part<'c> {
    fn of(module: Op<'c>) -> Self {
        let mut symbols = BTreeSet::new();
        add_symbols(module, &mut symbols);
        Self {
            form: Form::Ir(module),
            key: None,
            symbols,
        }
    }

    /// Its code takes its place, if that is kept.
    fn find(&mut self, kept: &KeptParts<'_>) {
        let Form::Ir(module) = self.form else { return };
        let key = kept.key(module);
        if let Some(made) = kept.find(&key) {
            ir::edit(|| module.erase());
            self.form = Form::Kept(made);
        }
        self.key = Some(key);
    }

    /// Its module, unless its code was kept.
    fn ir(&self) -> Option<Op<'c>> {
        match self.form {
            Form::Ir(module) => Some(module),
            Form::Kept(_) => None,
        }
    }

    fn is_launched(&self, launched: &BTreeSet<String>) -> bool {
        !self.symbols.is_disjoint(launched)
    }

    /// Those of its functions that are launched, of bodies with these subgroup sizes.
    fn bodies(&self, launched: &BTreeSet<String>, waves: &Waves) -> Vec<Body> {
        let names = self.symbols.intersection(launched).cloned();
        let body = |name| Body {
            wave: waves.get(&name).copied().unwrap_or(0),
            name,
        };
        names.map(body).collect()
    }
}

/// The symbols of a module, or of a `spirv.module` in it.
fn add_symbols(module: Op<'_>, symbols: &mut BTreeSet<String>) {
    for op in module.body().map(operations).unwrap_or_default() {
        if op.is("spirv.module") {
            add_symbols(op, symbols);
        }
        symbols.extend(op.attr("sym_name").and_then(attributes::text));
    }
}

/// Parts in the target's own dialects, and the artifact without their code.
struct Converted<'a, 'c> {
    parts: Vec<Part<'c>>,
    /// Where the others are to be kept.
    kept: Option<KeptParts<'a>>,
    setting: &'a Setting<'a>,
    planned: Vec<Planned>,
    waves: Waves,
    /// Whose parts these are.
    _module: &'a mut Module<'c>,
}

impl Converted<'_, '_> {
    fn emit(&self, output: Output) -> Result<Vec<u8>, CompileError> {
        (self.setting.backend().emit)(&self.ir(), self.setting, output)
    }

    /// What is not kept.
    fn ir(&self) -> Vec<Op<'_>> {
        self.parts.iter().filter_map(Part::ir).collect()
    }

    fn artifact(mut self) -> Result<Artifact, CompileError> {
        // Bodies that are not launched have been verified, and need not be compiled.
        let launched = plan::bodies(&self.planned);
        self.parts.retain(|part| part.is_launched(&launched));
        let code = (self.setting.backend().code)(&self.ir(), self.setting)?;
        Ok(self.with_code(code))
    }

    /// For plans without code.
    fn without_code(self) -> Artifact {
        let none = vec![Vec::new(); self.parts.len()];
        self.with_code(none)
    }

    /// With the code of each part that was not kept.
    fn with_code(self, code: Vec<Vec<u8>>) -> Artifact {
        let backend = self.setting.backend();
        let (mut modules, mut needs) = (Vec::new(), Vec::new());
        let mut origins = Origins::default();
        let launched = plan::bodies(&self.planned);
        let mut code = code.into_iter();
        for part in self.parts {
            let bodies = part.bodies(&launched, &self.waves);
            let made = match part.form {
                Form::Kept(made) => made,
                Form::Ir(module) => {
                    // Emission does not change what is asked here.
                    let (needs, origins) = (backend.requirements)(module, self.setting);
                    let code = code.next().unwrap_or_default();
                    let made = Made {
                        code,
                        needs,
                        origins,
                    };
                    if let (Some(kept), Some(key)) = (&self.kept, &part.key) {
                        kept.keep(key, &part.symbols, &made);
                    }
                    made
                }
            };
            modules.push(artifact::Module::new(0, backend.format, bodies, made.code));
            needs.push(made.needs);
            origins.add(made.origins);
        }
        let kernels = self.planned.into_iter().map(|mut planned| {
            let (sites, places): (Vec<_>, Vec<_>) = planned.sites.iter().cloned().unzip();
            if !places.is_empty() {
                origins.sites.insert(planned.name.clone(), places);
            }
            let places = std::mem::take(&mut planned.places);
            if !places.is_empty() {
                origins.steps.insert(planned.name.clone(), places);
            }
            let launched = plan::bodies([&planned]);
            let is_its = |module: &artifact::Module| {
                let mut bodies = module.bodies.iter();
                bodies.any(|body| launched.contains(&body.name))
            };
            let parts = modules.iter().zip(&needs);
            let parts = parts.filter(|(module, _)| is_its(module));
            Kernel {
                plans: vec![Some(Plan {
                    control: planned.control,
                    needs: Requirements::of_all(parts.map(|(_, needs)| needs)),
                    steps: planned.steps,
                    sites,
                })],
                name: planned.name,
                arguments: planned.arguments,
            }
        });
        let kernels = kernels.collect();
        Artifact {
            targets: vec![self.setting.spec.to_string()],
            kernels,
            modules,
            origins: vec![origins],
        }
    }
}

/// Reports an error through the context's handlers.
fn said(diagnostic: Diagnostic<'_>) -> CompileError {
    let message = diagnostic.message().to_string();
    diagnostic.emit();
    CompileError::Pipeline(message)
}

fn pipeline(module: &mut Module<'_>, passes: &str) -> Result<(), CompileError> {
    let context = qd_dialects::ir::context_of(handle(module));
    let _span = tracing::info_span!("pipeline", passes).entered();
    run_pipeline(context, module, passes).map_err(CompileError::Pipeline)
}

/// The module's operation as a handle of ours.
pub(crate) fn handle<'c>(module: &Module<'c>) -> Op<'c> {
    // Safety: the handle is used while the module lives.
    unsafe { Op::from_raw(module.as_operation().to_raw()) }
}
