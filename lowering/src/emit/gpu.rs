//! GPUs with an LLVM back end: the pipeline of bodies from the subgroup level to
//! LLVM's dialect, and LLVM's passes for them.
//!
//! The passes are `default<O3>` without repetitions. That pipeline combines
//! instructions eight times, which is half of its time, and has passes for things
//! that kernels do not have: libraries, vectors, profiles, coroutines, calls. It was
//! measured on NVIDIA's GPUs: none of the removed passes changed a kernel of
//! `algorithms` by a noticeable instruction of SASS; removing one more round of the
//! remaining passes made some kernels up to a sixth longer.

use super::llvm::Machine;
use crate::targets::Capabilities;
use inkwell::OptimizationLevel;

/// From a body at the subgroup level to LLVM's dialect and the vendor's `dialect`, which
/// `convert`, a pass on `convert::gpu_to_llvm`, makes of ours. Minima and maxima stay what
/// they are, for such GPUs have them: there is no `arith-expand` here. What LLVM does at once in any
/// case, MLIR does not: bodies are neither canonicalised nor rid of what they
/// compute twice, and nothing is rolled back, for a failure ends it all. But what
/// `qd-expand-metadata` folds on its way has to be folded here: without it
/// the code of a selection is a sixth longer.
pub fn conversion(convert: &str, dialect: &str, capabilities: &Capabilities) -> String {
    [
        convert,
        // Floats to integer powers, as loops.
        "convert-math-to-funcs{min-width-of-fpowi-exponent=1}",
        "any(qd-hoist-invariants,convert-scf-to-cf{allow-pattern-rollback=0},\
         qd-expand-metadata{widest=500},lower-affine)",
        "convert-to-llvm{allow-pattern-rollback=0}",
        // LLVM begins with the rest.
        "reconcile-unrealized-casts",
        &format!(
            "qd-verify-llvm{{target={} dialect={dialect}}}",
            capabilities.name
        ),
    ]
    .join(",")
}

/// What LLVM compiles for, whose target has been initialised: a triple, a cpu, its features, and
/// what cleans up after intrinsics of the vendor's.
pub fn machine<'a>(triple: &str, cpu: &'a str, features: &str, own: &[&str]) -> Machine<'a> {
    Machine {
        triple: triple.into(),
        cpu,
        features: features.into(),
        passes: passes(own),
        skipped: SKIPPED,
        // The level above numbers values twice more, which finds nothing here.
        level: OptimizationLevel::Default,
        deep_level: OptimizationLevel::Default,
        vectorize: false,
        has_libraries: false,
    }
}

/// What code generation does before it selects instructions, and which is left out
/// of long bodies. Both look for sums and products to be made of those before. Of a
/// sort they took a sixth of LLVM's time and changed nothing; of 29 kernels of
/// `algorithms` the SASS of none by more than 2 %, either way.
const SKIPPED: &str = "slsr,nary-reassociate";

/// Combines instructions.
const COMBINE: &str = "instcombine<max-iterations=1;no-verify-fixpoint>";

/// Makes branches fewer where loops have to keep their form.
const SIMPLIFY: &str = "simplifycfg<bonus-inst-threshold=1;switch-range-to-icmp;keep-loops;speculate-blocks;\
     simplify-cond-branch>";

/// The same, with what both ways have in common taken out of them.
const SIMPLIFY_HOISTING: &str = "simplifycfg<bonus-inst-threshold=1;switch-range-to-icmp;switch-to-arithmetic;keep-loops;\
     hoist-common-insts;sink-common-insts;speculate-blocks;simplify-cond-branch>";

/// The same, when no loop is rewritten any more.
const SIMPLIFY_LOOPS: &str = "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;\
     switch-to-arithmetic;switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts;\
     speculate-blocks;simplify-cond-branch>";

/// The last one.
const SIMPLIFY_LAST: &str = "simplifycfg<bonus-inst-threshold=1;switch-range-to-icmp;switch-to-arithmetic;keep-loops;\
     hoist-loads-stores-with-cond-faulting;speculate-blocks;simplify-cond-branch;\
     speculate-unpredictables>";

/// The passes, as `opt` spells them, with the vendor's own.
pub fn passes(own: &[&str]) -> String {
    let nested = |name: &str, passes: &[&str]| format!("{name}({})", passes.join(","));
    // Pointers are generic until here. What they point into is clear once the
    // descriptors around them are gone, and most of what follows does better if it
    // knows.
    let clean = [
        &["early-cse", "infer-address-spaces"],
        own,
        &["lower-expect", "simplifycfg", "sroa<modify-cfg>"],
    ]
    .concat();
    let loops = nested(
        "loop-mssa",
        &[
            "loop-instsimplify",
            "loop-simplifycfg",
            "licm<no-allowspeculation>",
            "loop-rotate<header-duplication>",
            "licm<allowspeculation>",
            "simple-loop-unswitch<nontrivial;trivial>",
        ],
    );
    let simplify = [
        "sroa<modify-cfg>",
        "early-cse<memssa>",
        "speculative-execution<only-if-divergent-target>",
        "jump-threading",
        SIMPLIFY,
        "reassociate",
        &loops,
        SIMPLIFY,
        COMBINE,
        "loop(indvars,loop-deletion,loop-unroll-full)",
        "sroa<modify-cfg>",
        "gvn<>",
        "sccp",
        "bdce",
        "adce",
        "dse",
        "loop-mssa(licm<allowspeculation>)",
        SIMPLIFY_HOISTING,
    ];
    // Functions that call themselves are still there. What is known of parameters
    // decides which loads may be cached.
    let calls = [
        "inline",
        "function-attrs<skip-non-recursive-function-attrs>",
        &nested("function", &simplify),
        "function-attrs",
    ];
    let late = [
        "loop(loop-rotate<header-duplication>,loop-deletion)",
        "infer-alignment",
        "loop-load-elim",
        SIMPLIFY_LOOPS,
        "loop-unroll<O3>",
        "sroa<preserve-cfg>",
        "infer-alignment",
        COMBINE,
        "loop-mssa(licm<allowspeculation>)",
        "loop-sink",
        "instsimplify",
        "div-rem-pairs",
        SIMPLIFY_LAST,
    ];
    [
        &nested("function", &clean),
        "globalopt",
        &nested("function", &[COMBINE, SIMPLIFY]),
        "always-inline",
        &nested("cgscc", &[&nested("devirt<4>", &calls)]),
        "globalopt",
        "globaldce",
        "rpo-function-attrs",
        &nested("function", &late),
        "globaldce",
        "constmerge",
    ]
    .join(",")
}
