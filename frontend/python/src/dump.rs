//! What a record is lowered to, as text: for people who look at it.

use super::{
    build::build,
    launch::{Device, failed},
    recorder::Recorder,
};
use pyo3::prelude::*;
use qd_frontend::{CompileOptions, Diagnostics, Emit, LEVELS, Parsed};

/// A record at each level of MLIR, from the top, and its code: each with the end of a file's name.
#[pyfunction]
pub fn levels(
    py: Python<'_>,
    device: &Device,
    recorder: &Recorder,
) -> PyResult<Vec<(String, String)>> {
    py.detach(|| lowered(device, recorder)).map_err(failed)
}

fn lowered(device: &Device, recorder: &Recorder) -> Result<Vec<(String, String)>, Diagnostics> {
    let record = &recorder.record;
    let target = device.target_of(record);
    let source = qd_frontend::build(|b| build(b, record, device.pairs()))?;
    let context = qd_frontend::context();
    let parsed = || Parsed::new(&context, &source, &mut |_| ());
    let mut all = Vec::new();
    for (number, level) in LEVELS.into_iter().enumerate() {
        let mut lowered = parsed()?;
        lowered.lower_to(level, target, &mut |_| ())?;
        let text = lowered.module().as_operation().to_string();
        all.push((format!("{number}-{}.mlir", level.name), text));
    }
    let options = CompileOptions::default();
    let code = parsed()?.translate(target, &options, Emit::Assembly, &mut |_| ())?;
    let text = String::from_utf8_lossy(&code).into_owned();
    all.push((format!("{}-code.txt", LEVELS.len()), text));
    Ok(all)
}
