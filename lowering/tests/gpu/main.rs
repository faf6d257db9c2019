//! Code generation for GPUs with an LLVM back end: algorithms, collectives and atomics
//! of every element type become assembly. Other tests check the results on a device or,
//! of AMD's other targets, by executing them: gfx90a is only compiled, here.
#![allow(missing_docs)]

mod algorithms;
mod bodies;
#[path = "../forms/mod.rs"]
mod listed;

use qd_dialects::melior::{self, ir::Module};
use qd_lowering::{Emit, Options, translate};
use std::sync::Once;

/// What differs between the others of AMD's targets is seen when they are executed.
const TARGETS: [&str; 4] = [
    "nvptx:sm_80",
    "nvptx:sm_90",
    "nvptx:sm_100",
    "amdgpu:gfx90a",
];
/// One of each vendor's.
const ONE_EACH: [&str; 2] = ["nvptx:sm_90", "amdgpu:gfx90a"];
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

/// The assembly of a module.
fn assembly(text: &str, target: &str) -> String {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        melior::utility::register_all_passes();
        qd_lowering::register();
    });
    let context = qd_dialects::context();
    let mut module =
        Module::parse(&context, text).unwrap_or_else(|| panic!("does not parse:\n{text}"));
    let target = target.parse().expect("a target");
    let bytes = translate(&mut module, &target, &Options::default(), Emit::Assembly)
        .unwrap_or_else(|error| panic!("{target}: {error}\n{text}"));
    String::from_utf8(bytes).expect("assembly is text")
}

/// How the assembly of a vendor's target says what is checked.
struct Words {
    /// In front of the architecture.
    target: &'static str,
    /// In front of each kernel.
    kernel: &'static str,
    /// Whether a line is a call, or names what would have to be linked.
    leaves: fn(&str) -> bool,
}

const PTX: Words = Words {
    target: ".target ",
    kernel: ".visible .entry",
    // What a launch brings of shared memory is external and not linked.
    leaves: |line| line.contains(".extern") && !line.contains(".shared") || line.contains("call"),
};

const AMDGPU: Words = Words {
    target: "amdgcn-amd-amdhsa--",
    kernel: ".amdhsa_kernel ",
    leaves: |line| line.contains("s_swappc") || line.contains("s_setpc"),
};

/// Compiles a module for one target after the other, and checks what is true of all code
/// of ours: nothing is called, for nothing is linked, and each kernel is there.
fn compiles(targets: &[&str], text: &str, kernels: usize) {
    for target in targets {
        let assembly = assembly(text, target);
        let (family, architecture) = target.split_once(':').expect("an architecture");
        let words = if family == "nvptx" { PTX } else { AMDGPU };
        let named = format!("{}{architecture}", words.target);
        assert!(assembly.contains(&named), "{assembly}");
        let line = assembly.lines().find(|line| (words.leaves)(line));
        assert_eq!(line, None, "{target}: in\n{assembly}");
        let entries = assembly.matches(words.kernel).count();
        assert!(
            entries >= kernels,
            "{target}: {entries} of {kernels}\n{assembly}"
        );
    }
}
