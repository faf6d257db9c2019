//! The program that is run: an artifact, one that was compiled before, or what the compiler makes of a
//! module.

use crate::{
    TOOL,
    bind::Bound,
    cli::Cli,
    print, report,
    resident::{Resident, Run},
    streams::Traced,
};
use qd_artifact::{Artifact, FileError, Kernel, MAGIC, Options, TargetSpec};
use qd_request::{CompileRequest, Diagnostics, Source, find_stored, kernel_names};
use qd_runtime::{
    Error,
    objects::{Detail, Device, DeviceId, DeviceOptions, LaunchOptions, Opening, Priority},
};
use qd_store::Store;
use qd_thin::{Failure, Troubles, print_troubles};
use qd_trace::Guard;
use std::{
    collections::BTreeSet,
    fs::File,
    io::Read,
    path::Path,
    time::{Duration, Instant},
};

/// A program and the kernel of it that is run.
pub struct Program<'c> {
    form: Form<'c>,
    kernels: Vec<Kernel>,
    entry: usize,
}

enum Form<'c> {
    /// What the compiler has read.
    Module(Box<dyn Module + 'c>),
    /// Compiled by an earlier process, for this target.
    Kept(Artifact, TargetSpec, Opening),
    /// For which of its targets.
    Artifact(Artifact, usize, Device),
}

/// A module that is compiled, or interpreted, when it is run.
pub trait Module {
    /// How a kernel of it is run, for people.
    fn title(&self, kernel: &str) -> String;
    /// What comes of a kernel.
    fn finish(self: Box<Self>, kernel: &Kernel, bound: &mut Bound) -> Result<Finished, Failure>;
}

/// What comes of a module.
pub enum Finished {
    /// It has been run: a line for people.
    Run(String),
    /// It has been compiled for one target, and its device is being opened.
    Compiled(Artifact, Opening),
}

/// What a run yields besides its results.
pub struct Done {
    /// One line.
    pub summary: String,
    /// The median run; none of an interpretation.
    pub run: Option<Run>,
}

/// What is found without the compiler.
pub enum Found {
    /// All.
    Program(Box<Program<'static>>),
    /// Not enough. What was wrong with the store.
    NeedsCompiler(Troubles),
}

/// Finds what runs without the compiler.
pub fn find(cli: &Cli) -> Result<Found, Failure> {
    let nothing = Ok(Found::NeedsCompiler(Troubles::default()));
    if cli.interpret || cli.watch || cli.explain.is_some() {
        return nothing;
    }
    if let Some(artifact) = mapped(&cli.file) {
        return Program::artifact(cli, artifact).map(|program| Found::Program(Box::new(program)));
    }
    // A pipe can be read once.
    let is_file = std::fs::metadata(&cli.file).is_ok_and(|file| file.is_file());
    if cli.no_cache || !is_file {
        return nothing;
    }
    let (Ok(source), Some(store)) = (Source::read(&cli.file), Store::of_environment()) else {
        return nothing;
    };
    let found = kept(cli, source, &store);
    let troubles = print_troubles(TOOL, &store);
    Ok(match found {
        Some((artifact, target, opening)) => {
            let kernels = artifact.kernels.clone();
            Found::Program(Box::new(Program {
                entry: entry(cli, &names(&kernels))?,
                kernels,
                form: Form::Kept(artifact, target, opening),
            }))
        }
        None => Found::NeedsCompiler(troubles),
    })
}

/// What the store has of the kernel that is asked for. Whatever is wrong the compiler says.
fn kept(cli: &Cli, source: Source, store: &Store) -> Option<(Artifact, TargetSpec, Opening)> {
    let name = cli.target.as_deref().unwrap_or("cpu");
    let target: TargetSpec = name.parse().ok()?;
    let entry = kernel_names(&source).and_then(|names| chosen(cli, names))?;
    let id = DeviceId::for_target(name).ok()?;
    let begin = |id| Opening::begin(id, device_options(cli));
    // A device is opened first only to know what it is: most are not needed to compile.
    let (target, opening) = match Opening::is_needed(&target) {
        true => {
            let (target, opening) = begin(id.clone()).resolve(&target).ok()?;
            (target, Some(opening))
        }
        false => (target, None),
    };
    let request = request(source, target, Some(entry));
    let artifact = find_stored(&request, store, &mut print)?;
    let opening = opening.unwrap_or_else(|| begin(id));
    Some((artifact, request.targets[0].clone(), opening))
}

impl<'c> Program<'c> {
    /// Of a module that the compiler has read, with these kernels.
    pub fn of_module(
        cli: &Cli,
        module: Box<dyn Module + 'c>,
        kernels: Vec<Kernel>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            entry: entry(cli, &names(&kernels))?,
            kernels,
            form: Form::Module(module),
        })
    }

    /// What has already been compiled for a device.
    pub fn compiled(cli: &Cli, artifact: Artifact, device: Device) -> Result<Self, Failure> {
        Self::of_artifact(cli, artifact, 0, device)
    }

    fn of_artifact(
        cli: &Cli,
        artifact: Artifact,
        target: usize,
        device: Device,
    ) -> Result<Self, Failure> {
        let kernels = artifact.kernels.clone();
        Ok(Self {
            entry: entry(cli, &names(&kernels))?,
            kernels,
            form: Form::Artifact(artifact, target, device),
        })
    }

    /// Of a source that is an artifact.
    pub fn of_artifact_in(cli: &Cli, source: &Source) -> Option<Result<Self, Failure>> {
        let bytes = source.bytes();
        let is_artifact = bytes.starts_with(MAGIC);
        is_artifact.then(|| Self::artifact(cli, Artifact::from_bytes(bytes.to_vec())))
    }

    fn artifact(
        cli: &Cli,
        artifact: std::result::Result<Artifact, FileError>,
    ) -> Result<Self, Failure> {
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
                Ok(device) => return Self::of_artifact(cli, artifact, i, device),
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
            Form::Module(module) => module.title(kernel),
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
        // An artifact is only loaded, though a driver may compile it then.
        let mut did = "loaded";
        let (artifact, target, device) = match self.form {
            Form::Module(module) => match module.finish(&kernel, bound)? {
                Finished::Run(what) => {
                    let took = report::duration(begin.elapsed());
                    return Ok(Done {
                        summary: format!("interpreted in {took}: {what}"),
                        run: None,
                    });
                }
                Finished::Compiled(artifact, opening) => {
                    compiled = begin.elapsed();
                    did = "compiled";
                    let device = opening.wait().map_err(|e| no_device(cli, &e))?;
                    (artifact, 0, device)
                }
            },
            Form::Kept(artifact, _, opening) => {
                let device = opening.wait().map_err(|e| no_device(cli, &e))?;
                did = "compiled before: loaded";
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
                "{did} in {}{}; ran in {}{median}: {launches} launch{}",
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

/// Why there is no device for it.
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

/// A target by its name.
pub fn spec(target: &str) -> Result<TargetSpec, Diagnostics> {
    Ok(target.parse()?)
}

/// This machine and the environment, for one target.
pub fn request(source: Source, target: TargetSpec, kernel: Option<String>) -> CompileRequest {
    CompileRequest {
        source,
        targets: vec![target],
        kernels: kernel.map(|name| vec![name]),
        options: Options::of_environment(),
    }
}

/// The kernel that is asked for, if it is clear which.
pub fn chosen(cli: &Cli, names: Vec<String>) -> Option<String> {
    match &cli.entry {
        Some(entry) => {
            let entry = entry.trim_start_matches('@');
            names.into_iter().find(|name| name == entry)
        }
        None => <[String; 1]>::try_from(names).ok().map(|[name]| name),
    }
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
