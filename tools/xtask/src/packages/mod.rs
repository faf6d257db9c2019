//! `setup`: the Debian packages that the build and the tests need.
//!
//! Only Debian and its relatives are installed on. Elsewhere the packages are named, so that a
//! person can find the equivalents; nothing is guessed about other package managers.

mod apt;
mod plan;

use std::env;
use std::process::Command;

use anyhow::{Context, Result, bail};

pub use apt::has_program;

/// A package of Debian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    name: &'static str,
    /// An older version counts as missing.
    at_least: Option<&'static str>,
}

const fn any(name: &'static str) -> Package {
    Package {
        name,
        at_least: None,
    }
}

/// What building needs beyond Rust and a C linker. The C++ library comes with clang, FileCheck and
/// lit with the LLVM tools.
const BUILD: &[Package] = &[
    any("llvm-22-dev"),
    any("libmlir-22-dev"),
    any("mlir-22-tools"),
    any("llvm-22-tools"),
    any("libclang-22-dev"),
    any("clang-22"),
    any("lld-22"),
    any("libpolly-22-dev"),
    any("libzstd-dev"),
    any("zlib1g-dev"),
    // lit runs on it.
    any("python3"),
    // What results are compared with in tests/filecheck/run.
    any("python3-numpy"),
];

/// What tests on Vulkan need beyond that: a Vulkan device on the CPU, and what judges SPIR-V modules.
const VULKAN: &[Package] = &[
    any("libvulkan1"),
    any("spirv-tools"),
    any("vulkan-validationlayers"),
    // lavapipe. That of Debian 12, 22.3.6, silently ends a loop after some 65,500 rounds.
    Package {
        name: "mesa-vulkan-drivers",
        at_least: Some("25.0.7"),
    },
];

/// What tests of AMD's targets need: the oracle's Python packages have an environment of their own.
const ORACLE: &[Package] = &[any("python3-venv")];

/// What proves the rules of the search.
const PROOFS: &[Package] = &[any("z3")];

/// What tests of the C interface need: what finds errors of memory, and what finds libraries.
const C: &[Package] = &[any("valgrind"), any("pkg-config")];

/// What tests of the Python package need.
const PYTHON: &[Package] = &[any("python3-pytest"), any("python3-hypothesis")];

/// What packages are wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To build the tools, and to run kernels on the cpu.
    Build,
    /// To run the tests, those on Vulkan and of AMD's targets among them.
    Test,
}

impl Purpose {
    fn packages(self) -> Vec<Package> {
        match self {
            Purpose::Build => BUILD.to_vec(),
            Purpose::Test => [BUILD, VULKAN, ORACLE, PROOFS, C, PYTHON].concat(),
        }
    }
}

/// Set to 1 by a person whose LLVM does not come from packages.
const SKIP: &str = "QD_SKIP_SETUP";

/// Installs what is missing, or says why it cannot.
pub fn ensure(purpose: Purpose) -> Result<()> {
    let missing = missing(purpose)?;
    if missing.is_empty() {
        return Ok(());
    }
    println!("Missing packages: {}", list(&missing));
    apt::install(&missing)?;
    let still = self::missing(purpose)?;
    if !still.is_empty() {
        bail!(
            "apt-get reported success, but these packages are still missing: {}",
            list(&still)
        );
    }
    Ok(())
}

/// Fails if something is missing; changes nothing.
pub fn check(purpose: Purpose) -> Result<()> {
    let missing = missing(purpose)?;
    if !missing.is_empty() {
        bail!(
            "missing packages: {}\n  install them with: cargo xtask setup",
            list(&missing)
        );
    }
    println!("All {} packages are installed", purpose.packages().len());
    Ok(())
}

fn missing(purpose: Purpose) -> Result<Vec<Package>> {
    if env::var_os(SKIP).is_some_and(|value| value == "1") {
        return Ok(Vec::new());
    }
    let packages = purpose.packages();
    if !apt::has_program("dpkg-query") || !apt::has_program("apt-get") {
        bail!(
            "this is not a Debian system, so nothing can be installed for you. Install the \
             equivalents of these packages of Debian 12:\n  {}\n\
             set the prefixes in .cargo/config.toml, and run this again with {SKIP}=1",
            list(&packages)
        );
    }
    // It exits with 1 when it has never heard of a package, which is an answer and not a failure.
    let output = Command::new("dpkg-query")
        .args(["--show", "--showformat"])
        .arg("${Package} ${db:Status-Status} ${Version}\n")
        .args(packages.iter().map(|package| package.name))
        .output()
        .context("cannot start dpkg-query")?;
    let answer = String::from_utf8_lossy(&output.stdout);
    let mut missing = Vec::new();
    for package in packages {
        if !is_installed(package, &answer)? {
            missing.push(package);
        }
    }
    Ok(missing)
}

/// Whether a line of dpkg-query's answer calls a package installed, and in a version that will do. It
/// may be unknown, removed, or half-configured instead; one of several architectures is enough.
fn is_installed(package: Package, answer: &str) -> Result<bool> {
    for line in answer.lines() {
        let mut words = line.split(' ');
        if (words.next(), words.next()) == (Some(package.name), Some("installed"))
            && apt::is_enough(package, words.next().unwrap_or_default())?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The packages on a line, as in "a b (25.0.7 or newer)".
fn list(packages: &[Package]) -> String {
    let words: Vec<String> = packages
        .iter()
        .map(|package| match package.at_least {
            Some(version) => format!("{} ({version} or newer)", package.name),
            None => package.name.to_owned(),
        })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_installed_package_counts() {
        let clang = any("clang-22");
        assert!(is_installed(clang, "clang-22 installed 1:22.1.8\n").unwrap());
        assert!(!is_installed(clang, "clang-22 config-files 1:22.1.8\n").unwrap());
        assert!(!is_installed(clang, "clang-22-doc installed 1:22.1.8\n").unwrap());
        assert!(!is_installed(clang, "").unwrap());
    }

    #[test]
    fn a_package_of_two_architectures_is_there_if_one_is() {
        let answer = "zlib1g-dev not-installed \nzlib1g-dev installed 1:1.2.13\n";
        assert!(is_installed(any("zlib1g-dev"), answer).unwrap());
    }

    #[test]
    fn a_version_that_is_too_old_is_a_missing_package() {
        let mesa = VULKAN
            .iter()
            .copied()
            .find(|package| package.name == "mesa-vulkan-drivers")
            .unwrap();
        for (version, enough) in [
            ("22.3.6-1+deb12u2", false),
            ("25.0.7~rc1-1", false),
            ("25.0.7-2~bpo12+1", true),
            ("25.0.10-1", true),
            ("26.1.0-1", true),
        ] {
            let answer = format!("mesa-vulkan-drivers installed {version}\n");
            assert_eq!(is_installed(mesa, &answer).unwrap(), enough, "{version}");
        }
        assert_eq!(list(&[mesa]), "mesa-vulkan-drivers (25.0.7 or newer)");
    }

    #[test]
    fn the_build_needs_no_vulkan() {
        assert!(!list(&Purpose::Build.packages()).contains("vulkan"));
        assert!(list(&Purpose::Test.packages()).contains("vulkan"));
    }
}
