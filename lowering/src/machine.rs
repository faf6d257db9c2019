//! The machine that this runs on, as LLVM spells it.

use inkwell::targets::TargetMachine;
use qd_artifact::{Host, Machine};
use std::borrow::Cow;

/// The machine that a host is.
pub(crate) fn machine(host: &Host) -> Cow<'_, Machine> {
    match host {
        Host::Here => Cow::Owned(this_machine()),
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
