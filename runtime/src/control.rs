//! Words that are the runtime's own, 0 between runs: a kernel counts in them what
//! its blocks have done, and leaves them as it found them.
//!
//! Nothing clears them while kernels leave them clear. A run that ends in an error
//! may leave anything, so that they are cleared before the next.

use crate::program::{Planned, Program};
use qd_artifact::{Step, StepKind};

/// Bytes of a word.
pub(crate) const WORD: u64 = 4;

/// Bytes that running a kernel takes: its own words, and behind them those of the
/// kernel that it dispatches to. The artifact has been validated.
pub(crate) fn bytes(program: Program<'_>, kernel: Planned<'_>) -> usize {
    (kernel.plan.control * WORD) as usize + dispatched(program, &kernel.plan.steps)
}

fn dispatched(program: Program<'_>, steps: &[Step]) -> usize {
    let most = steps.iter().map(|step| match &step.kind {
        StepKind::Launch { .. } | StepKind::Fill { .. } => 0,
        StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } => dispatched(program, steps),
        StepKind::Dispatch { variants, .. } => {
            let callees = variants.iter().filter_map(|v| program.kernel(&v.kernel));
            callees
                .map(|callee| bytes(program, callee))
                .max()
                .unwrap_or(0)
        }
    });
    most.max().unwrap_or(0)
}

/// The words of a kernel that is run again and again, in memory `M`.
pub(crate) struct Control<M> {
    /// None for a kernel without.
    memory: Option<M>,
    bytes: usize,
    /// Whether all are 0.
    is_clear: bool,
}

impl<M> Control<M> {
    /// For a kernel, of memory that holds anything.
    pub fn new<E>(
        program: Program<'_>,
        kernel: Planned<'_>,
        allocate: impl FnOnce(usize) -> Result<M, E>,
    ) -> Result<Self, E> {
        let bytes = bytes(program, kernel);
        Ok(Self {
            memory: (bytes > 0).then(|| allocate(bytes)).transpose()?,
            bytes,
            is_clear: false,
        })
    }

    pub fn memory(&self) -> Option<&M> {
        self.memory.as_ref()
    }

    /// A run follows. `clear` sets so many bytes to 0, if it has to.
    pub fn begin<E>(&mut self, clear: impl FnOnce(&M, usize) -> Result<(), E>) -> Result<(), E> {
        let was_clear = std::mem::replace(&mut self.is_clear, false);
        match &self.memory {
            Some(memory) if !was_clear => clear(memory, self.bytes),
            _ => Ok(()),
        }
    }

    /// The run has ended, and well.
    pub fn end(&mut self) {
        self.is_clear = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::step;
    use qd_artifact::{Artifact, Kernel, Plan, Variant};

    fn kernel(name: &str, control: u64, steps: Vec<Step>) -> Kernel {
        Kernel {
            name: name.into(),
            arguments: Vec::new(),
            plans: vec![Some(Plan {
                control,
                steps,
                ..Plan::default()
            })],
        }
    }

    fn dispatch(kernels: &[&str]) -> Step {
        let variants = kernels.iter().map(|kernel| Variant {
            kernel: (*kernel).into(),
            predicate: None,
        });
        step(StepKind::Dispatch {
            variants: variants.collect(),
            arguments: Vec::new(),
        })
    }

    fn artifact(kernels: Vec<Kernel>) -> Artifact {
        Artifact {
            targets: vec!["cpu".into()],
            kernels,
            modules: Vec::new(),
        }
    }

    fn program(artifact: &Artifact) -> Program<'_> {
        Program::new(artifact, || "any".into(), |_| true).expect("a target")
    }

    #[test]
    fn a_dispatched_kernels_words_are_behind_the_own() {
        let steps = vec![dispatch(&["one", "many"]), dispatch(&["one"])];
        let artifact = artifact(vec![
            kernel("k", 2, steps),
            kernel("one", 1, Vec::new()),
            kernel("many", 5, vec![dispatch(&["one"])]),
            kernel("none", 0, Vec::new()),
        ]);
        let program = program(&artifact);
        let bytes = |name| bytes(program, program.kernel(name).expect("a kernel"));
        assert_eq!(bytes("k"), 4 * (2 + 5 + 1));
        assert_eq!(bytes("none"), 0);
    }

    #[test]
    fn words_are_cleared_at_first_and_after_an_error() {
        let artifact = artifact(vec![kernel("k", 3, Vec::new())]);
        let program = program(&artifact);
        let kernel = program.kernel("k").expect("a kernel");
        let mut control = Control::new(program, kernel, |_| Ok::<_, ()>(())).expect("memory");
        let mut cleared = |ends_well| {
            let mut bytes = 0;
            let begun = control.begin(|(), size| {
                bytes = size;
                Ok::<_, ()>(())
            });
            begun.expect("cleared");
            if ends_well {
                control.end();
            }
            bytes
        };
        assert_eq!(cleared(true), 12);
        assert_eq!(cleared(true), 0);
        assert_eq!(cleared(false), 0);
        assert_eq!(cleared(true), 12);
        assert_eq!(cleared(true), 0);
    }
}
