//! `setup`: the Debian packages that the build needs.
//!
//! Only Debian and its relatives are installed on. Elsewhere the packages are named, so that a
//! person can find the equivalents; nothing is guessed about other package managers.

use std::env;
use std::io::{IsTerminal, stdin};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;

/// What building and testing needs beyond Rust and a C linker. The C++ library comes with clang,
/// FileCheck and lit with the LLVM tools.
const PACKAGES: &[&str] = &[
    "llvm-22-dev",
    "libmlir-22-dev",
    "mlir-22-tools",
    "llvm-22-tools",
    "libclang-22-dev",
    "clang-22",
    "lld-22",
    "libpolly-22-dev",
    "libzstd-dev",
    "zlib1g-dev",
    // lit runs on it.
    "python3",
    // What results are compared with in tests/filecheck/run.
    "python3-numpy",
];

/// Set to 1 by a person whose LLVM does not come from packages.
const SKIP: &str = "QD_SKIP_SETUP";

/// Installs what is missing, or says why it cannot.
pub fn ensure() -> Result<()> {
    let missing = missing()?;
    if missing.is_empty() {
        return Ok(());
    }
    println!("Missing packages: {}", missing.join(" "));
    install(&missing)?;
    let still = self::missing()?;
    if !still.is_empty() {
        bail!(
            "apt-get reported success, but these packages are still missing: {}",
            still.join(" ")
        );
    }
    Ok(())
}

/// Fails if something is missing; changes nothing.
pub fn check() -> Result<()> {
    let missing = missing()?;
    if !missing.is_empty() {
        bail!(
            "missing packages: {}\n  install them with: cargo xtask setup",
            missing.join(" ")
        );
    }
    println!("All {} packages are installed", PACKAGES.len());
    Ok(())
}

fn missing() -> Result<Vec<&'static str>> {
    if env::var_os(SKIP).is_some_and(|value| value == "1") {
        return Ok(Vec::new());
    }
    if find_program("dpkg-query").is_none() || find_program("apt-get").is_none() {
        bail!(
            "this is not a Debian system, so nothing can be installed for you. Install the \
             equivalents of these packages of Debian 12:\n  {}\n\
             set the prefixes in .cargo/config.toml, and run this again with {SKIP}=1",
            PACKAGES.join(" ")
        );
    }
    // It exits with 1 when it has never heard of a package, which is an answer and not a failure.
    let output = Command::new("dpkg-query")
        .args(["--show", "--showformat", "${Package} ${db:Status-Status}\n"])
        .args(PACKAGES)
        .output()
        .context("cannot start dpkg-query")?;
    Ok(not_installed(&String::from_utf8_lossy(&output.stdout)))
}

/// The packages that no line of dpkg-query's answer calls installed: unknown to it, removed, or
/// half-configured.
fn not_installed(answer: &str) -> Vec<&'static str> {
    let installed = |package: &str| {
        answer.lines().any(|line| {
            line.strip_prefix(package)
                .is_some_and(|status| status == " installed")
        })
    };
    PACKAGES
        .iter()
        .copied()
        .filter(|package| !installed(package))
        .collect()
}

fn install(missing: &[&str]) -> Result<()> {
    let by_hand = || {
        format!(
            "install them by hand:\n  sudo apt-get install {}\n\
             Debian 12 has them in bookworm-security; for another release see https://apt.llvm.org",
            missing.join(" ")
        )
    };
    let Some(root) = become_root() else {
        bail!(
            "installing needs root, and there is no sudo here; {}",
            by_hand()
        );
    };
    // A stale list of some unrelated repository need not stop the install; if it matters, that
    // fails and says so.
    if let Err(error) = process::run(apt_get(&root).arg("update")) {
        eprintln!("warning: {error:#}; going on with the package lists at hand");
    }
    process::run(
        apt_get(&root)
            .args(["install", "--yes", "--no-install-recommends"])
            .args(missing),
    )
    .with_context(by_hand)
}

/// The words to put before a command that needs root; none if there is no way to it.
fn become_root() -> Option<Vec<&'static str>> {
    let is_root = process::capture(Command::new("id").arg("-u")).is_ok_and(|uid| uid.trim() == "0");
    if is_root {
        return Some(Vec::new());
    }
    find_program("sudo")?;
    // Without a terminal nobody can type a password: fail at once instead of waiting for one.
    Some(if stdin().is_terminal() {
        vec!["sudo"]
    } else {
        vec!["sudo", "--non-interactive"]
    })
}

fn apt_get(root: &[&str]) -> Command {
    // Through env(1), because sudo drops the environment.
    let mut words = root.iter().chain(&[
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "--quiet",
    ]);
    let mut command = Command::new(words.next().expect("the list is not empty"));
    command.args(words);
    command
}

fn find_program(name: &str) -> Option<()> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .any(|folder| Path::new(&folder).join(name).is_file())
        .then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_installed_package_counts() {
        let mut answer: String = PACKAGES
            .iter()
            .map(|package| format!("{package} installed\n"))
            .collect();
        assert!(not_installed(&answer).is_empty());
        answer = answer
            .replace("clang-22 installed", "clang-22 config-files")
            .replace("python3 installed\n", "");
        assert_eq!(not_installed(&answer), ["clang-22", "python3"]);
    }

    #[test]
    fn a_package_of_two_architectures_is_there_if_one_is() {
        let answer = "zlib1g-dev not-installed\nzlib1g-dev installed\n";
        assert!(!not_installed(answer).contains(&"zlib1g-dev"));
    }
}
