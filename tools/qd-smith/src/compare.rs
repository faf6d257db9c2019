//! One program by the interpreter and on targets.

use crate::{
    job::{Done, Finding, Kind},
    program::Program,
    worker::stage,
};
use qd_artifact::Artifact;
use qd_conformance::{Main, difference, execute, interpret, open};
use qd_frontend::{Diagnostics, Parsed, Source, compile_text};

/// The subgroup size that a target names.
pub fn wave_of(target: &str) -> Option<u32> {
    target.split(',').find_map(|option| {
        let (name, size) = option.split_once('=')?;
        matches!(name, "wave" | "subgroup").then(|| size.parse().ok())?
    })
}

/// Runs a program on targets, each with a wave, and compares.
pub fn compare(program: &Program, targets: &[String]) -> Done {
    let text = program.text();
    let mut done = Done {
        forms: program.forms(),
        ..Done::default()
    };
    let finding = |kind, target: &str, message: String| Finding {
        kind,
        target: target.into(),
        message,
        input: String::new(),
    };
    stage("verification");
    if let Err(said) = verify(&text) {
        done.findings
            .push(finding(Kind::Invalid, "", said.to_string()));
        return done;
    }
    let arguments: Vec<_> = program.parameters.iter().map(|p| p.argument()).collect();
    for target in targets {
        let wave = wave_of(target).unwrap_or(32);
        if wave < program.least_wave {
            continue;
        }
        stage(format!("interpretation at {wave}"));
        let reference = match interpret(&text, wave, &arguments) {
            Ok(reference) => reference,
            Err(fault) => {
                done.fault = Some(fault.to_string());
                continue;
            }
        };
        stage(format!("compilation for {target}"));
        let checks = if program.is_checked { ",checked" } else { "" };
        let main = match compile(&text, &format!("{target}{checks}")) {
            Ok(main) => main,
            Err(said) => {
                done.findings.push(finding(Kind::Refused, target, said));
                continue;
            }
        };
        stage(format!("execution on {target}"));
        match execute(&main, &arguments) {
            Err(said) => done.findings.push(finding(Kind::Failed, target, said)),
            Ok(actual) => {
                done.compared.push(target.clone());
                if let Err(what) = difference(&arguments, &reference, &actual) {
                    done.findings.push(finding(Kind::Difference, target, what));
                }
            }
        }
    }
    done
}

fn verify(text: &str) -> Result<(), Diagnostics> {
    let context = qd_frontend::lazy_context();
    Parsed::new(&context, &Source::text("program", text), &mut |_| ()).map(drop)
}

fn compile(text: &str, target: &str) -> Result<Main, String> {
    let artifact = compile_text(text, target).map_err(|error| error.to_string())?;
    // As a file, as most are loaded.
    let artifact = Artifact::from_bytes(artifact.to_bytes()).map_err(|error| error.to_string())?;
    let main = open(target, None).and_then(|device| Main::load(&device, &artifact));
    main.map_err(|error| error.to_string())
}
