//! `docs`: the reference pages of `docs/generated/`, made from the op definitions and from the C interface's headers.
//!
//! mlir-tblgen writes the entries of ops; this adds what a page needs around them: where it comes from, a
//! title, a list of its ops. The pages are committed, so that they can be read without building
//! anything; the check keeps them current.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{LLVM_PREFIX, Workspace};
use crate::{c_page, process};

/// A family of ops and its page.
struct Family {
    /// The page's stem and the family's prefix in op names.
    name: &'static str,
    /// The definitions, in `dialects/sys/td`.
    source: &'static str,
    /// The ops of the page: every file includes the shared base, whose ops belong on one page only.
    ops: &'static str,
    /// Whether the enumerations, which the families share, are on this page.
    enumerations: bool,
    /// What the page says first.
    intro: &'static str,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "simt",
        source: "QdSimt.td",
        ops: r"^(qd\.)?(simt\.|yield$)",
        enumerations: true,
        intro: "One subgroup and one block: thread and lane ids, moves between lanes, votes, reductions and \
                scans, shared memory. `qd.yield`, which ends the regions of all families, and the \
                enumerations are here too.",
    },
    Family {
        name: "algo",
        source: "QdAlgo.td",
        ops: r"^(qd\.)?algo\.",
        enumerations: false,
        intro: "Algorithms over a whole device: reduce, scan, select, sort, reduce by key, \
                partition.",
    },
    Family {
        name: "grid",
        source: "QdGrid.td",
        ops: r"^(qd\.)?grid\.",
        enumerations: false,
        intro: "Kernels, their phases and launches, and what is ordered at device scope.",
    },
    Family {
        name: "math",
        source: "QdMath.td",
        ops: r"^(qd\.)?math\.",
        enumerations: false,
        intro: "Bit operations whose contract differs from that of upstream's `math`.",
    },
];

/// Writes every page.
pub fn generate(workspace: &Workspace) -> Result<()> {
    let folder = workspace.root().join("docs/generated");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (path, text) in pages(workspace)? {
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {}", relative(workspace, &path));
    }
    Ok(())
}

/// The headers of the C interface, in the order of their page.
const HEADERS: [&str; 2] = ["qd.h", "qd_mlir.h"];

/// Each page's file, and what is to be in it.
fn pages(workspace: &Workspace) -> Result<Vec<(PathBuf, String)>> {
    let mut pages = Vec::new();
    for family in FAMILIES {
        pages.push((page_path(workspace, family.name), page(workspace, family)?));
    }
    let folder = workspace.root().join("frontend/capi/include");
    let read = |name| {
        let path = folder.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let headers = HEADERS.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    pages.push((page_path(workspace, "c"), c_page::page(&headers)));
    Ok(pages)
}

/// Fails if a page differs from what its definitions yield; returns the number of pages.
pub fn check(workspace: &Workspace) -> Result<usize> {
    let mut stale = Vec::new();
    let pages = pages(workspace)?;
    for (path, text) in &pages {
        // A page that cannot be read is as stale as a page can be.
        if fs::read_to_string(path).ok().as_ref() != Some(text) {
            stale.push(relative(workspace, path));
        }
    }
    if !stale.is_empty() {
        bail!(
            "stale: {}\n  regenerate with: cargo xtask docs",
            stale.join(", ")
        );
    }
    Ok(pages.len())
}

fn page_path(workspace: &Workspace, name: &str) -> PathBuf {
    workspace
        .root()
        .join("docs/generated")
        .join(format!("{name}.md"))
}

fn relative(workspace: &Workspace, path: &Path) -> String {
    path.strip_prefix(workspace.root())
        .unwrap_or(path)
        .display()
        .to_string()
}

fn page(workspace: &Workspace, family: &Family) -> Result<String> {
    let ops = tblgen(
        workspace,
        &["-gen-op-doc", &format!("-op-include-regex={}", family.ops)],
        family,
    )?;
    let entries = entries(&ops);
    if entries.is_empty() {
        bail!(
            "{} defines no op that matches {}",
            family.source,
            family.ops
        );
    }
    let mut text = format!(
        "<!-- Generated from dialects/sys/td/{} by `cargo xtask docs`. \
         Edit that file, not this one. -->\n\n\
         # qd.{}\n\n{}\n\n| op | what |\n|---|---|\n",
        family.source, family.name, family.intro
    );
    for Entry { heading, summary } in &entries {
        let name = heading.split('`').nth(1).unwrap_or(heading);
        text += &format!(
            "| [`{name}`](#{}) | {} |\n",
            anchor(heading),
            summary.replace('|', r"\|")
        );
    }
    text += &format!("\n## Ops\n\n{}", tidy(&ops));
    if family.enumerations {
        let enumerations = tblgen(workspace, &["-gen-enum-doc"], family)?;
        text += &format!("\n## Enumerations\n\n{}", tidy(&enumerations));
    }
    Ok(text)
}

fn tblgen(workspace: &Workspace, generator: &[&str], family: &Family) -> Result<String> {
    let folder = Path::new("dialects/sys/td");
    process::capture(
        Command::new(format!("{LLVM_PREFIX}/bin/mlir-tblgen"))
            .args(generator)
            .arg("-I")
            .arg(folder)
            .arg("-I")
            .arg(format!("{LLVM_PREFIX}/include"))
            .arg(folder.join(family.source))
            .current_dir(workspace.root()),
    )
}

/// An op's entry in what mlir-tblgen writes.
#[derive(Debug, PartialEq)]
struct Entry<'a> {
    /// As in "`qd.simt.all` (::qd::simt::AllOp)".
    heading: &'a str,
    /// The line in italics below it.
    summary: &'a str,
}

fn entries(body: &str) -> Vec<Entry<'_>> {
    let mut lines = body.lines();
    let mut entries = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("### ") {
            let summary = lines.find(|line| !line.is_empty()).unwrap_or_default();
            entries.push(Entry {
                heading,
                summary: summary.trim_matches('_'),
            });
        }
    }
    entries
}

/// The fragment that GitHub makes of a heading.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ => c.is_alphanumeric().then_some(c.to_ascii_lowercase()),
        })
        .collect()
}

/// Drops the generator's own notice, which the page's header replaces, trailing blanks, and runs of
/// empty lines.
fn tidy(body: &str) -> String {
    let mut text = String::new();
    for line in body
        .lines()
        .filter(|line| !line.starts_with("<!-- Autogenerated"))
    {
        let line = line.trim_end();
        if line.is_empty() && (text.is_empty() || text.ends_with("\n\n")) {
            continue;
        }
        text += line;
        text.push('\n');
    }
    format!("{}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "\n<!-- Autogenerated by mlir-tblgen; don't manually edit -->\n\n\
                        ### `qd.simt.all_equal` (::qd::simt::AllEqualOp)\n\n\
                        _Whether every lane holds the same_\n\n\n#### Operands:  \n\n";

    #[test]
    fn an_entry_is_a_heading_and_its_summary() {
        let heading = "`qd.simt.all_equal` (::qd::simt::AllEqualOp)";
        let summary = "Whether every lane holds the same";
        assert_eq!(entries(BODY), [Entry { heading, summary }]);
        assert_eq!(anchor(heading), "qdsimtall_equal-qdsimtallequalop");
    }

    #[test]
    fn tidying_drops_the_notice_and_stray_blanks() {
        assert_eq!(
            tidy(BODY),
            "### `qd.simt.all_equal` (::qd::simt::AllEqualOp)\n\n\
             _Whether every lane holds the same_\n\n#### Operands:\n"
        );
    }
}
