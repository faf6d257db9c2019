//! A module that is compiled, or interpreted.

use crate::interpret;
use qd_artifact::{Kernel, TargetSpec};
use qd_dialects::ir::Context;
use qd_frontend::{
    CompileProgress, CompileRequest, Parsed, Source, check_targets, compile_stored, keep_valid,
    kernel_names, store::Store,
};
use qd_interp::{Options, Schedule};
use qd_run::{
    TOOL,
    bind::Bound,
    cli::Cli,
    print,
    program::{Finished, Module, Program, chosen, device_options, no_device, request, spec},
};
use qd_runtime::objects::{DeviceId, Opening};
use qd_thin::{Failure, print_troubles, with_bar};
use std::slice;

/// Reads the file and finds the kernel; nothing is compiled yet.
pub fn open<'c>(cli: &Cli, context: &'c Context) -> Result<Program<'c>, Failure> {
    let source = Source::read(&cli.file)?;
    if let Some(program) = Program::of_artifact_in(cli, &source) {
        return program;
    }
    let parsed = |source: &Source| Parsed::new(context, source, &mut print);
    if cli.interpret {
        let (parsed, options) = (parsed(&source)?, interpreter_options(cli)?);
        let kernels = parsed.kernels()?;
        return Program::of_module(cli, Box::new(Interpreted { parsed, options }), kernels);
    }
    let name = cli.target.as_deref().unwrap_or("cpu");
    let target = spec(name)?;
    check_targets(slice::from_ref(&target))?;
    let id = DeviceId::for_target(name).map_err(|e| e.to_string())?;
    let opening = Opening::begin(id, device_options(cli));
    let store = match cli.no_cache || cli.explain.is_some() {
        true => None,
        false => Store::of_environment(),
    };
    let resolve = |opening: Opening, target: &TargetSpec| {
        let resolved = opening.resolve(target);
        resolved.map_err(|e| no_device(cli, &e))
    };
    let (parsed, request, opening) = match &store {
        None => {
            let parsed = parsed(&source)?;
            let (target, opening) = resolve(opening, &target)?;
            (parsed, request(source, target, None), opening)
        }
        Some(store) => {
            let (target, opening) = resolve(opening, &target)?;
            let entry = kernel_names(&source).and_then(|names| chosen(cli, names));
            let request = request(source, target, entry);
            print_troubles(TOOL, store);
            // What is to be said of it is said when it is compiled; where nothing is, it is not parsed again.
            let mut is_said = false;
            let parsed = Parsed::new(context, &request.source, &mut |_| is_said = true)?;
            if !is_said {
                keep_valid(&request.source, store);
            }
            (parsed, request, opening)
        }
    };
    let kernels = parsed.kernels()?;
    let compiled = Compiled {
        parsed,
        request,
        store,
        opening,
    };
    Program::of_module(cli, Box::new(compiled), kernels)
}

struct Interpreted<'c> {
    parsed: Parsed<'c>,
    options: Options,
}

impl Module for Interpreted<'_> {
    fn title(&self, kernel: &str) -> String {
        format!("{kernel}, interpreted, wave {}", self.options.wave)
    }

    fn finish(self: Box<Self>, kernel: &Kernel, bound: &mut Bound) -> Result<Finished, Failure> {
        let what = interpret::run(self.parsed.module(), kernel, bound, &self.options)?;
        Ok(Finished::Run(what))
    }
}

struct Compiled<'c> {
    parsed: Parsed<'c>,
    request: CompileRequest,
    store: Option<Store>,
    opening: Opening,
}

impl Module for Compiled<'_> {
    fn title(&self, kernel: &str) -> String {
        format!("{kernel} on {}", self.request.targets[0])
    }

    fn finish(self: Box<Self>, kernel: &Kernel, _: &mut Bound) -> Result<Finished, Failure> {
        let Self {
            mut parsed,
            mut request,
            store,
            opening,
        } = *self;
        let artifact = match &store {
            Some(store) => {
                request.kernels = Some(vec![kernel.name.clone()]);
                let kept = with_bar(TOOL, |bar, sink| {
                    let mut show = |progress: CompileProgress| bar.show(progress.done, progress.of);
                    compile_stored(&request, store, sink, &mut show)
                });
                print_troubles(TOOL, store);
                kept?
            }
            None => {
                parsed.select(slice::from_ref(&kernel.name))?;
                with_bar(TOOL, |_, sink| {
                    parsed.compile(&request.targets, &request.options, sink)
                })?
            }
        };
        Ok(Finished::Compiled(artifact, opening))
    }
}

fn interpreter_options(cli: &Cli) -> Result<Options, String> {
    let wave = cli.wave.unwrap_or(32);
    if !matches!(wave, 4 | 8 | 16 | 32 | 64) {
        return Err(format!("--wave={wave}: expected 4, 8, 16, 32 or 64"));
    }
    Ok(Options {
        wave,
        schedule: cli
            .schedule
            .as_deref()
            .map_or(Ok(Schedule::InOrder), interpret::schedule)?,
        ..Default::default()
    })
}
