//! Compiled kernels: how they are loaded, and launched on memory of the host.

use super::{
    build::build,
    dtype::DType,
    record::{Op, Record},
    recorder::Recorder,
};
use pyo3::{
    create_exception,
    exceptions::{PyException, PyRuntimeError, PyValueError},
    prelude::*,
};
use qd_frontend::{
    CompileRequest, Dtype, Error, Scalar, TargetSpec, compile,
    objects::{self, Arg, Buffer, DeviceId, DeviceOptions, Foreign, Priority, Ready, Stream},
};
use qd_runtime::Error as RunError;
use std::sync::Arc;

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

fn failed(error: impl Into<Error>) -> PyErr {
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

/// Lanes in a subgroup of kernels that have operations of these.
const SUBGROUP: u32 = 32;

/// A device, and the stream that all runs on.
#[pyclass(frozen)]
pub struct Device {
    device: objects::Device,
    stream: Stream,
    /// What kernels are compiled for.
    target: TargetSpec,
    /// And those with operations of subgroups.
    subgroup_target: TargetSpec,
}

#[pymethods]
impl Device {
    /// Opens a device by its id, such as `cpu`; `checks`: its kernels check indices and the like.
    #[new]
    fn new(py: Python<'_>, id: &str, threads: Option<usize>, checks: bool) -> PyResult<Self> {
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
            Ok(Self {
                subgroup_target: with(&target, &format!("wave={SUBGROUP}"))?,
                device,
                stream,
                target,
            })
        })
    }

    /// Compiles a record.
    fn compile(&self, py: Python<'_>, recorder: &Recorder) -> PyResult<Kernel> {
        let record = &recorder.record;
        py.detach(|| self.compiled(record)).map_err(failed)
    }

    /// Lanes in a subgroup.
    #[getter]
    fn subgroup_size(&self) -> u32 {
        SUBGROUP
    }

    /// Waits for all that was launched.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.stream.synchronize()).map_err(failed)
    }
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
    fn compiled(&self, record: &Record) -> Result<Kernel, Error> {
        let mut nodes = record.nodes.iter();
        let target = match nodes.any(|node| matches!(node.op, Op::Subgroup(..))) {
            true => &self.subgroup_target,
            false => &self.target,
        };
        let artifact = compile(&CompileRequest {
            source: qd_frontend::build(|b| build(b, record))?,
            targets: vec![target.clone()],
            ..CompileRequest::default()
        })?;
        let kernel = self.device.load(&artifact)?.kernel(&record.name)?;
        Ok(Kernel {
            kernel,
            stream: self.stream.clone(),
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
            written[array as usize] = true;
        }
    }
    for step in &record.algorithms {
        let all = step.arrays[step.inputs..].iter().chain([&step.scratch]);
        all.for_each(|array| written[*array as usize] = true);
    }
    written
}

/// What an argument is given as: bits of a number, or address, length and whether it is read-only.
#[derive(FromPyObject)]
enum Given {
    Array(u64, u64, bool),
    Number(u64),
}

/// A kernel on a device.
#[pyclass(frozen)]
pub struct Kernel {
    kernel: objects::Kernel,
    stream: Stream,
    takes: Vec<DType>,
    gives: Vec<DType>,
    /// Of each parameter, whether it is written to.
    #[pyo3(get)]
    written: Vec<bool>,
}

#[pymethods]
impl Kernel {
    /// Runs it, waits for its end, and returns the bits of the results. The caller keeps the arrays alive
    /// meanwhile.
    fn launch(&self, py: Python<'_>, given: Vec<Given>) -> PyResult<Vec<u64>> {
        for (number, (given, written)) in given.iter().zip(&self.written).enumerate() {
            if *written && matches!(given, Given::Array(_, _, true)) {
                let message =
                    format!("Argument {number} is written to, but the array is read-only");
                return Err(Failed::new_err(message));
            }
        }
        py.detach(|| self.launched(&given)).map_err(failed)
    }
}

enum Held {
    Buffer(Buffer),
    Scalar(Scalar),
}

impl Kernel {
    fn launched(&self, given: &[Given]) -> Result<Vec<u64>, Error> {
        let mut results = vec![0_u64; self.gives.len()];
        let import = |dtype: Dtype, address: u64, length: u64| {
            let memory = Foreign {
                address,
                dtype,
                shape: vec![length],
                strides: None,
                // What is, is not written to, which the record says more exactly than the artifact.
                read_only: false,
                ready: Ready::Now,
            };
            // Safety: the caller has the arrays, and `results` is here, until the launch has ended, for
            // which this function waits.
            unsafe { Buffer::import(&self.stream, memory, None) }
        };
        let mut held = Vec::new();
        for (dtype, given) in self.takes.iter().zip(given) {
            held.push(match *given {
                Given::Array(address, length, _) => {
                    Held::Buffer(import(dtype.stored(), address, length)?)
                }
                Given::Number(bits) => Held::Scalar(Scalar {
                    dtype: dtype.stored(),
                    bits,
                }),
            });
        }
        for (dtype, result) in self.gives.iter().zip(&mut results) {
            let address = std::ptr::from_mut(result) as u64;
            held.push(Held::Buffer(import(dtype.stored(), address, 1)?));
        }
        let arguments: Vec<_> = held
            .iter()
            .map(|held| match held {
                Held::Buffer(buffer) => Arg::Buffer(buffer),
                Held::Scalar(scalar) => Arg::Scalar(*scalar),
            })
            .collect();
        let launched = self.kernel.launch(&self.stream, &arguments);
        // In any case: the memory is the caller's.
        let ended = self.stream.synchronize();
        launched?;
        ended?;
        Ok(results)
    }
}
