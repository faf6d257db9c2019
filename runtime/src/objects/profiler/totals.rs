//! Times by step, and spans as traces show them.

use super::{CopyKind, Span, SpanKind, Step};
use std::{collections::HashMap, fmt, time::Duration};

impl Span {
    /// What a trace calls it.
    pub fn name(&self) -> String {
        match &self.kind {
            SpanKind::Call { name } => name.to_string(),
            SpanKind::Step(step) => step.name.to_string(),
            SpanKind::Copy { kind, .. } => kind.to_string(),
            SpanKind::Wait => "wait for another stream".into(),
        }
    }

    /// What else a trace shows of it, by name.
    pub fn details(&self) -> Vec<(&'static str, String)> {
        match &self.kind {
            SpanKind::Step(step) => {
                let mut details = vec![
                    ("kernel", step.kernel.to_string()),
                    ("step", step.id.to_string()),
                    ("run", step.run.to_string()),
                ];
                details.push(match step.is_launch {
                    true => ("blocks", step.blocks.to_string()),
                    false => ("bytes", step.bytes.to_string()),
                });
                details
            }
            SpanKind::Copy { bytes, .. } => vec![("bytes", bytes.to_string())],
            SpanKind::Call { .. } | SpanKind::Wait => Vec::new(),
        }
    }
}

impl fmt::Display for CopyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CopyKind::Upload => "copy from the host",
            CopyKind::Download => "copy to the host",
            CopyKind::Within => "copy",
            CopyKind::Clear => "clear",
        })
    }
}

/// All spans of one step together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTotal {
    /// The step, as it ran last.
    pub step: Step,
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
        let key = (&step.kernel, &step.name, step.id);
        let place = *places.entry(key).or_insert_with(|| {
            totals.push(StepTotal {
                step: step.clone(),
                bytes: 0,
                runs: 0,
                total: Duration::ZERO,
            });
            totals.len() - 1
        });
        let total = &mut totals[place];
        total.step = step.clone();
        total.bytes += step.bytes;
        total.runs += 1;
        total.total += span.duration;
    }
    totals
}
