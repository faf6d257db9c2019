//! Modules from files, and diagnostics as compilers print them.

use crate::attributes::spelled;
use melior::{
    Context,
    diagnostic::{Diagnostic, DiagnosticSeverity},
    ir::Module,
};
use mlir_sys::{
    MlirLocation, MlirStringRef, mlirIdentifierStr, mlirLocationCallSiteGetCallee,
    mlirLocationCallSiteGetCaller, mlirLocationFileLineColRangeGetFilename,
    mlirLocationFileLineColRangeGetStartColumn, mlirLocationFileLineColRangeGetStartLine,
    mlirLocationFusedGetLocations, mlirLocationFusedGetNumLocations, mlirLocationIsACallSite,
    mlirLocationIsAFileLineColRange, mlirLocationIsAFused, mlirLocationIsAName,
    mlirLocationNameGetChildLoc,
};
use std::{
    fmt::Write,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    os::unix::ffi::OsStrExt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Lines beyond this are data: they are not quoted.
const LONGEST_QUOTED_LINE: usize = 400;

/// What a file holds; `-` is standard input. It is opened once: a pipe can be
/// read no more than that.
///
/// # Errors
///
/// The file cannot be read, in words.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true => io::stdin().read_to_end(&mut bytes),
        false => File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    let why = match read {
        Ok(_) => return Ok(bytes),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".into(),
            io::ErrorKind::IsADirectory => "it is a folder".into(),
            _ => error.to_string(),
        },
    };
    Err(format!("{}: {why}", path.display()))
}

/// Parses and verifies a module: text or bytecode, with or without a
/// `builtin.module` around it, nested 1,024 levels deep at most. What is wrong with it
/// is said through the context's diagnostic handlers, with line and column of the
/// file at `path`.
pub fn parse<'c>(context: &'c Context, source: &[u8], path: &Path) -> Option<Module<'c>> {
    let name: &[u8] = match path == Path::new("-") {
        true => b"<stdin>",
        false => path.as_os_str().as_bytes(),
    };
    // Safety: context, source and name outlive the call, and a null module is
    // `None`.
    unsafe {
        let raw = qd_sys::qdParse(context.to_raw(), borrowed(source), borrowed(name));
        Module::from_option_raw(raw)
    }
}

/// The same of what is in memory, which has no name.
pub fn parse_bytes<'c>(context: &'c Context, bytes: &[u8]) -> Option<Module<'c>> {
    parse(context, bytes, Path::new("-"))
}

fn borrowed(bytes: &[u8]) -> MlirStringRef {
    MlirStringRef {
        data: bytes.as_ptr().cast(),
        length: bytes.len(),
    }
}

/// How many errors have been printed.
#[derive(Clone, Debug, Default)]
pub struct Errors(Arc<AtomicUsize>);

impl Errors {
    /// So many up to now.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// From here on prints the context's diagnostics to standard error, as
/// compilers do:
///
/// ```text
/// sum.mlir:3:24: error: use of undeclared SSA value name
///   qd.grid.phase blocks(%n) threads(256) {
///                        ^
/// ```
pub fn print_diagnostics(context: &Context) -> Errors {
    let errors = Errors::default();
    let counter = errors.clone();
    context.attach_diagnostic_handler(move |diagnostic| {
        if matches!(diagnostic.severity(), DiagnosticSeverity::Error) {
            counter.0.fetch_add(1, Ordering::Relaxed);
        }
        eprint!("{}", render(&diagnostic));
        true
    });
    errors
}

/// A diagnostic and its notes as text: lines that end in a newline.
pub fn render(diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity() {
        DiagnosticSeverity::Error => "error",
        DiagnosticSeverity::Warning => "warning",
        DiagnosticSeverity::Note => "note",
        DiagnosticSeverity::Remark => "remark",
    };
    let place = Place::of(diagnostic.location().to_raw());
    let mut text = match &place {
        Some(place) => format!("{}:{}:{}: ", place.file, place.line, place.column),
        None => String::new(),
    };
    text += &format!("{severity}: {}\n", message(diagnostic));
    if let Some(quote) = place.as_ref().and_then(Place::quote) {
        text += &quote;
    }
    for caller in callers(diagnostic.location().to_raw()) {
        if let Some(place) = Place::of(caller) {
            let Place { file, line, column } = &place;
            text += &format!("{file}:{line}:{column}: note: called from\n");
            text += &place.quote().unwrap_or_default();
        }
    }
    for note in (0..diagnostic.note_count()).filter_map(|i| diagnostic.note(i).ok()) {
        // The whole operation again says nothing that its place has not said.
        let is_repetition = message(&note).starts_with("see current operation: ");
        if place.is_none() || !is_repetition {
            text += &render(&note);
        }
    }
    text
}

/// What a diagnostic says, without its notes. Up to a name that is no UTF-8, if
/// there is one in it.
pub fn message(diagnostic: &Diagnostic) -> String {
    let mut text = String::new();
    if write!(text, "{diagnostic}").is_err() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

/// The calls that what was inlined stood for, the innermost first.
fn callers(mut location: MlirLocation) -> Vec<MlirLocation> {
    let mut all = Vec::new();
    // Safety: the location is valid, and a call site where it is asked as one.
    unsafe {
        while mlirLocationIsACallSite(location) {
            all.push(mlirLocationCallSiteGetCaller(location));
            location = mlirLocationCallSiteGetCallee(location);
        }
    }
    all.reverse();
    all
}

/// A position in a file.
struct Place {
    file: String,
    line: usize,
    column: usize,
}

impl Place {
    /// The first position that a location has.
    fn of(location: MlirLocation) -> Option<Self> {
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
                return Self::of(mlirLocationNameGetChildLoc(location));
            }
            if mlirLocationIsACallSite(location) {
                return Self::of(mlirLocationCallSiteGetCallee(location));
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
                return parts.into_iter().find_map(Self::of);
            }
        }
        None
    }

    /// The line and a caret under the column, if the file is there to be read.
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
        Some(format!("{line}\n{indent}^\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::RefCell, fs, rc::Rc};

    /// The diagnostics of a file with this content, its folder left out.
    fn diagnostics(name: &str, content: &str) -> (bool, String) {
        let folder = std::env::temp_dir().join(format!("qd-parse-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let path = folder.join(name);
        fs::write(&path, content).expect("a temporary file");
        let context = crate::context();
        let said = Rc::new(RefCell::new(String::new()));
        let sink = Rc::clone(&said);
        context.attach_diagnostic_handler(move |diagnostic| {
            *sink.borrow_mut() += &render(&diagnostic);
            true
        });
        let source = read(&path).expect("the file is there");
        let parsed = parse(&context, &source, &path).is_some();
        let text = said.borrow().replace(&format!("{}/", folder.display()), "");
        fs::remove_file(&path).expect("the file is there");
        (parsed, text)
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
