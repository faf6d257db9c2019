//! `new`: the files that an op, a pass, an algorithm or a rule starts from, registered, with a test that
//! fails until they are filled in.
//!
//! The text is in `templates/`; here is where it goes. Nothing is written unless all of it can be.
//! Templates of Rust are Rust, of a thing called `the-name`: the tests of the crates that they are for
//! compile them.

mod edit;
mod name;
#[cfg(test)]
#[path = "../../../../dialects/sys/tablegen.rs"]
mod tablegen;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Subcommand;

use crate::workspace::Workspace;
use edit::{insert_before_last, insert_into_table, insert_sorted};
use name::Name;

/// What can be started.
#[derive(Subcommand)]
pub enum What {
    /// An op: its definition and its test
    ///
    /// Example: cargo xtask new op simt.vote-none
    #[command(verbatim_doc_comment)]
    Op {
        /// The family, simt, grid, algo or math, a dot, and the name in words with hyphens
        name: String,
    },
    /// A target-neutral pass: its file, its registration and its test
    ///
    /// Example: cargo xtask new pass merge-barriers
    #[command(verbatim_doc_comment)]
    Pass {
        /// The flag without its leading `qd-`
        name: String,
    },
    /// A device-wide algorithm with one strategy: its folder, its line in the table and its test
    ///
    /// Its op is made first, with `cargo xtask new op algo.NAME`.
    ///
    /// Example: cargo xtask new algorithm histogram
    #[command(verbatim_doc_comment)]
    Algorithm {
        /// The name in words with hyphens
        name: String,
    },
    /// A rule of `qd-select-lowering`: its row in a family, which is made where it is new, and its test
    ///
    /// Example: cargo xtask new rule votes any-of-any
    #[command(verbatim_doc_comment)]
    Rule {
        /// The family: a file of lowering/src/select/rules, without its ending; a new one is made
        family: String,
        /// The name in words with hyphens
        name: String,
    },
}

/// A file to be written.
#[derive(Debug)]
struct Change {
    /// From the top of the repository.
    path: String,
    text: String,
    /// Whether the file is to be new: an existing one is not written over.
    new: bool,
}

impl Change {
    fn new(path: impl Into<String>, text: String) -> Self {
        Self {
            path: path.into(),
            text,
            new: true,
        }
    }

    /// An edit of a file that is there.
    fn edit(
        root: &Path,
        path: impl Into<String>,
        edit: impl FnOnce(&str) -> Result<String>,
    ) -> Result<Self> {
        let path = path.into();
        let text = fs::read_to_string(root.join(&path)).with_context(|| path.clone())?;
        Ok(Self {
            text: edit(&text).with_context(|| path.clone())?,
            path,
            new: false,
        })
    }
}

/// Writes the files, and says what they are and what comes next.
pub fn run(workspace: &Workspace, what: &What) -> Result<()> {
    let (changes, next) = plan(workspace.root(), what)?;
    for change in changes.iter().filter(|change| change.new) {
        if workspace.root().join(&change.path).exists() {
            bail!("{} already exists", change.path);
        }
    }
    for change in &changes {
        let path = workspace.root().join(&change.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        fs::write(&path, &change.text).with_context(|| format!("cannot write {}", change.path))?;
        let verb = if change.new { "created" } else { "edited" };
        println!("{verb:<8} {}", change.path);
    }
    println!("\n{next}");
    Ok(())
}

/// What is to be written, and what is left to be done by hand.
fn plan(root: &Path, what: &What) -> Result<(Vec<Change>, String)> {
    match what {
        What::Op { name } => op(root, name),
        What::Pass { name } => pass(root, name),
        What::Algorithm { name } => algorithm(root, name),
        What::Rule { family, name } => rule(root, family, name),
    }
}

fn pass(root: &Path, name: &str) -> Result<(Vec<Change>, String)> {
    let name = Name::parse(name.strip_prefix("qd-").unwrap_or(name))?;
    let test = format!("tests/filecheck/passes/{}.mlir", name.kebab());
    let changes = vec![
        Change::new(
            format!("passes/src/{}.rs", name.snake()),
            name.fill(include_str!("templates/pass.rs")),
        ),
        Change::edit(root, "passes/src/lib.rs", |text| {
            let text = insert_sorted(text, "mod ", &format!("pub mod {};", name.snake()))?;
            let line = format!("pass::register::<{}::{}>();", name.snake(), name.camel());
            insert_sorted(&text, "pass::register::<", &line)
        })?,
        Change::new(&test, name.fill(include_str!("templates/pass.mlir.in"))),
    ];
    Ok((changes, next(&test, "docs/how-to/add-a-pass.md")))
}

fn op(root: &Path, full: &str) -> Result<(Vec<Change>, String)> {
    let full = full.strip_prefix("qd.").unwrap_or(full);
    let Some((family, name)) = full.split_once('.') else {
        bail!("an op is named by its family and its name, such as simt.vote-none, not '{full}'");
    };
    let definitions = match family {
        "simt" => "QdSimt.td",
        "grid" => "QdGrid.td",
        "algo" => "QdAlgo.td",
        "math" => "QdMath.td",
        _ => bail!("'{family}' is not a family: expected simt, grid, algo or math"),
    };
    // `block.reduce` is an op of simt whose name has a dot itself.
    let name = Name::parse_dotted(name)?;
    let fill = |text: &str| {
        let text = name.fill(text);
        let text = text.replace("{family}", family);
        let text = text.replace("{Family}", &Name::capital(family));
        // In simt an op says who executes it: each thread for itself, until it is made a collective.
        let class = match family {
            "simt" => "Simt_PerThreadOp".into(),
            _ => format!("{}_Op", Name::capital(family)),
        };
        text.replace("{Class}", &class)
    };
    let test = format!("tests/filecheck/dialects/{family}/{}.mlir", name.kebab());
    // An algorithm has buffers, and the interpreter a file of what it means.
    let (definition, case) = match family {
        "algo" => (
            include_str!("templates/algo-op.td.in"),
            include_str!("templates/algo-op.mlir.in"),
        ),
        _ => (
            include_str!("templates/op.td.in"),
            include_str!("templates/op.mlir.in"),
        ),
    };
    let mut changes = vec![
        Change::edit(root, format!("dialects/sys/td/{definitions}"), |text| {
            insert_before_last(text, "#endif", &fill(definition))
        })?,
        Change::new(&test, fill(case)),
    ];
    if family == "algo" {
        let meanings = "dialects/interp/src/algorithms";
        changes.push(Change::new(
            format!("{meanings}/{}.rs", name.snake()),
            name.fill(include_str!("templates/interp-algorithm.rs")),
        ));
        changes.push(Change::edit(root, format!("{meanings}/mod.rs"), |text| {
            register(text, &name)
        })?);
    }
    Ok((changes, next(&test, "docs/how-to/add-an-op.md")))
}

fn algorithm(root: &Path, name: &str) -> Result<(Vec<Change>, String)> {
    let name = Name::parse(name)?;
    let folder = format!("lowering/src/algorithms/{}", name.snake());
    let test = format!("tests/filecheck/algorithms/{}.mlir", name.kebab());
    let changes = vec![
        Change::new(
            format!("{folder}/mod.rs"),
            name.fill(include_str!("templates/algorithm/mod.rs")),
        ),
        Change::new(
            format!("{folder}/hierarchical.rs"),
            name.fill(include_str!("templates/algorithm/hierarchical.rs")),
        ),
        Change::new(
            format!("{folder}/forms.mlir"),
            name.fill(include_str!("templates/algorithm/forms.mlir")),
        ),
        Change::new(
            format!("{folder}/bench.rs"),
            name.fill(include_str!("templates/algorithm/bench.rs")),
        ),
        Change::new(
            format!("{folder}/bench.cu"),
            name.fill(include_str!("templates/algorithm/bench.cu")),
        ),
        Change::edit(root, "lowering/src/algorithms/mod.rs", |text| {
            register(text, &name)
        })?,
        Change::new(
            &test,
            name.fill(include_str!("templates/algorithm.mlir.in")),
        ),
    ];
    Ok((changes, next(&test, "docs/how-to/add-an-op.md")))
}

fn rule(root: &Path, family: &str, name: &str) -> Result<(Vec<Change>, String)> {
    let (family, name) = (Name::parse(family)?, Name::parse(name)?);
    let rules = "lowering/src/select/rules";
    let path = format!("{rules}/{}.rs", family.snake());
    let test = format!("tests/filecheck/select/{}.mlir", name.kebab());
    let row = name.fill(include_str!("templates/rule.rs.in"));
    let mut changes = match root.join(&path).exists() {
        true => vec![Change::edit(root, path, |text| {
            insert_before_last(text, "];", &row)
        })?],
        false => {
            let text = insert_before_last(include_str!("templates/family.rs.in"), "];", &row)?;
            let family = family.snake();
            vec![
                Change::new(path, text),
                Change::edit(root, format!("{rules}/mod.rs"), |text| {
                    let text = insert_sorted(text, "mod ", &format!("mod {family};"))?;
                    insert_into_table(&text, "const FAMILIES", &format!("{family}::RULES,"))
                })?,
            ]
        }
    };
    let template = include_str!("templates/rule.mlir.in");
    changes.push(Change::new(&test, name.fill(template)));
    Ok((changes, next(&test, &format!("{rules}/README.md"))))
}

/// Makes a module part of a table of algorithms.
fn register(text: &str, name: &Name) -> Result<String> {
    let text = insert_sorted(text, "mod ", &format!("mod {};", name.snake()))?;
    let row = format!("{}::{},", name.snake(), name.screaming());
    insert_into_table(&text, "const ALGORITHMS", &row)
}

fn next(test: &str, page: &str) -> String {
    format!("It fails until it is filled in: cargo xtask lit {test}\nWhat belongs to it: {page}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{process, workspace::LLVM_PREFIX};
    use std::process::Command;

    fn root() -> &'static Path {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        manifest
            .ancestors()
            .nth(2)
            .expect("tools/xtask is two below")
    }

    fn paths(changes: &[Change]) -> Vec<&str> {
        changes.iter().map(|change| change.path.as_str()).collect()
    }

    #[test]
    fn a_pass_is_a_file_a_line_and_a_test() {
        let name = "qd-merge-barriers".to_owned();
        let (changes, next) = plan(root(), &What::Pass { name }).unwrap();
        assert_eq!(
            paths(&changes),
            [
                "passes/src/merge_barriers.rs",
                "passes/src/lib.rs",
                "tests/filecheck/passes/merge-barriers.mlir",
            ]
        );
        assert!(changes[0].text.contains("\"qd-merge-barriers\""));
        assert!(changes[1].text.contains("pub mod merge_barriers;\n"));
        let line = "    pass::register::<merge_barriers::MergeBarriers>();\n";
        assert!(changes[1].text.contains(line));
        assert!(changes[2].text.contains("qd-opt %s --qd-merge-barriers"));
        assert!(next.contains("tests/filecheck/passes/merge-barriers.mlir"));
    }

    #[test]
    fn an_op_is_a_definition_and_a_test() {
        let name = "simt.block.vote-none".to_owned();
        let (changes, _) = plan(root(), &What::Op { name }).unwrap();
        assert_eq!(
            paths(&changes),
            [
                "dialects/sys/td/QdSimt.td",
                "tests/filecheck/dialects/simt/block-vote-none.mlir",
            ]
        );
        let definition = "def Simt_BlockVoteNoneOp : Simt_PerThreadOp<\"block.vote_none\"";
        assert!(changes[0].text.contains(definition), "{}", changes[0].text);
        assert!(changes[0].text.ends_with("#endif // QD_SIMT_TD\n"));
        assert!(changes[1].text.contains("qd.simt.block.vote_none"));
    }

    #[test]
    fn an_op_of_algo_has_a_meaning() {
        let name = "algo.histogram".to_owned();
        let (changes, _) = plan(root(), &What::Op { name }).unwrap();
        let meaning = "dialects/interp/src/algorithms/histogram.rs";
        assert_eq!(changes[2].path, meaning);
        assert!(changes[2].text.contains("const HISTOGRAM: Algorithm"));
        assert!(changes[3].text.contains("\nmod histogram;\n"));
        assert!(changes[3].text.contains("    histogram::HISTOGRAM,\n];\n"));
    }

    #[test]
    fn an_algorithm_is_a_folder_a_line_and_a_test() {
        let name = "histogram".to_owned();
        let (changes, _) = plan(root(), &What::Algorithm { name }).unwrap();
        assert_eq!(
            paths(&changes),
            [
                "lowering/src/algorithms/histogram/mod.rs",
                "lowering/src/algorithms/histogram/hierarchical.rs",
                "lowering/src/algorithms/histogram/forms.mlir",
                "lowering/src/algorithms/histogram/bench.rs",
                "lowering/src/algorithms/histogram/bench.cu",
                "lowering/src/algorithms/mod.rs",
                "tests/filecheck/algorithms/histogram.mlir",
            ]
        );
        assert!(changes[5].text.contains("\nmod histogram;\n"));
        assert!(changes[5].text.contains("    histogram::HISTOGRAM,\n];\n"));
    }

    /// Outside its folder, tests aside: its definition, its meaning and a line of two tables.
    #[test]
    fn an_algorithm_is_four_files_elsewhere() {
        let op = What::Op {
            name: "algo.histogram".into(),
        };
        let algorithm = What::Algorithm {
            name: "histogram".into(),
        };
        let all = [op, algorithm].map(|what| plan(root(), &what).unwrap().0);
        let paths = all.iter().flat_map(|changes| paths(changes));
        let is_elsewhere = |path: &&str| {
            !path.starts_with("tests/") && !path.starts_with("lowering/src/algorithms/histogram/")
        };
        assert_eq!(paths.filter(is_elsewhere).count(), 4);
    }

    #[test]
    fn a_rule_is_a_row_and_a_test() {
        let (family, name) = ("votes".to_owned(), "any-of-any".to_owned());
        let (changes, _) = plan(root(), &What::Rule { family, name }).unwrap();
        assert_eq!(
            paths(&changes),
            [
                "lowering/src/select/rules/votes.rs",
                "tests/filecheck/select/any-of-any.mlir",
            ]
        );
        let row = changes[0].text.find("Rule::new(\"any-of-any\"").unwrap();
        assert!(
            changes[0].text[row..].ends_with("];\n"),
            "{}",
            changes[0].text
        );
        assert!(changes[1].text.contains("The rule any-of-any"));
    }

    #[test]
    fn a_rule_of_a_new_family_makes_its_file() {
        let (family, name) = ("ranks".to_owned(), "rank-of-rank".to_owned());
        let (changes, _) = plan(root(), &What::Rule { family, name }).unwrap();
        let rules = "lowering/src/select/rules";
        assert_eq!(
            paths(&changes),
            [
                &format!("{rules}/ranks.rs"),
                &format!("{rules}/mod.rs"),
                "tests/filecheck/select/rank-of-rank.mlir",
            ]
        );
        assert!(changes[0].text.contains("Rule::new(\"rank-of-rank\""));
        assert!(changes[1].text.contains("mod ranks;\n"));
        assert!(changes[1].text.contains("    ranks::RULES,\n];\n"));
    }

    #[test]
    fn every_placeholder_is_filled() {
        for what in [
            What::Rule {
                family: "moves".into(),
                name: "a-b".into(),
            },
            What::Op {
                name: "math.parity".into(),
            },
            What::Op {
                name: "algo.a-b".into(),
            },
            What::Pass { name: "a-b".into() },
            What::Algorithm { name: "a-b".into() },
        ] {
            let (changes, _) = plan(root(), &what).unwrap();
            for change in changes.iter().filter(|change| change.new) {
                for placeholder in [
                    "the-name",
                    "the_name",
                    "TheName",
                    "THE_NAME",
                    "{kebab}",
                    "{snake}",
                    "{Camel}",
                    "{mnemonic}",
                    "{family}",
                    "{Family}",
                    "{Class}",
                ] {
                    assert!(!change.text.contains(placeholder), "{}", change.path);
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_is_an_error() {
        for (what, message) in [
            (
                What::Op {
                    name: "vote".into(),
                },
                "an op is named by its family",
            ),
            (
                What::Op {
                    name: "gpu.vote".into(),
                },
                "'gpu' is not a family",
            ),
            (
                What::Pass {
                    name: "Merge Barriers".into(),
                },
                "lower-case words with hyphens",
            ),
            (
                What::Rule {
                    family: "Votes".into(),
                    name: "a-b".into(),
                },
                "lower-case words with hyphens",
            ),
        ] {
            let error = plan(root(), &what).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn what_a_new_op_adds_compiles() {
        let folder = std::env::temp_dir().join(format!("qd-new-op-{}", std::process::id()));
        for part in ["td", "cpp"] {
            let copy = folder.join("dialects/sys").join(part);
            fs::create_dir_all(&copy).unwrap();
            for entry in fs::read_dir(root().join("dialects/sys").join(part)).unwrap() {
                let entry = entry.unwrap();
                fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
            }
        }
        for name in ["algo.the-first", "simt.the-second"] {
            let (changes, _) = plan(root(), &What::Op { name: name.into() }).unwrap();
            for change in changes {
                if change.path.starts_with("dialects/sys/") {
                    fs::write(folder.join(&change.path), &change.text).unwrap();
                }
            }
        }
        let sys = folder.join("dialects/sys");
        tablegen::generate(Path::new(LLVM_PREFIX), &sys, &sys).unwrap();
        let read = |file: &str| fs::read_to_string(sys.join(file)).unwrap();
        assert!(read("QdSimt.cpp.inc").contains("TheSecondOp"));
        assert!(read("QdAlgo.cpp.inc").contains("TheFirstOp"));
        let flags = [
            "-fsyntax-only",
            "-std=c++17",
            "-fno-rtti",
            "-I.",
            "cpp/QdAlgo.cpp",
        ];
        let mut compiler = Command::new(format!("{LLVM_PREFIX}/bin/clang++"));
        compiler
            .current_dir(&sys)
            .arg(format!("-I{LLVM_PREFIX}/include"))
            .args(flags);
        process::capture(&mut compiler).unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }
}
