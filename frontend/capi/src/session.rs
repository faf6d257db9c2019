//! Sessions: files that are edited, and compiled again as far as an edit reaches.

use crate::{
    artifact::qd_artifact,
    compile::{Sink, utf8},
    diagnostics::qd_diagnostics,
    handle::{array, c_text, free, get, get_optional, handles, place, text, write},
    status::{Failure, Outcome, call, qd_status},
    store::qd_store,
};
use qd_frontend::{
    CompileOptions, TargetSpec,
    session::{FileId, Session},
};
use std::{
    ffi::{c_char, c_void},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Files, and what has been compiled of them. An edit cancels what other threads compile.
pub struct qd_session(Mutex<Inner>);

handles!(qd_session => "session");

struct Inner {
    session: Session,
    files: Vec<FileId>,
}

impl qd_session {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn file(&self, file: u64) -> Outcome<FileId> {
        let found = usize::try_from(file).ok().and_then(|i| self.files.get(i));
        let count = self.files.len();
        let none = || Failure::value(format!("the session has no file {file}: it has {count}"));
        found.copied().ok_or_else(none)
    }
}

/// Makes a session without files, for this machine and environment. `store` may be null; otherwise what is compiled
/// is looked for there, and kept there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_session_new(
    store: *const qd_store,
    session: *mut *mut qd_session,
) -> qd_status {
    call!({
        let to = place(session)?;
        let store = get_optional(store)?.map(|store| store.0.clone());
        to.give(qd_session(Mutex::new(Inner {
            session: Session::new(CompileOptions::default(), store),
            files: Vec::new(),
        })));
        Ok(())
    })
}

/// Frees a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_session_free(session: *mut qd_session) -> qd_status {
    call!({ free(session) })
}

/// Adds a file to a session: its name in diagnostics, and its text of `length` bytes. `file` gets its number, which is
/// the session's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_session_add(
    session: *const qd_session,
    name: *const c_char,
    source: *const c_char,
    length: usize,
    file: *mut u64,
) -> qd_status {
    call!({
        let (name, source) = (text(name, "the file's name")?, utf8(source, length)?);
        if file.is_null() {
            return Err(Failure::handle("the place for the file's number is null"));
        }
        let mut inner = get(session)?.lock();
        let added = inner.session.add(name, source);
        inner.files.push(added);
        write(file, inner.files.len() as u64 - 1)
    })
}

/// Edits a file of a session: all of its text. Waits until other threads have stopped compiling, which get
/// QD_ERROR_CANCELLED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_session_edit(
    session: *const qd_session,
    file: u64,
    source: *const c_char,
    length: usize,
) -> qd_status {
    call!({
        let source = utf8(source, length)?;
        let mut inner = get(session)?.lock();
        let file = inner.file(file)?;
        inner.session.set_text(file, source);
        Ok(())
    })
}

/// Compiles a file of a session for targets, at least one: what an edit did not reach is not compiled again. The
/// artifact and the diagnostics are as those of qd_compile(). QD_ERROR_CANCELLED if another thread edits meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_session_compile(
    session: *const qd_session,
    file: u64,
    targets: *const *const c_char,
    target_count: usize,
    artifact: *mut *mut qd_artifact,
    diagnostics: *mut *mut qd_diagnostics,
) -> qd_status {
    call!({
        let said = Sink::new(diagnostics)?;
        let to = place(artifact)?;
        let names = array(targets, target_count, "the targets")?;
        let mut targets: Vec<TargetSpec> = Vec::new();
        for name in names {
            targets.push(text(*name, "a target")?.parse()?);
        }
        // A clone, so that other threads may edit; it goes before the edit is waited for.
        let (session, file) = {
            let inner = get(session)?.lock();
            (inner.session.clone(), inner.file(file)?)
        };
        let mut is_cancelled = false;
        let compiled = said.hear(|sink| {
            let compiled = session.try_compile_with(file, &targets, sink);
            compiled.unwrap_or_else(|_| {
                is_cancelled = true;
                Ok(Default::default())
            })
        })?;
        if is_cancelled {
            return Err(Failure::new(
                qd_status::QD_ERROR_CANCELLED,
                qd_frontend::session::Cancelled,
            ));
        }
        to.give(qd_artifact::new(compiled));
        Ok(())
    })
}

/// Calls `ran` with each query that ran since this was last called: what it was ("compiled", "found", "failed" and
/// others), of what ("k for cpu"), and how long it took in nanoseconds; and `data`. The texts are valid until it
/// returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_session_log(
    session: *const qd_session,
    ran: Option<
        unsafe extern "C" fn(
            query: *const c_char,
            of: *const c_char,
            nanoseconds: u64,
            data: *mut c_void,
        ),
    >,
    data: *mut c_void,
) -> qd_status {
    call!({
        let ran = ran.ok_or_else(|| Failure::handle("`ran` is null"))?;
        let log = get(session)?.lock().session.take_log();
        for one in log {
            let (query, of) = (c_text(one.query), c_text(&one.of));
            let took = u64::try_from(one.took.as_nanos()).unwrap_or(u64::MAX);
            ran(query.as_ptr(), of.as_ptr(), took, data);
        }
        Ok(())
    })
}
