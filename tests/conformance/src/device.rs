//! Kernels on the device of a target.

use crate::{Argument, Data, Expect, data::Held};
use qd_artifact::{Access, ArgumentKind, Artifact};
use qd_runtime::{
    Error,
    objects::{
        Arg, Buffer, Detail, Device, DeviceId, DeviceOptions, Executable, Kernel, LaunchOptions,
        Printer, Priority, Profiler, Stream,
    },
};
use std::{
    cell::RefCell,
    sync::{Mutex, PoisonError},
};

/// How a kernel is run on the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Host threads that work, where the host does the work; as many as the machine runs at
    /// a time unless given.
    pub threads: Option<usize>,
    /// Iterations after which a loop is an error.
    pub max_iterations: Option<u64>,
    /// Whether each step is replayed by itself, and the host looks at what decides between them.
    pub step_by_step: bool,
}

/// The device of a target, which stays open.
///
/// # Errors
///
/// There is none.
pub fn open(target: &str, threads: Option<usize>) -> Result<Device, Error> {
    static KEPT: Mutex<Vec<Device>> = Mutex::new(Vec::new());
    let device = Device::open(
        &DeviceId::for_target(target)?,
        &DeviceOptions {
            threads,
            ..DeviceOptions::default()
        },
    )?;
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if !kept.contains(&device) {
        kept.push(device.clone());
    }
    Ok(device)
}

/// A kernel `@main` on a device. Clones share what its launches have prepared.
#[derive(Clone)]
pub struct Main {
    device: Device,
    executable: Executable,
    kernel: Kernel,
}

impl Main {
    /// Loads an artifact.
    ///
    /// # Errors
    ///
    /// The device does not take it.
    pub fn load(device: &Device, artifact: &Artifact) -> Result<Self, Error> {
        let executable = device.load(artifact)?;
        Ok(Self {
            device: device.clone(),
            kernel: executable.kernel("main")?,
            executable,
        })
    }

    /// It.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Has what it prints given to a function.
    pub fn on_print(&self, printer: Printer) {
        self.device.on_print(Some(printer));
    }

    /// The same, with nothing prepared and on a stream of its own.
    pub(crate) fn apart(&self) -> Result<(Kernel, Stream), Error> {
        Ok((
            self.executable.kernel("main")?,
            self.device.stream(Priority::Normal)?,
        ))
    }

    /// This thread's stream of its device.
    ///
    /// # Errors
    ///
    /// The device makes none.
    pub fn stream(&self) -> Result<Stream, Error> {
        thread_local! {
            static STREAMS: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
        }
        STREAMS.with_borrow_mut(|streams| {
            if let Some(found) = streams.iter().find(|s| *s.device() == self.device) {
                return Ok(found.clone());
            }
            let stream = self.device.stream(Priority::Normal)?;
            streams.push(stream.clone());
            Ok(stream)
        })
    }
}

/// What a target makes of it.
///
/// # Errors
///
/// The runtime's error.
pub fn execute(main: &Main, arguments: &[Argument]) -> Result<Vec<Held>, String> {
    execute_with(main, arguments, &Options::default())
}

pub(crate) fn execute_with(
    main: &Main,
    arguments: &[Argument],
    options: &Options,
) -> Result<Vec<Held>, String> {
    let after = ran(main, arguments, options).map_err(|error| error.to_string())?;
    let declared = main.kernel.signature().iter();
    for (i, (argument, declared)) in arguments.iter().zip(declared).enumerate() {
        // What is written by another name is not held against this one.
        let is_part = |of: &Argument| matches!(of.expect, Expect::Part { of, .. } if of == i);
        if matches!(argument.expect, Expect::Part { .. }) || arguments.iter().any(is_part) {
            continue;
        }
        let before = || argument.data.bytes(argument.expect);
        if declared.access == Access::Read && before() != after[i].bytes {
            return Err(format!(
                "argument {i} is only read, says the artifact, but was written"
            ));
        }
    }
    Ok(after)
}

fn ran(main: &Main, arguments: &[Argument], options: &Options) -> Result<Vec<Held>, Error> {
    let stream = main.stream()?;
    let declared = main.kernel.signature().iter();
    let buffers = arguments.iter().zip(declared).map(|(argument, declared)| {
        let shown = match &declared.kind {
            ArgumentKind::Buffer { dtype, .. } | ArgumentKind::Scalar { dtype } => *dtype,
        };
        argument.data.upload_as(shown, argument.expect, &stream)
    });
    let mut buffers: Vec<Buffer> = buffers.collect::<Result<_, _>>()?;
    for (i, argument) in arguments.iter().enumerate() {
        if let Expect::Part { of, first } = argument.expect {
            let first = first as u64;
            buffers[i] = buffers[of].rows(first..first + argument.data.len() as u64)?;
        }
    }
    let given = arguments.iter().zip(&buffers);
    let given = given.map(|(argument, buffer)| match argument.data {
        Data::Number(number) => Arg::from(number),
        _ => Arg::from(buffer),
    });
    let given: Vec<_> = given.collect();
    let how = LaunchOptions {
        max_iterations: options.max_iterations,
    };
    let profiled = match options.step_by_step {
        true => Some(Profiler::new(&main.device, Detail::Steps)?.attach(&stream)?),
        false => None,
    };
    main.kernel.launch_with(&stream, &given, &how)?;
    drop(profiled);
    let held = buffers.iter().map(|buffer| Held::read(buffer, &stream));
    held.collect()
}
