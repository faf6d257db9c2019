//! The part of an artifact that is for one of its targets.

use crate::{
    Error,
    validate::{DynamicShared, most_shared},
};
use qd_artifact::{Artifact, Bytes, Format, Kernel, Module, Origins, Plan, Step, StepKind};
use std::collections::{BTreeMap, HashMap};

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
    /// The variant that its dispatches run where it is eligible, if not the first one.
    pub preferred: Option<&'a str>,
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
        Some(Planned {
            kernel,
            plan,
            preferred: None,
        })
    }

    /// Where in the source things come from, as far as that is known.
    pub fn origins(self) -> Option<&'a Origins> {
        self.artifact.origins(self.target)
    }

    /// A kernel and those that it dispatches to, each once.
    pub fn reached(self, kernel: Planned<'a>) -> Vec<Planned<'a>> {
        let mut reached = vec![kernel];
        let mut next = 0;
        while let Some(from) = reached.get(next) {
            next += 1;
            for callee in self.dispatched(&from.plan.steps) {
                if !reached.iter().any(|r| r.kernel.name == callee.kernel.name) {
                    reached.push(callee);
                }
            }
        }
        reached
    }

    fn dispatched(self, steps: &'a [Step]) -> Vec<Planned<'a>> {
        let callees = steps.iter().flat_map(|step| match &step.kind {
            StepKind::Dispatch { variants, .. } => {
                let callees = variants.iter().filter_map(|v| self.kernel(&v.kernel));
                callees.collect()
            }
            StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } => self.dispatched(steps),
            StepKind::Launch { .. } | StepKind::Fill { .. } => Vec::new(),
        });
        callees.collect()
    }

    /// The kernels that a kernel's own dispatches choose from, each once, in order.
    pub fn variants(self, kernel: Planned<'a>) -> Vec<&'a str> {
        fn collect<'a>(steps: &'a [Step], names: &mut Vec<&'a str>) {
            for step in steps {
                match &step.kind {
                    StepKind::Dispatch { variants, .. } => {
                        for variant in variants {
                            if !names.contains(&&*variant.kernel) {
                                names.push(&variant.kernel);
                            }
                        }
                    }
                    StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } => {
                        collect(steps, names);
                    }
                    StepKind::Launch { .. } | StepKind::Fill { .. } => {}
                }
            }
        }
        let mut names = Vec::new();
        collect(&kernel.plan.steps, &mut names);
        names
    }

    /// Whether a module is for the target.
    pub fn is_for(self, module: &Module) -> bool {
        module.target == self.target
    }

    /// The target's code.
    pub fn modules(self) -> impl Iterator<Item = &'a Module> {
        let modules = self.artifact.modules.iter();
        modules.filter(move |module| self.is_for(module))
    }

    /// One of its own, with the same code.
    pub fn kept(self) -> Kept {
        Kept {
            artifact: self.artifact.clone(),
            target: self.target,
            shared: most_shared(self),
        }
    }
}

/// A module of a program, with all that decides what a device makes of it.
pub(crate) struct Part<'a> {
    pub target: &'a str,
    pub module: &'a Module,
    /// The most that each of its bodies is given, if any is.
    pub shared: BTreeMap<&'a str, &'a DynamicShared>,
}

impl<'a> Part<'a> {
    /// The code, which is of the format that the driver takes.
    pub fn code(&self, format: Format) -> Result<&'a Bytes, Error> {
        match self.module.format == format {
            true => Ok(self.module.bytes()),
            false => Err(Error::Load(format!(
                "it is {:?}, and the device takes {format:?}",
                self.module.format
            ))),
        }
    }
}

/// An owned program.
pub(crate) struct Kept {
    pub artifact: Artifact,
    target: usize,
    shared: HashMap<String, DynamicShared>,
}

impl Kept {
    /// One of the artifact's modules, which is for the target.
    pub fn part(&self, place: usize) -> Part<'_> {
        let module = &self.artifact.modules[place];
        let bodies = module.bodies.iter();
        let shared = bodies.filter_map(|body| self.shared.get_key_value(&body.name));
        Part {
            target: self.program().target(),
            module,
            shared: shared.map(|(body, most)| (&**body, most)).collect(),
        }
    }

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
