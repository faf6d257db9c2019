//! Whether this machine's processor runs code.

use crate::Error;
use qd_artifact::{Requirements, machine};

/// Refuses code that may use an instruction this machine does not have: running
/// it would kill the process.
pub(super) fn check(requirements: &Requirements) -> Result<(), Error> {
    check_against(requirements, &machine::name(), machine::features())
}

fn check_against(requirements: &Requirements, device: &str, has: &[String]) -> Result<(), Error> {
    let needed = requirements.features.iter();
    let missing: Vec<String> = needed.filter(|f| !has.contains(f)).cloned().collect();
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

    #[test]
    fn what_a_processor_lacks_is_named() {
        let needs = |features: &[&str]| Requirements {
            device: "znver4".into(),
            features: features.iter().map(|f| f.to_string()).collect(),
        };
        let has = ["avx2", "sse4.2"].map(String::from);
        let check = |features: &[&str]| check_against(&needs(features), "Xeon", &has);
        assert!(check(&["avx2", "sse4.2"]).is_ok());
        assert!(check(&[]).is_ok());
        // A part of a name is none.
        let error = check(&["avx", "avx2", "avx512f"]).expect_err("lacks two");
        assert_eq!(
            error.to_string(),
            "the artifact was compiled for znver4 and uses avx, avx512f, which this machine \
             (Xeon) does not have: compile it again for this machine"
        );
    }
}
