//! The fake HIP runtime, and processes that use it: its settings are a process's.

// Each test uses a part of this.
#![allow(dead_code)]

pub mod artifact;

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

/// Names the test whose body the process is for.
const TEST: &str = "QD_HIP_TEST";

/// The fake, which is built once a process.
pub fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/amd-oracle");
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = tempfile::tempdir_in(target).expect("a folder");
        let made = folder.path().join("made");
        let files = ["hip", "hip_calls", "hip_code", "hip_memory", "hip_queue"];
        let mut cc = Command::new("cc");
        cc.args(["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC"])
            .args(["-shared", "-pthread", "-Wl,-soname,libamdhip64.so.6"])
            .args(files.map(|name| sources.join(name).with_extension("c")))
            .arg("-o")
            .arg(&made);
        assert!(cc.status().expect("cc runs").success(), "the fake builds");
        // As a whole: other tests may be using what is there.
        let path = target.join("libamdhip64.so.6");
        std::fs::rename(made, &path).expect("renamed");
        path
    })
}

/// Runs a test's body in a process with the fake and these settings, and returns what it said; in
/// that process, none.
pub fn apart(test: &str, settings: &[(&str, &str)], body: impl FnOnce()) -> Option<Output> {
    if env::var(TEST).is_ok_and(|name| name == test) {
        body();
        return None;
    }
    let mut process = Command::new(env::current_exe().expect("this test"));
    process
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(TEST, test)
        .env("QD_HIP_LIBRARY", library())
        .env("QD_FAKE_HIP_LEAKS", "1")
        .envs(settings.iter().copied());
    Some(process.output().expect("it runs"))
}

/// As [`apart`]; the body fails nowhere.
pub fn succeeds(test: &str, settings: &[(&str, &str)], body: impl FnOnce()) {
    let Some(output) = apart(test, settings, body) else {
        return;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{settings:?}\n{out}\n{err}");
    assert!(out.contains("1 passed"), "no test '{test}': {out}");
}
