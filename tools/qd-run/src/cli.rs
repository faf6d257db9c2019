//! The command line.
// Help texts, which are no Markdown: out[:10] is no link.
#![allow(rustdoc::broken_intra_doc_links)]

use clap::Parser;
use std::path::PathBuf;

/// How devices are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum DevicesFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// Runs a kernel on .npy files or generated data.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, after_long_help = LONG_HELP)]
pub struct Cli {
    /// A module (text or bytecode, - for standard input) or an artifact of qd-translate.
    #[arg(
        required_unless_present = "devices",
        default_value = "-",
        hide_default_value = true
    )]
    pub file: PathBuf,

    /// Lists the devices of this machine instead: their names, targets, subgroup sizes and limits.
    #[arg(
        long,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "table",
        exclusive = true
    )]
    pub devices: Option<DevicesFormat>,

    /// The kernel to run; needed if there are several.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,

    /// What to compile for, with options after commas: cpu, cpu,wave=16.
    #[arg(long, value_name = "TARGET", conflicts_with = "interpret")]
    pub target: Option<String>,

    /// An argument's value: a .npy file, a number, [1, 2, 3], len(OTHER), zeros, iota, random, …
    /// (see --help).
    #[arg(long = "arg", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub arguments: Vec<String>,

    /// Writes a buffer when all is done. To write its first rows alone, put their number or the
    /// argument that holds it into brackets behind the name: 'out[:10]=FILE.npy', 'out[:n]=FILE.npy'.
    #[arg(long = "out", value_name = "NAME=FILE.npy")]
    pub outputs: Vec<String>,

    /// Prints a buffer's or scalar's value; the first rows of a buffer alone with brackets behind the
    /// name, as for --out: 'out[:10]', 'out[:n]'.
    #[arg(long = "print", value_name = "NAME")]
    pub prints: Vec<String>,

    /// Prints the time of each phase. They run one by one then, which takes longer.
    #[arg(long)]
    pub time: bool,

    /// Runs the kernel so many times on the same data, and reports the median run. Arrays stay on
    /// the device, and the copies that make the data the same again are not in the time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,

    /// Compiles the kernel even if it has been compiled before, and keeps nothing of it.
    #[arg(long)]
    pub no_cache: bool,

    /// Runs the kernel again whenever the file is saved with another kernel in it, and says to standard
    /// error what was compiled again, and why. Until Ctrl-C.
    #[arg(long, conflicts_with = "interpret")]
    pub watch: bool,

    /// Host threads to use; all unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,

    /// Makes a do_while that is still running after so many iterations an error.
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<u64>,

    /// Interprets the module as it is, at any level, and reports undefined behaviour.
    #[arg(long)]
    pub interpret: bool,

    /// The subgroup size to interpret with: 4, 8, 16, 32 or 64.
    #[arg(long, value_name = "N", requires = "interpret")]
    pub wave: Option<u32>,

    /// The order in which the interpreter runs threads: in-order, or random:SEED, which is hostile.
    #[arg(long, value_name = "ORDER", requires = "interpret")]
    pub schedule: Option<String>,

    /// Writes a page for a browser: which subgroup sizes and lowerings were chosen of which, and why.
    /// It compiles the kernel anew.
    #[arg(long, value_name = "FILE.html", conflicts_with = "interpret")]
    pub explain: Option<PathBuf>,

    /// Writes a Chrome trace: what the host and the device's stream did, with each step if --time is given.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Prints nothing but what --print asks for.
    #[arg(long, short)]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  # Sum a million random numbers.
  qd-run sum.mlir --arg 'a=random(seed=1)[1_000_000]' --arg 'n=len(a)' --print out

  # Select from files; write as many elements as were kept.
  qd-run select.mlir --entry=keep --target=cpu,wave=16 --arg a=a.npy --arg flags=flags.npy \\
      --arg 'n=len(a)' --out 'out[:num]=kept.npy' --time

  # The same by the reference interpreter, threads in a hostile order.
  qd-run select.mlir --interpret --wave=8 --schedule=random:7 --arg 'a=[3, 1, 4]' \\
      --arg 'flags=[1, 0, 1]' --arg n=3 --print 'out[:num]'";

const LONG_HELP: &str = "\
Values of --arg (NAME is the argument's qd.name, or arg0, arg1, …, or its number):
  data.npy                        the array in a file: its type, rank and fixed extents must match
  200000, -1.5, 0xFF, inf         one element: a scalar, or a buffer of one element
  [1, 2, 3], [[1, 2], [3, 4]]     a buffer, of rank 1, 2, …
  len(OTHER)                      one element: the rows of another argument
  rows(OTHER), rows(OTHER)[10:20] the same memory as rows 10 to 19 of another argument, or as all of
                                  them; where one of both is written, both need qd.may_alias
  zeros, const(7), iota, iota(start=1,step=2)
  random(seed=1,min=-5,max=5)     uniform; integers include max, floats exclude it; min and max are
                                  the type's for integers and 0 and 1 for floats unless given
  poison                          nothing: every byte 0xA5; the interpreter reports its use
Behind a generator stand its extents: zeros[1000], iota[len(a)], random[1000, 3]. Without them the
buffer is as long as the kernel needs it.

A buffer that no --arg mentions is allocated with the length that the kernel's algorithms need and
filled with poison, unless the kernel reads it before it writes it.

Files are written when everything else has succeeded, each at once. Whatever fails, the exit code
is 1 and no file is written or changed.

Environment:
  QD_LOG=info                     log to standard error: each pass and phase and its time; debug, or
                                  a filter such as qd_runtime=debug
  QD_CACHE_DIR=FOLDER             where what has been compiled is kept, Vulkan pipelines too; empty:
                                  nowhere. qd-cache looks after it
  QD_CACHE_REMOTE=s3://BUCKET/F   a cache that a team shares, behind that folder; AWS_… as for Amazon's tools
  QD_CACHE_SIZE=SIZE              the most bytes to keep of kernels, as in 500M; 2G unless given
  QD_VULKAN_VALIDATION=1          run with the Khronos validation layer; what it finds is an error
  QD_SPIRV_VAL=1                  put each SPIR-V module to spirv-val
  QD_LLD=PATH                     LLVM's linker, for AMD's code objects; ld.lld-22 by default

Examples:
  # Sum a million random numbers.
  qd-run sum.mlir --arg 'a=random(seed=1)[1_000_000]' --arg 'n=len(a)' --print out

  # Select from files; write as many elements as were kept.
  qd-run select.mlir --entry=keep --target=cpu,wave=16 --arg a=a.npy --arg flags=flags.npy \\
      --arg 'n=len(a)' --out 'out[:num]=kept.npy' --time

  # The same by the reference interpreter, threads in a hostile order.
  qd-run select.mlir --interpret --wave=8 --schedule=random:7 --arg 'a=[3, 1, 4]' \\
      --arg 'flags=[1, 0, 1]' --arg n=3 --print 'out[:num]'";
