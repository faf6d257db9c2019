//! What users force, and what is printed for them.

use super::*;
use std::{
    env,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    process::{Command, Output},
};

fn environment(force: Option<&str>, debug: Option<&str>) -> impl FnOnce(&mut Settings) {
    let read = Environment::parse(force, debug).expect("is well-formed");
    move |settings| settings.environment = Some(read)
}

fn bench(force: Option<&str>, debug: Option<&str>) -> (Bench, Printed) {
    Bench::with(Policy::default(), &[1, 2], environment(force, debug))
}

#[test]
fn a_forced_variant_runs_and_nothing_is_measured() {
    let (mut bench, printed) = bench(Some("other:x,sum:b"), None);
    assert_eq!(bench.dispatcher.forced(), Some(1));
    // Whatever its condition says.
    bench.call.refused = vec![1];
    assert_eq!(bench.calls(400), "b".repeat(400));
    assert_eq!(bench.dispatcher.winner(&0), None);
    assert_eq!(
        printed.lines(),
        [
            "perf_dispatch 'sum': registered 'a'",
            "perf_dispatch 'sum': registered 'b'",
            "perf_dispatch 'sum': available implementations: ['a', 'b']",
        ]
    );
    bench.call.refused.clear();
    bench.dispatcher.unforce();
    assert_eq!(bench.calls(4), "ab|a||b|");
}

#[test]
fn dispatchers_that_are_not_named_measure() {
    let (mut bench, printed) = bench(Some("other:b"), None);
    assert_eq!(bench.calls(4), "ab|a||b|");
    assert_eq!(printed.lines().len(), 3);
    let (mut bench, printed) = self::bench(Some("?"), None);
    assert_eq!(bench.calls(4), "ab|a||b|");
    assert_eq!(printed.lines().len(), 3);
}

#[test]
fn an_unknown_variant_that_the_environment_forces_is_a_warning() {
    let (mut bench, printed) = bench(Some("sum:fast"), None);
    assert_eq!(bench.dispatcher.forced(), None);
    assert_eq!(bench.calls(4), "ab|a||b|");
    assert_eq!(
        printed.lines()[3],
        "warning: perf_dispatch 'sum': there is no variant 'fast': those there are: a, b: \
         QD_PERFDISPATCH_FORCE is ignored, and variants are measured"
    );
}

#[test]
fn an_unknown_variant_that_a_program_forces_is_an_error() {
    let (bench, _) = bench(None, None);
    bench.dispatcher.force("b").expect("is there");
    let error = bench.dispatcher.force("fast").expect_err("is not there");
    assert_eq!(
        error.to_string(),
        "perf_dispatch 'sum': there is no variant 'fast': those there are: a, b"
    );
    assert_eq!(bench.dispatcher.forced(), Some(1), "nothing has changed");
}

#[test]
fn debug_prints_say_what_is_registered_and_chosen() {
    let (mut bench, printed) = bench(None, Some("1"));
    assert_eq!(printed.lines().len(), 3);
    bench.calls_at(7, 100);
    assert_eq!(
        printed.lines()[3..],
        ["perf_dispatch 'sum': chose 'a' for 7 (a: 1µs, b: 2µs)"]
    );
    let (_, printed) = self::bench(Some("sum:b"), Some("1"));
    assert_eq!(printed.lines()[3], "perf_dispatch 'sum': forced to 'b'");
    let (mut bench, printed) = self::bench(None, None);
    bench.calls(400);
    assert!(printed.lines().is_empty());
}

/// A program that makes a dispatcher by default settings: what a test runs in a process of its own.
#[test]
#[ignore = "it is part of another test"]
fn child() {
    match Dispatcher::<u32>::new("sum", variants("a b"), Settings::default()) {
        Ok(made) => eprintln!("forced: {:?}", made.forced()),
        Err(error) => eprintln!("error: {error}"),
    }
}

fn run(variables: &[(&str, &OsStr)]) -> String {
    let name = "dispatch::tests::environment::child";
    let Output { status, stderr, .. } = Command::new(env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env_remove(Environment::FORCE)
        .env_remove(Environment::PRINT_DEBUG)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(status.success());
    String::from_utf8(stderr).unwrap()
}

#[test]
fn the_variables_of_the_process_are_read_by_default() {
    assert_eq!(run(&[]), "forced: None\n");
    let force = (Environment::FORCE, OsStr::new("sum:b"));
    let debug = (Environment::PRINT_DEBUG, OsStr::new("1"));
    let text = run(&[force, debug]);
    assert!(
        text.ends_with("perf_dispatch 'sum': forced to 'b'\nforced: Some(1)\n"),
        "{text}"
    );
    assert_eq!(
        run(&[(Environment::FORCE, OsStr::from_bytes(b"sum:\xff"))]),
        "error: QD_PERFDISPATCH_FORCE='sum:\u{fffd}': it is not UTF-8\n"
    );
}
