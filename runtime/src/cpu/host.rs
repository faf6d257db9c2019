//! The features of this machine's processor, as LLVM names them.

use crate::Error;
use inkwell::targets::TargetMachine;
use qd_artifact::Requirements;

/// Whether LLVM lists all features of a processor. Elsewhere its name implies
/// features that are not listed, so that only the same processor will do.
const LISTS_ALL_FEATURES: bool = cfg!(target_arch = "x86_64");

/// Refuses code that may use an instruction this machine does not have: running
/// it would kill the process.
pub(super) fn check(requirements: &Requirements) -> Result<(), Error> {
    let name = TargetMachine::get_host_cpu_name();
    let features = TargetMachine::get_host_cpu_features();
    check_against(
        requirements,
        &name.to_string_lossy(),
        &features.to_string_lossy(),
        LISTS_ALL_FEATURES,
    )
}

/// `has` is LLVM's list, with `+` for what there is: `+avx2,-avx512f`.
fn check_against(
    requirements: &Requirements,
    device: &str,
    has: &str,
    lists_all: bool,
) -> Result<(), Error> {
    let has: Vec<_> = has.split(',').filter_map(|f| f.strip_prefix('+')).collect();
    let mut missing: Vec<String> = requirements
        .features
        .iter()
        .filter(|feature| !has.contains(&feature.as_str()))
        .cloned()
        .collect();
    let is_other = !requirements.device.is_empty() && requirements.device != device;
    if missing.is_empty() && is_other && !lists_all {
        missing.push(format!("the instructions of {}", requirements.device));
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::MissingFeatures {
        compiled_for: requirements.device.clone(),
        device: device.into(),
        missing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(features: &[&str]) -> Requirements {
        Requirements {
            device: "znver4".into(),
            features: features.iter().map(|f| f.to_string()).collect(),
        }
    }

    #[test]
    fn what_a_processor_lacks_is_named() {
        let has = "+avx2,-avx512f,+sse4.2";
        let check = |features: &[&str]| check_against(&needs(features), "haswell", has, true);
        assert!(check(&["avx2", "sse4.2"]).is_ok());
        assert!(check(&[]).is_ok());
        // Off is not on, and neither is a part of a name.
        let error = check(&["avx", "avx2", "avx512f"]).expect_err("lacks two");
        assert_eq!(
            error.to_string(),
            "the artifact was compiled for znver4 and uses avx, avx512f, which this machine \
             (haswell) does not have: compile it again for this machine"
        );
    }

    #[test]
    fn where_features_are_not_all_listed_the_processor_must_be_the_same() {
        let check = |device| check_against(&needs(&["neon"]), device, "+neon", false);
        assert!(check("znver4").is_ok());
        let error = check("cortex-a53").expect_err("another processor");
        assert!(
            error.to_string().contains("the instructions of znver4"),
            "{error}"
        );
    }
}
