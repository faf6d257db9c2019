//! MLIR's diagnostics and locations as plain data, which outlive their context.

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
    fmt::Write,
    sync::{Arc, Mutex, PoisonError},
};

pub use qd_report::{Note, Report, Severity, Span};

/// A diagnostic of MLIR's.
fn report_of(diagnostic: &Diagnostic<'_>) -> Report {
    let at = span_of(diagnostic.location());
    let mut notes = called_from(diagnostic.location().to_raw());
    for note in (0..diagnostic.note_count()).filter_map(|i| diagnostic.note(i).ok()) {
        let message = message(&note);
        // The whole operation again says nothing that its place has not said.
        if at.is_some() && message.starts_with("see current operation: ") {
            continue;
        }
        let at = span_of(note.location());
        notes.push(Note { message, at });
        notes.extend(called_from(note.location().to_raw()));
    }
    Report {
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

/// Runs `work`, and yields the diagnostics that were emitted in a context meanwhile. Handlers that
/// were attached before do not receive them.
pub fn listen<T>(context: &Context, work: impl FnOnce() -> T) -> (T, Vec<Report>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = heard.clone();
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(report_of(&diagnostic));
        true
    });
    let result = work();
    context.detach_diagnostic_handler(handler);
    let heard = std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
    (result, heard)
}

/// From here on prints the context's diagnostics to standard error, quoted.
pub fn print_diagnostics(context: &Context) {
    context.attach_diagnostic_handler(|diagnostic| {
        eprintln!("{}", report_of(&diagnostic).quoted());
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
    let places = all.into_iter().rev().filter_map(of_raw);
    let notes = places.map(|span| Note {
        message: "called from".into(),
        at: Some(span),
    });
    notes.collect()
}

/// The first position in a source that a location has.
pub fn span_of(location: Location<'_>) -> Option<Span> {
    of_raw(location.to_raw())
}

fn of_raw(location: MlirLocation) -> Option<Span> {
    // Safety: the location is valid, and each accessor is called on the kind
    // of location it is for.
    unsafe {
        if mlirLocationIsAFileLineColRange(location) {
            let file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
            return Some(Span {
                file: spelled(file),
                line: mlirLocationFileLineColRangeGetStartLine(location).max(0) as usize,
                column: mlirLocationFileLineColRangeGetStartColumn(location).max(0) as usize,
            });
        }
        if mlirLocationIsAName(location) {
            return of_raw(mlirLocationNameGetChildLoc(location));
        }
        if mlirLocationIsACallSite(location) {
            return of_raw(mlirLocationCallSiteGetCallee(location));
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
            return parts.into_iter().find_map(of_raw);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;
    use std::fs;

    /// Whether a file with this content is a module, and what is said of it, its folder left out.
    fn diagnostics(name: &str, content: &str) -> (bool, String) {
        let folder = std::env::temp_dir().join(format!("qd-report-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let path = folder.join(name);
        fs::write(&path, content).expect("a temporary file");
        let context = crate::context();
        let source = fs::read(&path).expect("the file is there");
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
}
