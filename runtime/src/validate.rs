//! Whether a plan makes sense: artifacts are files, and files are edited.

use crate::Error;
use qd_artifact::{ArgumentKind, Artifact, BufferRef, Expr, Kernel, MOST_CONTROL, Operand, Step};
use std::collections::{BTreeSet, HashSet};

/// Checks that every reference in the plan has something to refer to, so that
/// running it need not.
pub(crate) fn validate(artifact: &Artifact) -> Result<(), Error> {
    let mut names = HashSet::new();
    for kernel in &artifact.kernels {
        if !names.insert(&kernel.name) {
            return Err(Error::InvalidPlan(format!("two kernels '{}'", kernel.name)));
        }
        let check = Check { artifact, kernel };
        for argument in &kernel.arguments {
            if let ArgumentKind::Buffer { shape, .. } = &argument.kind
                && shape.iter().skip(1).any(Option::is_none)
            {
                return Err(check.error(&format!(
                    "argument '{}' has an unknown extent that is not its first",
                    argument.name
                )));
            }
            for expr in [&argument.length, &argument.minimum, &argument.limit]
                .into_iter()
                .flatten()
            {
                check.expr(expr)?;
            }
        }
        if kernel.control > MOST_CONTROL {
            return Err(check.error(&format!(
                "has {} words of control, more than {MOST_CONTROL}",
                kernel.control
            )));
        }
        check.steps(&kernel.steps)?;
        check.dispatches_end(&kernel.steps, &mut vec![&kernel.name])?;
    }
    Ok(())
}

/// A launch of the artifact's plan.
pub(crate) struct PlannedLaunch<'a> {
    pub kernel: &'a str,
    /// The phase's name.
    pub phase: &'a str,
    pub body: &'a str,
    /// Shared memory of a block besides what the body declares.
    pub dynamic_shared_bytes: u32,
}

/// All launches of the artifact's plan, in the order of its text.
pub(crate) fn launches(artifact: &Artifact) -> Vec<PlannedLaunch<'_>> {
    fn collect<'a>(kernel: &'a str, steps: &'a [Step], launches: &mut Vec<PlannedLaunch<'a>>) {
        for step in steps {
            match step {
                Step::Launch {
                    name,
                    body,
                    dynamic_shared_bytes,
                    ..
                } => launches.push(PlannedLaunch {
                    kernel,
                    phase: name,
                    body,
                    dynamic_shared_bytes: *dynamic_shared_bytes,
                }),
                Step::DoWhile { steps, .. } | Step::If { steps, .. } => {
                    collect(kernel, steps, launches);
                }
                Step::Fill { .. } | Step::Dispatch { .. } => {}
            }
        }
    }
    let mut launches = Vec::new();
    for kernel in &artifact.kernels {
        collect(&kernel.name, &kernel.steps, &mut launches);
    }
    launches
}

/// The bodies that the artifact's plan launches, each once.
pub(crate) fn body_names(artifact: &Artifact) -> BTreeSet<&str> {
    let launches = launches(artifact).into_iter();
    launches.map(|launch| launch.body).collect()
}

struct Check<'a> {
    artifact: &'a Artifact,
    kernel: &'a Kernel,
}

impl<'a> Check<'a> {
    fn error(&self, message: &str) -> Error {
        Error::InvalidPlan(format!("kernel '{}': {message}", self.kernel.name))
    }

    fn kind(&self, argument: usize) -> Result<&'a ArgumentKind, Error> {
        match self.kernel.arguments.get(argument) {
            Some(found) => Ok(&found.kind),
            None => Err(self.error(&format!(
                "refers to argument {argument}, but has {}",
                self.kernel.arguments.len()
            ))),
        }
    }

    fn steps(&self, steps: &[Step]) -> Result<(), Error> {
        steps.iter().try_for_each(|step| match step {
            Step::Launch {
                blocks, arguments, ..
            } => {
                self.expr(blocks)?;
                self.operands(arguments)
            }
            Step::Fill {
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
            Step::DoWhile { flag, steps } => {
                self.buffer(flag)?;
                self.steps(steps)
            }
            Step::If { condition, steps } => {
                if let Operand::Scalar(_) = condition {
                    return Err(self.error("has a scalar for a condition that is on the device"));
                }
                self.operands(std::slice::from_ref(condition))?;
                self.steps(steps)
            }
            Step::Dispatch {
                variants,
                arguments,
            } => {
                self.operands(arguments)?;
                for variant in variants {
                    if let Some(predicate) = &variant.predicate {
                        self.expr(predicate)?;
                    }
                    let callee = self.callee(&variant.kernel)?;
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
        })
    }

    fn callee(&self, name: &str) -> Result<&'a Kernel, Error> {
        self.artifact
            .kernel(name)
            .ok_or_else(|| self.error(&format!("dispatches to '{name}', which is not there")))
    }

    /// A kernel that reaches itself through dispatches would never end.
    fn dispatches_end(&self, steps: &'a [Step], path: &mut Vec<&'a str>) -> Result<(), Error> {
        for step in steps {
            match step {
                Step::DoWhile { steps, .. } | Step::If { steps, .. } => {
                    self.dispatches_end(steps, path)?;
                }
                Step::Dispatch { variants, .. } => {
                    for variant in variants {
                        if path.contains(&variant.kernel.as_str()) {
                            return Err(
                                self.error(&format!("'{}' dispatches to itself", variant.kernel))
                            );
                        }
                        path.push(&variant.kernel);
                        self.dispatches_end(&self.callee(&variant.kernel)?.steps, path)?;
                        path.pop();
                    }
                }
                Step::Launch { .. } | Step::Fill { .. } => {}
            }
        }
        Ok(())
    }

    fn operands(&self, operands: &[Operand]) -> Result<(), Error> {
        operands.iter().try_for_each(|operand| match operand {
            Operand::Buffer(buffer) => self.buffer(buffer),
            Operand::Scalar(value) => self.expr(value),
            Operand::Control { first, words } => match first.checked_add(*words) {
                Some(end) if end <= self.kernel.control => Ok(()),
                _ => Err(self.error(&format!(
                    "passes {words} words of control from word {first}, but has {}",
                    self.kernel.control
                ))),
            },
        })
    }

    fn buffer(&self, buffer: &BufferRef) -> Result<(), Error> {
        if let Some(view) = &buffer.view {
            self.expr(&view.offset_bytes)?;
            self.expr(&view.length)?;
        }
        match self.kind(buffer.argument)? {
            ArgumentKind::Buffer { .. } => Ok(()),
            ArgumentKind::Scalar { .. } => {
                Err(self.error(&format!("argument {} is no buffer", buffer.argument)))
            }
        }
    }

    fn expr(&self, expr: &Expr) -> Result<(), Error> {
        match expr {
            Expr::Constant(_) => Ok(()),
            Expr::Scalar(argument) => match self.kind(*argument)? {
                ArgumentKind::Scalar { .. } => Ok(()),
                ArgumentKind::Buffer { .. } => {
                    Err(self.error(&format!("argument {argument} is no scalar")))
                }
            },
            Expr::Length(argument, dimension) => match self.kind(*argument)? {
                ArgumentKind::Buffer { shape, .. } if *dimension < shape.len() => Ok(()),
                _ => Err(self.error(&format!("argument {argument} has no dimension {dimension}"))),
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
