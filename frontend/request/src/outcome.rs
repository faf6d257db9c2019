//! What comes of compiling a slice, with locations as word numbers of the slice, and the mapping of
//! these to locations in the source.

use crate::{
    cut::{Place, SLICE, Slice, Words},
    diagnostic::Diagnostic,
};
use qd_artifact::{Artifact, Origins};
use qd_report::Span;

/// What comes of compiling a slice. It follows from the slice's text, and holds for every source with
/// that slice: places are lines and columns of the slice.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// For one target, or the errors.
    pub result: Result<Artifact, Vec<Diagnostic>>,
    /// What is no error.
    pub said: Vec<Diagnostic>,
}

impl Outcome {
    /// Whether it has an artifact with no place in it, and nothing was said.
    pub fn is_without_places(&self) -> bool {
        let has_no_places = |artifact: &Artifact| {
            let mut origins = artifact.origins.iter();
            origins.all(Origins::is_empty)
        };
        self.said.is_empty() && self.result.as_ref().is_ok_and(has_no_places)
    }
}

/// Where a slice was cut from.
pub struct Origin<'a> {
    /// What the source is called.
    pub name: &'a str,
    /// All of its words.
    pub words: &'a Words,
    /// The part.
    pub slice: &'a Slice,
}

impl Origin<'_> {
    /// A diagnostic with the places of the source.
    pub fn located(&self, diagnostic: &Diagnostic) -> Diagnostic {
        let mut located = diagnostic.clone();
        let notes = located.notes.iter_mut().map(|note| &mut note.at);
        for at in [&mut located.at].into_iter().chain(notes) {
            if let Some(span) = at.take() {
                *at = self.span(span);
            }
        }
        located
    }

    /// An artifact with the places of the source.
    pub fn artifact(&self, artifact: &Artifact) -> Artifact {
        let mut artifact = artifact.clone();
        for origins in &mut artifact.origins {
            origins
                .places()
                .for_each(|place| *place = self.reason(place));
        }
        artifact
    }

    fn span(&self, span: Span) -> Option<Span> {
        if span.file != SLICE {
            return Some(span);
        }
        let (line, column) = self.line_and_column(span.line, span.column)?;
        Some(Span {
            file: self.name.into(),
            line,
            column,
        })
    }

    /// `arith.addf at <slice>:17:1`, as it would be of the source.
    fn reason(&self, reason: &str) -> String {
        let place = reason.rsplit_once(SLICE).and_then(|(what, place)| {
            let mut numbers = place.strip_prefix(':')?.splitn(2, ':');
            let mut number = || numbers.next()?.parse::<usize>().ok();
            let (line, column) = self.line_and_column(number()?, number()?)?;
            Some(format!("{what}{}:{line}:{column}", self.name))
        });
        place.unwrap_or_else(|| reason.into())
    }

    fn line_and_column(&self, line: usize, column: usize) -> Option<(usize, usize)> {
        let place = Place {
            word: line.checked_sub(1)?,
            offset: column.checked_sub(1)?,
        };
        self.slice.line_and_column(self.words, place)
    }
}
