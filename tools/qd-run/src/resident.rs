//! A kernel with its arguments on a device.

use crate::bind::{Argument, Bound};
use qd_artifact::Access;
use qd_runtime::{
    Error, Scalar,
    objects::{
        Arg, Buffer, Detail, Kernel, LaunchOptions, Profiler, StepTotal, Stream, step_totals,
    },
};
use std::time::Duration;

/// How long a run took.
pub struct Run {
    /// From its begin to its end, on the device.
    pub total: Duration,
    /// Each step, if they were timed.
    pub steps: Vec<StepTotal>,
}

/// What is passed for one argument.
enum Value {
    Buffer(Buffer),
    Scalar(Scalar),
}

/// A kernel whose arrays are on a device, where it may be run again and again.
pub struct Resident {
    stream: Stream,
    kernel: Kernel,
    values: Vec<Value>,
    /// Copies of what the kernel changes and reads, for another run on the same data.
    kept: Vec<(usize, Buffer)>,
}

impl Resident {
    /// Takes what is given to the device, and allocates the rest there. `again`: it will be run
    /// more than once.
    pub fn new(stream: Stream, kernel: Kernel, bound: &Bound, again: bool) -> Result<Self, String> {
        let count = bound.arguments.len();
        let mut values: Vec<Option<Value>> = (0..count).map(|_| None).collect();
        let mut kept = Vec::new();
        // What is part of another comes after it.
        let (parts, wholes): (Vec<usize>, Vec<usize>) =
            (0..count).partition(|i| bound.parts[*i].is_some());
        for i in wholes.into_iter().chain(parts) {
            let parameter = &kernel.signature()[i];
            let failed = |error: Error| format!("argument '{}': {error}", parameter.name);
            let buffer = match (&bound.arguments[i], &bound.parts[i]) {
                (Argument::Scalar(scalar), _) => {
                    values[i] = Some(Value::Scalar(*scalar));
                    continue;
                }
                (Argument::Array(array), None) => array.upload(&stream).map_err(failed)?,
                (Argument::Array(_), Some(part)) => {
                    if let Some(Value::Buffer(whole)) = &values[part.of] {
                        let rows = whole.rows(part.rows.clone()).map_err(failed)?;
                        values[i] = Some(Value::Buffer(rows));
                    }
                    continue;
                }
            };
            let has_parts = bound.parts.iter().flatten().any(|part| part.of == i);
            let is_spoilt = parameter.access == Access::ReadWrite || has_parts;
            if again && is_spoilt && !bound.uninitialised[i] {
                let copy = Buffer::new(&stream, buffer.dtype(), buffer.shape());
                let copy = copy.map_err(failed)?;
                buffer.copy_to(&stream, &copy).map_err(failed)?;
                kept.push((i, copy));
            }
            values[i] = Some(Value::Buffer(buffer));
        }
        let values = values.into_iter().flatten().collect();
        Ok(Self {
            stream,
            kernel,
            values,
            kept,
        })
    }

    /// Has all ready for a run, which then takes no longer than those that follow.
    pub fn prepare(&self) -> Result<(), Error> {
        self.kernel.prepare(&self.stream, &self.arguments())
    }

    fn arguments(&self) -> Vec<Arg<'_>> {
        let arguments = self.values.iter().map(|value| match value {
            Value::Buffer(buffer) => Arg::Buffer(buffer),
            Value::Scalar(scalar) => Arg::Scalar(*scalar),
        });
        arguments.collect()
    }

    /// How many launches of bodies a run is made of.
    pub fn launches(&self) -> Result<u64, Error> {
        self.kernel.launches(&self.arguments())
    }

    /// Runs it to its end.
    pub fn run(&self, options: &LaunchOptions) -> Result<Run, Error> {
        let _span = tracing::debug_span!("run", kernel = self.kernel.name()).entered();
        let begin = self.stream.record()?;
        self.kernel
            .launch_with(&self.stream, &self.arguments(), options)?;
        let end = self.stream.record()?;
        self.stream.synchronize()?;
        Ok(Run {
            total: end.since(&begin)?,
            steps: Vec::new(),
        })
    }

    /// Runs it to its end step by step.
    pub fn run_by_steps(&self, options: &LaunchOptions) -> Result<Run, Error> {
        let profiler = Profiler::new(self.stream.device(), Detail::Steps)?;
        let attached = profiler.attach(&self.stream)?;
        let run = self.run(options)?;
        drop(attached);
        Ok(Run {
            steps: step_totals(&profiler.take()?),
            ..run
        })
    }

    /// Gives back to it what runs have changed and the next one reads.
    pub fn restore(&self) -> Result<(), Error> {
        for (i, copy) in &self.kept {
            if let Value::Buffer(buffer) = &self.values[*i] {
                copy.copy_to(&self.stream, buffer)?;
            }
        }
        self.stream.synchronize()
    }

    /// Takes what an argument holds from the device.
    pub fn read(&self, argument: usize, to: &mut Argument) -> Result<(), Error> {
        match (&self.values[argument], to) {
            (Value::Buffer(buffer), Argument::Array(array)) => array.download(buffer, &self.stream),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind;
    use qd_runtime::objects::{Device, DeviceOptions, Priority};

    /// Doubles `%a` where it is, and leaves the same in `%out`.
    const DOUBLE: &str = "
qd.grid.kernel @double(%a: memref<?xi32> {qd.name = \"a\"}, %out: memref<?xi32> {qd.name = \"out\"}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %a, %zero : memref<?xi32>
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %x : i32
    memref.store %y, %a[%i] : memref<?xi32>
    memref.store %y, %out[%i] : memref<?xi32>
  }
}";

    #[test]
    fn only_what_is_given_is_uploaded_and_runs_are_on_the_same_data() {
        let artifact = qd_frontend::compile_text(DOUBLE, "cpu").expect("it compiles");
        let id = "cpu".parse().expect("a device");
        let device = Device::open(&id, &DeviceOptions::default()).expect("it opens");
        let given = ["a=iota[100]", "out=poison[len(a)]"].map(String::from);
        let mut bound = bind::bind(&artifact.kernels[0], &given).expect("bound");

        let loaded = device.load(&artifact).expect("loaded");
        let kernel = loaded.kernel("double").expect("there");
        let stream = device.stream(Priority::Normal).expect("a stream");
        let resident = Resident::new(stream, kernel, &bound, true).expect("memory");
        let options = LaunchOptions::default();
        resident.run(&options).expect("runs");
        resident.restore().expect("copied");
        let run = resident.run_by_steps(&options).expect("runs");
        assert_eq!(run.steps.len(), 1);
        let copied = device.memory();
        assert_eq!((copied.uploaded, copied.downloaded), (400, 0));
        for (i, argument) in bound.arguments.iter_mut().enumerate() {
            resident.read(i, argument).expect("read");
            let Argument::Array(array) = argument else {
                panic!("no array");
            };
            let mut elements = (0..100).map(|i| array.element(i));
            assert!(elements.by_ref().eq((0..100).map(|i| Some(2 * i))));
        }
    }
}
