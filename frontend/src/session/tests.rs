use super::*;
use crate::{Host, compile, this_machine};
use std::{
    env,
    fmt::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// What is compiled: kernels that call functions, and what else a file may hold.
#[derive(Clone)]
struct Program {
    comment: String,
    space: &'static str,
    /// Name, and a number in its body.
    functions: Vec<(String, i32)>,
    /// Name, a number in its body, the function that it calls, and how many arguments more it has.
    kernels: Vec<(String, i32, usize, usize)>,
    /// What of this machine is not used.
    without: Option<&'static str>,
    targets: &'static [&'static str],
}

impl Program {
    fn new() -> Self {
        let function = |name: &str, number| (name.to_owned(), number);
        let kernel = |name: &str, number, calls| (name.to_owned(), number, calls, 0);
        Self {
            comment: String::new(),
            space: " ",
            functions: vec![function("f", 1), function("g", 2)],
            kernels: vec![kernel("a", 1, 0), kernel("b", 2, 0), kernel("c", 3, 1)],
            without: None,
            targets: &["cpu"],
        }
    }

    fn options(&self) -> Options {
        let Some(without) = self.without else {
            return Options::default();
        };
        let mut machine = this_machine();
        machine.features.push(without.into());
        Options {
            host: Host::Named(machine),
            ..Options::default()
        }
    }

    fn text(&self) -> String {
        let mut text = format!("// {}\n!t = memref<?xi32>\n", self.comment);
        for (name, number) in &self.functions {
            let _ = writeln!(
                text,
                "func.func @{name}(%x: i32) -> i32 {{
  %c = arith.constant {number} : i32
  %y = arith.addi %x, %c : i32
  return %y : i32
}}"
            );
        }
        for (name, number, calls, more) in &self.kernels {
            let calls = &self.functions[calls % self.functions.len()].0;
            let more: String = (0..*more).map(|i| format!(", %more{i}: i32")).collect();
            let space = self.space;
            let _ = writeln!(
                text,
                "qd.grid.kernel @{name}(%p: !t, %n: index{more}) {{
  qd.grid.for_each \"go\" %i to %n {{
    %x = memref.load %p[%i]{space}: !t
    %c = arith.constant {number} : i32
    %y = arith.muli %x,{space}%c : i32
    %z = func.call @{calls}(%y) : (i32) -> i32
    memref.store %z, %p[%i] : !t
  }}
}}"
            );
        }
        text
    }
}

fn targets(names: &[&str]) -> Vec<TargetSpec> {
    names
        .iter()
        .map(|name| name.parse().expect("a target"))
        .collect()
}

fn request(text: &str, targets: &[TargetSpec], options: &Options) -> CompileRequest {
    CompileRequest {
        source: Source::text("k.mlir", text),
        targets: targets.into(),
        kernels: None,
        options: options.clone(),
    }
}

/// What ran, sorted, for threads run in any order.
fn log(session: &Session) -> String {
    let mut lines: Vec<_> = session
        .take_log()
        .iter()
        .map(|ran| format!("  {} {}\n", ran.query, ran.of))
        .collect();
    lines.sort();
    lines.concat()
}

type Edit = fn(&mut Program);

#[test]
fn each_edit_runs_what_it_reaches() {
    let mut session = Session::default();
    let mut program = Program::new();
    let mut for_targets = targets(&["cpu"]);
    let mut options = Options::default();
    let file = session.add("k.mlir", program.text());
    let mut all = String::new();
    let edits: [(&str, Edit); 10] = [
        ("at first", |_| ()),
        ("nothing", |_| ()),
        ("a comment, two lines long", |p| {
            p.comment = "Said.\n// More.".into()
        }),
        ("whitespace", |p| p.space = "   "),
        ("one body", |p| p.kernels[1].1 = 7),
        ("one callee", |p| p.functions[0].1 = 9),
        ("a signature", |p| p.kernels[2].3 = 1),
        ("a new kernel", |p| {
            p.kernels.insert(1, ("d".into(), 4, 1, 0))
        }),
        ("a kernel deleted", |p| drop(p.kernels.remove(0))),
        ("an undone edit", |p| p.kernels[1].1 = 2),
    ];
    let mut step = |what: &str, session: &Session, text: &str, t: &[TargetSpec], o: &Options| {
        let found = session.compile(file, t).expect("it compiles");
        let _ = writeln!(all, "{what}\n{}", log(session));
        let expected = compile(&request(text, t, o)).expect("it compiles");
        assert_eq!(found.to_bytes(), expected.to_bytes(), "{what}");
    };
    for (what, edit) in edits {
        edit(&mut program);
        session.set_text(file, program.text());
        step(what, &session, &program.text(), &for_targets, &options);
    }
    let mut machine = this_machine();
    machine.features.push("-avx512f".into());
    options.host = Host::Named(machine);
    session.set_options(options.clone());
    step(
        "an option",
        &session,
        &program.text(),
        &for_targets,
        &options,
    );
    for_targets.extend(targets(&["nvptx:sm_90"]));
    step(
        "a target",
        &session,
        &program.text(),
        &for_targets,
        &options,
    );
    insta::assert_snapshot!(all);
}

#[test]
fn what_another_session_compiled_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = || {
        let store = Arc::new(Store::new(folder.path(), u64::MAX));
        let mut session = Session::new(Options::default(), Some(store));
        let file = session.add("k.mlir", Program::new().text());
        let artifact = session
            .compile(file, &targets(&["cpu"]))
            .expect("it compiles");
        (artifact.to_bytes(), log(&session))
    };
    let (first, log) = of();
    assert_eq!(log.matches("compiled").count(), 3, "{log}");
    let (again, log) = of();
    assert_eq!(
        (
            log.matches("compiled").count(),
            log.matches("found").count()
        ),
        (0, 3)
    );
    assert_eq!(first, again);
    // Compilations without a session share it.
    let store = Store::new(folder.path(), u64::MAX);
    let asked = request(
        &Program::new().text(),
        &targets(&["cpu"]),
        &Options::default(),
    );
    let mut compiled = 0;
    let found = crate::compile_stored(&asked, &store, &mut |_| (), &mut |_| compiled += 1);
    assert_eq!(
        (found.expect("it compiles").to_bytes(), compiled),
        (first, 0)
    );
}

/// An edit that a user might make.
fn edit(program: &mut Program, turn: &mut fastrand::Rng, nth: usize) {
    let kernels = program.kernels.len();
    let kernel = turn.usize(..kernels);
    let function = turn.usize(..program.functions.len());
    match turn.u32(..12) {
        0 => program.comment = format!("Edit {nth}.\n// {}", "\n// ".repeat(nth % 3)),
        1 => program.space = ["  ", " ", "\n\n", " // {\n"][nth % 4],
        2 | 3 => program.kernels[kernel].1 = turn.i32(..9),
        4 => program.functions[function].1 = turn.i32(..9),
        5 => program.kernels[kernel].3 = turn.usize(..3),
        6 => program.kernels[kernel].2 = turn.usize(..9),
        7 if kernels < 6 => {
            let kernel = (format!("k{nth}"), turn.i32(..9), turn.usize(..9), 0);
            program.kernels.insert(turn.usize(..=kernels), kernel);
        }
        8 if kernels > 1 => drop(program.kernels.remove(kernel)),
        9 if program.functions.len() < 4 => {
            program.functions.push((format!("f{nth}"), turn.i32(..9)));
        }
        10 => program.without = [None, Some("-avx512f"), Some("-avx2")][turn.usize(..3)],
        11 => {
            let all: [&[&str]; 4] = [
                &["cpu"],
                &["cpu,wave=8"],
                &["cpu", "nvptx:sm_90"],
                &["nvptx:sm_90"],
            ];
            program.targets = all[turn.usize(..all.len())];
        }
        _ => program.kernels.swap(0, kernel),
    }
}

/// As many as `QD_EDITS` says, by two processes at once that share a store: this test starts itself.
#[test]
fn after_any_edits_it_is_what_a_clean_build_is() {
    const FOLDER: &str = "QD_EDITS_FOLDER";
    const NAME: &str = "session::tests::after_any_edits_it_is_what_a_clean_build_is";
    if let Some(folder) = env::var_os(FOLDER) {
        return edits_in(Path::new(&folder));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = env::current_exe().expect("it has a path");
    let mut other = Command::new(program);
    let other = other
        .args(["--exact", NAME])
        .env(FOLDER, folder.path())
        .stdout(Stdio::piped())
        .spawn();
    edits_in(folder.path());
    let other = other.expect("it starts").wait_with_output();
    let said = other.expect("it ends").stdout;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("1 passed"), "{said}");
    let (_, damaged) = Store::new(folder.path(), u64::MAX).verify();
    assert_eq!(damaged, [""; 0].map(PathBuf::from));
}

fn edits_in(folder: &Path) {
    let edits = env::var("QD_EDITS").ok().and_then(|text| text.parse().ok());
    let store = Arc::new(Store::new(folder, u64::MAX));
    let mut turn = fastrand::Rng::with_seed(19);
    let mut program = Program::new();
    let mut session = Session::new(program.options(), Some(Arc::clone(&store)));
    let file = session.add("k.mlir", program.text());
    let (mut compiled, mut found) = (0, 0);
    for nth in 0..edits.unwrap_or(100) {
        let without = program.without;
        edit(&mut program, &mut turn, nth);
        if program.without != without {
            session.set_options(program.options());
        }
        let (text, for_targets) = (program.text(), targets(program.targets));
        session.set_text(file, &*text);
        let made = session.compile(file, &for_targets).expect("it compiles");
        let ran = session.take_log();
        compiled += count(&ran, "compiled");
        found += count(&ran, "found");
        let asked = request(&text, &for_targets, &program.options());
        let clean = compile(&asked).expect("it compiles");
        assert!(made.to_bytes() == clean.to_bytes(), "edit {nth} of\n{text}");
    }
    assert!(compiled + found > 5, "{compiled} and {found}");
    assert!(store.troubles().is_empty());
}

#[test]
fn errors_have_the_places_of_the_text_as_it_is_and_go_again() {
    let mut session = Session::default();
    let file = session.add("k.mlir", "");
    let cpu = targets(&["cpu"]);
    let good = Program::new().text();
    let lines = |text: &str| format!("// Moved.\n\n{text}");
    for broken in [
        good.replacen("arith.muli", "nonsense", 1),
        good.replace("@g(%y)", "@h(%y)"),
        good.replace("@g(%x: i32)", "@f(%x: i32)"),
        format!("{good} \""),
        format!("{good} }}"),
        format!("{good} func.func @alone() {{ nonsense }}"),
        // Aliases that nothing names, or too late.
        format!("{good} #unused = nonsense"),
        good.replacen("!t = memref<?xi32>", "", 1) + "\n!t = memref<?xi32>",
    ] {
        for text in [broken.clone(), lines(&broken)] {
            session.set_text(file, &*text);
            let found = session.compile(file, &cpu).expect_err("it is broken");
            let clean = compile(&request(&text, &cpu, &Options::default()));
            assert_eq!(found, clean.expect_err("it is broken"), "{text}");
        }
        session.set_text(file, &*good);
        assert!(session.compile(file, &cpu).is_ok());
    }
    // One kernel's failure does not lose the others, nor theirs its.
    let broken = good.replacen("arith.muli", "nonsense", 2);
    session.set_text(file, &*broken);
    assert_eq!(session.kernels(file), ["a", "b", "c"]);
    let places = session.compile(file, &cpu).expect_err("it is broken");
    let lines: Vec<_> = places
        .iter()
        .filter_map(|e| Some(e.at.as_ref()?.line))
        .collect();
    assert_eq!(lines, [17, 26]);
    assert!(session.kernel(file, "a", &cpu[0]).is_err());
    let c = session
        .kernel(file, "c", &cpu[0])
        .expect("it compiles")
        .expect("it is there");
    assert_eq!(c.kernels.len(), 1);
    assert_eq!(session.kernel(file, "d", &cpu[0]), Ok(None));
}

#[test]
fn warnings_move_with_the_text() {
    let text = "qd.grid.kernel @k(%a: memref<?xi32>, %n: index) {
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %zero = arith.constant 0 : i32
    %is_more = arith.constant false
    cf.assert %is_more, \"more\"
  }
}";
    let mut session = Session::default();
    let file = session.add("k.mlir", text);
    let vulkan = targets(&["vulkan:1.3,subgroup=8"]);
    let places = |session: &Session| {
        let mut lines = Vec::new();
        let mut sink = |said: &Diagnostic| lines.extend(said.at.as_ref().map(|at| at.line));
        session
            .compile_with(file, &vulkan, &mut sink)
            .expect("it compiles");
        lines
    };
    assert_eq!(places(&session), [6]);
    session.take_log();
    session.set_text(file, format!("\n\n{text}"));
    assert_eq!(places(&session), [8]);
    assert_eq!(log(&session), "  words k.mlir\n");
}

/// So many kernels that their compilation is not over when it is cancelled.
fn many() -> Program {
    let mut program = Program::new();
    let kernel = |i| (format!("many{i}"), i, 0, 0);
    program.kernels.extend((0..200).map(kernel));
    program
}

/// Waits until something has been compiled.
fn until_compiling(session: &Session, compiled: &mut usize) {
    let begin = Instant::now();
    while *compiled == 0 {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "nothing is compiled"
        );
        thread::sleep(Duration::from_millis(1));
        *compiled += count(&session.take_log(), "compiled");
    }
}

fn count(ran: &[Ran], query: &str) -> usize {
    ran.iter().filter(|ran| ran.query == query).count()
}

#[test]
fn an_edit_cancels_what_threads_compute() {
    let mut session = Session::default();
    let mut program = many();
    let kernels = program.kernels.len();
    let file = session.add("k.mlir", program.text());
    let cpu = targets(&["cpu"]);
    let mut compiled = 0;
    thread::scope(|scope| {
        let (asked, cpu) = (session.clone(), &cpu);
        let asker = scope.spawn(move || asked.try_compile(file, cpu));
        until_compiling(&session, &mut compiled);
        program.kernels.truncate(2);
        // It waits for the kernels that are being compiled.
        session.set_text(file, program.text());
        let answer = asker.join().expect("no panic");
        assert_eq!(answer, Err(Cancelled));
    });
    compiled += count(&session.take_log(), "compiled");
    assert!(
        compiled < kernels / 2,
        "{compiled} of {kernels} were compiled"
    );
    // What was compiled stays, and what was not is.
    let last = session.compile(file, &cpu);
    let clean = compile(&request(&program.text(), &cpu, &Options::default()));
    assert_eq!(last, clean);
}

/// Threads that ask for the same at once: it is computed once, and all have it.
#[test]
fn threads_that_ask_for_the_same_share_it() {
    let mut session = Session::default();
    let program = Program::new();
    let file = session.add("k.mlir", program.text());
    let cpu = targets(&["cpu"]);
    let clean = compile(&request(&program.text(), &cpu, &Options::default()));
    thread::scope(|scope| {
        let ask = |_| {
            let (asked, cpu) = (session.clone(), &cpu);
            scope.spawn(move || asked.try_compile(file, cpu))
        };
        let askers: Vec<_> = (0..4).map(ask).collect();
        for asker in askers {
            assert_eq!(asker.join().expect("no panic").as_ref(), Ok(&clean));
        }
    });
    assert_eq!(
        count(&session.take_log(), "compiled"),
        program.kernels.len()
    );
}

/// What is there no more is not held, and what is asked for is.
#[test]
fn a_session_does_not_grow() {
    let mut session = Session::default();
    let cpu = &targets(&["cpu"])[0];
    let file = session.add("k.mlir", "");
    for nth in 0..results::HELD * 2 {
        session.set_text(file, format!("qd.grid.kernel @k{nth}() {{}}"));
        let found = session.kernel(file, &format!("k{nth}"), cpu);
        assert!(found.is_ok_and(|found| found.is_some()));
    }
    assert_eq!(session.0.results.held(), results::HELD);
    // More are held where more are asked for.
    let all: String = (0..results::HELD + 10)
        .map(|nth| format!("qd.grid.kernel @k{nth}() {{}}\n"))
        .collect();
    session.set_text(file, &*all);
    let cpu = std::slice::from_ref(cpu);
    assert!(session.compile(file, cpu).is_ok());
    session.take_log();
    session.set_text(file, format!("{all}qd.grid.kernel @new() {{}}"));
    assert!(session.compile(file, cpu).is_ok());
    assert_eq!(count(&session.take_log(), "compiled"), 1);
}

#[test]
fn what_is_between_text_and_code_can_be_seen_and_is_kept() {
    let mut session = Session::default();
    let program = Program::new();
    let file = session.add("k.mlir", program.text());
    let cpu = &targets(&["cpu"])[0];
    let view =
        |session: &Session, kernel: &str, view| session.view(file, kernel, cpu, view, &mut |_| ());
    for (level, holds) in [
        ("algo", "qd.grid.for_each"),
        ("grid", "qd.grid"),
        ("plan", "qd.grid.launch"),
        ("subgroup", "qd.wave"),
        ("target", "llvm.func"),
    ] {
        let level = View::Level(qd_lowering::pipelines::Level::of(level).expect("a level"));
        let text = view(&session, "a", level).expect("it is lowered");
        let text = text.expect("it is there");
        assert!(text.contains(holds) && !text.contains("@c("), "{text}");
    }
    let page = view(&session, "a", View::Plan).expect("it is lowered");
    assert!(page.expect("it is there").contains("<html"));
    assert_eq!(view(&session, "none", View::Plan), Ok(None));
    session.take_log();
    session.set_text(file, format!("// Moved.\n\n{}", program.text()));
    assert!(view(&session, "a", View::Plan).is_ok());
    assert_eq!(log(&session), "  words k.mlir\n");
    // What is wrong has the places of the text.
    let broken = program.text().replacen("arith.muli", "nonsense", 1);
    session.set_text(file, broken);
    let errors = view(&session, "a", View::Plan).expect_err("it is broken");
    assert_eq!(errors[0].at.as_ref().map(|at| at.line), Some(17));
    // Symbols say what changed.
    let before = session.symbols(file);
    session.set_text(file, program.text().replace("@g", "@h"));
    let changes = before.changes(&session.symbols(file));
    let change = |of: fn(String) -> Change, name: &str| of(name.into());
    let expected = [
        change(Change::Removed, "@g"),
        change(Change::Edited, "@a"),
        change(Change::Edited, "@c"),
        change(Change::Added, "@h"),
    ];
    assert_eq!(changes, expected);
    assert_eq!(session.follows_from(file, "c"), ["!t", "@h", "@c"]);
}
