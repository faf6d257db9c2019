//! What every driver offers.

use crate::{Argument, Error, cpu, cuda, vulkan};
use qd_artifact::Artifact;
use std::time::Duration;

/// Loads artifacts onto one kind of device.
pub trait Driver: Send + Sync {
    /// Makes the artifact's kernels ready to run.
    ///
    /// # Errors
    ///
    /// The artifact is for another target, damaged, or not accepted by the
    /// device.
    fn load(&self, artifact: &Artifact) -> Result<Box<dyn Loaded>, Error>;

    /// The target as the device at hand is: with what only the device knows and
    /// the compiler has to.
    ///
    /// # Errors
    ///
    /// There is no device to ask.
    fn resolve(&self, target: &str) -> Result<String, Error> {
        Ok(target.into())
    }
}

/// An artifact on a device.
pub trait Loaded: Send + Sync {
    /// What was loaded, without its code.
    fn artifact(&self) -> &Artifact;

    /// Takes a kernel's arguments to the device, to run it on them as often as
    /// one likes.
    ///
    /// # Errors
    ///
    /// There is no such kernel, the arguments are not what it takes, or the
    /// device has no room for them.
    fn prepare<'a>(
        &'a self,
        kernel: &str,
        arguments: &[Argument],
        options: &Options,
    ) -> Result<Box<dyn Prepared + 'a>, Error>;

    /// Runs a kernel to its end. Its results are in the buffers.
    ///
    /// # Errors
    ///
    /// As for [`prepare`](Self::prepare), or a step cannot be done: what earlier
    /// steps wrote may stay written.
    fn run(
        &self,
        kernel: &str,
        arguments: &mut [Argument],
        options: &Options,
    ) -> Result<Timing, Error> {
        let mut prepared = self.prepare(kernel, arguments, options)?;
        let timing = prepared.run()?;
        prepared.read(arguments)?;
        Ok(timing)
    }
}

/// A kernel with its arguments on the device.
pub trait Prepared {
    /// Runs it to its end, on what the last run left.
    ///
    /// # Errors
    ///
    /// A step cannot be done.
    fn run(&mut self) -> Result<Timing, Error>;

    /// Gives the buffers contents again; they keep their shapes.
    ///
    /// # Errors
    ///
    /// The arguments are not those it was prepared for.
    fn write(&mut self, arguments: &[Argument]) -> Result<(), Error>;

    /// Takes what the buffers hold back.
    ///
    /// # Errors
    ///
    /// The arguments are not those it was prepared for, or the device failed.
    fn read(&mut self, arguments: &mut [Argument]) -> Result<(), Error>;
}

/// How a kernel is run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Host threads that work on it, where the host does the work; as many as
    /// the machine runs at a time unless given.
    pub threads: Option<usize>,
    /// Iterations after which a `do_while` is an error; without it one that
    /// never ends never ends.
    pub max_iterations: Option<u64>,
    /// Time each step, even if the whole takes longer for it. A host that does
    /// the work always does.
    pub time_steps: bool,
}

/// How long a run took.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    /// From the first step to the last one's end, on the device.
    pub total: Duration,
    /// Launches of bodies; those in a loop that the device goes round by itself
    /// count once.
    pub launches: u64,
    /// Each step of the plan that ran, in the order of the first time it did;
    /// empty if they were not timed.
    pub steps: Vec<StepTime>,
}

/// How long a step took.
#[derive(Clone, Debug)]
pub struct StepTime {
    /// The phase's name.
    pub name: String,
    /// Its number in the plan.
    pub id: u64,
    /// Whether it runs a body, and is no fill.
    pub is_launch: bool,
    /// Blocks of the last run.
    pub blocks: u64,
    /// How often it ran: more than once in a loop.
    pub runs: u64,
    /// All its runs together.
    pub total: Duration,
}

/// The driver for a target, as `--target=` spells it; what follows a comma was
/// for the compiler.
///
/// # Errors
///
/// There is none for that target: the message lists those that have one.
pub fn driver(target: &str) -> Result<Box<dyn Driver>, Error> {
    match target.split([',', ':']).next() {
        Some("cpu") => Ok(Box::new(cpu::Cpu)),
        Some("nvptx") => Ok(Box::new(cuda::Cuda)),
        Some("vulkan" | "metal") => Ok(Box::<vulkan::Vulkan>::default()),
        _ => Err(Error::NoDriver {
            target: target.into(),
            known: vec!["cpu", "nvptx", "vulkan"],
        }),
    }
}

/// The target as the device at hand is: `vulkan:1.3` is
/// `vulkan:1.3,subgroup=8` where subgroups have 8 lanes. What needs no device,
/// or has no driver, stays as it is.
///
/// # Errors
///
/// There is no device to ask.
pub fn resolve(target: &str) -> Result<String, Error> {
    match driver(target) {
        Ok(driver) => driver.resolve(target),
        Err(_) => Ok(target.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_without_driver_is_answered_by_those_with_one() {
        assert!(driver("cpu,wave=32").is_ok());
        assert_eq!(resolve("abacus").expect("as it is"), "abacus");
        assert_eq!(resolve("cpu,wave=8").expect("as it is"), "cpu,wave=8");
        let error = driver("abacus").err().expect("no such driver");
        assert_eq!(
            error.to_string(),
            "no driver for target 'abacus': the targets that can be run are cpu, nvptx, vulkan"
        );
    }
}
