//! Artifacts that are loaded for a device, and their kernels.

use super::{
    arguments::{self, Arg, Input},
    device::Device,
    driver::{Code, RawBody},
    evaluate::Evaluated,
    executor::Calls,
    faults::Noting,
    fork::Here,
    stream::Stream,
};
use crate::{
    Error,
    program::{Kept, Planned, Program},
    validate,
};
use qd_artifact::Artifact;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// An artifact for a device. The first launch that runs a body of a module loads the module onto
/// the device, where it stays as long as the executable or one of its kernels is held.
#[derive(Clone)]
pub struct Executable(Arc<Loaded>);

/// What all handles of an executable share.
pub(super) struct Loaded {
    pub device: Device,
    program: Kept,
    /// In which module each body is.
    places: HashMap<String, usize>,
    /// Of each module, if it is on the device.
    code: Vec<OnceLock<Here<Arc<dyn Code>>>>,
    /// The kernels that the device has all for.
    checked: Mutex<HashSet<String>>,
}

impl Executable {
    pub(super) fn load(device: &Device, artifact: &Artifact) -> Result<Self, Error> {
        device.0.check()?;
        let driver = &device.0.driver;
        let name = || format!("{:?}, which takes {}", device, device.info().target);
        let program = Program::new(artifact, name, |target| driver.takes(target))?;
        validate::validate(program)?;
        let mut places = HashMap::new();
        for (place, module) in artifact.modules.iter().enumerate() {
            if program.is_for(module) {
                let bodies = module.bodies.iter();
                places.extend(bodies.map(|body| (body.name.clone(), place)));
            }
        }
        Ok(Self(Arc::new(Loaded {
            device: device.clone(),
            program: program.kept(),
            places,
            code: artifact.modules.iter().map(|_| OnceLock::new()).collect(),
            checked: Mutex::default(),
        })))
    }

    /// A kernel by name. Its code is loaded onto the device when it is first needed, by a launch,
    /// [`prepare`](Kernel::prepare) or [`load`](Kernel::load): a driver may take long to compile
    /// it.
    ///
    /// # Errors
    ///
    /// There is none of that name: the message lists the kernels. Or the device lacks a feature
    /// that it requires.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let loaded = &self.0;
        loaded.check(loaded.program.kernel(name)?)?;
        Ok(Kernel(Arc::new(Callable {
            name: name.into(),
            preferred: None,
            loaded: loaded.clone(),
            calls: Calls::default(),
        })))
    }

    /// The names of its kernels, in the artifact's order.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        let kernels = self.0.program().kernels();
        kernels.map(|planned| &*planned.kernel.name)
    }
}

impl Loaded {
    /// That the device has what a kernel and those that it dispatches to need.
    fn check(&self, kernel: Planned<'_>) -> Result<(), Error> {
        let lock = || self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let name = &kernel.kernel.name;
        if !lock().contains(name) {
            let program = self.program();
            for Planned { plan, .. } in program.reached(kernel) {
                let driver = &self.device.0.driver;
                driver.check(&plan.needs, program.origins())?;
            }
            lock().insert(name.clone());
        }
        Ok(())
    }

    /// A body by its symbol, for blocks of `threads` threads. Loads its module if it is not on the
    /// device.
    pub fn body(&self, name: &str, threads: u32) -> Result<RawBody, Error> {
        let missing = || Error::Load(format!("there is no symbol '{name}'"));
        let place = *self.places.get(name).ok_or_else(missing)?;
        let code = match self.code[place].get() {
            Some(code) => code,
            None => {
                let code = self.load(place)?;
                // Another thread may have been quicker: it has the same.
                self.code[place].get_or_init(|| Here::new(code))
            }
        };
        code.body(name, threads).ok_or_else(missing)
    }

    fn load(&self, place: usize) -> Result<Arc<dyn Code>, Error> {
        let device = &self.device.0;
        device.check()?;
        let part = self.program.part(place);
        let bodies = part.module.bodies.iter().map(|body| &*body.name);
        let bodies = bodies.collect::<Vec<_>>().join(", ");
        let _span = tracing::info_span!("load", target = part.target, bodies).entered();
        device.codes.load(&*device.driver, &part)
    }

    /// Whether the module of a body is on the device.
    pub fn is_there(&self, body: &str) -> bool {
        let place = self.places.get(body);
        place.is_some_and(|place| self.code[*place].get().is_some())
    }
}

impl Loaded {
    /// See [`Kernel::code`].
    fn hash(&self, kernel: &str) -> String {
        let program = self.program();
        let mut hasher = blake3::Hasher::new();
        let reached = program.kernel(kernel).map(|kernel| program.reached(kernel));
        for planned in reached.iter().flatten() {
            let Planned { kernel, plan, .. } = planned;
            let text = serde_json::to_vec(&(&kernel.name, &kernel.arguments, plan));
            hasher.update(&text.expect("plans are plain data"));
            let bodies = validate::launches([*planned]);
            let places = bodies.filter_map(|launch| self.places.get(launch.body));
            // Each once, in an order that follows from the artifact.
            for place in places.collect::<BTreeSet<_>>() {
                let id = self.program.artifact.modules[*place].id();
                hasher.update(id.as_bytes());
            }
        }
        hasher.finalize().to_hex()[..16].into()
    }

    /// What launches of a kernel note assertions by that fail, where `called` is what the caller launches.
    pub fn noting(
        &self,
        called: &str,
        Planned { kernel, plan, .. }: Planned<'_>,
    ) -> Result<Noting, Error> {
        if plan.sites.is_empty() {
            return Ok(Noting::default());
        }
        let origins = self.program().origins();
        let places = origins.and_then(|origins| origins.sites.get(&kernel.name));
        let places = places.map(Vec::as_slice);
        let variant = (kernel.name != called).then_some(&*kernel.name);
        self.device.0.noting(called, variant, &plan.sites, places)
    }

    /// Where in the source the steps of a kernel's plan are, as far as that is known.
    pub fn places(&self, planned: Planned<'_>) -> Option<&BTreeMap<u64, String>> {
        self.program().origins()?.steps.get(&planned.kernel.name)
    }

    pub fn program(&self) -> Program<'_> {
        self.program.program()
    }
}

/// The arguments of a kernel.
pub type Signature = [qd_artifact::Argument];

/// Options of a launch.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// Iterations after which a `do_while` is an error; without a limit it may run forever. A
    /// device that decides by itself stops the loop and continues, and a later launch, read or
    /// wait, on any stream, returns the error.
    pub max_iterations: Option<u64>,
}

/// A kernel of an executable. It caches prepared launches.
#[derive(Clone)]
pub struct Kernel(pub(super) Arc<Callable>);

/// What all handles of a kernel share.
pub(super) struct Callable {
    pub name: Arc<str>,
    /// The variant that its dispatches run where it is eligible, if not the first one.
    preferred: Option<Box<str>>,
    /// Dropped before the code that it launches.
    pub calls: Calls,
    pub loaded: Arc<Loaded>,
}

impl Callable {
    /// It, and its plan.
    pub fn planned(&self) -> Result<Planned<'_>, Error> {
        let planned = self.loaded.program.kernel(&self.name)?;
        Ok(Planned {
            preferred: self.preferred.as_deref(),
            ..planned
        })
    }
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.0.loaded.device
    }

    /// What tells it from other kernels of its name: a hash, in hexadecimal, of its plan and code
    /// and of those of the kernels that it dispatches to. Two compilations of equal requests have
    /// the same.
    pub fn code(&self) -> String {
        self.0.loaded.hash(&self.0.name)
    }

    /// The kernels that its `qd.grid.dispatch`es choose from, each once, in order.
    pub fn variants(&self) -> Vec<&str> {
        let program = self.0.loaded.program();
        let planned = self.0.planned();
        planned.map_or(Vec::new(), |planned| program.variants(planned))
    }

    /// The same kernel, with prepared launches of its own, whose dispatches run this variant where
    /// it is eligible. Elsewhere, as without, the first eligible one runs.
    ///
    /// # Errors
    ///
    /// It has no dispatch with a variant of that name: the message lists the variants.
    pub fn preferring(&self, variant: &str) -> Result<Kernel, Error> {
        let known = self.variants();
        if !known.contains(&variant) {
            return Err(Error::UnknownVariant {
                kernel: self.name().into(),
                variant: variant.into(),
                known: known.into_iter().map(Into::into).collect(),
            });
        }
        Ok(Kernel(Arc::new(Callable {
            name: self.0.name.clone(),
            preferred: Some(variant.into()),
            loaded: self.0.loaded.clone(),
            calls: Calls::default(),
        })))
    }

    /// Its arguments, in order.
    pub fn signature(&self) -> &Signature {
        self.0
            .planned()
            .map_or(&[], |planned| &planned.kernel.arguments)
    }

    /// One of its arguments, by name.
    ///
    /// # Errors
    ///
    /// There is none of that name: the message lists the arguments.
    pub fn argument(&self, name: &str) -> Result<&qd_artifact::Argument, Error> {
        Ok(&self.signature()[self.place(name)?])
    }

    /// The index of the argument of this name.
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

    /// The least number of rows of a buffer, from the other arguments: of scratch what its
    /// algorithms need, and 0 for buffers without such a bound. Arguments on which it does not
    /// depend may be missing, as in `args![&keys, _]`, and arrays need not exist yet:
    /// `args![Arg::Shape(&[1000]), _]`.
    ///
    /// # Errors
    ///
    /// There is no such argument, the given ones are not those of the kernel, or one on which it
    /// depends is missing.
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

    /// Loads all its code and that of the kernels that it dispatches to onto the device, so that
    /// no launch does. Launches may need less of it: short arrays do not use the code for long
    /// ones.
    ///
    /// # Errors
    ///
    /// The driver refuses some of it.
    pub fn load(&self) -> Result<(), Error> {
        let loaded = &self.0.loaded;
        let reached = loaded.program().reached(self.0.planned()?);
        let mut launches = validate::launches(reached);
        launches.try_for_each(|launch| loaded.body(launch.body, launch.threads).map(drop))
    }

    /// Prepares a launch with these arguments on this stream, as the first such launch would, so
    /// that it takes no longer than later ones.
    ///
    /// # Errors
    ///
    /// The arguments are not the kernel's, or the device refuses the launch.
    pub fn prepare(&self, on: &Stream, arguments: &[Arg<'_>]) -> Result<(), Error> {
        self.0.prepare(on, arguments)
    }

    /// The number of body launches in a call with these arguments. A launch in a loop or an `if`
    /// counts once. Scratch may not be omitted.
    ///
    /// # Errors
    ///
    /// The arguments are not the kernel's.
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

    /// Puts the kernel onto a stream, after all uses of the same buffers. Returns without waiting
    /// for it on devices that work by themselves.
    ///
    /// Scratch may be omitted, as in `args![&keys, _]`. The launch then allocates it from the
    /// stream's memory, as long as it is used, and frees it afterwards.
    ///
    /// # Errors
    ///
    /// The arguments are not the kernel's, there is no memory for scratch, or the device refuses a
    /// launch: nothing has been done then. The effects of a loop that goes on too long remain.
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
