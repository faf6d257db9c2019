//! The machine that this runs on, as LLVM spells it.

use inkwell::targets::TargetMachine;
use qd_artifact::{Host, Machine};
use std::{borrow::Cow, sync::LazyLock};

/// The machine that a host is.
pub(crate) fn spelled(host: &Host) -> Cow<'_, Machine> {
    match host {
        Host::Here => {
            static HERE: LazyLock<Machine> = LazyLock::new(this_machine);
            Cow::Borrowed(&*HERE)
        }
        Host::Named(machine) => Cow::Borrowed(machine),
    }
}

/// The machine that this runs on: what [`Host::Here`] stands for.
pub fn this_machine() -> Machine {
    let features = TargetMachine::get_host_cpu_features();
    let features = features.to_string_lossy();
    let features = features.split(',').filter(|feature| !feature.is_empty());
    let mut features: Vec<_> = features.map(str::to_owned).collect();
    features.sort();
    let triple = TargetMachine::get_default_triple();
    Machine {
        triple: triple.as_str().to_string_lossy().into_owned(),
        cpu: TargetMachine::get_host_cpu_name()
            .to_string_lossy()
            .into_owned(),
        features,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Runtimes know without LLVM what a processor has; where LLVM lists all of it, they know the same.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn what_this_machine_has_is_known_without_llvm() {
        let machine = this_machine();
        let features = machine.features.iter();
        let by_llvm: BTreeSet<&str> = features.filter_map(|f| f.strip_prefix('+')).collect();
        let ours = qd_artifact::machine::features();
        assert_eq!(
            ours.iter().map(String::as_str).collect::<BTreeSet<_>>(),
            by_llvm
        );
    }
}
