//! Diagnostics as plain data, which outlive their context, and as text in the form of
//! compilers.

use crate::attributes::spelled;
use melior::{
    Context,
    diagnostic::{Diagnostic, DiagnosticSeverity},
    ir::Location,
};
use mlir_sys::{
    MlirLocation, mlirIdentifierStr, mlirLocationCallSiteGetCallee, mlirLocationCallSiteGetCaller,
    mlirLocationFileLineColRangeGetFilename, mlirLocationFileLineColRangeGetStartColumn,
    mlirLocationFileLineColRangeGetStartLine, mlirLocationFusedGetLocations,
    mlirLocationFusedGetNumLocations, mlirLocationIsACallSite, mlirLocationIsAFileLineColRange,
    mlirLocationIsAFused, mlirLocationIsAName, mlirLocationNameGetChildLoc,
};
use std::{
    fmt::{self, Display, Write},
    fs::File,
    io::{BufRead, BufReader},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
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
    /// A diagnostic of MLIR's.
    pub fn of(diagnostic: &Diagnostic<'_>) -> Self {
        let at = Span::of(diagnostic.location());
        let mut notes = called_from(diagnostic.location().to_raw());
        for note in (0..diagnostic.note_count()).filter_map(|i| diagnostic.note(i).ok()) {
            let message = message(&note);
            // The whole operation again says nothing that its place has not said.
            if at.is_some() && message.starts_with("see current operation: ") {
                continue;
            }
            let at = Span::of(note.location());
            notes.push(Note { message, at });
            notes.extend(called_from(note.location().to_raw()));
        }
        Self {
            severity: match diagnostic.severity() {
                DiagnosticSeverity::Error => Severity::Error,
                DiagnosticSeverity::Warning => Severity::Warning,
                DiagnosticSeverity::Note | DiagnosticSeverity::Remark => Severity::Remark,
            },
            message: message(diagnostic),
            at,
            notes,
        }
    }

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

/// Runs `work`, and yields the diagnostics that were emitted in a context meanwhile. Handlers that
/// were attached before do not receive them.
pub fn listen<T>(context: &Context, work: impl FnOnce() -> T) -> (T, Vec<Report>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = heard.clone();
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(Report::of(&diagnostic));
        true
    });
    let result = work();
    context.detach_diagnostic_handler(handler);
    let heard = std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
    (result, heard)
}

/// Runs `work`, and yields whether a diagnostic was emitted in a context meanwhile. Handlers that were attached
/// before receive them.
pub fn overhear<T>(context: &Context, work: impl FnOnce() -> T) -> (T, bool) {
    let was_heard = Arc::new(AtomicBool::new(false));
    let heard = was_heard.clone();
    let handler = context.attach_diagnostic_handler(move |_| {
        heard.store(true, Ordering::Relaxed);
        false
    });
    let result = work();
    context.detach_diagnostic_handler(handler);
    (result, was_heard.load(Ordering::Relaxed))
}

/// From here on prints the context's diagnostics to standard error, quoted.
pub fn print_diagnostics(context: &Context) {
    context.attach_diagnostic_handler(|diagnostic| {
        eprintln!("{}", Report::of(&diagnostic).quoted());
        true
    });
}

/// The message of a diagnostic, without its notes, up to the first name that is not UTF-8.
fn message(diagnostic: &Diagnostic<'_>) -> String {
    let mut text = String::new();
    if write!(text, "{diagnostic}").is_err() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

/// The calls through which an operation was inlined, the innermost first.
fn called_from(mut location: MlirLocation) -> Vec<Note> {
    let mut all = Vec::new();
    // Safety: the location is valid, and a call site where it is asked as one.
    unsafe {
        while mlirLocationIsACallSite(location) {
            all.push(mlirLocationCallSiteGetCaller(location));
            location = mlirLocationCallSiteGetCallee(location);
        }
    }
    let places = all.into_iter().rev().filter_map(Span::of_raw);
    let notes = places.map(|span| Note {
        message: "called from".into(),
        at: Some(span),
    });
    notes.collect()
}

impl Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column } = self;
        write!(f, "{file}:{line}:{column}")
    }
}

impl Span {
    /// The first position in a source that a location has.
    pub fn of(location: Location<'_>) -> Option<Self> {
        Self::of_raw(location.to_raw())
    }

    fn of_raw(location: MlirLocation) -> Option<Self> {
        // Safety: the location is valid, and each accessor is called on the kind
        // of location it is for.
        unsafe {
            if mlirLocationIsAFileLineColRange(location) {
                let file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
                return Some(Self {
                    file: spelled(file),
                    line: mlirLocationFileLineColRangeGetStartLine(location).max(0) as usize,
                    column: mlirLocationFileLineColRangeGetStartColumn(location).max(0) as usize,
                });
            }
            if mlirLocationIsAName(location) {
                return Self::of_raw(mlirLocationNameGetChildLoc(location));
            }
            if mlirLocationIsACallSite(location) {
                return Self::of_raw(mlirLocationCallSiteGetCallee(location));
            }
            if mlirLocationIsAFused(location) {
                let count = mlirLocationFusedGetNumLocations(location) as usize;
                let mut parts = vec![
                    MlirLocation {
                        ptr: std::ptr::null()
                    };
                    count
                ];
                mlirLocationFusedGetLocations(location, parts.as_mut_ptr());
                return parts.into_iter().find_map(Self::of_raw);
            }
        }
        None
    }

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
    use crate::parse::{parse, read};
    use std::fs;

    /// Whether a file with this content is a module, and what is said of it, its folder left out.
    fn diagnostics(name: &str, content: &str) -> (bool, String) {
        let folder = std::env::temp_dir().join(format!("qd-report-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let path = folder.join(name);
        fs::write(&path, content).expect("a temporary file");
        let context = crate::context();
        let source = read(&path).expect("the file is there");
        let (parsed, heard) = listen(&context, || parse(&context, &source, &path).is_some());
        let text: String = heard.iter().map(|r| format!("{}\n", r.quoted())).collect();
        fs::remove_file(&path).expect("the file is there");
        (parsed, text.replace(&format!("{}/", folder.display()), ""))
    }

    #[test]
    fn an_error_has_file_line_column_and_the_line() {
        let (parsed, text) = diagnostics("a.mlir", "qd.grid.kernel @k() {\n\t%c = arith.foo\n}\n");
        assert!(!parsed);
        assert!(text.starts_with("a.mlir:2:7: error: "), "{text}");
        assert!(text.ends_with("\n\t%c = arith.foo\n\t     ^\n"), "{text}");
    }

    #[test]
    fn what_is_overheard_is_heard_by_others_too() {
        let context = crate::context();
        let warn = || {
            let place = Location::new(&context, "k.mlir", 3, 4);
            crate::diagnostic::Diagnostic::new(place, "odd").emit();
        };
        let (was_said, heard) = listen(&context, || overhear(&context, warn).1);
        assert!(was_said && heard.len() == 1);
        assert!(!overhear(&context, || ()).1);
    }

    #[test]
    fn what_verifies_is_a_module_and_says_nothing() {
        assert_eq!(
            diagnostics("b.mlir", "qd.grid.kernel @k() {\n}\n"),
            (true, String::new())
        );
    }

    #[test]
    fn notes_follow_their_error() {
        let (parsed, text) =
            diagnostics("c.mlir", "func.func private @f()\nfunc.func private @f()\n");
        assert!(!parsed);
        assert!(text.contains("error: "), "{text}");
        let (_, note) = text.split_once("error: ").expect("an error");
        assert!(
            note.contains("c.mlir:") && note.contains(": note: "),
            "{text}"
        );
    }

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
