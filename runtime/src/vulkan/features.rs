//! A device's features and properties: Vulkan's structures, including those of
//! extensions.

use ash::{Instance, vk};
use std::{collections::BTreeSet, ffi::CStr, ffi::CString, ptr};

/// The extensions that a device offers, or those that are switched on.
pub(super) type Extensions = BTreeSet<CString>;

/// Declares [`Features`]: the groups that Vulkan 1.3 has, and those that come
/// with an extension.
macro_rules! features {
    (
        core { $($core:ident: $core_type:ident,)* }
        extensions { $($field:ident: $type:ident = $extension:literal,)* }
    ) => {
        /// What a device offers, or what is switched on. A group whose extension
        /// is not there is all zeros.
        #[derive(Clone, Default)]
        pub(super) struct Features {
            pub base: vk::PhysicalDeviceFeatures,
            $(pub $core: vk::$core_type<'static>,)*
            $(pub $field: vk::$type<'static>,)*
        }

        /// The extensions that a group of features comes with.
        pub(super) const EXTENSIONS: &[&CStr] = &[$($extension,)*];

        impl Features {
            /// The groups as Vulkan wants them: one list, without those of
            /// extensions that are not among `extensions`.
            pub fn chain(&mut self, extensions: &Extensions) -> vk::PhysicalDeviceFeatures2<'_> {
                self.unchain();
                let mut head = vk::PhysicalDeviceFeatures2::default().features(self.base);
                $(head = head.push_next(&mut self.$core);)*
                $(if extensions.contains($extension) {
                    head = head.push_next(&mut self.$field);
                })*
                head
            }

            /// Forgets the list: the groups may have moved since.
            fn unchain(&mut self) {
                $(self.$core.p_next = ptr::null_mut();)*
                $(self.$field.p_next = ptr::null_mut();)*
            }
        }
    };
}

features! {
    core {
        v11: PhysicalDeviceVulkan11Features,
        v12: PhysicalDeviceVulkan12Features,
        v13: PhysicalDeviceVulkan13Features,
    }
    extensions {
        atomic_float: PhysicalDeviceShaderAtomicFloatFeaturesEXT = c"VK_EXT_shader_atomic_float",
        atomic_float2: PhysicalDeviceShaderAtomicFloat2FeaturesEXT = c"VK_EXT_shader_atomic_float2",
        uniform_control_flow: PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR
            = c"VK_KHR_shader_subgroup_uniform_control_flow",
        reconvergence: PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR
            = c"VK_KHR_shader_maximal_reconvergence",
        float_controls2: PhysicalDeviceShaderFloatControls2FeaturesKHR
            = c"VK_KHR_shader_float_controls2",
        rotate: PhysicalDeviceShaderSubgroupRotateFeaturesKHR = c"VK_KHR_shader_subgroup_rotate",
        clock: PhysicalDeviceShaderClockFeaturesKHR = c"VK_KHR_shader_clock",
        expect_assume: PhysicalDeviceShaderExpectAssumeFeaturesKHR
            = c"VK_KHR_shader_expect_assume",
        workgroup_layout: PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR
            = c"VK_KHR_workgroup_memory_explicit_layout",
    }
}

impl Features {
    /// What a device of Vulkan 1.3 or later offers.
    pub fn query(
        instance: &Instance,
        physical: vk::PhysicalDevice,
        extensions: &Extensions,
    ) -> Self {
        let mut features = Self::default();
        let mut head = features.chain(extensions);
        // Safety: the device exists, and the list has structures that it knows.
        unsafe { instance.get_physical_device_features2(physical, &mut head) };
        features.base = head.features;
        features.unchain();
        features
    }
}

/// One feature of Vulkan's, by the name of the specification.
#[derive(Clone, Copy)]
pub(super) struct Feature {
    pub name: &'static str,
    pub has: fn(&Features) -> bool,
    pub switch_on: fn(&mut Features),
}

/// `vk_feature!(base.shader_float64, "shaderFloat64")`.
macro_rules! vk_feature {
    ($group:ident . $field:ident, $name:literal) => {
        $crate::vulkan::features::Feature {
            name: $name,
            has: |features| features.$group.$field == ash::vk::TRUE,
            switch_on: |features| features.$group.$field = ash::vk::TRUE,
        }
    };
}
pub(super) use vk_feature;

/// A device's limits and the like.
#[derive(Clone, Default)]
pub(super) struct Properties {
    pub base: vk::PhysicalDeviceProperties,
    pub v11: vk::PhysicalDeviceVulkan11Properties<'static>,
    pub v12: vk::PhysicalDeviceVulkan12Properties<'static>,
    pub v13: vk::PhysicalDeviceVulkan13Properties<'static>,
}

impl Properties {
    /// Those of a device of Vulkan 1.3 or later.
    pub fn query(instance: &Instance, physical: vk::PhysicalDevice) -> Self {
        let mut properties = Self::default();
        let mut head = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut properties.v11)
            .push_next(&mut properties.v12)
            .push_next(&mut properties.v13);
        // Safety: the device exists and knows the structures.
        unsafe { instance.get_physical_device_properties2(physical, &mut head) };
        properties.base = head.properties;
        properties.v11.p_next = ptr::null_mut();
        properties.v12.p_next = ptr::null_mut();
        properties.v13.p_next = ptr::null_mut();
        properties
    }

    /// The driver and its version, as it says it.
    pub fn driver(&self) -> String {
        let words = [
            self.v12.driver_name_as_c_str(),
            self.v12.driver_info_as_c_str(),
        ];
        let words = words
            .into_iter()
            .flatten()
            .map(|word| word.to_string_lossy());
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        match words.is_empty() {
            true => format!("version {:#x}", self.base.driver_version),
            false => words.join(" "),
        }
    }

    /// What the device is called.
    pub fn name(&self) -> String {
        self.base.device_name_as_c_str().map_or_else(
            |_| "a device without a name".into(),
            |name| name.to_string_lossy().into(),
        )
    }
}
