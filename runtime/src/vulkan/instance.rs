//! The loader and its instance. The library is opened when it is first used:
//! neither building nor starting needs Vulkan.
//!
//! The loader's environment decides which drivers and layers there are.
//! `QD_VULKAN_VALIDATION=1` adds the validation layer: its messages go to the
//! log, and its errors are errors of the next wait.

use super::words::{failed, reason};
use crate::Error;
use ash::{Entry, ext, vk};
use std::{
    borrow::Cow,
    ffi::{CStr, c_char, c_void},
    sync::{Arc, Mutex, PoisonError},
};

const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";
const VALIDATION_VARIABLE: &str = "QD_VULKAN_VALIDATION";

/// The loader, asked for Vulkan 1.3.
pub(super) struct Instance {
    pub raw: ash::Instance,
    validation: Option<Validation>,
    /// Owns the library.
    _entry: Entry,
}

/// Listens to the validation layer.
struct Validation {
    messenger: ext::debug_utils::Instance,
    raw: vk::DebugUtilsMessengerEXT,
    /// Boxed, for the messenger has its address.
    errors: Box<Errors>,
}

/// Errors of the validation layer that no wait has reported yet.
type Errors = Mutex<Vec<String>>;

impl Instance {
    /// The process's instance.
    pub fn shared() -> Result<Arc<Self>, Error> {
        static SHARED: Mutex<Option<Arc<Instance>>> = Mutex::new(None);
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(instance) = &*shared {
            return Ok(instance.clone());
        }
        Ok(shared.insert(Arc::new(Self::open()?)).clone())
    }

    fn open() -> Result<Self, Error> {
        // Safety: it loads a library whose initialisers are the vendor's.
        let entry = unsafe { Entry::load() }.map_err(|e| {
            Error::Device(format!(
                "there is no Vulkan: its loader cannot be opened: {e}"
            ))
        })?;
        let wants_validation =
            std::env::var(VALIDATION_VARIABLE).is_ok_and(|value| !matches!(&*value, "" | "0"));
        let mut layers: Vec<*const c_char> = Vec::new();
        let mut extensions: Vec<*const c_char> = Vec::new();
        if wants_validation {
            if !has_layer(&entry, VALIDATION)? {
                return Err(Error::Device(format!(
                    "{VALIDATION_VARIABLE} is set, but the validation layer is not installed"
                )));
            }
            layers.push(VALIDATION.as_ptr());
            extensions.push(ext::debug_utils::NAME.as_ptr());
        }
        let mut flags = vk::InstanceCreateFlags::empty();
        // Drivers on top of another interface are hidden otherwise.
        if has_extension(&entry, ash::khr::portability_enumeration::NAME)? {
            extensions.push(ash::khr::portability_enumeration::NAME.as_ptr());
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        let application = vk::ApplicationInfo::default()
            .engine_name(c"qd")
            .api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        // Safety: the names outlive the call.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|e| match e {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
                Error::Device("there is no Vulkan: the loader finds no driver".into())
            }
            _ => Error::Device(format!("Vulkan does not start: {}", reason(e))),
        })?;
        let mut instance = Self {
            raw,
            validation: None,
            _entry: entry,
        };
        if wants_validation {
            instance.validation = Some(Validation::new(&instance._entry, &instance.raw)?);
        }
        Ok(instance)
    }

    /// Whether the validation layer looks on.
    pub fn is_validated(&self) -> bool {
        self.validation.is_some()
    }

    /// Fails if the validation layer has reported errors since the last check.
    pub fn check_validation(&self) -> Result<(), Error> {
        let Some(validation) = &self.validation else {
            return Ok(());
        };
        let mut errors = validation
            .errors
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match errors.is_empty() {
            true => Ok(()),
            false => Err(Error::Device(format!(
                "Vulkan was used wrongly:\n{}",
                std::mem::take(&mut *errors).join("\n")
            ))),
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Safety: devices hold the instance, so none is left.
        unsafe {
            if let Some(Validation { messenger, raw, .. }) = &self.validation {
                messenger.destroy_debug_utils_messenger(*raw, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

fn has_layer(entry: &Entry, name: &CStr) -> Result<bool, Error> {
    // Safety: the library is loaded.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }
        .map_err(|e| failed("listing Vulkan's layers", e))?;
    Ok(layers
        .iter()
        .any(|layer| layer.layer_name_as_c_str() == Ok(name)))
}

fn has_extension(entry: &Entry, name: &CStr) -> Result<bool, Error> {
    // Safety: the library is loaded.
    let extensions = unsafe { entry.enumerate_instance_extension_properties(None) }
        .map_err(|e| failed("listing Vulkan's extensions", e))?;
    Ok(extensions
        .iter()
        .any(|extension| extension.extension_name_as_c_str() == Ok(name)))
}

impl Validation {
    fn new(entry: &Entry, instance: &ash::Instance) -> Result<Self, Error> {
        use vk::{
            DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type,
        };
        let mut errors = Box::new(Errors::default());
        let messenger = ext::debug_utils::Instance::new(entry, instance);
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Severity::WARNING | Severity::ERROR)
            .message_type(Type::GENERAL | Type::VALIDATION | Type::PERFORMANCE)
            .pfn_user_callback(Some(hear))
            .user_data((&raw mut *errors).cast());
        // Safety: `errors` lives as long as the messenger.
        let raw = unsafe { messenger.create_debug_utils_messenger(&info, None) }
            .map_err(|e| failed("listening to the validation layer", e))?;
        Ok(Self {
            messenger,
            raw,
            errors,
        })
    }
}

/// What the layer says: to the log, and errors to those that a wait reports.
unsafe extern "system" fn hear(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    errors: *mut c_void,
) -> vk::Bool32 {
    // Safety: the layer passes valid data for the time of the call.
    let (text, id) = unsafe { (text((*data).p_message), text((*data).p_message_id_name)) };
    let is_error = severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR);
    if is_error && !is_mistaken(&id, &text) {
        tracing::error!(target: "qd_runtime::vulkan", "{text}");
        // Safety: what `Validation::new` has passed.
        let errors = unsafe { &*errors.cast::<Errors>() };
        errors
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text.into());
    } else {
        tracing::warn!(target: "qd_runtime::vulkan", "{text}");
    }
    vk::FALSE
}

/// Errors of older layers that are mistaken: unknown structures of the driver,
/// and the sum of the shared memory of all entry points of a module, where the
/// limit applies to each.
fn is_mistaken(id: &str, text: &str) -> bool {
    id.ends_with("-pNext-pNext") && text.contains("unknown VkStructureType")
        || id == "VUID-RuntimeSpirv-Workgroup-06530"
}

/// # Safety
///
/// The pointer is 0, or points to a string that lives as long as the result.
unsafe fn text<'a>(pointer: *const c_char) -> Cow<'a, str> {
    match pointer.is_null() {
        true => Cow::Borrowed(""),
        // Safety: by contract.
        false => unsafe { CStr::from_ptr(pointer) }.to_string_lossy(),
    }
}
