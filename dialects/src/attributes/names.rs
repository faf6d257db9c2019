//! Names of the attributes that our ops do not define: those of arguments, functions, modules and
//! launches.

/// Of an argument: what it is called.
pub const NAME: &str = "qd.name";
/// Of an argument: what tools take its elements for.
pub const DTYPE: &str = "qd.dtype";
/// Of an argument: it may overlap others that say so.
pub const MAY_ALIAS: &str = "qd.may_alias";
/// Of an argument: it is the kernel's own while that runs.
pub const SCRATCH: &str = "qd.scratch";
/// Of a function: how many threads a block of it has. It makes it a body that is launched.
pub const THREADS: &str = "qd.threads";
/// Of a phase and its body: how many blocks of it a core is to have room for.
pub const BLOCKS_PER_CORE: &str = "qd.blocks_per_core";
/// Of a launch: the phase that it was.
pub const PHASE: &str = "qd.phase";
/// Of a phase, its body and functions: how many lanes a subgroup has, or `any`, where the results are the same
/// at every size or it does not matter, so that the compiler may choose.
pub const WAVE: &str = "qd.wave";
/// Of an algorithm: the shapes of its blocks, in place of those that the target's table has.
pub const TUNING: &str = "qd.tuning";
/// Of an algorithm that combines by a kind, while it is expanded: the 16-bit float that each result is
/// rounded to.
pub const ROUNDS: &str = "qd.rounds";
/// Of a module of SPIR-V: why it declares each of its capabilities.
pub const REASONS: &str = "qd.reasons";
/// Of a collective: the form of the target that it is to be done by, or `expansion`. Whoever says so
/// before `qd-select-lowering` overrides it; the pass says it of what it leaves.
pub const FORM: &str = "qd.form";
/// Of a body: what `qd-select-lowering` estimates that it takes, and what it would otherwise.
pub const SELECT: &str = "qd.select";
/// Of an op that took another's place: the rules that led there.
pub const WHY: &str = "qd.why";
/// Of a `qd.simt.broadcast_first`: what it yields is the same in all subgroups of the block.
pub const SAME_IN_BLOCK: &str = "qd.same_in_block";
/// Of an atomic whose memory's type does not say any more where that is: it is a shared array.
pub const ON_SHARED: &str = "qd.on_shared";
