//! What the compiler says, as data.

use crate::{
    handle::{c_text, free, get, handles, write},
    status::{Failure, call, qd_status},
};
use qd_frontend::{Diagnostic, Severity, Span, Stage};
use std::{
    ffi::{CString, c_char},
    ptr,
};

/// What the compiler said: errors, warnings and remarks, in order.
pub struct qd_diagnostics(Vec<Said>);

handles!(qd_diagnostics => "diagnostics");

/// One of them, as C reads it.
struct Said {
    severity: u32,
    stage: u32,
    message: CString,
    text: CString,
    at: Place,
    notes: Vec<(CString, Place)>,
}

#[derive(Default)]
struct Place {
    file: Option<CString>,
    line: usize,
    column: usize,
}

impl Place {
    fn of(at: Option<&Span>) -> Self {
        at.map_or_else(Self::default, |at| Self {
            file: Some(c_text(&at.file)),
            line: at.line,
            column: at.column,
        })
    }

    fn file(&self) -> *const c_char {
        self.file.as_ref().map_or(ptr::null(), |file| file.as_ptr())
    }
}

impl qd_diagnostics {
    pub(crate) fn of<'a>(all: impl IntoIterator<Item = &'a Diagnostic>) -> Self {
        let said = all.into_iter().map(|one| Said {
            severity: match one.severity {
                Severity::Error => QD_SEVERITY_ERROR,
                Severity::Warning => QD_SEVERITY_WARNING,
                Severity::Remark => QD_SEVERITY_REMARK,
            },
            stage: match one.stage {
                Stage::Request => QD_STAGE_REQUEST,
                Stage::Parse => QD_STAGE_PARSE,
                Stage::Lower => QD_STAGE_LOWER,
                Stage::Emit => QD_STAGE_EMIT,
            },
            message: c_text(&one.message),
            text: c_text(one.to_string()),
            at: Place::of(one.at.as_ref()),
            notes: one
                .notes
                .iter()
                .map(|note| (c_text(&note.message), Place::of(note.at.as_ref())))
                .collect(),
        });
        Self(said.collect())
    }
}

/// How bad a diagnostic is: it failed.
pub const QD_SEVERITY_ERROR: u32 = 0;
/// How bad a diagnostic is: it succeeded, but the result may not be what was meant.
pub const QD_SEVERITY_WARNING: u32 = 1;
/// How bad a diagnostic is: nothing is wrong.
pub const QD_SEVERITY_REMARK: u32 = 2;

/// The stage of a compilation: the request was checked.
pub const QD_STAGE_REQUEST: u32 = 0;
/// The stage of a compilation: the source was read and verified.
pub const QD_STAGE_PARSE: u32 = 1;
/// The stage of a compilation: the module was lowered for a target.
pub const QD_STAGE_LOWER: u32 = 2;
/// The stage of a compilation: code was emitted.
pub const QD_STAGE_EMIT: u32 = 3;

/// An error, a warning or a remark.
#[repr(C)]
pub struct qd_diagnostic {
    /// One of the QD_SEVERITY.
    pub severity: u32,
    /// One of the QD_STAGE.
    pub stage: u32,
    /// The message, without a location.
    pub message: *const c_char,
    /// All of it as text: "file:line:column: error: message", and a line for each note.
    pub text: *const c_char,
    /// The name of the source; null if the location is not known.
    pub file: *const c_char,
    /// The line, from 1; 0 stands for the whole source.
    pub line: usize,
    /// The column, in bytes from 1.
    pub column: usize,
    /// How many notes it has.
    pub note_count: usize,
}

/// A note of a diagnostic: another location that is involved.
#[repr(C)]
pub struct qd_note {
    /// The message.
    pub message: *const c_char,
    /// The name of the source; null if the location is not known.
    pub file: *const c_char,
    /// The line, from 1.
    pub line: usize,
    /// The column, in bytes from 1.
    pub column: usize,
}

/// How many diagnostics there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_diagnostics_count(
    diagnostics: *const qd_diagnostics,
    count: *mut usize,
) -> qd_status {
    call!({ write(count, get(diagnostics)?.0.len()) })
}

/// A diagnostic by its index from 0. What it points to is valid as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_diagnostics_get(
    diagnostics: *const qd_diagnostics,
    index: usize,
    diagnostic: *mut qd_diagnostic,
) -> qd_status {
    call!({
        let all = &get(diagnostics)?.0;
        let one = all.get(index).ok_or_else(|| none("diagnostic", index))?;
        write(
            diagnostic,
            qd_diagnostic {
                severity: one.severity,
                stage: one.stage,
                message: one.message.as_ptr(),
                text: one.text.as_ptr(),
                file: one.at.file(),
                line: one.at.line,
                column: one.at.column,
                note_count: one.notes.len(),
            },
        )
    })
}

/// A note of a diagnostic, both by their indices from 0. What it points to is valid as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_diagnostics_note(
    diagnostics: *const qd_diagnostics,
    index: usize,
    note_index: usize,
    note: *mut qd_note,
) -> qd_status {
    call!({
        let all = &get(diagnostics)?.0;
        let one = all.get(index).ok_or_else(|| none("diagnostic", index))?;
        let found = one.notes.get(note_index);
        let (message, at) = found.ok_or_else(|| none("note", note_index))?;
        write(
            note,
            qd_note {
                message: message.as_ptr(),
                file: at.file(),
                line: at.line,
                column: at.column,
            },
        )
    })
}

fn none(what: &str, index: usize) -> Failure {
    Failure::value(format!("there is no {what} {index}"))
}

/// Frees diagnostics.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_diagnostics_free(diagnostics: *mut qd_diagnostics) -> qd_status {
    call!({ free(diagnostics) })
}
