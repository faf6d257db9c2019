//! The flags that `mlir-opt` does not have.

use std::{ffi::OsString, path::PathBuf};

/// Flags of our own.
#[derive(Debug, Default)]
pub struct Own {
    /// Where to write a Chrome trace.
    pub trace: Option<PathBuf>,
}

/// The rungs of the ladder, top to bottom, and the pipeline that leads to each.
const LEVELS: &[(&str, &str)] = &[
    ("algo", ""),
    ("grid", "qd-to-grid"),
    ("plan", "qd-to-plan"),
    ("tiled", "qd-to-tiled"),
    ("target", "qd-to-target"),
];

/// Takes our flags out of the command line and turns `--to` and `--target` into
/// a pipeline.
pub fn split(arguments: impl Iterator<Item = OsString>) -> Result<(Vec<OsString>, Own), String> {
    let mut rest = Vec::new();
    let mut own = Own::default();
    let (mut level, mut target) = (None, None);
    for argument in arguments {
        // What is no UTF-8 is none of our flags.
        let text = argument.to_str().unwrap_or_default();
        let plain = text.strip_prefix("--").or_else(|| text.strip_prefix('-'));
        match plain.and_then(|a| a.split_once('=')) {
            Some(("to", value)) => level = Some(value.to_string()),
            Some(("target", value)) => target = Some(value.to_string()),
            Some(("trace", value)) => own.trace = Some(value.into()),
            _ => rest.push(argument),
        }
    }
    match (level, target) {
        (Some(level), target) => {
            rest.extend(pipeline(&level, target.as_deref())?.map(OsString::from));
        }
        (None, Some(_)) => return Err("--target goes with --to=<level>".into()),
        (None, None) => {}
    }
    Ok((rest, own))
}

fn pipeline(level: &str, target: Option<&str>) -> Result<Option<String>, String> {
    let Some((_, pass)) = LEVELS.iter().find(|(name, _)| *name == level) else {
        let names: Vec<_> = LEVELS.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "unknown level '{level}': expected one of {}",
            names.join(", ")
        ));
    };
    if pass.is_empty() {
        return Ok(None);
    }
    let target = target.unwrap_or("cpu");
    Ok(Some(format!(
        "--pass-pipeline=builtin.module({pass}{{target={target}}})"
    )))
}
