//! AMD devices, through the HIP runtime.
//!
//! Modules are code objects with a kernel per body. Each of a kernel's arguments is a 64-bit word,
//! in the order of the op's arguments, and there are no others. The ops of a call are put onto its
//! stream one after another, and the host reads the flags of loops and conditions (see [`replay`]):
//! there are no HIP graphs yet, and calls cannot be captured into those of others.
//!
//! This has never run on a device: see `docs/how-to/run-on-amd.md`.

mod api;
mod device;
mod image;
mod replay;
mod resident;

pub(crate) use device::count;
pub(crate) use resident::device;

/// `amdgpu:gfx942,wave=64` is `gfx942`.
fn architecture(target: &str) -> Option<&str> {
    target.split(',').next()?.strip_prefix("amdgpu:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_architectures() {
        assert_eq!(architecture("amdgpu:gfx1100"), Some("gfx1100"));
        assert_eq!(architecture("amdgpu:gfx942,wave=64"), Some("gfx942"));
        assert_eq!(architecture("amdgpu"), None);
        assert_eq!(architecture("nvptx:sm_90"), None);
    }
}
