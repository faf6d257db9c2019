//! What of an artifact is for one of its targets.

use crate::Error;
use qd_artifact::{Artifact, Format, Kernel, Module, Plan, Requirements};

/// An artifact as one of its targets has it.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    pub artifact: &'a Artifact,
    /// Which of its targets.
    target: usize,
}

/// A kernel that has a plan for the target.
#[derive(Clone, Copy)]
pub(crate) struct Planned<'a> {
    pub kernel: &'a Kernel,
    pub plan: &'a Plan,
}

impl<'a> Program<'a> {
    /// For the first target that a driver takes.
    pub fn new(
        artifact: &'a Artifact,
        device: impl FnOnce() -> String,
        takes: impl Fn(&str) -> bool,
    ) -> Result<Self, Error> {
        let target = artifact.targets.iter().position(|target| takes(target));
        let target = target.ok_or_else(|| Error::OtherTarget {
            artifact: artifact.targets.join("' and '"),
            device: device(),
        })?;
        Ok(Self { artifact, target })
    }

    pub fn target(self) -> &'a str {
        &self.artifact.targets[self.target]
    }

    /// The kernels that have a plan.
    pub fn kernels(self) -> impl Iterator<Item = Planned<'a>> {
        let kernels = self.artifact.kernels.iter();
        kernels.filter_map(move |kernel| self.planned(kernel))
    }

    /// A kernel by name, if it is there and has a plan.
    pub fn kernel(self, name: &str) -> Option<Planned<'a>> {
        self.planned(self.artifact.kernel(name)?)
    }

    fn planned(self, kernel: &'a Kernel) -> Option<Planned<'a>> {
        let plan = kernel.plans.get(self.target)?.as_ref()?;
        Some(Planned { kernel, plan })
    }

    /// What its plans need of the device, each once.
    pub fn needs(self) -> Vec<&'a Requirements> {
        let mut needs: Vec<&Requirements> = Vec::new();
        for Planned { plan, .. } in self.kernels() {
            if !needs.contains(&&plan.needs) {
                needs.push(&plan.needs);
            }
        }
        needs
    }

    /// The target's code.
    pub fn modules(self) -> impl Iterator<Item = &'a Module> {
        let modules = self.artifact.modules.iter();
        modules.filter(move |module| module.target == self.target)
    }

    /// The modules, each of a format that the driver takes.
    pub fn modules_of(self, format: Format) -> Result<Vec<&'a Module>, Error> {
        let modules: Vec<_> = self.modules().collect();
        match modules.iter().find(|module| module.format != format) {
            Some(other) => Err(Error::Load(format!(
                "it is {:?}, and the device takes {format:?}",
                other.format
            ))),
            None => Ok(modules),
        }
    }

    /// What is kept of it once its code is on the device.
    pub fn without_code(self) -> Loaded {
        Loaded {
            artifact: Artifact {
                modules: Vec::new(),
                ..self.artifact.clone()
            },
            target: self.target,
        }
    }
}

/// A program whose code is on a device.
pub(crate) struct Loaded {
    pub artifact: Artifact,
    target: usize,
}

impl Loaded {
    pub fn program(&self) -> Program<'_> {
        Program {
            artifact: &self.artifact,
            target: self.target,
        }
    }

    /// A kernel to run, by name.
    pub fn kernel(&self, name: &str) -> Result<Planned<'_>, Error> {
        let program = self.program();
        program.kernel(name).ok_or_else(|| {
            let is_there = self.artifact.kernel(name).is_some();
            match is_there {
                true => Error::NoPlan {
                    kernel: name.into(),
                    target: program.target().into(),
                },
                false => Error::UnknownKernel {
                    name: name.into(),
                    known: self
                        .artifact
                        .kernels
                        .iter()
                        .map(|k| k.name.clone())
                        .collect(),
                },
            }
        })
    }
}
