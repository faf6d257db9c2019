//! Validation of plans: artifacts are files, and files can be edited.

use crate::{
    Error,
    program::{Planned, Program},
};
use qd_artifact::{ArgumentKind, BufferRef, Expr, Kernel, MOST_CONTROL, Operand, Step, StepKind};
use std::collections::{HashMap, HashSet};

/// Checks that every reference in the plan is valid, so that execution need not.
pub(crate) fn validate(program: Program<'_>) -> Result<(), Error> {
    let invalid = |what: String| Err(Error::InvalidPlan(what));
    let (artifact, targets) = (program.artifact, program.artifact.targets.len());
    let mut names = HashSet::new();
    for kernel in &artifact.kernels {
        let (name, plans) = (&kernel.name, kernel.plans.len());
        if !names.insert(name) {
            return invalid(format!("two kernels '{name}'"));
        }
        if plans != targets {
            return invalid(format!(
                "kernel '{name}' has {plans} plans for {targets} targets"
            ));
        }
    }
    let mut bodies = HashSet::new();
    for body in program.modules().flat_map(|module| &module.bodies) {
        if !bodies.insert(&*body.name) {
            return invalid(format!("two bodies '{}'", body.name));
        }
    }
    for Planned { kernel, plan, .. } in program.kernels() {
        let check = Check {
            program,
            kernel,
            control: plan.control,
            sites: plan.sites.len() as u64,
            prints: plan.sites.iter().any(|site| site.printed.is_some()),
            asserts: plan.sites.iter().any(|site| site.printed.is_none()),
        };
        for argument in &kernel.arguments {
            for expr in [&argument.length, &argument.minimum, &argument.limit]
                .into_iter()
                .flatten()
            {
                check.expr(expr)?;
            }
        }
        if plan.control > MOST_CONTROL {
            return Err(check.error(&format!(
                "has {} control words, more than {MOST_CONTROL}",
                plan.control
            )));
        }
        check.steps(&plan.steps, &mut HashSet::new())?;
        check.dispatches_end(&plan.steps, &mut vec![&kernel.name])?;
    }
    if let Some(launch) = launches(program.kernels()).find(|launch| !bodies.contains(launch.body)) {
        return invalid(format!(
            "kernel '{}': phase '{}' launches '{}', which is in no module",
            launch.kernel, launch.phase, launch.body
        ));
    }
    Ok(())
}

/// A launch of the artifact's plan.
#[derive(Clone, Copy)]
pub(crate) struct PlannedLaunch<'a> {
    kernel: &'a str,
    /// The phase's name.
    phase: &'a str,
    pub body: &'a str,
    /// Of a block.
    pub threads: u32,
    /// Shared memory of a block besides what the body declares.
    dynamic_shared_bytes: u32,
}

/// All launches of plans, in the order of their text.
pub(crate) fn launches<'a>(
    kernels: impl IntoIterator<Item = Planned<'a>>,
) -> impl Iterator<Item = PlannedLaunch<'a>> {
    fn collect<'a>(kernel: &'a str, steps: &'a [Step], launches: &mut Vec<PlannedLaunch<'a>>) {
        for step in steps {
            match &step.kind {
                StepKind::Launch {
                    name,
                    body,
                    threads,
                    dynamic_shared_bytes,
                    ..
                } => launches.push(PlannedLaunch {
                    kernel,
                    phase: name,
                    body,
                    threads: *threads,
                    dynamic_shared_bytes: *dynamic_shared_bytes,
                }),
                StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } => {
                    collect(kernel, steps, launches);
                }
                StepKind::Fill { .. } | StepKind::Dispatch { .. } => {}
            }
        }
    }
    let kernels = kernels.into_iter();
    kernels.flat_map(|Planned { kernel, plan, .. }| {
        let mut launches = Vec::new();
        collect(&kernel.name, &plan.steps, &mut launches);
        launches
    })
}

/// Shared memory that a launch requests besides what the body declares, and the launch.
pub(crate) struct DynamicShared {
    pub bytes: u32,
    pub kernel: String,
    pub phase: String,
}

impl DynamicShared {
    /// `kernel 'k': phase 'p' asks for 61440 bytes of shared memory a block`.
    pub fn asks(&self) -> String {
        format!(
            "kernel '{}': phase '{}' asks for {} bytes of shared memory a block",
            self.kernel, self.phase, self.bytes
        )
    }

    /// Whether a device of that name, whose blocks have so many bytes at most, has it.
    pub fn check(&self, device: &str, most: u32) -> Result<(), Error> {
        match self.bytes <= most {
            true => Ok(()),
            false => Err(Error::Device(format!(
                "{}, but {device} has {most}",
                self.asks()
            ))),
        }
    }
}

/// The largest request for each body: the driver raises the limit for a body, whichever launch
/// uses it.
pub(crate) fn most_shared(program: Program<'_>) -> HashMap<String, DynamicShared> {
    let mut most: HashMap<String, DynamicShared> = HashMap::new();
    for launch in launches(program.kernels()) {
        let bytes = launch.dynamic_shared_bytes;
        if bytes > most.get(launch.body).map_or(0, |most| most.bytes) {
            let (kernel, phase) = (launch.kernel.into(), launch.phase.into());
            let shared = DynamicShared {
                bytes,
                kernel,
                phase,
            };
            most.insert(launch.body.into(), shared);
        }
    }
    most
}

struct Check<'a> {
    program: Program<'a>,
    kernel: &'a Kernel,
    /// Control words that it has.
    control: u64,
    sites: u64,
    /// Whether some of them are prints.
    prints: bool,
    /// Whether some of them are assertions.
    asserts: bool,
}

impl<'a> Check<'a> {
    fn error(&self, message: &str) -> Error {
        Error::InvalidPlan(format!("kernel '{}': {message}", self.kernel.name))
    }

    fn argument(&self, argument: usize) -> Result<&'a ArgumentKind, Error> {
        match self.kernel.arguments.get(argument) {
            Some(found) => Ok(&found.kind),
            None => Err(self.error(&format!(
                "refers to argument {argument}, but has {}",
                self.kernel.arguments.len()
            ))),
        }
    }

    /// `numbers` are those of the steps before, in the same list and in others.
    fn steps(&self, steps: &[Step], numbers: &mut HashSet<u64>) -> Result<(), Error> {
        let mut before = HashSet::new();
        for step in steps {
            let Step { id, after, kind } = step;
            if !numbers.insert(*id) {
                return Err(self.error(&format!("two steps {id}")));
            }
            if let Some(other) = after.iter().find(|other| !before.contains(other)) {
                let what = format!("step {id} waits for step {other}, which is not before it");
                return Err(self.error(&what));
            }
            before.insert(id);
            self.step(kind, numbers)?;
        }
        Ok(())
    }

    /// What a loop or an `if` tests.
    fn word(&self, condition: &Operand) -> Result<(), Error> {
        if let Operand::Scalar(_) | Operand::Faults | Operand::Prints | Operand::Site(_) = condition
        {
            return Err(self.error("has a scalar for a condition that is on the device"));
        }
        self.operands(std::slice::from_ref(condition))
    }

    /// A body gets a pointer and one length.
    fn passed(&self, operand: &Operand) -> Result<(), Error> {
        if let Operand::Buffer(BufferRef {
            argument,
            view: None,
        }) = operand
            && let ArgumentKind::Buffer { shape, .. } = self.argument(*argument)?
            && shape.iter().skip(1).any(Option::is_none)
        {
            return Err(self.error(&format!(
                "passes argument '{}' whole, which has an unknown extent that is not its first",
                self.kernel.arguments[*argument].name
            )));
        }
        Ok(())
    }

    fn step(&self, kind: &StepKind, numbers: &mut HashSet<u64>) -> Result<(), Error> {
        match kind {
            StepKind::Launch {
                blocks, arguments, ..
            } => {
                self.expr(blocks)?;
                self.operands(arguments)?;
                arguments
                    .iter()
                    .try_for_each(|operand| self.passed(operand))
            }
            StepKind::Fill {
                buffer,
                lower,
                upper,
                value,
            } => {
                self.buffer(buffer)?;
                [lower, upper, value]
                    .into_iter()
                    .try_for_each(|e| self.expr(e))
            }
            StepKind::DoWhile { flag, steps } => {
                self.word(flag)?;
                self.steps(steps, numbers)
            }
            StepKind::If { condition, steps } => {
                self.word(condition)?;
                self.steps(steps, numbers)
            }
            StepKind::Dispatch {
                variants,
                arguments,
            } => {
                self.operands(arguments)?;
                for variant in variants {
                    if let Some(predicate) = &variant.predicate {
                        self.expr(predicate)?;
                    }
                    let callee = self.callee(&variant.kernel)?.kernel;
                    let same = callee.arguments.len() == arguments.len()
                        && callee
                            .arguments
                            .iter()
                            .zip(arguments)
                            .all(|(expected, given)| {
                                matches!(
                                    (&expected.kind, given),
                                    (ArgumentKind::Buffer { .. }, Operand::Buffer(_))
                                        | (ArgumentKind::Scalar { .. }, Operand::Scalar(_))
                                )
                            });
                    if !same {
                        return Err(self.error(&format!(
                            "'{}' is dispatched with other arguments than it takes",
                            callee.name
                        )));
                    }
                }
                Ok(())
            }
        }
    }

    fn callee(&self, name: &str) -> Result<Planned<'a>, Error> {
        self.program
            .kernel(name)
            .ok_or_else(|| self.error(&format!("dispatches to '{name}', which is not in the plan")))
    }

    /// A kernel that reaches itself through dispatches would never end.
    fn dispatches_end(&self, steps: &'a [Step], path: &mut Vec<&'a str>) -> Result<(), Error> {
        for step in steps {
            match &step.kind {
                StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } => {
                    self.dispatches_end(steps, path)?;
                }
                StepKind::Dispatch { variants, .. } => {
                    for variant in variants {
                        if path.contains(&variant.kernel.as_str()) {
                            return Err(
                                self.error(&format!("'{}' dispatches to itself", variant.kernel))
                            );
                        }
                        path.push(&variant.kernel);
                        self.dispatches_end(&self.callee(&variant.kernel)?.plan.steps, path)?;
                        path.pop();
                    }
                }
                StepKind::Launch { .. } | StepKind::Fill { .. } => {}
            }
        }
        Ok(())
    }

    fn operands(&self, operands: &[Operand]) -> Result<(), Error> {
        operands.iter().try_for_each(|operand| match operand {
            Operand::Buffer(buffer) => self.buffer(buffer),
            Operand::Scalar(value) => self.expr(value),
            Operand::Faults if self.asserts => Ok(()),
            Operand::Faults => Err(self.error("passes the fault record, but has no assertions")),
            Operand::Prints if self.prints => Ok(()),
            Operand::Prints => Err(self.error("passes the ring of prints, but has no prints")),
            Operand::Site(number) if *number < self.sites => Ok(()),
            Operand::Site(number) => Err(self.error(&format!(
                "passes the number of site {number}, but has {}",
                self.sites
            ))),
            Operand::Control { first, words } => match first.checked_add(*words) {
                Some(end) if end <= self.control => Ok(()),
                _ => Err(self.error(&format!(
                    "passes {words} control words from word {first}, but has {}",
                    self.control
                ))),
            },
        })
    }

    fn buffer(&self, buffer: &BufferRef) -> Result<(), Error> {
        if let Some(view) = &buffer.view {
            self.expr(&view.offset_bytes)?;
            view.length.iter().try_for_each(|l| self.expr(l))?;
        }
        match self.argument(buffer.argument)? {
            ArgumentKind::Buffer { .. } => Ok(()),
            ArgumentKind::Scalar { .. } => {
                Err(self.error(&format!("argument {} is not a buffer", buffer.argument)))
            }
        }
    }

    fn expr(&self, expr: &Expr) -> Result<(), Error> {
        match expr {
            Expr::Constant(_) => Ok(()),
            Expr::Scalar(argument) => match self.argument(*argument)? {
                ArgumentKind::Scalar { .. } => Ok(()),
                ArgumentKind::Buffer { .. } => {
                    Err(self.error(&format!("argument {argument} is not a scalar")))
                }
            },
            Expr::Length(argument, dimension) => match self.argument(*argument)? {
                ArgumentKind::Buffer { shape, .. } if *dimension < shape.len() => Ok(()),
                _ => Err(self.error(&format!("argument {argument} has no dimension {dimension}"))),
            },
            Expr::Address(argument) => match self.argument(*argument)? {
                ArgumentKind::Buffer { .. } => Ok(()),
                ArgumentKind::Scalar { .. } => {
                    Err(self.error(&format!("argument {argument} is not a buffer")))
                }
            },
            Expr::Binary {
                width, left, right, ..
            }
            | Expr::Compare {
                width, left, right, ..
            } => {
                self.width(*width)?;
                self.expr(left)?;
                self.expr(right)
            }
            Expr::Select {
                condition,
                then,
                otherwise,
            } => [condition, then, otherwise]
                .into_iter()
                .try_for_each(|e| self.expr(e)),
            Expr::Resize { to, value, .. } => {
                self.width(*to)?;
                self.expr(value)
            }
        }
    }

    fn width(&self, width: u32) -> Result<(), Error> {
        match width {
            1..=64 => Ok(()),
            _ => Err(self.error(&format!("has an operation of {width} bits"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::step;
    use qd_artifact::{Artifact, Plan};

    #[test]
    fn a_device_with_less_shared_memory_is_told_who_asks() {
        let shared = DynamicShared {
            bytes: 61_440,
            kernel: "k".into(),
            phase: "sweep".into(),
        };
        assert!(shared.check("a device", 61_440).is_ok());
        let error = shared.check("a device", 61_439).unwrap_err();
        assert_eq!(
            error.to_string(),
            "kernel 'k': phase 'sweep' asks for 61440 bytes of shared memory a block, \
             but a device has 61439"
        );
    }

    #[test]
    fn of_a_body_the_launch_counts_that_gives_it_most() {
        let launch = |name: &str, body: &str, dynamic_shared_bytes| {
            step(StepKind::Launch {
                body: body.into(),
                name: name.into(),
                blocks: Expr::constant(1),
                threads: 32,
                dynamic_shared_bytes,
                arguments: Vec::new(),
            })
        };
        let kernel = |name: &str, steps| Kernel {
            name: name.into(),
            arguments: Vec::new(),
            plans: vec![Some(Plan {
                steps,
                ..Plan::default()
            })],
        };
        let last = vec![launch("last", "a", 7), launch("c", "c", 0)];
        let steps = vec![
            launch("first", "a", 8),
            launch("b", "b", 1),
            step(StepKind::DoWhile {
                flag: BufferRef {
                    argument: 0,
                    view: None,
                }
                .into(),
                steps: vec![launch("most", "a", 9)],
            }),
        ];
        let artifact = Artifact {
            targets: vec!["cpu".into()],
            kernels: vec![kernel("k", steps), kernel("l", last)],
            modules: Vec::new(),
            ..Artifact::default()
        };
        let program = Program::new(&artifact, || "any".into(), |_| true).expect("a target");
        let most = most_shared(program);
        let most = most.values().map(|one| (&*one.phase, one.bytes));
        assert_eq!(most.collect::<HashSet<_>>(), [("most", 9), ("b", 1)].into());
    }
}
