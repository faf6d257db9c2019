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

pub(crate) use device::count;
pub(crate) use resident::device;

/// `nvptx:sm_90,wave=32` is 90.
fn capability(target: &str) -> Option<u32> {
    let name = target.split(',').next()?;
    name.strip_prefix("nvptx:sm_")?.parse().ok()
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
    fn without_a_device_there_is_a_message() {
        let Err(error) = Device::open(0) else {
            return;
        };
        assert!(error.to_string().contains("NVIDIA driver"), "{error}");
    }
}
