//! Foreign allocators of device memory: two pools that each keep freed memory would leave each
//! other little.

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

/// Gives a device memory and takes it back, as PyTorch's allocator or RMM does.
///
/// It is called by any thread, with the device's context current where there is such a thing, and
/// must not call this library. A stream is what the device's driver calls it: on NVIDIA's devices a
/// `CUstream`, on AMD's a `hipStream_t`.
///
/// # Safety
///
/// What is allocated is memory of the device, or of this process on the cpu, that nothing else uses
/// until it is freed, except work that was put onto the same stream before. It begins at a multiple
/// of 256 bytes.
pub unsafe trait Allocate: Send + Sync {
    /// The address of this many bytes, at least one, for use on the stream from now on; none if there
    /// is no room.
    fn allocate(&self, bytes: u64, stream: u64) -> Option<u64>;
    /// Takes back what was allocated on the stream. What used it was put onto that before, or is
    /// waited for by it.
    fn free(&self, address: u64, bytes: u64, stream: u64);
}

/// What a device's memory comes from. Equal to its clones alone.
#[derive(Clone)]
pub struct Allocator(Arc<dyn Allocate>);

impl Allocator {
    /// A foreign allocator.
    pub fn new(of: Arc<dyn Allocate>) -> Self {
        Self(of)
    }

    pub(super) fn get(&self) -> &dyn Allocate {
        &*self.0
    }

    fn address(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }
}

impl PartialEq for Allocator {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for Allocator {}

impl Hash for Allocator {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an allocator at {:p}", self.address())
    }
}
