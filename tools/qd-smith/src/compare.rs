//! One program by the interpreter and on targets.

use crate::{
    generate::DOUBTFUL,
    job::{Done, Finding, Kind},
    program::Program,
    worker::stage,
};
use qd_artifact::Artifact;
use qd_conformance::{Main, difference, execute, interpret_printing, open};
use qd_frontend::{Diagnostics, Parsed, Source, compile_text};
use std::sync::{Arc, Mutex};

/// What a target's name begins with that nothing executes.
pub const TRANSLATED: &str = "metal";

/// What MLIR says of an op that no conversion has taken.
const UNTRANSLATED: &str = "failed to legalize";

/// What is said of arguments that overlap and do not say so: by the interpreter, and by a target between their names.
const UNSAID: &str = "not both have qd.may_alias";
const OVERLAPS: &str = "' overlaps argument '";

/// What a target's name ends in where kernels are compiled with checks.
pub const CHECKED: &str = ",checked";

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
    let arguments = program.arguments();
    let may_overlap = program.overlaps_unsaid();
    for target in targets {
        let wave = wave_of(target).unwrap_or(32);
        if wave < program.least_wave {
            continue;
        }
        if target.starts_with(TRANSLATED) {
            stage(format!("translation for {target}"));
            // What the target has not is an error at its place, in words of the kernel.
            if let Err(said) = compile_text(&text, target).map_err(|error| error.to_string())
                && (!said.contains(": error: ") || said.contains(UNTRANSLATED))
            {
                done.findings.push(finding(Kind::Refused, target, said));
            }
            done.compared.push(target.clone());
            continue;
        }
        stage(format!("interpretation at {wave}"));
        let mut expected = Vec::new();
        let mut take = |text: &str| expected.push(text.to_owned());
        let reference = match interpret_printing(&text, wave, &arguments, &mut take) {
            Ok(reference) => Ok(reference),
            Err(fault) => match told(program, &fault.message) {
                Some(told) => Err((told, fault)),
                None => {
                    done.fault = Some(fault.to_string());
                    continue;
                }
            },
        };
        stage(format!("compilation for {target}"));
        let checks = if program.is_checked { CHECKED } else { "" };
        let main = match compile(&text, &format!("{target}{checks}")) {
            Ok(main) => main,
            Err(said) => {
                done.findings.push(finding(Kind::Refused, target, said));
                continue;
            }
        };
        let printed = Arc::new(Mutex::new(Vec::new()));
        let to = printed.clone();
        main.on_print(Arc::new(move |text: &str| {
            to.lock().expect("nothing panics").push(text.to_owned());
        }));
        stage(format!("execution on {target}"));
        let outcome = match (reference, execute(&main, &arguments)) {
            // Also where it is not what is shared that is written.
            (_, Err(said)) if may_overlap && said.contains(OVERLAPS) => Ok(()),
            // What the others have printed until then is no one's to say.
            (Err((told, _)), Err(said)) if told.iter().any(|told| said.contains(told)) => Ok(()),
            (Err((_, fault)), Err(said)) => Err(format!("'{said}' instead of '{fault}'")),
            (Err((_, fault)), Ok(_)) => Err(format!("no fault instead of '{fault}'")),
            (Ok(_), Err(said)) => {
                done.findings.push(finding(Kind::Failed, target, said));
                continue;
            }
            (Ok(reference), Ok(actual)) => {
                let printed = std::mem::take(&mut *printed.lock().expect("nothing panics"));
                difference(&arguments, &reference, &actual)
                    .map(drop)
                    .and_then(|()| same_prints(expected, printed))
            }
        };
        done.compared.push(target.clone());
        if let Err(what) = outcome {
            done.findings.push(finding(Kind::Difference, target, what));
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

/// How a target may tell of a fault that the interpreter ended in, where the program is meant to have it.
fn told(program: &Program, fault: &str) -> Option<&'static [&'static str]> {
    const WITHIN: &str = "is within its capacity and its buffers";
    const DIVIDES: &[&str] = &["the divisor of 'arith.", "does not overflow"];
    const OF_CHECKS: [(&str, &[&str]); 10] = [
        // Of a view outside of phases, the launch tells it.
        (
            " with stride ",
            &[
                "is within the buffer that it is a part of",
                " bytes of argument '",
            ],
        ),
        (
            "is out of bounds: sizes",
            &["is within the buffer that it is of", " bytes of argument '"],
        ),
        ("is out of bounds: index", &["is within the extent"]),
        // Other threads may go wrong in the other way.
        ("divides by zero", DIVIDES),
        ("divides the smallest integer by -1", DIVIDES),
        ("has a negative count", &["is not negative"]),
        ("more than its capacity", &[WITHIN]),
        ("elements, but '", &[WITHIN, "are as many as its keys"]),
        // Of the elements that there are; the interpreter says it of those that are counted.
        (
            "slots of scratch, but needs",
            &["is as long as its formula says", WITHIN],
        ),
        // Lanes beyond the elements are beyond a buffer, too, and nothing says which is told first.
        (
            "promises that its elements fill subgroups",
            &["fill subgroups", "is within the extent"],
        ),
    ];
    if fault.contains(DOUBTFUL) {
        return Some(&[DOUBTFUL]);
    }
    if fault.contains(UNSAID) {
        return Some(&[OVERLAPS]);
    }
    let mut of_checks = OF_CHECKS.iter().filter(|_| program.is_checked);
    let found = of_checks.find(|(said, _)| fault.contains(said));
    found.map(|(_, told)| *told)
}

/// Whether the same was printed, in whatever order.
fn same_prints(mut expected: Vec<String>, mut printed: Vec<String>) -> Result<(), String> {
    expected.sort();
    printed.sort();
    if expected == printed {
        return Ok(());
    }
    let differs = expected.iter().zip(&printed).find(|(a, b)| a != b);
    Err(match differs {
        Some((expected, printed)) => format!("prints {printed:?} instead of {expected:?}"),
        None => format!("{} prints instead of {}", printed.len(), expected.len()),
    })
}
