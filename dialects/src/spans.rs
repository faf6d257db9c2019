//! A tracing span for every pass that a pass manager runs, upstream's included.

use melior::StringRef;
use mlir_sys::MlirStringRef;
use qd_sys::QdSpans;
use std::cell::RefCell;
use tracing::span::EnteredSpan;

/// What to tell MLIR, if anyone listens.
pub(crate) fn wanted() -> Option<&'static QdSpans> {
    static SPANS: QdSpans = QdSpans { begin, end };
    tracing::enabled!(tracing::Level::INFO).then_some(&SPANS)
}

thread_local! {
    /// The passes that this thread is in, outermost first.
    static OPEN: RefCell<Vec<EnteredSpan>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn begin(pass: MlirStringRef) {
    // Safety: MLIR's string lives through the call.
    let name = unsafe { StringRef::from_raw(pass) };
    let span = tracing::info_span!("pass", name = name.as_str().unwrap_or_default());
    OPEN.with_borrow_mut(|open| open.push(span.entered()));
}

unsafe extern "C" fn end() {
    // The span closes outside the borrow: its subscriber may run passes.
    drop(OPEN.with_borrow_mut(Vec::pop));
}
