//! Talking to apt and dpkg.

use std::env;
use std::fs;
use std::io::{IsTerminal, stdin};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Package;
use super::plan::{self, Plan};
use crate::process;

/// Installs packages; the error says what to type instead.
pub fn install(missing: &[Package]) -> Result<()> {
    let Some(root) = become_root() else {
        bail!(
            "installing needs root, and there is no sudo here; {}",
            by_hand(&plan(missing)?)
        );
    };
    update(&root);
    let mut plan = plan(missing)?;
    if let Some(source) = plan.source.take() {
        println!("{}", source.reason());
        process::run_with_input(
            with_root(&root, &["tee", plan::SOURCE_FILE]),
            &source.text(),
        )?;
        update(&root);
        plan = self::plan(missing)?;
        if let Some(source) = plan.source {
            bail!(
                "{} is there, but {} offers no new enough version of: {}",
                plan::SOURCE_FILE,
                source.uri,
                source.packages.join(" ")
            );
        }
    }
    for words in &plan.installs {
        // Through env(1), because sudo drops the environment.
        let mut quiet = vec!["env", "DEBIAN_FRONTEND=noninteractive"];
        quiet.extend(words.iter().map(String::as_str));
        quiet.extend(["--quiet", "--yes", "--no-install-recommends"]);
        process::run(&mut with_root(&root, &quiet)).with_context(|| by_hand(&plan))?;
    }
    Ok(())
}

fn by_hand(plan: &Plan) -> String {
    format!(
        "install them by hand:\n{}\
         Debian 12 has LLVM 22 in bookworm-security; for another release see https://apt.llvm.org",
        plan.commands()
    )
}

/// A stale list of some unrelated repository need not stop the install; if it matters, that fails
/// and says so.
fn update(root: &[&str]) {
    let mut command = with_root(root, &["apt-get", "--quiet", "update"]);
    if let Err(error) = process::run(&mut command) {
        eprintln!("warning: {error:#}; continuing with the present package lists");
    }
}

fn plan(missing: &[Package]) -> Result<Plan> {
    let names = missing.iter().map(|package| package.name);
    let policy = process::capture(Command::new("apt-cache").arg("policy").args(names.clone()))?;
    let madison = process::capture(Command::new("apt-cache").arg("madison").args(names))?;
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    Plan::new(missing, &policy, &madison, &release, is_enough)
}

/// Whether a version of a package will do.
pub fn is_enough(package: Package, version: &str) -> Result<bool> {
    let Some(least) = package.at_least else {
        return Ok(true);
    };
    // Debian's order is not one of dotted numbers: 25.0.7~rc1 comes before 25.0.7.
    let status = Command::new("dpkg")
        .args(["--compare-versions", version, "ge", least])
        .status()
        .context("cannot start dpkg")?;
    Ok(status.success())
}

/// The words to put before a command that needs root; none if there is no way to it.
fn become_root() -> Option<Vec<&'static str>> {
    let is_root = process::capture(Command::new("id").arg("-u")).is_ok_and(|uid| uid.trim() == "0");
    if is_root {
        return Some(Vec::new());
    }
    if !has_program("sudo") {
        return None;
    }
    // Without a terminal no password can be typed: fail at once instead of waiting for one.
    Some(if stdin().is_terminal() {
        vec!["sudo"]
    } else {
        vec!["sudo", "--non-interactive"]
    })
}

fn with_root(root: &[&str], words: &[&str]) -> Command {
    let mut words = root.iter().chain(words);
    let mut command = Command::new(words.next().expect("the list is not empty"));
    command.args(words);
    command
}

/// Whether a program is on the search path.
pub fn has_program(name: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| {
        env::split_paths(&path).any(|folder| Path::new(&folder).join(name).is_file())
    })
}
