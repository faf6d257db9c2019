//! NVIDIA devices, through the CUDA driver.
//!
//! Modules are PTX with a kernel per body, which the driver compiles when it is loaded. Each of a
//! kernel's parameters is a 64-bit word, in the order of the op's arguments. A call is a graph
//! (see [`replay`]), which is replayed.

mod capture;
mod conditions;
mod device;
mod foreign;
mod loops;
mod moves;
mod replay;
mod resident;

use crate::{Error, validate::DynamicShared};
pub(crate) use resident::device;

/// `nvptx:sm_90,wave=32` is 90.
fn capability(target: &str) -> Option<u32> {
    let name = target.split(',').next()?;
    name.strip_prefix("nvptx:sm_")?.parse().ok()
}

/// `kernel 'k': phase 'p' asks for 61440 bytes of shared memory a block`.
fn asks_for_shared(shared: &DynamicShared) -> String {
    format!(
        "kernel '{}': phase '{}' asks for {} bytes of shared memory a block",
        shared.kernel, shared.phase, shared.bytes
    )
}

/// Whether a device of that name, whose blocks have so many bytes at most, has what
/// a launch will ask for.
fn check_shared(shared: &DynamicShared, device: &str, most: u32) -> Result<(), Error> {
    match shared.bytes <= most {
        true => Ok(()),
        false => Err(Error::Device(format!(
            "{}, but {device} has {most}",
            asks_for_shared(shared)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::{device::Device, *};

    #[test]
    fn targets_and_capabilities() {
        assert_eq!(capability("nvptx:sm_90"), Some(90));
        assert_eq!(capability("nvptx:sm_100,wave=32"), Some(100));
        assert_eq!(capability("cpu"), None);
        assert_eq!(capability("nvptx:gfx90a"), None);
    }

    #[test]
    fn a_device_with_less_shared_memory_is_told_who_asks() {
        let shared = DynamicShared {
            bytes: 61_440,
            kernel: "k".into(),
            phase: "sweep".into(),
        };
        assert!(check_shared(&shared, "a device", 61_440).is_ok());
        let error = check_shared(&shared, "a device", 61_439).unwrap_err();
        assert_eq!(
            error.to_string(),
            "kernel 'k': phase 'sweep' asks for 61440 bytes of shared memory a block, \
             but a device has 61439"
        );
    }

    #[test]
    fn without_a_device_there_is_a_message() {
        let Err(error) = Device::open(0) else {
            return;
        };
        assert!(error.to_string().contains("NVIDIA driver"), "{error}");
    }
}
