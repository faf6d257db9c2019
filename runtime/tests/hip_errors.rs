//! The HIP driver's errors when something is missing, wrong or fails, on the fake HIP runtime.

mod amd;

use amd::{
    artifact::{artifact, code, held, open, ready},
    succeeds,
};
use qd_artifact::{Artifact, Format, Module, StepKind};
use qd_runtime::{
    Dtype, Error, args,
    objects::{Buffer, Priority},
};

/// What opening a device says.
fn refused() -> String {
    open().expect_err("refused").to_string()
}

#[test]
fn without_a_library_there_is_a_message() {
    let settings = [("QD_HIP_LIBRARY", "/nowhere/libamdhip64.so")];
    succeeds("without_a_library_there_is_a_message", &settings, || {
        let begins = "there is no HIP runtime: QD_HIP_LIBRARY is '/nowhere/libamdhip64.so': ";
        assert!(refused().starts_with(begins), "{}", refused());
        assert!(refused().contains("No such file"), "{}", refused());
    });
}

#[test]
fn a_library_without_the_functions_is_named() {
    let settings = [("QD_HIP_LIBRARY", "libm.so.6")];
    succeeds(
        "a_library_without_the_functions_is_named",
        &settings,
        || {
            assert_eq!(refused(), "the HIP runtime has no hipGetErrorName");
        },
    );
}

#[test]
fn without_a_device_there_is_a_message() {
    let settings = [("QD_FAKE_HIP_DEVICES", "0")];
    succeeds("without_a_device_there_is_a_message", &settings, || {
        assert_eq!(refused(), "the HIP runtime has no device");
    });
}

#[test]
fn an_old_runtime_is_refused() {
    let settings = [("QD_FAKE_HIP_VERSION", "50700000")];
    succeeds("an_old_runtime_is_refused", &settings, || {
        let expected = "the HIP runtime is of version 5.7: 6.0 or later is required";
        // Also when it has been loaded.
        assert_eq!([refused(), refused()], [expected; 2]);
    });
}

/// What loading an artifact and its kernel `set` says.
fn load_error(artifact: &Artifact) -> String {
    let device = open().expect("it opens");
    let loaded = device
        .load(artifact)
        .and_then(|all| all.kernel("set")?.load());
    loaded.expect_err("not loaded").to_string()
}

#[test]
fn code_for_another_architecture_is_refused() {
    let settings = [("QD_FAKE_HIP_ARCH", "gfx942")];
    succeeds(
        "code_for_another_architecture_is_refused",
        &settings,
        || {
            assert_eq!(
                load_error(&artifact("gfx1100")),
                "the artifact is for target 'amdgpu:gfx1100,wave=64', not for hip:0 (fake gfx942), \
             which takes amdgpu:gfx942"
            );
            let mut wrong = artifact("gfx942");
            wrong.modules[0].set_bytes(code("gfx90a"));
            let error = load_error(&wrong);
            assert!(error.contains("hipErrorNoBinaryForGpu"), "{error}");
            let mut narrow = artifact("gfx942");
            narrow.modules[0].bodies[0].wave = 32;
            assert_eq!(
                load_error(&narrow),
                "the artifact's binary cannot be loaded: 'set' is for waves of 32 lanes, and those of \
             fake gfx942 have 64"
            );
        },
    );
}

#[test]
fn damaged_code_is_refused() {
    succeeds("damaged_code_is_refused", &[], || {
        let with = |bytes: Vec<u8>| {
            let mut artifact = artifact("gfx1100");
            artifact.modules[0].set_bytes(bytes);
            load_error(&artifact)
        };
        assert!(with(b"PTX".to_vec()).ends_with("it is not an AMD code object"));
        let mut cut = code("gfx1100");
        cut[60] = 9;
        assert!(with(cut).contains("damaged"));
        let error = with(code("gfx1100").replace_text("set set", "sat set"));
        assert!(error.contains("symbol 'set': hipErrorNotFound"), "{error}");
        let mut other = artifact("gfx1100");
        let bodies = other.modules[0].bodies.clone();
        other.modules[0] = Module::new(0, Format::Ptx, bodies, &b"ptx"[..]);
        let error = load_error(&other);
        assert!(
            error.ends_with("it is Ptx, and the device takes Hsaco"),
            "{error}"
        );
        let mut greedy = artifact("gfx1100");
        let steps = &mut greedy.kernels[0].plans[0].as_mut().unwrap().steps;
        let StepKind::Launch {
            dynamic_shared_bytes,
            ..
        } = &mut steps[0].kind
        else {
            panic!("a launch");
        };
        *dynamic_shared_bytes = 65_537;
        assert_eq!(
            load_error(&greedy),
            "kernel 'set': phase 'set it' asks for 65537 bytes of shared memory a block, \
             but fake gfx1100 has 65536"
        );
    });
}

trait ReplaceText {
    fn replace_text(self, from: &str, to: &str) -> Self;
}

impl ReplaceText for Vec<u8> {
    fn replace_text(mut self, from: &str, to: &str) -> Self {
        let at = self
            .windows(from.len())
            .position(|part| part == from.as_bytes());
        let at = at.expect("it is there");
        self[at..at + from.len()].copy_from_slice(to.as_bytes());
        self
    }
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let settings = [("QD_FAKE_HIP_MEMORY", "10000")];
    succeeds("memory_that_is_not_there_is_an_error", &settings, || {
        let (_, _, s) = ready();
        let x = Buffer::zeros(&s, Dtype::U8, &[4000]).expect("memory");
        let error = Buffer::zeros(&s, Dtype::U8, &[8000]).expect_err("too much");
        let Error::OutOfMemory { bytes, free, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((bytes, free), (Some(8000), Some(6000)));
        // What is freed on the stream is there when that has been waited for.
        drop(x);
        Buffer::zeros(&s, Dtype::U8, &[8000]).expect("memory");
    });
}

#[test]
fn a_kernel_that_fails_loses_the_device() {
    succeeds("a_kernel_that_fails_loses_the_device", &[], || {
        let (device, loaded, s) = ready();
        let next = loaded.kernel("next").expect("there");
        let [x, y] = [0, 1].map(|_| Buffer::new(&s, Dtype::I32, &[4]).expect("memory"));
        // Nothing was written to x.
        next.launch(&s, &args![&y, &x]).expect("submitted");
        let error = s.synchronize().expect_err("it failed").to_string();
        assert!(
            error.contains("device hip:0 is lost: hipErrorLaunchFailure"),
            "{error}"
        );
        assert!(error.contains("was never written"), "{error}");
        assert!(error.ends_with("the last kernels were next"), "{error}");
        assert!(device.stream(Priority::Normal).is_err());
    });
}

#[test]
fn a_launch_that_is_refused_names_its_phase() {
    let settings = [("QD_FAKE_HIP_FAIL", "hipModuleLaunchKernel,2,1")];
    succeeds(
        "a_launch_that_is_refused_names_its_phase",
        &settings,
        || {
            let (_, loaded, s) = ready();
            let set = loaded.kernel("set").expect("there");
            let x = Buffer::zeros(&s, Dtype::I32, &[4]).expect("memory");
            set.launch(&s, &args![&x, 1]).expect("runs");
            assert_eq!(
                set.launch(&s, &args![&x, 2])
                    .expect_err("refused")
                    .to_string(),
                "kernel 'set': launching it: phase 'set it': hipErrorInvalidValue: invalid argument"
            );
            set.launch(&s, &args![&x, 3]).expect("runs");
            assert_eq!(held::<i32>(&s, &x), [3; 4]);
        },
    );
}
