//! `cargo xtask`: everything around the build, one subcommand each.
//!
//! This crate is the first thing that is built on a fresh machine, and it is what installs LLVM
//! there: it depends on no crate of ours and on nothing that needs LLVM.

mod algorithms;
mod amd;
mod bench;
mod c_page;
mod cargo;
mod conformance;
mod costs;
mod coverage;
mod demo;
mod docs;
mod drivers;
mod environment;
mod lavapipe;
mod linkage;
mod lit;
mod new;
mod opinions;
mod oracle;
mod packages;
mod planted;
mod process;
mod python;
mod smith;
mod spirv_counts;
mod suite;
mod workers;
mod workspace;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use packages::Purpose;
use workspace::{Profile, Workspace};

/// Sets up, demonstrates, tests and documents this repository.
///
/// `cargo xtask demo` shows what it does; `cargo xtask test` runs everything that must pass.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what the build needs and this machine lacks
    ///
    /// Asks dpkg which of the Debian packages are missing, names them, and installs them with
    /// apt-get: as root, or through sudo. Without root, or on another system, names what to install
    /// and exits with 1. Takes a few milliseconds when nothing is missing. QD_SKIP_SETUP=1 skips
    /// it, for a machine whose LLVM is not from packages.
    Setup {
        /// Only say what is missing; exit with 1 if anything is
        #[arg(long)]
        check: bool,
    },
    /// Build the tools in release and run an example, a group-by over 200,000 flights
    ///
    /// Runs `setup` first, and ends with the commands that show the IR of the example at each level.
    Demo,
    /// Benchmark a target and qd-opt in release, each compared with its peer
    ///
    /// The target is the cpu, unless --target names a device: then CUB is built with nvcc and measured, too.
    /// Arguments go to the benchmark: `cargo xtask bench -- --help` lists them.
    Bench {
        /// Flags of the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run everything that must pass
    ///
    /// In order: setup, build of the workspace and all its targets, cargo test, the conformance
    /// suite on Vulkan at several subgroup sizes, the oracle that executes code for AMD and the conformance suite in it, the FileCheck suite, random kernels, the Python package, the check that one LLVM is linked, the check that the generated docs are current. Every SPIR-V module that is made on
    /// the way goes through spirv-val. Goes on after a failing step where it can, and closes with a
    /// table of counts and times that says how to rerun each failing step alone.
    Test,
    /// Compare the results of a target with the interpreter's
    ///
    /// Runs every operation and algorithm, over types, sizes and inputs, on a device of this machine, and
    /// prints how many cases ran. `test` does the same on the cpu, with --lavapipe and with --amd.
    ///
    /// Examples:
    ///   cargo xtask conformance --target=nvptx:sm_90
    ///   cargo xtask conformance --target=nvptx:sm_90 sort
    ///   cargo xtask conformance --target=vulkan:1.3
    ///   cargo xtask conformance --target=vulkan:1.3,subgroup=8
    ///   cargo xtask conformance --target=amdgpu:gfx1100,wave=64
    #[command(verbatim_doc_comment)]
    Conformance {
        /// The target, spelled as for the tools. If it names a subgroup size, lavapipe runs at that
        /// size; code for AMD is executed on the CPU from AMD's pseudocode, at each wave unless one
        /// is named
        #[arg(long, default_value = "cpu")]
        target: String,
        /// Run on lavapipe, Vulkan on the CPU, at subgroup sizes 4, 8 and 16 in turn
        #[arg(long, conflicts_with = "target")]
        lavapipe: bool,
        /// Run AMD's targets in turn, executed on the CPU from AMD's pseudocode
        #[arg(long, conflicts_with_all = ["target", "lavapipe"])]
        amd: bool,
        /// Run the programs of single collectives without the search for lowerings, on the CPU, on lavapipe and on a
        /// chip of AMD's; and others at the subgroup sizes that the search chooses
        #[arg(long, conflicts_with_all = ["target", "lavapipe", "amd", "args"])]
        fixed: bool,
        /// Filters and flags of the tests
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Test the oracle that executes code for AMD's targets
    ///
    /// Compares its arithmetic with Python's and its lane shuffles with LLVM's code for them, and checks that
    /// it detects faulty code.
    TestOracle,
    /// Count what algorithms cost on AMD's chips, without the hardware
    ///
    /// Executes each on 16,384 elements in the oracle, and prints a table: for each body that matters, chip
    /// and wave, instructions by class and issue slots for 64 elements, registers, LDS, waves of a SIMD, and
    /// llvm-mca's cycles of the body as a straight line. A second table has what the kernels of
    /// `bench -- --only waves` take with the search, of what they take without.
    AmdCosts,
    /// Compare the subgroup sizes that the search chooses for RDNA with what others say of them
    ///
    /// For each body of the bench's algorithms and of the kernels of `bench -- --only waves`, prints what
    /// 64 lanes take of 32 by the search's estimate, by Mesa's compiler (RADV without a device) and by what
    /// the oracle counts, and where the choice disagrees with either.
    WaveOpinions,
    /// Count what the search changes of SPIR-V, in instructions
    ///
    /// For each kernel of `bench -- --only waves` and each algorithm of which the search changes something,
    /// prints the instructions without it and with it, at each size that Vulkan has.
    SpirvCounts,
    /// Run the tests of the Python package
    ///
    /// Puts it together in target/python from its sources and the extension as built last, and runs
    /// pytest: on the cpu, on lavapipe and, as AMD's code, in the oracle.
    ///
    /// Examples:
    ///   cargo xtask python
    ///   cargo xtask python test_storage.py -k ndarrays
    ///   cargo xtask python --arch=vulkan test_calls.py
    ///   cargo xtask python --arch=amdgpu:gfx1201
    #[command(verbatim_doc_comment)]
    Python {
        /// The device that all of it runs on: cpu, vulkan, cuda, amdgpu, amdgpu:ARCHITECTURE
        #[arg(long)]
        arch: Option<String>,
        /// The interpreter, which has NumPy and pytest
        #[arg(long, default_value = workspace::PYTHON)]
        python: PathBuf,
        /// Files of frontend/python/tests, and options for pytest
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Build the tools and run the FileCheck suite
    ///
    /// Without a path the whole of tests/filecheck runs. Each file also goes through the generic
    /// form and bytecode.
    ///
    /// Examples:
    ///   cargo xtask lit
    ///   cargo xtask lit tests/filecheck/passes
    ///   cargo xtask lit --filter=fuse-phases -a
    #[command(verbatim_doc_comment)]
    Lit {
        /// Files and folders to run, and options for lit itself (-a shows every command, --help
        /// lists the others)
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Try random kernels and mutated inputs
    ///
    /// Builds qd-smith and runs it with the given arguments: `cargo xtask smith run --help` lists
    /// them. `test` runs some of a fixed and of a fresh seed.
    ///
    /// Examples:
    ///   cargo xtask smith run --kernels 1000 --mutants 20000
    ///   cargo xtask smith run --kernels 1000 --target nvptx:sm_90
    ///   cargo xtask smith show 17
    ///   cargo xtask smith planted
    #[command(verbatim_doc_comment)]
    Smith {
        #[command(subcommand)]
        what: smith::What,
    },
    /// Measure which lines of passes and lowering the tests cover, and qd-smith beyond them
    ///
    /// Builds everything with coverage instrumentation in target/coverage, and writes tables and pages
    /// to out/coverage. Runs every test once, and needs cargo-llvm-cov.
    Coverage,
    /// Generate docs/generated/ from the op definitions and the headers of the C interface
    ///
    /// One page per family of ops, made by mlir-tblgen from dialects/sys/td/*.td, and one of
    /// frontend/capi/include/*.h.
    Docs {
        /// Write nothing; exit with 1 if a page is stale
        #[arg(long)]
        check: bool,
    },
    /// Make the files that a new op, pass or algorithm starts from, with a test that fails
    ///
    /// Registers it where it has to be registered, and prints what is left to do.
    New {
        #[command(subcommand)]
        what: new::What,
    },
    /// Check that each tool links LLVM and MLIR once, and from the shared libraries
    ///
    /// A second, static copy of LLVM links silently and then fails in strange ways, as types of one
    /// copy are passed to the other. Checks the tools as built last; builds nothing.
    CheckLinkage {
        /// Check the release build instead of the dev build
        #[arg(long)]
        release: bool,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    let workspace = Workspace::locate()?;
    match task {
        Task::Setup { check: true } => {
            packages::check(Purpose::Test)?;
            environment::check(&workspace)
        }
        Task::Setup { check: false } => {
            packages::ensure(Purpose::Test)?;
            environment::install(&workspace)
        }
        Task::Demo => demo::run(&workspace),
        Task::Bench { args } => bench::run(&workspace, &args),
        Task::Test => suite::run(&workspace),
        Task::Conformance {
            lavapipe: true,
            args,
            ..
        } => {
            packages::ensure(Purpose::Test)?;
            let report = conformance::run_on_lavapipe(&workspace, &args)?;
            println!("\nlavapipe: {}", report.counts);
            anyhow::ensure!(report.passed, "Vulkan differs from the interpreter");
            Ok(())
        }
        Task::Conformance {
            amd: true, args, ..
        } => {
            packages::ensure(Purpose::Test)?;
            let report = amd::run_in_turns(&workspace, &args)?;
            anyhow::ensure!(report.passed, "AMD's targets differ from the interpreter");
            Ok(())
        }
        Task::Conformance { fixed: true, .. } => {
            packages::ensure(Purpose::Test)?;
            let report = conformance::run_fixed(&workspace)?;
            println!("\nfixed: {}", report.counts);
            anyhow::ensure!(
                report.passed,
                "what is lowered without the search, or at sizes that it chooses, differs"
            );
            Ok(())
        }
        Task::Conformance { target, args, .. } => conformance::run(&workspace, &target, &args),
        Task::AmdCosts => costs::run(&workspace),
        Task::WaveOpinions => opinions::run(&workspace),
        Task::SpirvCounts => spirv_counts::run(&workspace),
        Task::TestOracle => {
            packages::ensure(Purpose::Test)?;
            let report = oracle::test(&workspace)?;
            anyhow::ensure!(report.passed, "the oracle's tests fail");
            Ok(())
        }
        Task::Python { arch, python, args } => {
            packages::ensure(Purpose::Test)?;
            cargo::build_tools(&workspace, Profile::Dev)?;
            python::run(&workspace, &python, arch.as_deref(), &args)?.into_result()
        }
        Task::Lit { args } => {
            packages::ensure(Purpose::Test)?;
            cargo::build_tools(&workspace, Profile::Dev)?;
            lit::run(&workspace, &args)?.into_result()
        }
        Task::Smith { what } => smith::run(&workspace, &what),
        Task::Coverage => coverage::run(&workspace),
        Task::Docs { check: true } => {
            docs::check(&workspace).map(|pages| println!("{pages} pages are current"))
        }
        Task::Docs { check: false } => docs::generate(&workspace),
        Task::New { what } => new::run(&workspace, &what),
        Task::CheckLinkage { release } => {
            let profile = if release {
                Profile::Release
            } else {
                Profile::Dev
            };
            linkage::check(&workspace, profile)
                .map(|tools| println!("{tools} tools link one LLVM and one MLIR"))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
