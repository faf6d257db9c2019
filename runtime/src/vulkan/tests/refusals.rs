//! Refused modules, and the contents of the driver's cache.

use super::*;
use crate::{
    objects::driver::Driver as _,
    vulkan::cache::{self, Cache},
};
use qd_artifact::Origins;

#[test]
fn what_the_device_lacks_is_named_with_who_needs_it() {
    let Some(device) = device("what_the_device_lacks_is_named_with_who_needs_it") else {
        return;
    };
    let with = |capability: Capability, extension: &str, mode: &[(ExecutionMode, u32)]| {
        let mut module = Module::new();
        module.capability(capability);
        if !extension.is_empty() {
            module.extension(extension);
        }
        module.body("size", threads(&device), mode, size);
        let main = kernel(
            "main",
            vec![array("out", Dtype::I32)],
            vec![launch(&device, "size", 1, vec![whole(0)])],
        );
        let mut artifact = artifact(&device, module, vec![main]);
        let name = format!("{capability:?}");
        // What no device has is in the module alone, as if the plan had been edited.
        let needs = &mut plan_of(&mut artifact.kernels[0]).needs;
        if capability != Capability::Geometry {
            needs.features.push(name.clone());
        }
        let reasons = [(name, "arith.addf at k.mlir:3:4".into())].into();
        artifact.origins = vec![Origins {
            reasons,
            ..Origins::default()
        }];
        artifact
    };

    // No compute module has it.
    let error = refused(&with(Capability::Geometry, "", &[]));
    assert!(
        error.contains("capability 2 (unknown to this driver)"),
        "{error}"
    );

    let add = Capability::AtomicFloat64AddEXT;
    let atomics = with(add, "SPV_EXT_shader_atomic_float_add", &[]);
    let has = device
        .features
        .atomic_float
        .shader_buffer_float64_atomic_add
        | device
            .features
            .atomic_float
            .shader_shared_float64_atomic_add;
    let opened = raw(Copies::Direct);
    let had = &opened.info().limits.capabilities;
    assert!(had.contains(&"Shader"), "{had:?}");
    assert_eq!(had.contains(&"AtomicFloat64AddEXT"), has != ash::vk::FALSE);
    if has == ash::vk::FALSE {
        assert_eq!(
            refused(&atomics),
            format!(
                "{} cannot run the artifact: it lacks AtomicFloat64AddEXT \
                 (shaderBufferFloat64AtomicAdd or shaderSharedFloat64AtomicAdd), which it needs \
                 for arith.addf at k.mlir:3:4",
                device.name
            )
        );
    }

    let mode = [(ExecutionMode::DenormPreserve, 32)];
    let denormals = with(Capability::DenormPreserve, "", &mode);
    if device.properties.v12.shader_denorm_preserve_float32 == ash::vk::FALSE {
        let error = refused(&denormals);
        assert!(error.contains("shaderDenormPreserveFloat32"), "{error}");
    }
    let mode = [(ExecutionMode::RoundingModeRTE, 32)];
    let rounding = with(Capability::RoundingModeRTE, "", &mode);
    if device.properties.v12.shader_rounding_mode_rte_float32 == ash::vk::TRUE {
        load(&rounding);
    }

    // The artifact may know more than its module declares.
    let mut artifact = with(Capability::Int16, "", &[]);
    plan_of(&mut artifact.kernels[0]).needs.features = vec!["Int512".into()];
    let error = refused(&artifact);
    assert!(error.contains("Int512 (unknown to this driver)"), "{error}");
}

#[test]
fn damaged_artifacts_are_refused() {
    let Some(device) = device("damaged_artifacts_are_refused") else {
        return;
    };
    let with = |body: &str| {
        let main = kernel(
            "main",
            vec![array("out", Dtype::I32)],
            vec![launch(&device, body, 1, vec![whole(0)])],
        );
        artifact(&device, bodies(&device), vec![main])
    };
    let mut missing = with("missing");
    let error = refused(&missing);
    assert!(
        error.ends_with("launches 'missing', which is in no module"),
        "{error}"
    );
    missing.modules[0].bodies[0].name = "missing".into();
    let error = refused(&missing);
    assert!(error.ends_with("there is no symbol 'missing'"), "{error}");

    let mut cut = with("size");
    let code = cut.modules[0].bytes().clone();
    cut.modules[0].set_bytes(code.slice(..99));
    assert!(refused(&cut).contains("it is not SPIR-V"));
    cut.modules[0].set_bytes(code.slice(..96));
    assert!(refused(&cut).contains("the SPIR-V module is damaged"));

    let other = Artifact {
        targets: vec!["cpu".into()],
        ..with("size")
    };
    assert!(refused(&other).contains("'cpu', not for vulkan:0"));
    let later = Artifact {
        targets: vec!["vulkan:9.9".into()],
        ..with("size")
    };
    assert!(refused(&later).contains("'vulkan:9.9', not for vulkan:0"));

    let mut threads = with("size");
    let steps = &mut plan_of(&mut threads.kernels[0]).steps;
    if let StepKind::Launch { threads, .. } = &mut steps[0].kind {
        *threads *= 2;
    }
    let error = load(&threads)
        .run("main", &mut [ints(100, 0)])
        .expect_err("other blocks");
    assert!(
        error
            .to_string()
            .contains("'size' was compiled for blocks of"),
        "{error}"
    );
}

#[test]
fn blocks_are_no_larger_than_the_device_allows() {
    let Some(device) = device("blocks_are_no_larger_than_the_device_allows") else {
        return;
    };
    let most = device
        .properties
        .base
        .limits
        .max_compute_work_group_invocations;
    let mut module = Module::new();
    module.body("size", 2 * most, &[], size);
    let mut step = launch(&device, "size", 1, vec![whole(0)]);
    if let StepKind::Launch { threads, .. } = &mut step.kind {
        *threads = 2 * most;
    }
    let main = kernel("main", vec![array("out", Dtype::I32)], vec![step]);
    let error = load(&artifact(&device, module, vec![main]))
        .run("main", &mut [ints(1, 0)])
        .expect_err("too large");
    assert!(error.to_string().contains("threads in a block"), "{error}");
}

#[test]
fn what_is_compiled_is_kept() {
    let Some(device) = device("what_is_compiled_is_kept") else {
        return;
    };
    let main = kernel(
        "main",
        vec![array("out", Dtype::I32)],
        vec![launch(&device, "size", 1, vec![whole(0)])],
    );
    let artifact = artifact(&device, bodies(&device), vec![main]);
    let folder = tempfile::tempdir().expect("a folder");
    let run = || {
        let id: DeviceId = "vulkan:0".parse().expect("a device");
        let driver = Resident::open(&id, Copies::Direct, Some(folder.path().into()));
        let loaded = loaded(driver.expect("it opens"), &artifact).expect("loaded");
        let mut arguments = [ints(threads(&device) as usize, 0)];
        loaded.run("main", &mut arguments).expect("runs");
        assert_eq!(values(&arguments[0])[0] as u32, device.subgroups.usual);
    };
    run();
    run();
    // What the driver has left, however little some do, and damaged.
    let open = || Cache::open(&device, Some(folder.path()), artifact.modules[0].bytes());
    // Safety: the cache is the device's, and is not used afterwards.
    let close = |cache: Cache| unsafe { device.raw.destroy_pipeline_cache(cache.raw, None) };
    let cache = open().expect("a cache");
    // Safety: the cache is the device's.
    let data = unsafe { device.raw.get_pipeline_cache_data(cache.raw) }.expect("data");
    let path = cache.path.clone().expect("a file");
    close(cache);
    cache::write(&path, &data).expect("written");
    let again = open().expect("a cache");
    assert_eq!(again.found, data);
    close(again);
    run();
    std::fs::write(&path, "damaged").expect("written");
    run();
    // No folder where there should be one.
    std::fs::remove_dir_all(folder.path().join("vulkan")).expect("removed");
    std::fs::write(folder.path().join("vulkan"), "no folder").expect("written");
    run();
}

#[test]
fn what_is_too_large_is_an_error() {
    let Some(device) = device("what_is_too_large_is_an_error") else {
        return;
    };
    let limit = device.properties.v11.max_memory_allocation_size;
    let refusal = crate::vulkan::memory::Memory::new(&device, limit as usize + 1, Copies::Direct);
    let Err(refusal) = refusal else {
        panic!("larger than there are buffers");
    };
    let error = refusal.into_error("kernel 'k': argument 'a'", &device);
    assert!(
        error
            .to_string()
            .starts_with("not enough memory for kernel 'k': argument 'a': a buffer of"),
        "{error}"
    );
}
