//! `smith planted`: defects, planted one at a time in a copy of the repository, each of which
//! random kernels have to find.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::packages::Purpose;
use crate::workspace::Workspace;
use crate::{packages, process};

/// How long each defect may stay hidden.
const TIME: &str = "10m";
/// More kernels than there is time for.
const MANY: u64 = 1_000_000;

/// A defect: its file, which is a patch, begins with a sentence that says what is wrong.
struct Defect {
    name: String,
    patch: PathBuf,
    sentence: String,
    /// The file that it is in.
    place: String,
}

/// What became of one.
struct Row {
    name: String,
    kernels: u64,
    seconds: u64,
    /// What was found, if anything was.
    found: Option<String>,
}

/// Plants the defects of these names, or all, and looks for each with kernels from this seed on.
///
/// Without a defect nothing may be found in as many kernels as the longest search took: the row
/// "none".
pub fn run(workspace: &Workspace, names: &[String], seed: u64) -> Result<()> {
    packages::ensure(Purpose::Test)?;
    let defects = chosen(all(workspace)?, names)?;
    let copy = Copy::make(workspace)?;
    let mut rows = Vec::new();
    for (number, defect) in (1..).zip(&defects) {
        eprintln!("\n== {number} of {}: {} ==", defects.len(), defect.name);
        eprintln!("{}", defect.sentence);
        copy.restore()?;
        copy.apply(&defect.patch)?;
        let row = copy.look_for(&defect.name, seed, MANY, Some(TIME));
        copy.restore()?;
        rows.push(row.with_context(|| format!("with '{}' planted", defect.name))?);
    }
    let most = rows.iter().map(|row| row.kernels).max().unwrap_or(0);
    eprintln!("\n== without a defect ==");
    let none = copy.look_for("none", seed, most, None)?;

    println!("\n{}", table(&none, &rows));
    if let Some(found) = &none.found {
        bail!("without a defect, too, there is a {found}");
    }
    let missed = rows.iter().filter(|row| row.found.is_none());
    let missed: Vec<&str> = missed.map(|row| row.name.as_str()).collect();
    ensure!(missed.is_empty(), "not found: {}", missed.join(", "));
    Ok(())
}

/// Where the patches are.
fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root().join("tools/qd-smith/tests/planted")
}

/// Every defect, by where it is.
fn all(workspace: &Workspace) -> Result<Vec<Defect>> {
    let folder = folder(workspace);
    let entries = folder
        .read_dir()
        .with_context(|| format!("cannot list {}", folder.display()))?;
    let mut defects = Vec::new();
    for entry in entries {
        let patch = entry?.path();
        let text = fs::read_to_string(&patch)
            .with_context(|| format!("cannot read {}", patch.display()))?;
        let name = patch.file_stem().unwrap_or_default();
        defects.push(Defect {
            name: name.to_string_lossy().into_owned(),
            sentence: text.lines().next().unwrap_or_default().into(),
            place: (text.lines().find_map(|line| line.strip_prefix("--- a/")))
                .unwrap_or_default()
                .into(),
            patch,
        });
    }
    // Those of one crate one after the other: what is built for one is built for the next.
    defects.sort_by(|a, b| (&a.place, &a.name).cmp(&(&b.place, &b.name)));
    Ok(defects)
}

/// Those of these names, or all.
fn chosen(defects: Vec<Defect>, names: &[String]) -> Result<Vec<Defect>> {
    let is_known = |name: &&String| defects.iter().any(|defect| defect.name == **name);
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = defects.iter().map(|defect| defect.name.as_str()).collect();
        bail!(
            "no defect is called '{unknown}'; there are {}",
            known.join(", ")
        );
    }
    let is_chosen = |defect: &Defect| names.is_empty() || names.contains(&defect.name);
    Ok(defects.into_iter().filter(is_chosen).collect())
}

/// The last commit in a working tree of its own, with its own build outputs, which are kept from
/// patch to patch and from run to run.
struct Copy {
    tree: PathBuf,
    build: PathBuf,
    out: PathBuf,
}

impl Copy {
    fn make(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.target().join("planted");
        let copy = Self {
            tree: folder.join("tree"),
            build: folder.join("build"),
            out: folder.join("out"),
        };
        let git = || {
            let mut git = Command::new("git");
            git.current_dir(workspace.root());
            git
        };
        let commit = process::capture(git().args(["rev-parse", "HEAD"]))?;
        let commit = commit.trim();
        // Forgets a tree that has been deleted.
        process::run(git().args(["worktree", "prune"]))?;
        if copy.tree.join(".git").exists() {
            copy.restore()?;
            process::run(copy.git().args(["checkout", "--quiet", "--detach", commit]))?;
        } else {
            let mut add = git();
            add.args(["worktree", "add", "--quiet", "--detach"]);
            process::run(add.arg(&copy.tree).arg(commit))?;
        }
        Ok(copy)
    }

    fn git(&self) -> Command {
        let mut git = Command::new("git");
        git.current_dir(&self.tree);
        git
    }

    /// Takes a defect out again.
    fn restore(&self) -> Result<()> {
        process::run(
            self.git()
                .args(["checkout", "--quiet", "--force", "HEAD", "--", "."]),
        )
    }

    fn apply(&self, patch: &Path) -> Result<()> {
        process::run(self.git().arg("apply").arg(patch))
    }

    /// Builds what is there, and tries kernels until something is found.
    fn look_for(&self, name: &str, seed: u64, kernels: u64, time: Option<&str>) -> Result<Row> {
        let mut build = Command::new("cargo");
        build
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.build)
            .args(["build", "--quiet", "--package", "qd-smith"]);
        process::run(&mut build)?;
        if self.out.exists() {
            fs::remove_dir_all(&self.out)
                .with_context(|| format!("cannot delete {}", self.out.display()))?;
        }
        let mut smith = Command::new(self.build.join("debug/qd-smith"));
        smith
            .current_dir(&self.tree)
            .args(["run", "--first", "--turns"]);
        smith.args([
            "--seed",
            &seed.to_string(),
            "--kernels",
            &kernels.to_string(),
        ]);
        if let Some(time) = time {
            smith.args(["--time", time]);
        }
        let mut counts = None;
        let status = process::run_watched(smith.arg("--out").arg(&self.out), |line| {
            counts = counts.or(summary(line));
        })?;
        let Some((kernels, seconds)) = counts else {
            bail!("qd-smith did not say how many kernels it tried: {status}");
        };
        let found = match status.success() {
            true => None,
            false => Some(first_finding(&self.out)?),
        };
        Ok(Row {
            name: name.into(),
            kernels,
            seconds,
            found,
        })
    }
}

/// Kernels and seconds of the line that says how much was tried.
fn summary(line: &str) -> Option<(u64, u64)> {
    let (kernels, rest) = line.split_once(" kernels, ")?;
    let (_, seconds) = rest.strip_suffix(" s")?.rsplit_once("; ")?;
    Some((kernels.parse().ok()?, seconds.parse().ok()?))
}

/// What was found first, of which there is a file.
fn first_finding(folder: &Path) -> Result<String> {
    let mut files = Vec::new();
    let entries = folder
        .read_dir()
        .context("qd-smith failed, and nothing was found")?;
    for entry in entries {
        files.push(entry?.path());
    }
    files.sort();
    let first = files.first().context("qd-smith left no finding")?;
    let text = fs::read_to_string(first)?;
    Ok(described(&text))
}

/// A finding in one line, from the comment that its file begins with.
fn described(text: &str) -> String {
    let comments = text.lines().filter_map(|line| line.strip_prefix("//"));
    let lines: Vec<&str> = comments.take(2).map(str::trim).collect();
    let line = lines.join(" ").replace(" of qd-smith's", " of");
    line.chars().take(160).collect()
}

fn table(none: &Row, rows: &[Row]) -> String {
    let mut table = String::from("| defect | kernels | seconds | found |\n|---|---|---|---|\n");
    for row in std::iter::once(none).chain(rows) {
        let found = row.found.as_deref().unwrap_or("nothing");
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "| {} | {} | {} | {found} |",
            row.name, row.kernels, row.seconds
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_counts_is_read() {
        let line =
            "40 kernels, 1 faulted in the interpreter, 39 comparisons; 0 mutants, 0 rejected; 80 s";
        assert_eq!(summary(line), Some((40, 80)));
        assert_eq!(summary("nothing found"), None);
    }

    #[test]
    fn a_finding_is_its_comment() {
        let text = "// difference of qd-smith's kernel 7 on cpu,wave=4:\n//   argument 3 differs\n// RUN: x\n";
        assert_eq!(
            described(text),
            "difference of kernel 7 on cpu,wave=4: argument 3 differs"
        );
    }

    #[test]
    fn names_choose_and_have_to_be_known() {
        let defects = || {
            ["a", "b"].map(|name| Defect {
                name: name.into(),
                patch: PathBuf::new(),
                sentence: String::new(),
                place: String::new(),
            })
        };
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let some = chosen(defects().into(), &names(&["b"])).unwrap();
        assert_eq!(some.len(), 1);
        assert_eq!(chosen(defects().into(), &[]).unwrap().len(), 2);
        let error = chosen(defects().into(), &names(&["c"])).err().unwrap();
        assert!(error.to_string().contains("'c'"), "{error}");
    }
}
