//! Dispatchers whose variants are kernels, launched on streams.

use super::{Call, DeviceKey, Dispatcher, Error as Refused, Geometry, Settings, Variant, Winners};
use crate::{
    Error,
    objects::{Arg, Device, Kernel, LaunchOptions, Stream},
};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt, path::Path};

type Condition = Box<dyn Fn(&[Arg<'_>]) -> bool + Send + Sync>;
type Key<G> = Box<dyn Fn(&[Arg<'_>]) -> G + Send + Sync>;
type Function = Box<dyn Fn(&Stream, &[Arg<'_>]) -> Result<(), Error> + Send + Sync>;

/// One of several kernels, or functions that launch some, with the same results.
pub struct KernelVariant {
    variant: Variant,
    runs: Runs,
    condition: Option<Condition>,
}

enum Runs {
    Kernel(Kernel),
    Function(Function),
}

impl KernelVariant {
    /// A kernel, under its own name.
    pub fn new(kernel: &Kernel) -> Self {
        Self::named(kernel.name(), kernel)
    }

    /// A kernel under another name: two artifacts may have kernels of one name, such as one source
    /// compiled with different options.
    pub fn named(name: impl Into<String>, kernel: &Kernel) -> Self {
        Self {
            variant: Variant {
                name: name.into(),
                code: kernel.code(),
            },
            runs: Runs::Kernel(kernel.clone()),
            condition: None,
        }
    }

    /// The variants of a kernel's `qd.grid.dispatch`es: for each, the kernel that
    /// [prefers](Kernel::preferring) it, under its name. Empty if there is no dispatch. Where a
    /// variant's predicate does not hold, the first eligible one runs instead and is timed for it.
    pub fn of_dispatches(kernel: &Kernel) -> Vec<Self> {
        let names = kernel.variants().into_iter();
        let preferring = names.filter_map(|name| {
            let preferring = kernel.preferring(name).ok()?;
            Some(Self::named(name, &preferring))
        });
        preferring.collect()
    }

    /// A function that puts all its work onto the stream. Its code is told by its name alone.
    pub fn function(
        name: impl Into<String>,
        function: impl Fn(&Stream, &[Arg<'_>]) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            variant: Variant::new(name),
            runs: Runs::Function(Box::new(function)),
            condition: None,
        }
    }

    /// Eligible only where this holds: for arguments that the kernel is wrong for, it has to say
    /// no. It is asked at each call, so it should look at lengths and values, and never at the
    /// contents of a buffer. Without one, it is always eligible.
    #[must_use]
    pub fn when(mut self, condition: impl Fn(&[Arg<'_>]) -> bool + Send + Sync + 'static) -> Self {
        self.condition = Some(Box::new(condition));
        self
    }

    /// What the dispatcher knows of it.
    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    /// Its kernel, unless it is a function.
    pub fn kernel(&self) -> Option<&Kernel> {
        match &self.runs {
            Runs::Kernel(kernel) => Some(kernel),
            Runs::Function(_) => None,
        }
    }

    fn holds(&self, arguments: &[Arg<'_>]) -> bool {
        let condition = self.condition.as_ref();
        condition.is_none_or(|condition| condition(arguments))
    }
}

impl fmt::Debug for KernelVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "variant '{}'", self.variant.name)
    }
}

/// Kernels of one device, of which the fastest is launched: see [`Dispatcher`].
///
/// A trial is timed by the host's clock, from when the stream is idle and no other stream uses the
/// arguments, until that is so again. So it includes the launch, and nothing that the launch would
/// have to wait for. Other work of the device at that time disturbs it.
pub struct KernelDispatcher<G> {
    dispatcher: Dispatcher<G>,
    device: Device,
    variants: Vec<KernelVariant>,
    geometry: Key<G>,
}

impl<G: Geometry> KernelDispatcher<G> {
    /// A dispatcher of a device's variants. `geometry` tells calls apart by their arguments: see
    /// [`Geometry`].
    ///
    /// # Errors
    ///
    /// As for [`Dispatcher::new`]. Or a kernel is of another device, or takes other arguments than
    /// the first one: another number, other names, types or extents.
    pub fn new(
        name: impl Into<String>,
        device: &Device,
        geometry: impl Fn(&[Arg<'_>]) -> G + Send + Sync + 'static,
        variants: Vec<KernelVariant>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let known = variants.iter().map(|one| one.variant.clone()).collect();
        let dispatcher = Dispatcher::new(name, known, settings)?;
        let kernels = variants.iter().filter_map(|one| Some((one, one.kernel()?)));
        let first = kernels.clone().next();
        for (variant, kernel) in kernels {
            if kernel.device() != device {
                return Err(Error::WrongDevice {
                    what: format!("{dispatcher:?}: {variant:?}"),
                    is: format!("{:?}", kernel.device()),
                    wanted: format!("{device:?}"),
                });
            }
            let Some((first, other)) = first else {
                continue;
            };
            let (given, expected) = (signature(kernel), signature(other));
            if given != expected {
                return Err(Error::from(Refused::Signature {
                    dispatcher: dispatcher.name().into(),
                    variant: variant.variant.name.clone(),
                    given,
                    expected: format!("'{}' takes {expected}", first.variant.name),
                }));
            }
        }
        Ok(Self {
            dispatcher,
            device: device.clone(),
            variants,
            geometry: Box::new(geometry),
        })
    }

    /// What chooses, for all that is not launching.
    pub fn dispatcher(&self) -> &Dispatcher<G> {
        &self.dispatcher
    }

    /// Its variants, in order.
    pub fn variants(&self) -> &[KernelVariant] {
        &self.variants
    }

    /// The geometry of a call.
    pub fn geometry(&self, arguments: &[Arg<'_>]) -> G {
        (self.geometry)(arguments)
    }

    /// The least number of rows of a buffer for which every variant can be launched: the greatest
    /// [`Kernel::minimum`] of those whose conditions hold. 0 if none of them is a kernel.
    ///
    /// # Errors
    ///
    /// As for [`Kernel::minimum`].
    pub fn minimum(&self, argument: &str, given: &[Arg<'_>]) -> Result<u64, Error> {
        let eligible = self.variants.iter().filter(|one| one.holds(given));
        let kernels = eligible.filter_map(KernelVariant::kernel);
        kernels
            .map(|kernel| kernel.minimum(argument, given))
            .try_fold(0, |most, one| Ok(most.max(one?)))
    }

    /// Launches a variant: see [`Dispatcher::call`]. On a stream under capture it launches the
    /// winner, and measures nothing.
    ///
    /// # Errors
    ///
    /// No variant is eligible, or the stream is captured and the geometry has no winner:
    /// [`Error::Dispatch`]. Or as for [`Kernel::launch`]; a trial also fails if waiting for the
    /// stream does.
    pub fn launch(&self, on: &Stream, arguments: &[Arg<'_>]) -> Result<(), Error> {
        self.launch_with(on, arguments, &LaunchOptions::default())
    }

    /// As [`launch`](Self::launch), with options for kernels.
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
        let mut call = Launch {
            variants: &self.variants,
            on: Some(on),
            arguments,
            options,
        };
        self.dispatcher.call(&self.geometry(arguments), &mut call)
    }

    /// The variant that a launch runs without measuring, for a recording:
    /// `recording.launch(chosen.kernel()…, &arguments)`. Arguments are as its conditions and the
    /// geometry take them, so where a slot is, they may want an [`Arg::Shape`].
    ///
    /// # Errors
    ///
    /// No variant is eligible, or the geometry has no winner.
    pub fn chosen(&self, arguments: &[Arg<'_>]) -> Result<&KernelVariant, Error> {
        let call = Launch {
            variants: &self.variants,
            on: None,
            arguments,
            options: &LaunchOptions::default(),
        };
        let chosen = self.dispatcher.chosen(&self.geometry(arguments), &call)?;
        Ok(&self.variants[chosen])
    }

    /// What its winners hold for.
    pub fn key(&self) -> DeviceKey {
        DeviceKey::of(&self.device)
    }
}

impl<G: Geometry + Serialize + DeserializeOwned> KernelDispatcher<G> {
    /// Adds its winners to a file, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// The file is malformed or cannot be written: see [`Winners`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let mut winners = Winners::open(&path)?;
        self.dispatcher.save(&mut winners, &self.key())?;
        Ok(winners.write(path)?)
    }

    /// Takes its winners from a file: see [`Dispatcher::load`].
    ///
    /// # Errors
    ///
    /// The file cannot be read, or does not have winners of this dispatcher's variants on this
    /// device with this driver.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<usize, Error> {
        Ok(self.dispatcher.load(&Winners::read(path)?, &self.key())?)
    }
}

impl<G> fmt::Debug for KernelDispatcher<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} on {:?}", self.dispatcher, self.device)
    }
}

impl DeviceKey {
    /// That of a device.
    pub fn of(device: &Device) -> Self {
        Self {
            device: device.info().name.clone(),
            driver: device.info().driver.clone(),
        }
    }
}

/// `(x: a buffer f32[?], value: a scalar f32)`.
fn signature(kernel: &Kernel) -> String {
    let arguments = kernel.signature().iter();
    let arguments = arguments.map(|one| format!("{}: {}", one.name, one.kind));
    format!("({})", arguments.collect::<Vec<_>>().join(", "))
}

/// A launch on a stream, or one that is only asked about.
struct Launch<'a> {
    variants: &'a [KernelVariant],
    on: Option<&'a Stream>,
    arguments: &'a [Arg<'a>],
    options: &'a LaunchOptions,
}

impl Call for Launch<'_> {
    type Output = ();
    type Error = Error;

    fn is_eligible(&self, variant: usize) -> bool {
        self.variants[variant].holds(self.arguments)
    }

    fn may_measure(&self) -> bool {
        self.on.is_some_and(|on| !on.is_captured())
    }

    fn synchronize(&mut self) -> Result<(), Error> {
        self.on.map_or(Ok(()), |on| on.settle(self.arguments))
    }

    fn run(&mut self, variant: usize) -> Result<(), Error> {
        let Some(on) = self.on else {
            return Ok(());
        };
        match &self.variants[variant].runs {
            Runs::Kernel(kernel) => kernel.launch_with(on, self.arguments, self.options),
            Runs::Function(function) => function(on, self.arguments),
        }
    }
}
