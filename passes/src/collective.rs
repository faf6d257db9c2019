//! Which ops are collectives, and who has to execute one together.
//!
//! A collective is an op that reads the convergence resource. Effects cannot be
//! asked for through MLIR's C API, so the ops are named here; a test holds the
//! list against the op definitions.

/// A set of threads that run together, from the smallest to the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The lanes of one subgroup.
    Subgroup,
    /// The threads of one block.
    Block,
    /// All threads of a phase.
    Grid,
}

/// All scopes, from the smallest to the largest.
pub const SCOPES: [Scope; 3] = [Scope::Subgroup, Scope::Block, Scope::Grid];

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Self::Subgroup => "subgroup",
            Self::Block => "block",
            Self::Grid => "grid",
        })
    }
}

/// Collectives of the subgroup, without `qd.simt.`.
pub const SUBGROUP: &[&str] = &[
    "shuffle",
    "broadcast",
    "broadcast_first",
    "rotate",
    "sync",
    "all",
    "any",
    "all_equal",
    "ballot",
    "ballot_first_n",
    "match_any",
    "reduce",
    "reduce_all",
    "inclusive_scan",
    "exclusive_scan",
    "segmented_reduce",
    "bitonic_sort_kv",
];

/// Collectives of the block, without `qd.simt.`.
pub const BLOCK: &[&str] = &[
    "block.sync",
    "block.reduce",
    "block.reduce_all",
    "block.inclusive_scan",
    "block.exclusive_scan",
    "block.radix_rank",
];

/// Who has to execute an op of this full name together; nobody unless it is a
/// collective.
pub fn scope_of(name: &str) -> Option<Scope> {
    let name = name.strip_prefix("qd.simt.")?;
    if SUBGROUP.contains(&name) {
        Some(Scope::Subgroup)
    } else if BLOCK.contains(&name) {
        Some(Scope::Block)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // `let` binds nothing in a `.td`'s text, so what is checked is the family a
    // `def` names: a `Collective` class, or an explicit read of the resource.
    #[test]
    fn the_lists_are_those_of_the_op_definitions() {
        let text = include_str!("../../dialects/sys/td/QdSimt.td");
        let classes = [
            "Simt_Collective",
            "Simt_VoteOp",
            "Simt_SubgroupCombine",
            "Simt_Combine",
            "Simt_BlockCombine",
        ];
        let mut listed = Vec::new();
        for line in text.lines().filter(|line| line.starts_with("def Simt_")) {
            let Some((_, class)) = line.split_once(" : ") else {
                continue;
            };
            let collective = classes.iter().any(|c| class.starts_with(&format!("{c}<")))
                || class.contains("Qd_ConvergenceResource");
            if let (true, Some(name)) = (collective, class.split('"').nth(1)) {
                listed.push(name);
            }
        }
        listed.sort_unstable();
        let mut ours: Vec<_> = SUBGROUP.iter().chain(BLOCK).copied().collect();
        ours.sort_unstable();
        assert_eq!(listed, ours, "collectives of QdSimt.td and of this file");
    }
}
