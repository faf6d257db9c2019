//! Modules from the kernel builder.

use crate::{Diagnostics, Source, context, module_bytes};
use qd_dialects::builder::Builder;

/// A source that `write` builds, at the top of a module in a context of its own. It is verified when
/// it is read; where things are is what [`Builder::locate`] says.
///
/// ```
/// use qd_frontend::{CompileRequest, build, builder::Parameter, compile};
///
/// let source = build(|b| {
///     let x = Parameter::buffer("x", b.f32_type());
///     b.kernel("halve", [x], |[x]| {
///         b.for_each("halve", x.len(), None, |i| x.set(i, x.at(i) * 0.5));
///     });
/// })?;
/// let request = CompileRequest {
///     source,
///     targets: vec!["cpu".parse()?],
///     ..CompileRequest::default()
/// };
/// assert_eq!(compile(&request)?.kernels[0].name, "halve");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// An operation is of a dialect that no context of ours knows.
pub fn build(write: impl FnOnce(&Builder<'_>)) -> Result<Source, Diagnostics> {
    let context = context();
    let module = Builder::module(&context, write);
    Ok(module_bytes(&module)?.into())
}
