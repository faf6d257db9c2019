//! The flags that `mlir-opt` does not have.

use qd_lowering::{
    pipelines::{LEVELS, Level},
    targets::Target,
};
use qd_passes::verify_level::{self, FORMER_SUBGROUP};
use std::{ffi::OsString, path::PathBuf};

/// Flags of our own.
#[derive(Debug, Default)]
pub struct Own {
    /// Where to write a Chrome trace.
    pub trace: Option<PathBuf>,
    /// Where to write what was selected, as a page.
    pub explain: Option<PathBuf>,
    /// Whether help is asked for.
    pub help: bool,
    /// What is watched, if something is.
    pub watched: Option<Watched>,
}

/// A file that is lowered to a level whenever it is saved.
#[derive(Debug, PartialEq, Eq)]
pub struct Watched {
    /// The file.
    pub file: PathBuf,
    /// Where to write all of it; standard output unless given, for what an edit changed.
    pub output: Option<PathBuf>,
    /// How far it is lowered.
    pub level: Level,
    /// For what.
    pub target: String,
}

/// Takes our flags out of the command line and turns `--to` and `--target` into
/// the flag of a pipeline, in the place of `--to`: what stands before it runs
/// before.
pub fn split(arguments: impl Iterator<Item = OsString>) -> Result<(Vec<OsString>, Own), String> {
    let mut arguments = arguments.into_iter();
    let mut rest: Vec<OsString> = Vec::new();
    let (mut level, mut target, mut trace, mut explain) = (None, None, None, None);
    let mut place = 0;
    let mut own = Own::default();
    let mut is_watched = false;
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            rest.push(argument);
            rest.extend(arguments.by_ref());
            break;
        }
        // What is no UTF-8 is none of our flags.
        let text = argument.to_str().unwrap_or_default();
        let plain = text.strip_prefix("--").or_else(|| text.strip_prefix('-'));
        let (flag, value) = match plain.map(|flag| flag.split_once('=').unwrap_or((flag, ""))) {
            Some((flag, value)) => (flag, value.to_string()),
            None => ("", String::new()),
        };
        let slot = match flag {
            "to" => &mut level,
            "target" => &mut target,
            "trace" => &mut trace,
            "explain" => &mut explain,
            "watch" => {
                is_watched = true;
                continue;
            }
            _ => {
                own.help |= matches!(flag, "help" | "h");
                rest.push(argument);
                continue;
            }
        };
        if flag == "to" {
            place = rest.len();
        }
        let value = match text.contains('=') {
            true => value,
            false => match arguments.next().unwrap_or_default().into_string() {
                Ok(value) => value,
                Err(value) => return Err(format!("--{flag}={}: not UTF-8", value.display())),
            },
        };
        if value.is_empty() {
            return Err(format!(
                "--{flag} needs a value: --{flag}={}",
                expected(flag)
            ));
        }
        if slot.replace(value).is_some() {
            return Err(format!("--{flag} is given twice"));
        }
    }
    own.trace = trace.map(PathBuf::from);
    own.explain = explain.map(PathBuf::from);
    if is_watched && !own.help {
        own.watched = Some(watched(&rest, level, target)?);
        return Ok((rest, own));
    }
    match (&level, &target) {
        (Some(level), _) => {
            let target = target.as_deref().unwrap_or("cpu");
            if let Some(flag) = pipeline(level, target)? {
                check_alone(&rest)?;
                rest.insert(place, flag.into());
            }
        }
        (None, Some(_)) => return Err("--target goes with --to=<level>".into()),
        (None, None) => {}
    }
    Ok((rest, own))
}

/// What `--watch` says, with the flags that are not ours.
fn watched(
    rest: &[OsString],
    level: Option<String>,
    target: Option<String>,
) -> Result<Watched, String> {
    const USAGE: &str = "--watch goes with a file, --to=<level>, --target=<target> and -o <file>";
    let name = level.ok_or(format!("{USAGE}: --to=<level> is missing"))?;
    let target = target.unwrap_or_else(|| "cpu".into());
    pipeline(&name, &target)?;
    let level = Level::of(&name).ok_or_else(|| format!("unknown level '{name}'"))?;
    let (mut file, mut output) = (None, None);
    let mut rest = rest.iter().skip(1);
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        let slot = match &*text {
            "-o" => {
                let value = rest.next().ok_or("-o needs a value: -o <file>")?;
                output = Some(PathBuf::from(value));
                continue;
            }
            "-" => return Err("--watch: standard input cannot be watched: give a file".into()),
            _ if text.starts_with('-') => return Err(format!("{USAGE}, and not with {text}")),
            _ => &mut file,
        };
        if slot.replace(PathBuf::from(argument)).is_some() {
            return Err(format!("{USAGE}: one file"));
        }
    }
    Ok(Watched {
        file: file.ok_or(format!("{USAGE}: the file is missing"))?,
        output,
        level,
        target,
    })
}

/// What a flag's value is, for an error.
fn expected(flag: &str) -> String {
    match flag {
        "to" => format!("<level>, one of {}", names()),
        "target" => "<target>, such as cpu".into(),
        _ => "<file>".into(),
    }
}

fn names() -> String {
    let names = LEVELS.map(|level| level.name);
    names.join(", ")
}

fn pipeline(name: &str, target: &str) -> Result<Option<String>, String> {
    let Some(level) = Level::of(name) else {
        return Err(match name {
            FORMER_SUBGROUP => format!(
                "level '{name}' is called '{}' now",
                verify_level::Level::Subgroup
            ),
            _ => format!("unknown level '{name}': expected one of {}", names()),
        });
    };
    Target::parse(target)?;
    let pass = level.pipeline;
    Ok((!pass.is_empty()).then(|| format!("--{pass}=target={target}")))
}

/// A pipeline as text and flags of passes do not go together, and `--to` is one.
fn check_alone(rest: &[OsString]) -> Result<(), String> {
    let names_pipeline = |argument: &&OsString| {
        let argument = argument.to_str().unwrap_or_default();
        let flag = argument.trim_start_matches('-');
        argument.starts_with('-') && flag.split('=').next() == Some("pass-pipeline")
    };
    match rest.iter().find(names_pipeline) {
        Some(_) => Err(
            "--to and --pass-pipeline are two pipelines: name qd-to-<level>{target=…} in the one, \
             or pipe the output of one qd-opt into another"
                .into(),
        ),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &[&str]) -> Result<Vec<OsString>, String> {
        split(arguments.iter().map(OsString::from)).map(|(rest, _)| rest)
    }

    #[test]
    fn a_level_is_a_pipeline_in_its_place() {
        let flag = "--qd-to-plan=target=cpu,wave=8";
        for arguments in [
            ["a.mlir", "--cse", "--to=plan", "--target=cpu,wave=8"],
            ["a.mlir", "--cse", "-target=cpu,wave=8", "-to=plan"],
        ] {
            assert_eq!(of(&arguments).unwrap(), ["a.mlir", "--cse", flag]);
        }
        let spaced = of(&["--to", "plan", "--target", "cpu,wave=8", "--cse"]);
        assert_eq!(spaced.unwrap(), [flag, "--cse"]);
        assert_eq!(of(&["a.mlir", "--to=algo"]).unwrap(), ["a.mlir"]);
        assert_eq!(of(&["--", "--to=plan"]).unwrap(), ["--", "--to=plan"]);
    }

    #[test]
    fn what_is_watched_is_a_file_and_a_level() {
        let of = |arguments: &[&str]| {
            let all = ["qd-opt", "--watch"].iter().chain(arguments);
            split(all.map(OsString::from)).map(|(_, own)| own.watched)
        };
        let found = of(&["a.mlir", "--to=plan", "-o", "b.mlir"])
            .unwrap()
            .unwrap();
        assert_eq!(found.file, PathBuf::from("a.mlir"));
        assert_eq!(found.output, Some(PathBuf::from("b.mlir")));
        assert_eq!((found.level.name, &*found.target), ("plan", "cpu"));
        for (arguments, end) in [
            (&["a.mlir"] as &[&str], "--to=<level> is missing"),
            (&["--to=plan"], "the file is missing"),
            (&["a.mlir", "b.mlir", "--to=plan"], "one file"),
            (&["a.mlir", "--cse", "--to=plan"], "and not with --cse"),
            (
                &["a.mlir", "--to=plan", "-o"],
                "-o needs a value: -o <file>",
            ),
            (&["-", "--to=plan"], "give a file"),
            (
                &["a.mlir", "--to=plan", "--target=nowhere"],
                "'nowhere': expected",
            ),
            (
                &["a.mlir", "--to=nowhere"],
                "expected one of algo, grid, plan, subgroup, target",
            ),
        ] {
            let error = of(arguments).unwrap_err();
            assert!(error.contains(end), "{error}");
        }
        assert_eq!(of(&["--help"]), Ok(None));
    }

    #[test]
    fn what_is_no_level_is_said() {
        for (arguments, message) in [
            (
                &["--to"] as &[&str],
                "--to needs a value: --to=<level>, one of algo, grid",
            ),
            (&["--to="], "--to needs a value"),
            (&["--trace"], "--trace needs a value: --trace=<file>"),
            (&["--explain="], "--explain needs a value: --explain=<file>"),
            (&["--to=plan", "--to=plan"], "--to is given twice"),
            (
                &["--to=plan", "--target=cpu", "--target=cpu"],
                "--target is given twice",
            ),
            (&["--to=nowhere"], "unknown level 'nowhere'"),
            (
                &["--to=algo", "--target=nowhere"],
                "unknown target 'nowhere'",
            ),
            (&["--target=cpu"], "--target goes with --to"),
            (
                &["--to=plan", "--pass-pipeline=builtin.module(cse)"],
                "are two pipelines",
            ),
        ] {
            let error = of(arguments).unwrap_err();
            assert!(
                error.starts_with(message) || error.contains(message),
                "{error}"
            );
        }
    }
}
