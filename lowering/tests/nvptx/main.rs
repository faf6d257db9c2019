//! Code generation for the NVIDIA targets: algorithms, collectives and atomics
//! of every element type become PTX for every architecture. Other tests check
//! the results on a device.
#![allow(missing_docs)]

mod algorithms;
mod bodies;
#[path = "../forms/mod.rs"]
mod listed;

use qd_dialects::melior::{self, ir::Module};
use qd_lowering::{Emit, Options, translate};
use std::sync::Once;

const ARCHITECTURES: [&str; 3] = ["sm_80", "sm_90", "sm_100"];
const TYPES: [&str; 4] = ["i32", "i64", "f32", "f64"];

/// The kinds that a type has.
fn kinds(element: &str) -> &'static [&'static str] {
    match element.starts_with('i') {
        true => &[
            "add", "mul", "minsi", "minui", "maxsi", "maxui", "and", "or", "xor",
        ],
        false => &["add", "mul", "minnumf", "maxnumf"],
    }
}

/// The PTX of a module.
fn ptx(text: &str, architecture: &str) -> String {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        melior::utility::register_all_passes();
        qd_lowering::register();
    });
    let context = qd_dialects::context();
    let mut module =
        Module::parse(&context, text).unwrap_or_else(|| panic!("does not parse:\n{text}"));
    let target = format!("nvptx:{architecture}").parse().expect("a target");
    let bytes = translate(&mut module, &target, &Options::default(), Emit::Assembly)
        .unwrap_or_else(|error| panic!("{target}: {error}\n{text}"));
    String::from_utf8(bytes).expect("PTX is text")
}

/// Compiles a module for one architecture after the other, and checks what is
/// true of all PTX of ours: nothing is called, for nothing is linked, and each
/// kernel is there.
fn compiles(architectures: &[&str], text: &str, kernels: usize) {
    for architecture in architectures {
        let ptx = ptx(text, architecture);
        assert!(ptx.contains(&format!(".target {architecture}")), "{ptx}");
        // What a launch brings of shared memory is external and not linked.
        let linked = |line: &&str| line.contains(".extern") && !line.contains(".shared");
        let line = ptx.lines().find(|l| linked(l) || l.contains("call"));
        assert_eq!(line, None, "{architecture}: in\n{ptx}");
        let entries = ptx.matches(".visible .entry").count();
        assert!(
            entries >= kernels,
            "{architecture}: {entries} of {kernels}\n{ptx}"
        );
    }
}
