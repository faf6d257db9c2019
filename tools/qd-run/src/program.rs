//! The program that is run: a module to compile or to interpret, or an
//! artifact.

use crate::{Failure, bind::Bound, cli::Cli, interpret, report};
use melior::{Context, ir::Module};
use qd_artifact::{Artifact, FileError, Kernel};
use qd_dialects::parse::{self, Errors, print_diagnostics};
use qd_interp::Schedule;
use qd_lowering::CompileError;
use qd_runtime::{Driver, Options, Timing};
use std::{fs::File, io::Read, path::Path, time::Instant};

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
    Compiled(Module<'c>, String, Box<dyn Driver>),
    Artifact(Artifact, Box<dyn Driver>),
}

/// What a run yields besides its results.
pub struct Done {
    /// One line.
    pub summary: String,
    /// Of the median run.
    pub timing: Option<Timing>,
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
                let driver = qd_runtime::driver(target).map_err(|e| e.to_string())?;
                let target = driver.resolve(target).map_err(|e| e.to_string())?;
                Form::Compiled(module()?, target, driver)
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
        let driver = qd_runtime::driver(target).map_err(|e| format!("{path}: {e}"))?;
        Ok(Form::Artifact(artifact, driver))
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

    /// Runs the kernel; its results are in the arguments.
    pub fn run(&mut self, cli: &Cli, bound: &mut Bound) -> Result<Done, Failure> {
        let kernel = self.kernels[self.entry].clone();
        let begin = Instant::now();
        let (artifact, driver) = match &mut self.form {
            Form::Interpreted(module, options) => {
                let nothing = &bound.uninitialised;
                let what = interpret::run(module, &kernel, &mut bound.arguments, nothing, options)?;
                return Ok(Done {
                    summary: format!(
                        "interpreted in {}: {what}",
                        report::duration(begin.elapsed())
                    ),
                    timing: None,
                });
            }
            Form::Compiled(module, target, driver) => {
                let compiled = qd_lowering::compile(module, target);
                (&compiled.map_err(|e| failure(&self.errors, &e))?, driver)
            }
            Form::Artifact(artifact, driver) => (&*artifact, driver),
        };
        let loaded = driver
            .load(artifact)
            .map_err(|e| format!("{}: {e}", cli.file.display()))?;
        let prepared = begin.elapsed();

        let options = Options {
            threads: cli.threads.map(|threads| threads as usize),
            max_iterations: cli.max_iterations,
            time_steps: cli.time,
        };
        let mut timings = Vec::new();
        for _ in 1..cli.repeat {
            let mut copy = bound.arguments.clone();
            timings.push(
                loaded
                    .run(&kernel.name, &mut copy, &options)
                    .map_err(|e| e.to_string())?,
            );
        }
        let last = loaded.run(&kernel.name, &mut bound.arguments, &options);
        timings.push(last.map_err(|e| e.to_string())?);
        timings.sort_by_key(|timing| timing.total);
        let timing = timings.swap_remove(timings.len() / 2);
        let launches = timing.launches;
        let median = if cli.repeat > 1 {
            format!(" (median of {})", cli.repeat)
        } else {
            String::new()
        };
        Ok(Done {
            summary: format!(
                "compiled in {}{}; ran in {}{median}: {launches} launch{}",
                report::duration(prepared),
                waves("; ", artifact),
                report::duration(timing.total),
                if launches == 1 { "" } else { "es" },
            ),
            timing: Some(timing),
        })
    }
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
