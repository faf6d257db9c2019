//! The program that is run: a module to compile or to interpret, or an
//! artifact.

use crate::{
    Failure, TOOL,
    bind::Bound,
    cli::Cli,
    interpret, report,
    resident::{Resident, Run},
    streams::Traced,
};
use qd_artifact::{Artifact, FileError, Kernel};
use qd_dialects::ir::Context;
use qd_frontend::{
    CompileOptions, CompileRequest, Diagnostic, Diagnostics, Parsed, Source, TargetSpec,
    check_targets, compile_stored, find_stored, kernel_names, store::Store,
};
use qd_interp::Schedule;
use qd_runtime::{
    Error,
    objects::{Detail, Device, DeviceId, DeviceOptions, LaunchOptions, Opening, Priority},
};
use qd_trace::Guard;
use std::{
    collections::BTreeSet,
    fs::File,
    io::Read,
    path::Path,
    slice,
    time::{Duration, Instant},
};

/// A program and the kernel of it that is run.
pub struct Program<'c> {
    form: Form<'c>,
    kernels: Vec<Kernel>,
    entry: usize,
}

enum Form<'c> {
    Interpreted(Parsed<'c>, qd_interp::Options),
    Compiled(Parsed<'c>, CompileRequest, Option<Box<Store>>, Opening),
    /// Compiled by an earlier process, for this target.
    Kept(Artifact, TargetSpec, Opening),
    /// For which of its targets.
    Artifact(Artifact, usize, Device),
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
        let form = match mapped(&cli.file) {
            Some(artifact) => Self::artifact(cli, artifact)?,
            None => Self::source(cli, context, Source::read(&cli.file)?)?,
        };
        let kernels = match &form {
            Form::Artifact(artifact, ..) | Form::Kept(artifact, ..) => artifact.kernels.clone(),
            Form::Interpreted(parsed, _) | Form::Compiled(parsed, ..) => parsed.kernels()?,
        };
        Ok(Self {
            form,
            entry: entry(cli, &names(&kernels))?,
            kernels,
        })
    }

    /// What has already been compiled for a device.
    pub fn compiled(cli: &Cli, artifact: Artifact, device: Device) -> Result<Self, Failure> {
        let kernels = artifact.kernels.clone();
        Ok(Self {
            entry: entry(cli, &names(&kernels))?,
            kernels,
            form: Form::Artifact(artifact, 0, device),
        })
    }

    fn source(cli: &Cli, context: &'c Context, source: Source) -> Result<Form<'c>, Failure> {
        if source.bytes().starts_with(qd_artifact::MAGIC) {
            return Self::artifact(cli, Artifact::from_bytes(source.bytes().to_vec()));
        }
        let parsed = |source: &Source| Parsed::new(context, source, &mut print);
        if cli.interpret {
            return Ok(Form::Interpreted(
                parsed(&source)?,
                interpreter_options(cli)?,
            ));
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
        let Some(store) = store else {
            let parsed = parsed(&source)?;
            let (target, opening) = opening.resolve(&target).map_err(|e| no_device(cli, &e))?;
            let request = request(source, target, None);
            return Ok(Form::Compiled(parsed, request, None, opening));
        };
        let (target, opening) = opening.resolve(&target).map_err(|e| no_device(cli, &e))?;
        let entry = kernel_names(&source).and_then(|names| chosen(cli, names));
        let request = request(source, target, entry);
        let kept = request
            .kernels
            .is_some()
            .then(|| find_stored(&request, &store, &mut print));
        store.print_troubles(TOOL);
        if let Some(artifact) = kept.flatten() {
            return Ok(Form::Kept(artifact, request.targets[0].clone(), opening));
        }
        // What is to be said of it is said when it is compiled.
        let parsed = Parsed::new(context, &request.source, &mut |_| ())?;
        Ok(Form::Compiled(
            parsed,
            request,
            Some(Box::new(store)),
            opening,
        ))
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
        // The first that has a device here; if none has, why the first has none.
        let mut why = None;
        for (i, target) in artifact.targets.iter().enumerate() {
            if !is_asked_for(&target) {
                continue;
            }
            let id = DeviceId::for_target(target).map_err(|e| format!("{path}: {e}"));
            let open = |id| Device::open(&id, &device_options(cli)).map_err(|e| no_device(cli, &e));
            match id.and_then(open) {
                Ok(device) => return Ok(Form::Artifact(artifact, i, device)),
                Err(message) => why = why.or(Some(message)),
            }
        }
        let why = why.unwrap_or_else(|| {
            format!(
                "{path}: the artifact was made for target '{}', not for '{}'",
                artifact.targets.join("' and '"),
                cli.target.as_deref().unwrap_or_default()
            )
        });
        Err(why.into())
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
            Form::Compiled(_, request, ..) => format!("{kernel} on {}", request.targets[0]),
            Form::Kept(_, target, _) => format!("{kernel} on {target}"),
            Form::Artifact(artifact, target, _) => {
                let waves = waves(", ", artifact, *target);
                format!("{kernel} on {}{waves}", artifact.targets[*target])
            }
        }
    }

    /// Runs the kernel. What it leaves in those arguments that are `wanted` is in them.
    pub fn run(
        self,
        cli: &Cli,
        guard: &Guard,
        bound: &mut Bound,
        wanted: &BTreeSet<usize>,
    ) -> Result<Done, Failure> {
        let kernel = self.kernels[self.entry].clone();
        let begin = Instant::now();
        let mut compiled = Duration::ZERO;
        let mut is_kept = false;
        let (artifact, target, device) = match self.form {
            Form::Interpreted(parsed, options) => {
                let what = interpret::run(parsed.module(), &kernel, bound, &options)?;
                return Ok(Done {
                    summary: format!(
                        "interpreted in {}: {what}",
                        report::duration(begin.elapsed())
                    ),
                    run: None,
                });
            }
            Form::Compiled(mut parsed, mut request, store, opening) => {
                let artifact = match store {
                    Some(store) => {
                        request.kernels = Some(vec![kernel.name.clone()]);
                        let kept = compile_stored(&request, &store, &mut print, &mut |_| ());
                        store.print_troubles(TOOL);
                        kept?
                    }
                    None => {
                        parsed.select(slice::from_ref(&kernel.name))?;
                        parsed.compile(&request.targets, &request.options, &mut print)?
                    }
                };
                compiled = begin.elapsed();
                let device = opening.wait().map_err(|e| no_device(cli, &e))?;
                (artifact, 0, device)
            }
            Form::Kept(artifact, _, opening) => {
                let device = opening.wait().map_err(|e| no_device(cli, &e))?;
                is_kept = true;
                (artifact, 0, device)
            }
            Form::Artifact(artifact, target, device) => (artifact, target, device),
        };
        let said = |e: Error| e.to_string();
        let loaded = device
            .load(&artifact)
            .and_then(|all| all.kernel(&kernel.name));
        let kernel = loaded.map_err(|e| no_device(cli, &e))?;
        let stream = device.stream(Priority::Normal).map_err(said)?;
        let detail = match cli.time {
            true => Detail::Steps,
            false => Detail::Calls,
        };
        let traced = Traced::begin(guard, &stream, detail).map_err(said)?;
        let resident = Resident::new(stream, kernel, bound, cli.repeat > 1)?;
        // What the driver compiles it compiles now.
        let begin = Instant::now();
        resident.prepare().map_err(|e| match e {
            Error::Load(_) => no_device(cli, &e),
            _ => said(e),
        })?;
        compiled += begin.elapsed();
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
                "{} in {}{}; ran in {}{median}: {launches} launch{}",
                if is_kept {
                    "compiled before: loaded"
                } else {
                    "compiled"
                },
                report::duration(compiled),
                waves("; ", &artifact, target),
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

/// With as many threads as are asked for.
pub fn device_options(cli: &Cli) -> DeviceOptions {
    DeviceOptions {
        threads: cli.threads.map(|threads| threads as usize),
        ..DeviceOptions::default()
    }
}

pub fn no_device(cli: &Cli, why: &Error) -> String {
    format!("{}: {why}", cli.file.display())
}

/// A file that is an artifact and can be mapped, read; none if it is anything else.
fn mapped(path: &Path) -> Option<Result<Artifact, FileError>> {
    let mut begin = [0; qd_artifact::MAGIC.len()];
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    let read = is_file.then(|| File::open(path).and_then(|mut f| f.read_exact(&mut begin)))?;
    let is_artifact = read.is_ok() && begin == *qd_artifact::MAGIC;
    is_artifact.then(|| Artifact::open(path))
}

/// `wave 32` after a separator; nothing for an artifact without bodies for the target.
fn waves(separator: &str, artifact: &Artifact, target: usize) -> String {
    let waves = artifact.waves(target);
    let waves: Vec<_> = waves.iter().map(u32::to_string).collect();
    match waves.is_empty() {
        true => String::new(),
        false => format!("{separator}wave {}", waves.join(" and ")),
    }
}

/// What is no error is said when it is found.
pub fn print(said: &Diagnostic) {
    said.print(TOOL);
}

pub fn spec(target: &str) -> Result<TargetSpec, Diagnostics> {
    Ok(target.parse()?)
}

/// This machine and the environment, for one target.
fn request(source: Source, target: TargetSpec, kernel: Option<String>) -> CompileRequest {
    CompileRequest {
        source,
        targets: vec![target],
        kernels: kernel.map(|name| vec![name]),
        options: CompileOptions::of_environment(),
    }
}

/// The kernel that is asked for, if it is clear which.
fn chosen(cli: &Cli, names: Vec<String>) -> Option<String> {
    match &cli.entry {
        Some(entry) => {
            let entry = entry.trim_start_matches('@');
            names.into_iter().find(|name| name == entry)
        }
        None => <[String; 1]>::try_from(names).ok().map(|[name]| name),
    }
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

fn names(kernels: &[Kernel]) -> Vec<String> {
    kernels.iter().map(|kernel| kernel.name.clone()).collect()
}

/// Which of these kernels is run.
pub fn entry(cli: &Cli, names: &[String]) -> Result<usize, String> {
    let file = cli.file.display();
    let known = names.join(", ");
    match (&cli.entry, names) {
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
