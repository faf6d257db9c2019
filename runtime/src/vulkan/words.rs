//! Vulkan's result codes and versions as text.

use crate::{Error, objects::driver::Fault};
use ash::vk;

/// `what` failed.
pub(super) fn failed(what: &str, error: vk::Result) -> Error {
    Error::Device(format!("{what}: {}", reason(error)))
}

/// What a result means for the device.
pub(super) fn fault(error: vk::Result) -> Fault {
    use vk::Result as R;
    match error {
        R::ERROR_OUT_OF_DEVICE_MEMORY | R::ERROR_OUT_OF_HOST_MEMORY | R::ERROR_TOO_MANY_OBJECTS => {
            Fault::OutOfMemory { free: None }
        }
        R::ERROR_DEVICE_LOST => Fault::Lost(reason(error)),
        _ => Fault::Failed(reason(error)),
    }
}

/// `VK_ERROR_DEVICE_LOST: the device was lost, …`.
pub(super) fn reason(error: vk::Result) -> String {
    use vk::Result as R;
    let words = match error {
        R::ERROR_OUT_OF_HOST_MEMORY => "the host has no memory left",
        R::ERROR_OUT_OF_DEVICE_MEMORY => "the device has no memory left",
        R::ERROR_INITIALIZATION_FAILED => "the driver does not start",
        R::ERROR_DEVICE_LOST => {
            "the device was lost, by a fault in a kernel or by one that ran for longer than the \
             system allows"
        }
        R::ERROR_MEMORY_MAP_FAILED => "the device's memory cannot be mapped",
        R::ERROR_LAYER_NOT_PRESENT => "a layer is not installed",
        R::ERROR_EXTENSION_NOT_PRESENT => "an extension is missing",
        R::ERROR_FEATURE_NOT_PRESENT => "a feature is missing",
        R::ERROR_INCOMPATIBLE_DRIVER => "no driver has the version of Vulkan",
        R::ERROR_TOO_MANY_OBJECTS => "too many objects of this kind exist",
        R::ERROR_FRAGMENTATION => "the memory is too fragmented",
        R::ERROR_INVALID_SHADER_NV => "the driver does not compile the SPIR-V",
        R::ERROR_UNKNOWN => "the driver does not say why",
        _ => return format!("{error:?}"),
    };
    format!("VK_{error:?}: {words}")
}

/// `1.3`.
pub(super) fn version(packed: u32) -> String {
    format!(
        "{}.{}",
        vk::api_version_major(packed),
        vk::api_version_minor(packed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_words() {
        let error = failed("kernel 'k'", vk::Result::ERROR_DEVICE_LOST);
        assert!(
            error
                .to_string()
                .starts_with("kernel 'k': VK_ERROR_DEVICE_LOST: the device was lost"),
            "{error}"
        );
    }
}
