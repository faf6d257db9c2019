//! Artifacts on a device, and their kernels.

use super::{
    arguments::{self, Arg, Input},
    device::Device,
    driver::{Code, RawBody},
    evaluate::Evaluated,
    executor::Calls,
    fork::Here,
    stream::Stream,
};
use crate::{
    Error,
    program::{Kept, Planned, Program},
    validate::{self, PlannedLaunch},
};
use qd_artifact::Artifact;
use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// An artifact for a device. The code of a kernel is brought onto the device when the kernel is
/// first asked for, and stays there as long as the executable or the kernel is held.
#[derive(Clone)]
pub struct Executable(Arc<Shared>);

/// What all handles of an executable share.
struct Shared {
    device: Device,
    program: Arc<Kept>,
    /// Those whose code is on the device.
    kernels: Mutex<HashMap<String, Arc<Loaded>>>,
}

/// The code of a kernel and of those that it dispatches to, on a device.
pub(super) struct Loaded {
    pub device: Device,
    program: Arc<Kept>,
    /// Every body that is launched, by its symbol and the threads of a block.
    pub bodies: HashMap<(String, u32), RawBody>,
    _code: Here<Vec<Arc<dyn Code>>>,
}

impl Executable {
    pub(super) fn load(device: &Device, artifact: &Artifact) -> Result<Self, Error> {
        device.0.check()?;
        let driver = &device.0.driver;
        let name = || format!("{:?}, which takes {}", device, device.info().target);
        let program = Program::new(artifact, name, |target| driver.takes(target))?;
        validate::validate(program)?;
        Ok(Self(Arc::new(Shared {
            device: device.clone(),
            program: Arc::new(program.kept()),
            kernels: Mutex::default(),
        })))
    }

    /// A kernel by name, with its code on the device: the first time its bodies are compiled by
    /// the driver or linked, side by side, unless other kernels have the same.
    ///
    /// # Errors
    ///
    /// There is none of that name: the message lists those there are. Or its code needs what the
    /// device lacks, or the driver refuses it.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let planned = self.0.program.kernel(name)?;
        let kernels = || {
            self.0
                .kernels
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let known = kernels().get(name).cloned();
        let loaded = match known {
            Some(loaded) => loaded,
            None => {
                // Without the lock: it may take long.
                let loaded = Arc::new(self.0.loaded(planned)?);
                kernels().entry(name.into()).or_insert(loaded).clone()
            }
        };
        Ok(Kernel(Arc::new(Callable {
            name: name.into(),
            loaded,
            calls: Calls::default(),
        })))
    }

    /// The names of its kernels, in the artifact's order.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        let kernels = self.0.program.program().kernels();
        kernels.map(|planned| &*planned.kernel.name)
    }
}

impl Shared {
    /// Brings a kernel's code onto the device.
    fn loaded(&self, kernel: Planned<'_>) -> Result<Loaded, Error> {
        let device = &self.device.0;
        device.check()?;
        let program = self.program.program();
        let name = &*kernel.kernel.name;
        let _span =
            tracing::debug_span!("load", target = program.target(), kernel = name).entered();
        let reached = program.reached(kernel);
        for Planned { plan, .. } in &reached {
            device.driver.check(&plan.needs, program.origins())?;
        }
        let launches: Vec<_> = validate::launches(reached).collect();
        let launched: HashSet<_> = launches.iter().map(|launch| launch.body).collect();
        let parts = program.parts(|body| launched.contains(body));
        let code = device.codes.load(&*device.driver, &parts)?;
        let mut bodies = HashMap::new();
        for PlannedLaunch { body, threads, .. } in launches {
            let found = code.iter().find_map(|code| code.body(body, threads));
            let found = found.ok_or_else(|| Error::Load(format!("there is no symbol '{body}'")))?;
            bodies.insert((body.to_string(), threads), found);
        }
        Ok(Loaded {
            device: self.device.clone(),
            program: self.program.clone(),
            bodies,
            _code: Here::new(code),
        })
    }
}

impl Loaded {
    pub fn program(&self) -> Program<'_> {
        self.program.program()
    }
}

/// What a kernel takes.
pub type Signature = [qd_artifact::Argument];

/// How a kernel is launched.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// Iterations after which a `do_while` is an error; without it one that never ends never
    /// ends. A device that decides by itself stops the loop and goes on, and the error comes with
    /// a later launch, read or wait, of whichever stream.
    pub max_iterations: Option<u64>,
}

/// A kernel of an executable. What a launch prepares is kept for those that follow.
#[derive(Clone)]
pub struct Kernel(pub(super) Arc<Callable>);

/// What all handles of a kernel share.
pub(super) struct Callable {
    pub name: Arc<str>,
    /// Dropped before the code that it launches.
    pub calls: Calls,
    pub loaded: Arc<Loaded>,
}

impl Callable {
    /// It, and its plan.
    pub fn planned(&self) -> Result<Planned<'_>, Error> {
        self.loaded.program.kernel(&self.name)
    }
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What it takes, in order.
    pub fn signature(&self) -> &Signature {
        self.0
            .planned()
            .map_or(&[], |planned| &planned.kernel.arguments)
    }

    /// One of what it takes, by name.
    ///
    /// # Errors
    ///
    /// There is none of that name: the message lists those there are.
    pub fn argument(&self, name: &str) -> Result<&qd_artifact::Argument, Error> {
        Ok(&self.signature()[self.place(name)?])
    }

    /// Which of its arguments is called so.
    fn place(&self, name: &str) -> Result<usize, Error> {
        let found = self.signature().iter().position(|one| one.name == name);
        found.ok_or_else(|| Error::UnknownArgument {
            kernel: self.name().into(),
            argument: name.into(),
            known: self
                .signature()
                .iter()
                .map(|one| one.name.clone())
                .collect(),
        })
    }

    /// Rows that a buffer must have at least, by the other arguments: of scratch what its
    /// algorithms need, and 0 of what has no such bound. Arguments on which that does not
    /// depend may be missing, as `args![&keys, _]` has it, and no array need be there yet:
    /// `args![Arg::Shape(&[1000]), _]`.
    ///
    /// # Errors
    ///
    /// There is no such argument, those that are given are not what the kernel takes, or one
    /// on which it depends is missing.
    pub fn minimum(&self, argument: &str, given: &[Arg<'_>]) -> Result<u64, Error> {
        let plan = self.0.planned()?.kernel;
        arguments::check(plan, &self.0.loaded.device, given, arguments::shapes)?;
        let place = self.place(argument)?;
        let inputs: Vec<_> = given.iter().map(Input::of).collect();
        let minimum = plan.arguments[place].minimum.as_ref();
        arguments::rows(plan, place, minimum, &inputs)?.map_err(|missing| {
            let missing = &plan.arguments[missing];
            Error::ArgumentType {
                kernel: plan.name.clone(),
                argument: missing.name.clone(),
                expected: missing.kind.to_string(),
                given: format!("nothing, on which the length of '{argument}' depends"),
            }
        })
    }

    /// Has a launch with these arguments on this stream prepared, as the first such launch would,
    /// so that it takes no longer than those that follow.
    ///
    /// # Errors
    ///
    /// The arguments are not what it takes, or the device refuses the launch.
    pub fn prepare(&self, on: &Stream, arguments: &[Arg<'_>]) -> Result<(), Error> {
        self.0.prepare(on, arguments)
    }

    /// How many launches of bodies a call with these arguments is made of. One that is in a loop
    /// or an `if` is one, however often it runs. No scratch may be left out.
    ///
    /// # Errors
    ///
    /// The arguments are not what it takes.
    pub fn launches(&self, arguments: &[Arg<'_>]) -> Result<u64, Error> {
        let planned = self.0.planned()?;
        arguments::check(
            planned.kernel,
            &self.0.loaded.device,
            arguments,
            arguments::all,
        )?;
        let inputs: Vec<_> = arguments.iter().map(Input::of).collect();
        arguments::check_together(planned.kernel, &inputs)?;
        let evaluated = Evaluated::of(&self.0.loaded, planned, &inputs, 0)?;
        Ok(evaluated.shape.launches())
    }

    /// Puts the kernel onto a stream, behind all that uses the same buffers. Does not wait for
    /// it where the device works by itself.
    ///
    /// Scratch may be left out, as `args![&keys, _]` has it. It is made as long as
    /// it is used, of the stream's memory, and freed behind the launch.
    ///
    /// # Errors
    ///
    /// The arguments are not what it takes, there is no memory for scratch, or the device refuses a
    /// launch: nothing has been done then. A loop that goes on too long has done what it has done.
    pub fn launch(&self, on: &Stream, arguments: &[Arg<'_>]) -> Result<(), Error> {
        self.launch_with(on, arguments, &LaunchOptions::default())
    }

    /// As [`launch`](Self::launch), with options.
    ///
    /// # Errors
    ///
    /// As for [`launch`](Self::launch).
    pub fn launch_with(
        &self,
        on: &Stream,
        arguments: &[Arg<'_>],
        options: &LaunchOptions,
    ) -> Result<(), Error> {
        self.0.launch(on, arguments, options)
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel '{}' on {:?}", self.0.name, self.0.loaded.device)
    }
}
