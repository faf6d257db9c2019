//! What LLVM's optimiser does to bodies on the way to PTX: `default<O3>` without
//! what repeats.
//!
//! That pipeline combines instructions eight times, which is half of its time, and
//! knows of much that kernels do not have: libraries, vectors, profiles,
//! coroutines, calls. Of the passes that are left out, none changed a kernel of
//! `algorithms` by an instruction of SASS worth mentioning; taking out one more
//! round of what is here made some of them up to a sixth longer.

/// What code generation does before it selects instructions, and which is left out
/// of long bodies. Both look for sums and products to be made of those before. Of a
/// sort they took a sixth of LLVM's time and changed nothing; of 29 kernels of
/// `algorithms` the SASS of none by more than 2 %, either way.
pub const SKIPPED: &str = "slsr,nary-reassociate";

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

/// The passes, as `opt` spells them.
pub fn passes() -> String {
    let nested = |name: &str, passes: &[&str]| format!("{name}({})", passes.join(","));
    // Pointers are generic until here. What they point into is clear once the
    // descriptors around them are gone, and most of what follows does better if it
    // knows.
    let clean = [
        "early-cse",
        "infer-address-spaces",
        "nvvm-intr-range",
        "lower-expect",
        "simplifycfg",
        "sroa<modify-cfg>",
    ];
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
