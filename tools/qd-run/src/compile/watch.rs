//! `--watch`: the kernel is compiled and run again whenever its file is saved.
//!
//! A session compiles, so that an edit of a comment compiles nothing, and nothing is run then either.
//! Whatever is wrong with a save is said, and the next is waited for.

use qd_frontend::{
    CompileOptions, TargetSpec, check_targets,
    session::{FileId, Session, Symbols},
    store::Store,
};
use qd_run::{
    TOOL,
    cli::Cli,
    execute, print,
    program::{Program, device_options, entry, no_device, spec},
};
use qd_runtime::objects::{Device, DeviceId, Opening};
use qd_thin::{Failure, print_troubles};
use qd_trace::Guard;
use qd_watch::Watch;
use std::{path::Path, slice, sync::Arc};

struct Watched<'a> {
    cli: &'a Cli,
    guard: &'a Guard,
    session: Session,
    file: FileId,
    target: TargetSpec,
    device: Device,
    store: Option<Arc<Store>>,
    /// What the file held before.
    symbols: Symbols,
    /// Whether the last save could be run.
    has_run: bool,
}

/// Runs until it is ended from outside. Errors are those that a save cannot mend.
pub fn run(cli: &Cli, guard: &Guard) -> Result<(), Failure> {
    if cli.file == Path::new("-") {
        return Err("--watch: standard input cannot be watched: give a file"
            .to_owned()
            .into());
    }
    let name = cli.target.as_deref().unwrap_or("cpu");
    let target = spec(name)?;
    check_targets(slice::from_ref(&target))?;
    let id = DeviceId::for_target(name).map_err(|e| e.to_string())?;
    let opening = Opening::begin(id, device_options(cli));
    let (target, opening) = opening.resolve(&target).map_err(|e| no_device(cli, &e))?;
    let warn = |why: String| eprintln!("{TOOL}: warning: {why}");
    let (mut watch, text) = Watch::begin_text(&cli.file, warn)?;
    let store = match cli.no_cache {
        true => None,
        false => Store::of_environment().map(Arc::new),
    };
    let mut session = Session::new(CompileOptions::of_environment(), store.clone());
    let file = session.add(cli.file.display().to_string(), text);
    let mut watched = Watched {
        cli,
        guard,
        session,
        file,
        target,
        device: opening.wait().map_err(|e| no_device(cli, &e))?,
        store,
        symbols: Symbols::default(),
        has_run: false,
    };
    watched.turn();
    loop {
        watched.session.set_text(file, watch.text(warn));
        watched.turn();
    }
}

impl Watched<'_> {
    /// Compiles and runs what the file holds now.
    fn turn(&mut self) {
        let program = self.compile();
        let ran = self.session.take_log();
        let name = self.cli.file.display().to_string();
        let lines = qd_watch::redone(&name, &self.session, self.file, &self.symbols, &ran);
        self.symbols = self.session.symbols(self.file);
        lines.iter().for_each(|line| eprintln!("{line}"));
        if let Some(store) = &self.store {
            print_troubles(TOOL, store);
        }
        let is_new = self.session.kernels(self.file).is_empty()
            || ran.iter().any(|ran| ran.kernel().is_some());
        if program.is_ok() && self.has_run && !is_new {
            return;
        }
        let done = program.and_then(|program| execute(self.cli, self.guard, program, || Ok(())));
        self.has_run = done.is_ok();
        if let Err(failure) = done {
            failure.print(TOOL);
        }
    }

    fn compile(&self) -> Result<Program<'static>, Failure> {
        let names = self.session.kernels(self.file);
        let artifact = match names.is_empty() {
            true => {
                let targets = slice::from_ref(&self.target);
                self.session.compile_with(self.file, targets, &mut print)?
            }
            false => {
                let kernel = &names[entry(self.cli, &names)?];
                let found =
                    self.session
                        .kernel_with(self.file, kernel, &self.target, &mut print)?;
                found.ok_or_else(|| format!("there is no kernel '{kernel}' any more"))?
            }
        };
        Program::compiled(self.cli, artifact, self.device.clone())
    }
}
