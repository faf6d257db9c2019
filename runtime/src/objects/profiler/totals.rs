//! Times by step.

use super::{Span, SpanKind};
use std::{collections::HashMap, sync::Arc, time::Duration};

/// All spans of one step together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTotal {
    /// The kernel that it is of.
    pub kernel: Arc<str>,
    /// The phase's name, or what the step is.
    pub name: Arc<str>,
    /// Its number in the plan.
    pub id: u64,
    /// Whether it runs a body, and is no fill or copy.
    pub is_launch: bool,
    /// Blocks of the last run.
    pub blocks: u64,
    /// Bytes that a fill or a copy wrote, in all.
    pub bytes: u64,
    /// How often it ran: in a loop more than once a call.
    pub runs: u64,
    /// How long all its runs took.
    pub total: Duration,
}

/// The spans' steps, in the order of the first time each ran.
pub fn step_totals(spans: &[Span]) -> Vec<StepTotal> {
    let mut totals: Vec<StepTotal> = Vec::new();
    let mut places = HashMap::new();
    for span in spans {
        let SpanKind::Step(step) = &span.kind else {
            continue;
        };
        let key = (step.kernel.clone(), step.name.clone(), step.id);
        let place = *places.entry(key).or_insert_with(|| {
            totals.push(StepTotal {
                kernel: step.kernel.clone(),
                name: step.name.clone(),
                id: step.id,
                is_launch: step.is_launch,
                blocks: 0,
                bytes: 0,
                runs: 0,
                total: Duration::ZERO,
            });
            totals.len() - 1
        });
        let total = &mut totals[place];
        total.blocks = step.blocks;
        total.bytes += step.bytes;
        total.runs += 1;
        total.total += span.duration;
    }
    totals
}
