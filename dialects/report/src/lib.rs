//! Diagnostics as plain data, and as text in the form of compilers. MLIR's become such data in
//! `qd_dialects::report`.

use std::{
    fmt::{self, Display},
    fs::File,
    io::{BufRead, BufReader},
};

/// Lines beyond this are data: they are not quoted.
const LONGEST_QUOTED_LINE: usize = 400;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// It failed.
    Error,
    /// It succeeded, but the result may not be what was meant.
    Warning,
    /// Information; nothing is wrong.
    Remark,
}

impl Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        })
    }
}

/// A location in a source: `sum.mlir:3:24`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The name of the source, which need not be a file.
    pub file: String,
    /// From 1 on; 0 stands for the whole source.
    pub line: usize,
    /// In bytes, from 1 on.
    pub column: usize,
}

/// A note of a diagnostic, at another location that is involved, or at the call of an inlined
/// operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// The message, without a location.
    pub message: String,
    /// Its location, if it is known.
    pub at: Option<Span>,
}

/// A diagnostic with its notes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Report {
    /// How bad it is.
    pub severity: Severity,
    /// The message, without a location.
    pub message: String,
    /// Its location, if the IR has one.
    pub at: Option<Span>,
    /// In the order in which they were added.
    pub notes: Vec<Note>,
}

impl Report {
    /// With the source line below each location, if a file of its name can be read:
    ///
    /// ```text
    /// sum.mlir:3:24: error: use of undeclared SSA value name
    ///   qd.grid.phase blocks(%n) threads(256) {
    ///                        ^
    /// ```
    pub fn quoted(&self) -> impl Display {
        fmt::from_fn(|f| self.lines(f, |span| span.quote().unwrap_or_default()))
    }

    /// Each with its location, followed by what `quote` yields for it.
    fn lines(&self, f: &mut fmt::Formatter<'_>, quote: fn(&Span) -> String) -> fmt::Result {
        let mut line = |at: &Option<Span>, kind: &dyn Display, message: &str, end: &str| {
            let (place, quoted) = match at {
                Some(span) => (format!("{span}: "), quote(span)),
                None => Default::default(),
            };
            let quoted = quoted.lines().map(|line| format!("\n{line}"));
            write!(
                f,
                "{place}{kind}: {message}{}{end}",
                quoted.collect::<String>()
            )
        };
        let end = |last: bool| if last { "" } else { "\n" };
        let is_last = self.notes.is_empty();
        line(&self.at, &self.severity, &self.message, end(is_last))?;
        for (i, note) in self.notes.iter().enumerate() {
            let is_last = i + 1 == self.notes.len();
            line(&note.at, &"note", &note.message, end(is_last))?;
        }
        Ok(())
    }
}

/// `file:line:column: error: message`, and a line for each note. No newline after the last.
impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines(f, |_| String::new())
    }
}

impl Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column } = self;
        write!(f, "{file}:{line}:{column}")
    }
}

impl Span {
    /// The line and a caret under the column, if the file can be read.
    fn quote(&self) -> Option<String> {
        // A pipe has been read, and opening it again would wait for a writer.
        let is_file = std::fs::metadata(&self.file).is_ok_and(|what| what.is_file());
        let file = is_file.then(|| File::open(&self.file).ok())??;
        let line = BufReader::new(file)
            .lines()
            .nth(self.line.checked_sub(1)?)?
            .ok()?;
        let column = self.column.checked_sub(1)?;
        if line.len() > LONGEST_QUOTED_LINE || column > line.len() {
            return None;
        }
        // Columns count bytes; tabs are as wide below as they are above.
        let before = line.get(..column)?;
        let indent: String = before
            .chars()
            .map(|c| if c == '\t' { c } else { ' ' })
            .collect();
        Some(format!("{line}\n{indent}^"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_a_line_and_one_for_each_note() {
        let span = |line| {
            Some(Span {
                file: "nowhere.mlir".into(),
                line,
                column: 2,
            })
        };
        let note = |message: &str, at| Note {
            message: message.into(),
            at,
        };
        let report = Report {
            severity: Severity::Warning,
            message: "unused".into(),
            at: span(3),
            notes: vec![note("called from", span(7)), note("perhaps", None)],
        };
        let text =
            "nowhere.mlir:3:2: warning: unused\nnowhere.mlir:7:2: note: called from\nnote: perhaps";
        assert_eq!(report.to_string(), text);
        assert_eq!(report.quoted().to_string(), text);
    }
}
