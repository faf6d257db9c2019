//! Python environments with pinned packages, in the target directory: for tests only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::process;
use crate::workspace::{PYTHON, Workspace};

/// An environment, which need not be there yet.
pub struct Environment {
    /// Versions and hashes.
    requirements: PathBuf,
    folder: PathBuf,
    /// What it does, for an error.
    purpose: &'static str,
}

impl Environment {
    /// That of the oracle for AMD.
    pub fn of_oracle(workspace: &Workspace) -> Self {
        let purpose = "which executes code for AMD";
        Self::of(workspace, "amd-oracle", purpose)
    }

    /// The server that stands in for Amazon's S3.
    fn of_s3(workspace: &Workspace) -> Self {
        let purpose = "which tests the shared cache";
        Self::of(workspace, "s3-server", purpose)
    }

    /// What draws pictures in the tests of the Python package, which Debian's interpreter runs.
    pub fn of_python_tests(workspace: &Workspace) -> Self {
        let purpose = "which draws pictures in the tests of the Python package";
        Self::of(workspace, "python-tests", purpose)
    }

    fn all(workspace: &Workspace) -> [Self; 3] {
        [
            Self::of_oracle(workspace),
            Self::of_s3(workspace),
            Self::of_python_tests(workspace),
        ]
    }

    fn of(workspace: &Workspace, name: &str, purpose: &'static str) -> Self {
        let sources = workspace.root().join("tools").join(name);
        Self {
            requirements: sources.join("requirements.txt"),
            folder: workspace.target().join(name).join("venv"),
            purpose,
        }
    }

    /// Its Python.
    pub fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// Where its packages are, for another interpreter of the version that it was made with.
    pub fn packages(&self) -> Result<Option<PathBuf>> {
        let Ok(mut versions) = fs::read_dir(self.folder.join("lib")) else {
            return Ok(None);
        };
        let version = versions.next().transpose()?;
        Ok(version.map(|version| version.path().join("site-packages")))
    }

    /// What it was made from, written last: without that, it is half made.
    fn stamp(&self) -> PathBuf {
        self.folder.join("requirements.txt")
    }

    fn is_installed(&self) -> Result<bool> {
        let wanted = read(&self.requirements)?;
        Ok(fs::read(self.stamp()).is_ok_and(|made| made == wanted))
    }

    /// Makes it, unless it is there.
    pub fn install(&self) -> Result<()> {
        if self.is_installed()? {
            return Ok(());
        }
        process::run(
            Command::new(PYTHON)
                .args(["-m", "venv", "--clear"])
                .arg(&self.folder),
        )?;
        process::run(
            Command::new(self.python())
                .args(["-m", "pip", "install", "--quiet"])
                .args(["--disable-pip-version-check", "--require-hashes"])
                .args(["--no-deps", "-r"])
                .arg(&self.requirements),
        )?;
        fs::write(self.stamp(), read(&self.requirements)?)
            .with_context(|| format!("cannot write {}", self.stamp().display()))
    }

    /// Fails if it is not there; changes nothing.
    pub fn check(&self) -> Result<()> {
        ensure!(
            self.is_installed()?,
            "there is no {}, {}\n  make it with: cargo xtask setup",
            self.folder.display(),
            self.purpose
        );
        Ok(())
    }
}

/// Makes all that there are.
pub fn install(workspace: &Workspace) -> Result<()> {
    let all = Environment::all(workspace);
    all.iter().try_for_each(Environment::install)
}

/// Fails if one is not there; changes nothing.
pub fn check(workspace: &Workspace) -> Result<()> {
    let all = Environment::all(workspace);
    all.iter().try_for_each(Environment::check)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
