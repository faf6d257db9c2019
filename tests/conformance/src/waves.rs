//! The target, and the subgroup sizes it is tested at.

use crate::{open, simulated};
use qd_frontend::TargetSpec;
use qd_lowering::targets::{Kind, Orientation, Search, Target};
use std::{cell::Cell, env, sync::LazyLock};

/// The target that is compared with the interpreter: the one that `QD_TARGET` names, or
/// the cpu. Where subgroups are as large as the device has them, with that size.
static TARGET: LazyLock<(String, Target)> = LazyLock::new(|| {
    let name = env::var("QD_TARGET").unwrap_or_else(|_| "cpu".into());
    let device = open(&name, None).unwrap_or_else(|why| panic!("QD_TARGET: {why}"));
    let spec: TargetSpec = name.parse().expect("it has been opened");
    let spec = device.resolve(&spec);
    let target = Target::of(&spec).unwrap_or_else(|why| panic!("QD_TARGET: {why}"));
    (spec.to_string(), target)
});

/// Subgroup sizes that everything is run at: that of the target, if it names one,
/// or all that it has.
///
/// `QD_WAVES`, a list such as `4,8,16`, says that other runs are for its other
/// sizes. What takes turns with sizes then takes turns with these, and in this
/// run what is another's turn is passed over. `QD_WAVES=chosen` leaves the size to the search, on
/// targets with `select`: the interpreter has each size in turn, and what depends on it differs.
pub fn waves() -> &'static [u32] {
    static WAVES: LazyLock<Vec<u32>> = LazyLock::new(|| {
        if let Ok(list) = env::var("QD_WAVES")
            && !is_chosen()
        {
            let sizes = list.split(',').map(str::parse).collect::<Result<_, _>>();
            return sizes.unwrap_or_else(|why| panic!("QD_WAVES={list}: {why}"));
        }
        let target = &TARGET.1;
        target
            .wave
            .map_or_else(|| target.capabilities.waves.clone(), |wave| vec![wave])
    });
    &WAVES
}

/// A size for what is the same at each. Where each size is another run's, it turns with the calls of a test.
pub fn any_wave() -> u32 {
    thread_local! {
        static CALLS: Cell<usize> = const { Cell::new(0) };
    }
    if !is_shared() {
        return own_wave();
    }
    let call = CALLS.replace(CALLS.get() + 1);
    waves()[(simulated::of_test() + call) % waves().len()]
}

/// A size that this run has.
pub(crate) fn own_wave() -> u32 {
    let waves = waves();
    TARGET.1.wave.unwrap_or(waves[waves.len() / 2])
}

/// Whether each size is another run's.
fn is_shared() -> bool {
    TARGET.1.wave.is_some() && waves().len() > 1
}

/// Whether other runs have a part of what this one might have. Such a run may leave out some of what takes long to compile.
pub fn takes_turns() -> bool {
    is_shared() || simulated::takes_turns()
}

/// Whether the search chooses the target's size.
fn is_chosen() -> bool {
    static CHOSEN: LazyLock<bool> = LazyLock::new(|| {
        let is_asked = env::var("QD_WAVES").is_ok_and(|value| value == "chosen");
        let (name, target) = &*TARGET;
        let may_be = target.wave.is_none() && target.search == Search::All;
        assert!(
            may_be || !is_asked,
            "QD_WAVES=chosen: {name} names a size, or does not have 'select'"
        );
        is_asked
    });
    *CHOSEN
}

/// The target with a subgroup size, or the one that is chosen; none if it has another.
pub(crate) fn target_with(wave: u32) -> Option<String> {
    let (name, target) = &*TARGET;
    match target.wave {
        None if is_chosen() => Some(name.clone()),
        Some(named) => (named == wave).then(|| name.clone()),
        None => Some(format!("{name},wave={wave}")),
    }
}

/// Whether the target is a device of Vulkan.
pub fn is_vulkan() -> bool {
    matches!(TARGET.1.capabilities.kind, Kind::Spirv(_))
}

/// Whether the target is NVIDIA's.
pub(crate) fn is_nvptx() -> bool {
    matches!(TARGET.1.capabilities.kind, Kind::Nvptx(_))
}

/// Whether the target's algorithms have blocks that wait for others.
pub fn looks_back() -> bool {
    let capabilities = &TARGET.1.capabilities;
    capabilities.orientation == Orientation::Throughput
        && capabilities.forward_progress.is_promised()
}
