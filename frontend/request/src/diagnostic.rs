//! Diagnostics of the compiler.

use qd_artifact::TargetError;
use qd_report::{Note, Report, Severity, Span};
use std::{
    fmt::{self, Display},
    ops::Deref,
};

/// The stage of the compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The request was checked: its targets, kernels and options.
    Request,
    /// The source was read and verified.
    Parse,
    /// The module was lowered for a target.
    Lower,
    /// Code was emitted.
    Emit,
}

/// An error, a warning or a remark.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The stage of the compilation.
    pub stage: Stage,
    /// The message, without a location.
    pub message: String,
    /// The location in the source, if it is known.
    pub at: Option<Span>,
    /// Notes, at other locations.
    pub notes: Vec<Note>,
}

impl Diagnostic {
    /// An error without a location.
    pub fn error(stage: Stage, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            stage,
            message: message.into(),
            at: None,
            notes: Vec::new(),
        }
    }

    /// What a stage reported.
    pub fn of(report: Report, stage: Stage) -> Self {
        Self {
            severity: report.severity,
            stage,
            message: report.message,
            at: report.at,
            notes: report.notes,
        }
    }

    fn report(&self) -> Report {
        Report {
            severity: self.severity,
            message: self.message.clone(),
            at: self.at.clone(),
            notes: self.notes.clone(),
        }
    }

    /// As it is displayed, with the source line below each location in a file:
    ///
    /// ```text
    /// sum.mlir:3:24: error: use of undeclared SSA value name
    ///   qd.grid.phase blocks(%n) threads(256) {
    ///                        ^
    /// ```
    pub fn quoted(&self) -> String {
        self.report().quoted().to_string()
    }

    /// Prints it to standard error as tools do: quoted, or after the tool's name if it has no
    /// location.
    pub fn print(&self, tool: &str) {
        match (&self.at, &self.notes[..], self.severity) {
            (None, [], Severity::Error) => eprintln!("{tool}: {}", self.message),
            _ => eprintln!("{}", self.quoted()),
        }
    }
}

/// `file:line:column: error: message`, and a line for each note. No newline after the last.
impl Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report().fmt(f)
    }
}

/// Why there is no result: errors, at least one, none of them twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// These errors, of which there is one at least.
    pub fn of(errors: Vec<Diagnostic>) -> Self {
        let mut each: Vec<Diagnostic> = Vec::new();
        for error in errors {
            if !each.contains(&error) {
                each.push(error);
            }
        }
        Self(each)
    }

    /// That there are no errors.
    ///
    /// # Errors
    ///
    /// These.
    pub fn check(errors: Vec<Diagnostic>) -> Result<(), Self> {
        match errors.is_empty() {
            true => Ok(()),
            false => Err(Self::of(errors)),
        }
    }

    /// Prints each to standard error as tools do.
    pub fn print(&self, tool: &str) {
        self.iter().for_each(|diagnostic| diagnostic.print(tool));
    }
}

impl From<TargetError> for Diagnostics {
    fn from(error: TargetError) -> Self {
        Diagnostic::error(Stage::Request, error.to_string()).into()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl Deref for Diagnostics {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        &self.0
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Each on lines of its own. No newline after the last.
impl Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<_> = self.iter().map(Diagnostic::to_string).collect();
        f.write_str(&all.join("\n"))
    }
}

impl std::error::Error for Diagnostics {}
