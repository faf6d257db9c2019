//! Control words: a kernel's zero-initialised workspace, in which its blocks
//! count. They are 0 between runs, because the kernel resets them.
//!
//! So the runtime does not clear them, except after a run that ended in an error,
//! which may leave any values.

use crate::program::{Planned, Program};
use qd_artifact::{Step, StepKind};

/// The alignment of the widest elements that they may be.
const MOST_ALIGNED: u64 = 8;

/// Bytes of a word.
pub(crate) const WORD: u64 = 4;

/// Bytes of control words for a run of a kernel: its own, followed by those of the
/// kernel that it dispatches to. The artifact has been validated.
pub(crate) fn bytes(program: Program<'_>, kernel: Planned<'_>) -> usize {
    own(kernel.plan.control) as usize + dispatched(program, &kernel.plan.steps)
}

/// Bytes of a kernel's own words, behind which those of others are aligned.
pub(crate) fn own(words: u64) -> u64 {
    (words * WORD).next_multiple_of(MOST_ALIGNED)
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
            ..Artifact::default()
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
        // Each begins where elements of two words may be.
        assert_eq!(bytes("k"), 4 * (2 + 6 + 2));
        assert_eq!(bytes("none"), 0);
    }
}
