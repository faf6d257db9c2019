//! The entry of a compilation in a store, as bytes: its artifact and its diagnostics.

use crate::{
    diagnostic::{Diagnostic, Stage},
    outcome::Outcome,
};
use qd_artifact::Artifact;
use qd_report::{Note, Severity, Span};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Said {
    /// `true` for a warning, `false` for a remark: an error has no artifact.
    is_warning: bool,
    stage: u8,
    message: String,
    at: Option<At>,
    notes: Vec<(String, Option<At>)>,
}

/// File, line, column.
type At = (String, usize, usize);

const STAGES: [Stage; 4] = [Stage::Request, Stage::Parse, Stage::Lower, Stage::Emit];

/// How long the list of what was said is, little-endian; that list, as JSON; the artifact's file.
/// None of a failure.
pub(super) fn write(outcome: &Outcome) -> Option<Vec<u8>> {
    let artifact = outcome.result.as_ref().ok()?;
    let said: Option<Vec<Said>> = outcome.said.iter().map(of).collect();
    let said = serde_json::to_vec(&said?).ok()?;
    let mut bytes = (said.len() as u64).to_le_bytes().to_vec();
    bytes.extend(said);
    bytes.extend(artifact.to_bytes());
    Some(bytes)
}

/// Reads what [`write`] has written; none of anything else.
pub(super) fn read(mut bytes: Vec<u8>) -> Option<Outcome> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let said: Vec<Said> = serde_json::from_slice(rest.get(..length)?).ok()?;
    bytes.drain(..8 + length);
    Some(Outcome {
        result: Ok(Artifact::from_bytes(bytes).ok()?),
        said: said.into_iter().map(back).collect::<Option<_>>()?,
    })
}

fn of(diagnostic: &Diagnostic) -> Option<Said> {
    let at = |span: &Option<Span>| span.as_ref().map(|s| (s.file.clone(), s.line, s.column));
    let notes = diagnostic.notes.iter();
    let stage = STAGES.iter().position(|stage| *stage == diagnostic.stage)?;
    Some(Said {
        is_warning: match diagnostic.severity {
            Severity::Warning => true,
            Severity::Remark => false,
            // It was got over, but is not to be kept from anybody.
            Severity::Error => return None,
        },
        stage: u8::try_from(stage).ok()?,
        message: diagnostic.message.clone(),
        at: at(&diagnostic.at),
        notes: notes.map(|n| (n.message.clone(), at(&n.at))).collect(),
    })
}

fn back(said: Said) -> Option<Diagnostic> {
    let span = |at: Option<At>| at.map(|(file, line, column)| Span { file, line, column });
    let note = |(message, at): (String, Option<At>)| Note {
        message,
        at: span(at),
    };
    Some(Diagnostic {
        severity: match said.is_warning {
            true => Severity::Warning,
            false => Severity::Remark,
        },
        stage: *STAGES.get(usize::from(said.stage))?,
        message: said.message,
        at: span(said.at),
        notes: said.notes.into_iter().map(note).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_kept_and_errors_are_not() {
        let at = Some(Span {
            file: "<slice>".into(),
            line: 3,
            column: 4,
        });
        let note = Note {
            message: "called from here".into(),
            at: at.clone(),
        };
        let warning = Diagnostic {
            severity: Severity::Warning,
            at,
            notes: vec![note],
            ..Diagnostic::error(Stage::Lower, "is not checked")
        };
        let outcome = |said| Outcome {
            result: Ok(Artifact::default()),
            said,
        };
        let kept = outcome(vec![warning.clone()]);
        let bytes = write(&kept).expect("it is kept");
        assert_eq!(read(bytes.clone()), Some(kept));
        for length in 0..bytes.len() {
            assert_eq!(read(bytes[..length].to_vec()), None);
        }
        let error = Diagnostic {
            severity: Severity::Error,
            ..warning
        };
        assert_eq!(write(&outcome(vec![error.clone()])), None);
        let failed = Outcome {
            result: Err(vec![error]),
            said: Vec::new(),
        };
        assert_eq!(write(&failed), None);
    }
}
