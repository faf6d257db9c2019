//! Devices, and compiled kernels: how they are loaded and launched.

use super::{
    build::build,
    dlpack,
    dtype::DType,
    memory::{self, Memory},
    record::{Op, Record},
    recorder::Recorder,
};
use pyo3::{
    create_exception,
    exceptions::{PyException, PyRuntimeError, PyValueError},
    prelude::*,
};
use qd_frontend::{
    CompileOptions, Dtype, Error, Scalar, TargetSpec, find_or_build,
    objects::{self, Arg, Buffer, DeviceId, DeviceOptions, Foreign, Priority, Ready, Stream},
    store::{DEFAULT_SIZE, Store},
};
use qd_runtime::Error as RunError;
use std::{path::PathBuf, sync::Arc};

create_exception!(_core, Failed, PyRuntimeError, "A kernel could not be run.");
create_exception!(
    _core,
    Faulted,
    Failed,
    "An assertion did not hold, or what is checked."
);
create_exception!(
    _core,
    Diagnosed,
    PyException,
    "What the compiler reports: a list of (line, column, message), each 0 where it is unknown."
);

pub fn failed(error: impl Into<Error>) -> PyErr {
    match error.into() {
        Error::Compile(diagnostics) => {
            let all: Vec<_> = diagnostics
                .iter()
                .map(|one| {
                    let at = one.at.as_ref().map_or((0, 0), |at| (at.line, at.column));
                    (at.0, at.1, one.message.clone())
                })
                .collect();
            Diagnosed::new_err((all,))
        }
        Error::Run(error @ RunError::Assertion(_)) => Faulted::new_err(error.to_string()),
        Error::Run(error) => Failed::new_err(error.to_string()),
    }
}

/// Lanes in a subgroup of kernels that have operations of these, where a device has a choice.
const SUBGROUP: u32 = 32;

/// A device, and the stream that all runs on.
#[pyclass(frozen)]
pub struct Device {
    pub device: objects::Device,
    pub stream: Stream,
    /// What kernels are compiled for.
    target: TargetSpec,
    /// And those with operations of subgroups.
    subgroup_target: TargetSpec,
    /// Lanes in a subgroup of these.
    subgroup_size: u32,
    /// Whether its memory is the host's.
    is_host: bool,
    /// Whether kernels check indices and the like.
    checks: bool,
    /// Where what any process has compiled is kept.
    store: Option<Store>,
}

#[pymethods]
impl Device {
    /// Opens a device by its id, such as `cpu`; `checks`: its kernels check indices and the like; `keeps`: what is compiled
    /// is kept for other processes, in a folder of caches, or where the environment says.
    #[new]
    fn new(
        py: Python<'_>,
        id: &str,
        threads: Option<usize>,
        checks: bool,
        keeps: bool,
        caches: Option<PathBuf>,
    ) -> PyResult<Self> {
        py.detach(|| {
            let id: DeviceId = id.parse().map_err(|error: RunError| failed(error))?;
            let options = DeviceOptions {
                threads,
                ..DeviceOptions::default()
            };
            let device = objects::Device::open(&id, &options).map_err(failed)?;
            device.on_print(Some(Arc::new(print)));
            let stream = device.stream(Priority::Normal).map_err(failed)?;
            let with = |target: &TargetSpec, option: &str| {
                let target = format!("{target},{option}").parse::<TargetSpec>();
                target.map_err(|error| PyValueError::new_err(error.to_string()))
            };
            let target = match checks {
                true => with(device.target(), "checked")?,
                false => device.target().clone(),
            };
            let is_host = id.driver == "cpu";
            let sizes = &device.info().limits.subgroup_sizes;
            let (subgroup_target, subgroup_size) = match said_subgroup(&target) {
                Some(said) => (target.clone(), said),
                None if is_host || sizes.contains(&SUBGROUP) => {
                    (with(&target, &format!("wave={SUBGROUP}"))?, SUBGROUP)
                }
                None => (target.clone(), sizes.last().copied().unwrap_or(SUBGROUP)),
            };
            Ok(Self {
                device,
                stream,
                target,
                subgroup_target,
                subgroup_size,
                is_host,
                checks,
                store: match (keeps, caches) {
                    (false, _) => None,
                    (true, None) => Store::of_environment(),
                    (true, Some(caches)) => Some(Store::new(caches, DEFAULT_SIZE)),
                },
            })
        })
    }

    /// Compiles a record.
    fn compile(&self, py: Python<'_>, recorder: &Recorder) -> PyResult<Kernel> {
        let record = &recorder.record;
        py.detach(|| self.compiled(record)).map_err(failed)
    }

    /// An array of zeros of a type, by its name.
    fn allocate(&self, py: Python<'_>, dtype: &str, length: u64) -> PyResult<Memory> {
        let dtype = DType::named(dtype)
            .ok_or_else(|| PyValueError::new_err(format!("'{dtype}' is no type")))?;
        let zeros = || Buffer::zeros(&self.stream, dtype.stored(), &[length]);
        let stream = self.stream.clone();
        let buffer = py.detach(zeros).map_err(failed)?;
        Ok(Memory {
            buffer,
            stream,
            is_read_only: false,
        })
    }

    /// What went wrong with the cache on disk since this was asked last. All was compiled, without it.
    fn troubles(&self) -> Vec<String> {
        let troubles = self.store.as_ref().map(Store::troubles);
        let troubles = troubles.into_iter().flatten();
        troubles.map(|trouble| trouble.to_string()).collect()
    }

    /// Lanes in a subgroup.
    #[getter]
    fn subgroup_size(&self) -> u32 {
        self.subgroup_size
    }

    /// The name of the target that it has, such as `nvptx:sm_90`.
    #[getter]
    fn target(&self) -> &str {
        self.device.target().name()
    }

    /// The capabilities of SPIR-V that it has, by their names there; none where code is no SPIR-V.
    #[getter]
    fn capabilities(&self) -> Vec<&'static str> {
        self.device.info().limits.capabilities.clone()
    }

    /// Whether its memory is the host's.
    #[getter]
    fn is_host(&self) -> bool {
        self.is_host
    }

    /// Waits for all that was launched.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.stream.synchronize()).map_err(failed)
    }
}

/// Lanes in a subgroup, if a target says how many.
fn said_subgroup(target: &TargetSpec) -> Option<u32> {
    target
        .options()
        .find_map(|option| option.strip_prefix("subgroup=")?.parse().ok())
}

/// Has Python print what a kernel did.
fn print(text: &str) {
    Python::attach(|py| {
        let written = (|| {
            let stdout = py.import("sys")?.getattr("stdout")?;
            stdout.call_method1("write", (text,)).map(drop)
        })();
        if let Err(error) = written {
            error.write_unraisable(py, None);
        }
    });
}

impl Device {
    /// What a record is compiled for.
    pub fn target_of(&self, record: &Record) -> &TargetSpec {
        let mut nodes = record.nodes.iter();
        match nodes.any(|node| matches!(node.op, Op::Subgroup(..))) {
            true => &self.subgroup_target,
            false => &self.target,
        }
    }

    /// Whether threads of short loops do two rounds: a fault names the thread, which is to have one number.
    pub fn pairs(&self) -> bool {
        !self.is_host && !self.checks
    }

    fn compiled(&self, record: &Record) -> Result<Kernel, Error> {
        let pairs = self.pairs();
        // Which sources built it, and all that they build it from.
        let from = format!("{} {pairs} {record:?}", env!("QD_BUILDER"));
        let (artifact, was_kept) = find_or_build(
            &from,
            self.target_of(record),
            &CompileOptions::default(),
            self.store.as_ref(),
            || qd_frontend::build(|b| build(b, record, pairs)),
        )?;
        let kernel = self.device.load(&artifact)?.kernel(&record.name)?;
        Ok(Kernel {
            kernel,
            stream: self.stream.clone(),
            is_host: self.is_host,
            checks: self.checks,
            was_kept,
            names: record.arguments.iter().map(|a| a.name.clone()).collect(),
            takes: record.arguments.iter().map(|a| a.dtype).collect(),
            gives: record.results.clone(),
            written: written(record),
        })
    }
}

/// Which parameters the kernel writes to.
fn written(record: &Record) -> Vec<bool> {
    let mut written = vec![false; record.arguments.len()];
    for node in &record.nodes {
        if let Op::Store(array) | Op::Atomic(array, _) | Op::CompareExchange(array) = node.op {
            // Shared arrays are no parameters.
            if let Some(written) = written.get_mut(array as usize) {
                *written = true;
            }
        }
    }
    for step in &record.algorithms {
        let all = step.arrays[step.inputs..].iter().chain([&step.scratch]);
        all.for_each(|array| written[*array as usize] = true);
    }
    written
}

/// What an argument is given as.
#[derive(FromPyObject)]
pub enum Given {
    /// Of the host: address, length and whether it is read-only.
    Array(u64, u64, bool),
    /// The bits of a number.
    Number(u64),
    /// Of the device.
    Memory(Py<Memory>),
}

/// A kernel on a device.
#[pyclass(frozen)]
pub struct Kernel {
    kernel: objects::Kernel,
    stream: Stream,
    is_host: bool,
    checks: bool,
    /// Whether another process, or this one before, had compiled it.
    #[pyo3(get)]
    was_kept: bool,
    takes: Vec<DType>,
    /// What its parameters are called.
    names: Vec<String>,
    gives: Vec<DType>,
    /// Of each parameter, whether it is written to.
    #[pyo3(get)]
    written: Vec<bool>,
}

#[pymethods]
impl Kernel {
    /// Runs it, on a stream of another library if one is given, and returns the bits of the results. An argument that is
    /// None is an element that only it knows. It waits for the end if it is asked to, where faults are looked for, and
    /// where memory of the host is used, which the caller keeps alive.
    #[pyo3(signature = (given, stream=None, waits=false))]
    fn launch(
        &self,
        py: Python<'_>,
        given: Vec<Option<Given>>,
        stream: Option<Py<dlpack::Stream>>,
        waits: bool,
    ) -> PyResult<Vec<u64>> {
        let stream = stream.as_ref().map(|stream| &stream.get().0);
        self.run(py, &given, stream, waits)
    }
}

/// An argument of a launch.
enum Held<'a> {
    /// Memory of the host, or a copy of it, and its address if it is to have what was written.
    Lent(Buffer, Option<u64>),
    Memory(&'a Buffer),
    Scalar(Scalar),
}

impl Kernel {
    /// As [`launch`](Self::launch).
    pub fn run(
        &self,
        py: Python<'_>,
        given: &[Option<Given>],
        stream: Option<&Stream>,
        waits: bool,
    ) -> PyResult<Vec<u64>> {
        for ((given, written), name) in given.iter().zip(&self.written).zip(&self.names) {
            let is_read_only = match given {
                Some(Given::Array(_, _, is_read_only)) => *is_read_only,
                Some(Given::Memory(memory)) => memory.get().is_read_only,
                Some(Given::Number(_)) | None => false,
            };
            if *written && is_read_only {
                let message = format!("'{name}' is written to, but the array is read-only");
                return Err(Failed::new_err(message));
            }
        }
        let stream = stream.unwrap_or(&self.stream);
        py.detach(|| self.launched(given, stream, waits))
            .map_err(failed)
    }

    fn launched(
        &self,
        given: &[Option<Given>],
        stream: &Stream,
        waits: bool,
    ) -> Result<Vec<u64>, Error> {
        let variables = given.iter().filter(|given| given.is_none()).count();
        // Those of variables, and then of results.
        let mut words = vec![0_u64; variables + self.gives.len()];
        let first = words.as_mut_ptr() as u64;
        let mut next = (0..).map(|number| first + number * size_of::<u64>() as u64);
        let mut word = |dtype: Dtype, is_result: bool| {
            let address = next.next().expect("as many as there are");
            let buffer = self.lend(stream, dtype, address, 1, false)?;
            Ok::<_, Error>(Held::Lent(buffer, is_result.then_some(address)))
        };
        let mut held = Vec::with_capacity(given.len() + self.gives.len());
        for ((dtype, is_written), given) in self.takes.iter().zip(&self.written).zip(given) {
            let dtype = dtype.stored();
            held.push(match *given {
                None => word(dtype, false)?,
                Some(Given::Array(address, length, _)) => {
                    let buffer = self.lend(stream, dtype, address, length, true)?;
                    Held::Lent(buffer, is_written.then_some(address))
                }
                Some(Given::Number(bits)) => Held::Scalar(Scalar { dtype, bits }),
                Some(Given::Memory(ref memory)) => Held::Memory(&memory.get().buffer),
            });
        }
        for dtype in &self.gives {
            held.push(word(dtype.stored(), true)?);
        }
        let arguments: Vec<_> = held
            .iter()
            .map(|held| match held {
                Held::Lent(buffer, _) | &Held::Memory(buffer) => Arg::Buffer(buffer),
                Held::Scalar(scalar) => Arg::Scalar(*scalar),
            })
            .collect();
        let launched = self.kernel.launch(stream, &arguments);
        let is_lent = |held: &Held<'_>| matches!(held, Held::Lent(..));
        if waits || self.is_host || self.checks || held.iter().any(is_lent) {
            // Whether it was launched or not: the memory is the caller's.
            let ended = stream.synchronize();
            launched?;
            ended?;
        } else {
            launched?;
        }
        if !self.is_host {
            for held in &held {
                if let Held::Lent(buffer, Some(address)) = held {
                    // Safety: it is an array of the caller, or of `words`.
                    unsafe { memory::download(buffer, stream, *address) }?;
                }
            }
        }
        Ok(words.split_off(variables))
    }

    /// Memory of the host, as the device has it: itself, or a copy, whose elements are undefined if they are not read.
    fn lend(
        &self,
        stream: &Stream,
        dtype: Dtype,
        address: u64,
        length: u64,
        is_read: bool,
    ) -> Result<Buffer, Error> {
        let shape = vec![length];
        if !self.is_host {
            let copy = Buffer::new(stream, dtype, &shape)?;
            if is_read {
                // Safety: the caller has an array of so many elements there.
                unsafe { memory::upload(&copy, stream, address) }?;
            }
            return Ok(copy);
        }
        let memory = Foreign {
            address,
            dtype,
            shape,
            strides: None,
            // What is, is not written to, which the record says more exactly than the artifact.
            read_only: false,
            ready: Ready::Now,
        };
        // Safety: the caller has the memory until the launch has ended, for which `launched` waits.
        Ok(unsafe { Buffer::import(stream, memory, None) }?)
    }
}
