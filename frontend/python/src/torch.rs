//! Tensors of PyTorch among the arguments of a call, in memory of a device: they are asked from here, as Python takes several times as long.

use super::{
    dlpack::{self, Stream},
    dtype::DType,
    memory::Memory,
};
use pyo3::{
    intern,
    prelude::*,
    types::{PyDict, PyType},
};

/// What tensors are asked by.
#[derive(FromPyObject)]
pub struct Torch {
    /// `torch.Tensor`.
    tensor: Py<PyType>,
    /// `torch.utils.dlpack.to_dlpack`, which waits for no stream.
    to_dlpack: Py<PyAny>,
    /// `torch.cuda.current_stream`.
    current_stream: Py<PyAny>,
    /// The streams that are known, by their handles.
    streams: Py<PyDict>,
    /// The handle there of the stream that PyTorch has as 0.
    legacy: u64,
}

impl Torch {
    /// Whether it is a tensor in memory of a device, of which no gradient is wanted.
    pub fn has(&self, value: &Bound<'_, PyAny>) -> bool {
        let py = value.py();
        let is = |name| value.getattr(name).and_then(|is| is.is_truthy());
        value.get_type().is(&self.tensor)
            && matches!(is(intern!(py, "is_cuda")), Ok(true))
            && matches!(is(intern!(py, "requires_grad")), Ok(false))
    }

    /// The stream that PyTorch works on, on a tensor's device; none if it is not known yet.
    pub fn stream(&self, tensor: &Bound<'_, PyAny>) -> Option<Py<Stream>> {
        let py = tensor.py();
        let device = tensor.getattr(intern!(py, "device")).ok()?;
        let current = self.current_stream.bind(py).call1((device,)).ok()?;
        let handle = current.getattr(intern!(py, "cuda_stream")).ok()?;
        let handle: u64 = handle.extract().ok()?;
        let handle = if handle == 0 { self.legacy } else { handle };
        let known = self.streams.bind(py).get_item(handle).ok()??;
        Some(known.cast_into::<Stream>().ok()?.unbind())
    }

    /// A tensor's memory, its type and shape, in the order of that stream; none if it cannot be shared as it is.
    pub fn memory(
        &self,
        tensor: &Bound<'_, PyAny>,
        stream: &Stream,
    ) -> Option<(Memory, DType, Vec<u64>)> {
        let py = tensor.py();
        // Its elements are negated where they are read.
        let is_negated = tensor.call_method0(intern!(py, "is_neg")).ok()?;
        if is_negated.is_truthy().ok()? {
            return None;
        }
        let capsule = self.to_dlpack.bind(py).call1((tensor,)).ok()?;
        dlpack::import(py, &capsule, stream, false).ok()
    }
}
