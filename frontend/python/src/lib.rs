//! The extension of the Python package: `qd._core`.
//!
//! Python traces a kernel and decides names, closures and tasks. It writes them into a record through a
//! `Recorder`, which knows the types. A record is built into MLIR here, compiled and run. Nothing of Python's
//! syntax is known here, and none of MLIR there.

mod arithmetic;
mod build;
mod calls;
mod dispatch;
mod dlpack;
mod dtype;
mod dump;
mod launch;
mod memory;
mod profiler;
mod record;
mod recorder;
mod torch;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<recorder::Recorder>()?;
    module.add_class::<launch::Device>()?;
    module.add_class::<launch::Kernel>()?;
    module.add_class::<calls::Calls>()?;
    module.add_class::<calls::Place>()?;
    module.add_class::<memory::Memory>()?;
    module.add_class::<profiler::Profiler>()?;
    module.add_class::<dlpack::Stream>()?;
    module.add_function(wrap_pyfunction!(dlpack::imported, module)?)?;
    module.add_function(wrap_pyfunction!(dlpack::exported, module)?)?;
    module.add_class::<dispatch::Evaluation>()?;
    module.add_function(wrap_pyfunction!(dispatch::dispatch_defaults, module)?)?;
    module.add_function(wrap_pyfunction!(recorder::scratch_slots, module)?)?;
    module.add_function(wrap_pyfunction!(dump::levels, module)?)?;
    let py = module.py();
    module.add("Rejected", py.get_type::<recorder::Rejected>())?;
    module.add("Failed", py.get_type::<launch::Failed>())?;
    module.add("Faulted", py.get_type::<launch::Faulted>())?;
    module.add("Diagnosed", py.get_type::<launch::Diagnosed>())
}
