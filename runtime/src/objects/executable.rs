//! Artifacts on a device, and their kernels.

use super::{
    arguments::{self, Arg, Asked, Input},
    device::Device,
    driver::{Code, RawBody},
    evaluate::Evaluated,
    executor::Calls,
    fork::Here,
    stream::Stream,
};
use crate::{
    Error,
    program::{self, Planned, Program},
    validate,
};
use qd_artifact::Artifact;
use std::{cell::Cell, collections::HashMap, fmt, sync::Arc};

/// An artifact on a device, whose code stays there as long as it or one of its kernels is held.
#[derive(Clone)]
pub struct Executable(Arc<Loaded>);

/// What all handles of an executable share.
pub(super) struct Loaded {
    pub device: Device,
    code: program::Loaded,
    /// Every body that a plan launches, by its symbol and the threads of a block.
    pub bodies: HashMap<(String, u32), RawBody>,
    _bodies: Here<Arc<dyn Code>>,
}

impl Executable {
    pub(super) fn load(device: &Device, artifact: &Artifact) -> Result<Self, Error> {
        device.0.check()?;
        let driver = &device.0.driver;
        let name = || format!("{:?}, which takes {}", device, device.info().target);
        let program = Program::new(artifact, name, |target| driver.takes(target))?;
        let _span = tracing::debug_span!("load", target = program.target()).entered();
        validate::validate(program)?;
        let (code, launched) = device.0.codes.load(&**driver, program)?;
        let mut bodies = HashMap::new();
        for (body, threads) in launched {
            let found = code.body(&body, threads);
            let found = found.ok_or_else(|| Error::Load(format!("there is no symbol '{body}'")))?;
            bodies.insert((body, threads), found);
        }
        Ok(Self(Arc::new(Loaded {
            device: device.clone(),
            code: program.without_code(),
            bodies,
            _bodies: Here::new(code),
        })))
    }

    /// A kernel by name.
    ///
    /// # Errors
    ///
    /// There is none: the message lists those there are.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        self.0.code.kernel(name)?;
        Ok(Kernel(Arc::new(Callable {
            name: name.into(),
            loaded: self.0.clone(),
            calls: Calls::default(),
        })))
    }

    /// The names of its kernels, in the artifact's order.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.0
            .program()
            .kernels()
            .map(|planned| &*planned.kernel.name)
    }
}

impl Loaded {
    pub fn program(&self) -> Program<'_> {
        self.code.program()
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
        self.loaded.code.kernel(&self.name)
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
        let found = self.signature().iter().find(|one| one.name == name);
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
    /// depend may be missing, as `args![&keys, _]` has it.
    ///
    /// # Errors
    ///
    /// There is no such argument, those that are given are not what the kernel takes, or one
    /// on which it depends is missing.
    pub fn minimum(&self, argument: &str, given: &[Arg<'_>]) -> Result<u64, Error> {
        let plan = self.0.planned()?.kernel;
        arguments::check(plan, &self.0.loaded.device, given, true)?;
        let Some(minimum) = &self.argument(argument)?.minimum else {
            return Ok(0);
        };
        let inputs: Vec<_> = given.iter().map(Input::of).collect();
        let asked = Asked {
            inputs: &inputs,
            missing: Cell::new(None),
        };
        let rows = minimum.evaluate(&asked);
        if let Some(missing) = asked.missing.get() {
            let missing = &plan.arguments[missing];
            return Err(Error::ArgumentType {
                kernel: plan.name.clone(),
                argument: missing.name.clone(),
                expected: missing.kind.to_string(),
                given: format!("nothing, on which the length of '{argument}' depends"),
            });
        }
        rows.map_err(|e| Error::evaluate(plan, &format!("the length of '{argument}'"), e))
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
    /// or an `if` is one, however often it runs.
    ///
    /// # Errors
    ///
    /// The arguments are not what it takes.
    pub fn launches(&self, arguments: &[Arg<'_>]) -> Result<u64, Error> {
        let planned = self.0.planned()?;
        arguments::check(planned.kernel, &self.0.loaded.device, arguments, false)?;
        let inputs: Vec<_> = arguments.iter().map(Input::of).collect();
        arguments::check_together(planned.kernel, &inputs)?;
        let evaluated = Evaluated::of(&self.0.loaded, planned, &inputs, 0)?;
        Ok(evaluated.shape.launches())
    }

    /// Puts the kernel onto a stream, behind all that uses the same buffers. Does not wait for
    /// it where the device works by itself.
    ///
    /// # Errors
    ///
    /// The arguments are not what it takes, or the device refuses a launch: nothing has been done
    /// then. A loop that goes on too long has done what it has done.
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
