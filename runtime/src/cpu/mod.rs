//! The cpu: bodies are functions of this process, blocks are spread over host
//! threads.
//!
//! Modules are relocatable objects with a function per body (see
//! [`jit::Body`]). Launches run one after the other, in program order, which is
//! an order that their dependences allow.

mod device;
mod host;
mod jit;
mod pool;
mod run;

#[cfg(test)]
mod tests;

use crate::{
    Argument, Driver, Error, Loaded, Options, Prepared, Timing,
    actions::{self, Memory, Slot, Times},
    argument::{self, Shapes},
    control,
    program::{self, Program},
    validate::{body_names, validate},
};
pub(crate) use device::device;
use jit::{Body, Jit};
use pool::Pool;
use qd_artifact::{Artifact, Format, Kernel};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Instant,
};

/// Drives this machine.
pub(crate) struct Cpu;

impl Driver for Cpu {
    fn load(&self, artifact: &Artifact) -> Result<Box<dyn Loaded>, Error> {
        let takes = |target: &str| target.split(',').next() == Some("cpu");
        let program = Program::new(artifact, || "cpu".into(), takes)?;
        let _span = tracing::debug_span!("load", target = program.target()).entered();
        validate(program)?;
        let names = body_names(program);
        // A plan of fills alone has no code.
        let mut bodies = HashMap::new();
        let mut jit = None;
        if !names.is_empty() {
            let jit = jit.insert(Jit::new(&program.modules_of(Format::Object)?)?);
            program.needs().into_iter().try_for_each(host::check)?;
            for name in names {
                bodies.insert(name.to_string(), jit.body(name)?);
            }
        }
        Ok(Box::new(OnCpu {
            loaded: program.without_code(),
            bodies,
            pool: Mutex::new(Pool::new(pool::default_threads()).map_err(Error::Thread)?),
            _jit: jit,
        }))
    }
}

/// An artifact in this process.
struct OnCpu {
    loaded: program::Loaded,
    bodies: HashMap<String, Body>,
    /// Made again for a run that asks for another number of threads. Runs take
    /// turns: each has all threads.
    pool: Mutex<Pool>,
    /// Owns the code that `bodies` points to.
    _jit: Option<Jit>,
}

impl Loaded for OnCpu {
    fn artifact(&self) -> &Artifact {
        &self.loaded.artifact
    }

    fn prepare<'a>(
        &'a self,
        kernel: &str,
        arguments: &[Argument],
        options: &Options,
    ) -> Result<Box<dyn Prepared + 'a>, Error> {
        let kernel = self.loaded.kernel(kernel)?.kernel;
        argument::check(kernel, arguments)?;
        Ok(Box::new(OnHost {
            loaded: self,
            kernel,
            arguments: arguments.to_vec(),
            options: options.clone(),
        }))
    }

    /// In place: this machine's memory is the device's.
    fn run(
        &self,
        kernel: &str,
        arguments: &mut [Argument],
        options: &Options,
    ) -> Result<Timing, Error> {
        let (program, planned) = (self.loaded.program(), self.loaded.kernel(kernel)?);
        let _span = tracing::debug_span!("run", kernel).entered();
        argument::check(planned.kernel, arguments)?;
        // A pool is only threads that wait: nothing in it breaks with a panic.
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let threads = options.threads.unwrap_or_else(pool::default_threads).max(1);
        if pool.threads() != threads {
            *pool = Pool::new(threads).map_err(Error::Thread)?;
        }
        let begin = Instant::now();
        let slots = arguments.iter_mut().map(slot).collect();
        // Of this run alone: what it leaves is nobody's.
        let mut words = vec![0u32; control::bytes(program, planned) / control::WORD as usize];
        let control = words.as_mut_ptr() as u64;
        let mut run = run::Run {
            bodies: &self.bodies,
            pool: &mut pool,
            max_iterations: options.max_iterations,
            times: Times::default(),
        };
        run.all(&actions::actions(program, planned, slots, control)?)?;
        Ok(Timing {
            total: begin.elapsed(),
            launches: run.times.launches(),
            steps: run.times.into_steps(),
        })
    }
}

/// A kernel with arguments of its own.
struct OnHost<'a> {
    loaded: &'a OnCpu,
    kernel: &'a Kernel,
    arguments: Vec<Argument>,
    options: Options,
}

impl Prepared for OnHost<'_> {
    fn run(&mut self) -> Result<Timing, Error> {
        let name = &self.kernel.name;
        self.loaded.run(name, &mut self.arguments, &self.options)
    }

    fn write(&mut self, arguments: &[Argument]) -> Result<(), Error> {
        Shapes::of(&self.arguments).check(self.kernel, arguments)?;
        self.arguments.clone_from_slice(arguments);
        Ok(())
    }

    fn read(&mut self, arguments: &mut [Argument]) -> Result<(), Error> {
        Shapes::of(&self.arguments).check(self.kernel, arguments)?;
        arguments.clone_from_slice(&self.arguments);
        Ok(())
    }
}

/// An argument as bodies see it: where it is in this process.
fn slot(argument: &mut Argument) -> Slot {
    match argument {
        Argument::Buffer(buffer) => Slot::Memory(Memory {
            address: buffer.as_mut_ptr() as u64,
            bytes: buffer.as_bytes().len(),
            dtype: buffer.dtype(),
            shape: buffer.shape().to_vec(),
        }),
        Argument::Scalar(scalar) => Slot::Scalar(scalar.bits),
    }
}
