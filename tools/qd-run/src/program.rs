//! The program that is run: a module to compile or to interpret, or an
//! artifact.

use crate::{
    Failure,
    bind::Bound,
    cli::Cli,
    interpret, report,
    resident::{Resident, Run},
    streams::Traced,
};
use melior::{Context, ir::Module};
use qd_artifact::{Artifact, FileError, Kernel};
use qd_dialects::parse::{self, Errors, print_diagnostics};
use qd_interp::Schedule;
use qd_lowering::CompileError;
use qd_runtime::{
    Error,
    objects::{Detail, Device, DeviceId, DeviceOptions, LaunchOptions, Priority},
};
use qd_trace::Guard;
use std::{collections::BTreeSet, fs::File, io::Read, path::Path, time::Instant};

/// A context with everything that modules may name and pipelines use.
pub fn context() -> Context {
    melior::utility::register_all_passes();
    qd_passes::register();
    qd_lowering::register();
    qd_dialects::context()
}

/// A program and the kernel of it that is run.
pub struct Program<'c> {
    form: Form<'c>,
    kernels: Vec<Kernel>,
    entry: usize,
    errors: Errors,
}

enum Form<'c> {
    Interpreted(Module<'c>, qd_interp::Options),
    Compiled(Module<'c>, String, Device),
    Artifact(Artifact, Device),
}

/// What a run yields besides its results.
pub struct Done {
    /// One line.
    pub summary: String,
    /// The median run; none of an interpretation.
    pub run: Option<Run>,
}

impl<'c> Program<'c> {
    /// Reads the file and finds the kernel; nothing is compiled yet.
    pub fn open(cli: &Cli, context: &'c Context) -> Result<Self, Failure> {
        let errors = print_diagnostics(context);
        let path = &cli.file;
        let artifact = mapped(path);
        let source = match &artifact {
            Some(_) => Vec::new(),
            None => parse::read(path)?,
        };
        let form = if let Some(artifact) = artifact {
            Self::artifact(cli, artifact)?
        } else if source.starts_with(qd_artifact::MAGIC) {
            Self::artifact(cli, Artifact::from_bytes(source))?
        } else {
            let module = || parse::parse(context, &source, path).ok_or(Failure::Said);
            if cli.interpret {
                Form::Interpreted(module()?, interpreter_options(cli)?)
            } else {
                let target = cli.target.as_deref().unwrap_or("cpu");
                qd_lowering::targets::Target::parse(target)?;
                let module = module()?;
                let id = DeviceId::for_target(target).map_err(|e| e.to_string())?;
                let device = device(cli, &id)?;
                Form::Compiled(module, device.resolve(target), device)
            }
        };
        let kernels = match &form {
            Form::Artifact(artifact, _) => artifact.kernels.clone(),
            Form::Interpreted(module, _) | Form::Compiled(module, ..) => {
                qd_lowering::reflect(module).map_err(|e| failure(&errors, &e))?
            }
        };
        Ok(Self {
            form,
            entry: entry(cli, &kernels)?,
            kernels,
            errors,
        })
    }

    fn artifact(
        cli: &Cli,
        artifact: std::result::Result<Artifact, FileError>,
    ) -> Result<Form<'c>, Failure> {
        let path = cli.file.display();
        if cli.interpret {
            return Err(
                format!("{path}: an artifact cannot be interpreted: give its module").into(),
            );
        }
        let artifact = artifact.map_err(|e| format!("{path}: {e}"))?;
        let is_asked_for = |made_for: &&String| match &cli.target {
            Some(target) => target == *made_for || made_for.split(',').next() == Some(target),
            None => true,
        };
        let Some(target) = artifact.targets.iter().find(is_asked_for) else {
            return Err(format!(
                "{path}: the artifact was made for target '{}', not for '{}'",
                artifact.targets.join("' and '"),
                cli.target.as_deref().unwrap_or_default()
            )
            .into());
        };
        let id = DeviceId::for_target(target).map_err(|e| format!("{path}: {e}"))?;
        Ok(Form::Artifact(artifact, device(cli, &id)?))
    }

    /// The kernel that is run.
    pub fn kernel(&self) -> &Kernel {
        &self.kernels[self.entry]
    }

    /// What is run on what, for people.
    pub fn title(&self) -> String {
        let kernel = &self.kernel().name;
        match &self.form {
            Form::Interpreted(_, options) => {
                format!("{kernel}, interpreted, wave {}", options.wave)
            }
            Form::Compiled(_, target, _) => format!("{kernel} on {target}"),
            Form::Artifact(artifact, _) => {
                let targets = artifact.targets.join(" and ");
                format!("{kernel} on {targets}{}", waves(", ", artifact))
            }
        }
    }

    /// Runs the kernel. What it leaves in those arguments that are `wanted` is in them.
    pub fn run(
        &mut self,
        cli: &Cli,
        guard: &Guard,
        bound: &mut Bound,
        wanted: &BTreeSet<usize>,
    ) -> Result<Done, Failure> {
        let kernel = self.kernels[self.entry].clone();
        let begin = Instant::now();
        let (artifact, device) = match &mut self.form {
            Form::Interpreted(module, options) => {
                let what = interpret::run(module, &kernel, bound, options)?;
                return Ok(Done {
                    summary: format!(
                        "interpreted in {}: {what}",
                        report::duration(begin.elapsed())
                    ),
                    run: None,
                });
            }
            Form::Compiled(module, target, device) => {
                let compiled = qd_lowering::compile(module, target);
                (&compiled.map_err(|e| failure(&self.errors, &e))?, device)
            }
            Form::Artifact(artifact, device) => (&*artifact, device),
        };
        let loaded = device
            .load(artifact)
            .map_err(|e| format!("{}: {e}", cli.file.display()))?;
        let compiled = begin.elapsed();
        let said = |e: Error| e.to_string();
        let kernel = loaded.kernel(&kernel.name).map_err(said)?;
        let stream = device.stream(Priority::Normal).map_err(said)?;
        let detail = match cli.time {
            true => Detail::Steps,
            false => Detail::Calls,
        };
        let traced = Traced::begin(guard, &stream, detail).map_err(said)?;
        let resident = Resident::new(stream, kernel, bound, cli.repeat > 1)?;
        let launches = resident.launches().map_err(said)?;
        let run = median(cli, &resident).map_err(said)?;
        for argument in wanted {
            let read = resident.read(*argument, &mut bound.arguments[*argument]);
            read.map_err(said)?;
        }
        traced.map_or(Ok(()), Traced::end).map_err(said)?;
        let median = if cli.repeat > 1 {
            format!(" (median of {})", cli.repeat)
        } else {
            String::new()
        };
        Ok(Done {
            summary: format!(
                "compiled in {}{}; ran in {}{median}: {launches} launch{}",
                report::duration(compiled),
                waves("; ", artifact),
                report::duration(run.total),
                if launches == 1 { "" } else { "es" },
            ),
            run: Some(run),
        })
    }
}

/// Runs a kernel as often as is asked for, each time on the same data; yields the median run.
fn median(cli: &Cli, resident: &Resident) -> Result<Run, Error> {
    let options = LaunchOptions {
        max_iterations: cli.max_iterations,
    };
    let mut runs = Vec::new();
    for nth in 0..cli.repeat {
        if nth > 0 {
            resident.restore()?;
        }
        runs.push(match cli.time {
            true => resident.run_by_steps(&options)?,
            false => resident.run(&options)?,
        });
    }
    runs.sort_by_key(|run| run.total);
    Ok(runs.swap_remove(runs.len() / 2))
}

/// The device, with as many threads as are asked for.
fn device(cli: &Cli, id: &DeviceId) -> Result<Device, String> {
    let options = DeviceOptions {
        threads: cli.threads.map(|threads| threads as usize),
        ..DeviceOptions::default()
    };
    Device::open(id, &options).map_err(|e| format!("{}: {e}", cli.file.display()))
}

/// A file that is an artifact and can be mapped, read; none if it is anything else.
fn mapped(path: &Path) -> Option<Result<Artifact, FileError>> {
    let mut begin = [0; qd_artifact::MAGIC.len()];
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    let read = is_file.then(|| File::open(path).and_then(|mut f| f.read_exact(&mut begin)))?;
    let is_artifact = read.is_ok() && begin == *qd_artifact::MAGIC;
    is_artifact.then(|| Artifact::open(path))
}

/// `wave 32` behind a separator; nothing for an artifact without bodies.
fn waves(separator: &str, artifact: &Artifact) -> String {
    let waves: Vec<_> = artifact.waves().iter().map(u32::to_string).collect();
    match waves.is_empty() {
        true => String::new(),
        false => format!("{separator}wave {}", waves.join(" and ")),
    }
}

/// An error of the compiler, unless MLIR has said it.
fn failure(errors: &Errors, error: &CompileError) -> Failure {
    if errors.count() > 0 {
        return Failure::Said;
    }
    Failure::Message(error.to_string())
}

fn interpreter_options(cli: &Cli) -> Result<qd_interp::Options, String> {
    let wave = cli.wave.unwrap_or(32);
    if !matches!(wave, 4 | 8 | 16 | 32 | 64) {
        return Err(format!("--wave={wave}: expected 4, 8, 16, 32 or 64"));
    }
    Ok(qd_interp::Options {
        wave,
        schedule: cli
            .schedule
            .as_deref()
            .map_or(Ok(Schedule::InOrder), interpret::schedule)?,
        ..Default::default()
    })
}

fn entry(cli: &Cli, kernels: &[Kernel]) -> Result<usize, String> {
    let file = cli.file.display();
    let names: Vec<_> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let known = names.join(", ");
    match (&cli.entry, kernels) {
        (_, []) => Err(format!("{file}: there is no kernel in it")),
        (None, [_]) => Ok(0),
        (None, _) => Err(format!(
            "{file}: there are several kernels, choose one with --entry: {known}"
        )),
        (Some(name), _) => names
            .iter()
            .position(|known| *known == name.trim_start_matches('@'))
            .ok_or_else(|| {
                format!("{file}: there is no kernel '{name}': the kernels in it are {known}")
            }),
    }
}
