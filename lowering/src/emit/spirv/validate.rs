//! Validation by `spirv-val`, on request: it is a separate program, which
//! compiling does not need.

use super::CompileError;
use qd_artifact::SPIRV_VAL;
use std::{
    io::Write,
    process::{Command, Stdio},
};

/// Asks `spirv-val` about a module's bytes.
pub fn validate(module: &[u8]) -> Result<(), CompileError> {
    let _span = tracing::info_span!("spirv-val").entered();
    judge("spirv-val", module).map_err(CompileError::Spirv)
}

fn judge(program: &str, module: &[u8]) -> Result<(), String> {
    let cannot = |why| {
        format!("{SPIRV_VAL}=1 asks for {program}, which is in the package spirv-tools: {why}")
    };
    let mut child = Command::new(program)
        .args(["--target-env", "vulkan1.3"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    if let Some(mut stdin) = child.stdin.take() {
        // It may have seen enough before the end; what it says then counts.
        let _ = stdin.write_all(module);
    }
    let output = child.wait_with_output().map_err(cannot)?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!(
        "{program} rejects the module: {}",
        String::from_utf8_lossy(&said).trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_judge_is_named_where_it_is_not() {
        let message = judge("spirv-judge-of-nowhere", &[]).expect_err("not there");
        assert!(message.contains("package spirv-tools"), "{message}");
    }

    #[test]
    fn what_is_no_module_is_rejected() {
        let message = judge("spirv-val", &[0; 20]).expect_err("no module");
        assert!(message.contains("SPIR-V"), "{message}");
    }
}
