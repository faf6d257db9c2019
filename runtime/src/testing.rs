//! Plans of tests.

use qd_artifact::{Step, StepKind};

/// A step that is numbered later.
pub fn step(kind: StepKind) -> Step {
    Step {
        id: 0,
        after: Vec::new(),
        kind,
    }
}

/// Numbers steps, each of which waits for the one before it.
pub fn in_order(mut steps: Vec<Step>) -> Vec<Step> {
    fn number(steps: &mut [Step], next: &mut u64) {
        let mut last = None;
        for step in steps {
            step.id = *next;
            step.after = last.replace(step.id).into_iter().collect();
            *next += 1;
            if let StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } = &mut step.kind {
                number(steps, next);
            }
        }
    }
    number(&mut steps, &mut 0);
    steps
}
