//! Looks after what the tools have compiled and kept: `qd-cache stats`. It links no LLVM.

use clap::{Parser, Subcommand};
use qd_store::Store;
use qd_thin::{Failure, main_of};
use std::{fmt::Write as _, io::Write as _, path::PathBuf, process::ExitCode};

/// As it calls itself.
const TOOL: &str = "qd-cache";

/// Looks after what qd-run and qd-translate have compiled and kept.
#[derive(Debug, Parser)]
#[command(version, after_help = ENVIRONMENT)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// The folder, instead of the one that the environment names.
    #[arg(long, value_name = "FOLDER", global = true)]
    dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Command {
    /// Lists the entries, the last used first: key, bytes, what it is.
    Show,
    /// Prints where it is, how many entries there are, and their bytes.
    Stats,
    /// Reads every entry and removes those that are damaged. Exits with 1 if there were any.
    Verify,
    /// Removes all entries.
    Clear,
}

const ENVIRONMENT: &str = "\
Environment:
  QD_CACHE_DIR=FOLDER   where it is; empty: nowhere. Unless given, qd in the user's folder of caches
  QD_CACHE_REMOTE=URL   a cache that a team shares, behind the folder: qd-cache looks after the folder alone
  QD_CACHE_SIZE=SIZE    the most bytes to keep, as in 500M; 2G unless given";

fn main() -> ExitCode {
    main_of(TOOL, |cli: &Cli| {
        let (text, code) = run(cli)?;
        let shown = std::io::stdout().write_all(text.as_bytes());
        shown.map_err(|e| Failure::Message(format!("standard output: {e}")))?;
        Ok(code)
    })
}

fn run(cli: &Cli) -> Result<(String, ExitCode), String> {
    let store = match &cli.dir {
        Some(folder) => Some(Store::new(folder, qd_store::DEFAULT_SIZE)),
        None => Store::folder_of_environment(),
    };
    let store =
        store.ok_or("there is no cache: QD_CACHE_DIR is empty, or the user has no folder")?;
    store.print_troubles(TOOL);
    let mut text = String::new();
    let mut code = ExitCode::SUCCESS;
    // Writing to a string does not fail.
    match cli.command {
        Command::Show => {
            for (key, bytes, label) in store.list() {
                let label = label.as_deref().unwrap_or("damaged");
                let _ = writeln!(text, "{} {bytes:>9} {label}", &key[..12]);
            }
        }
        Command::Stats => {
            let usage = store.usage();
            let _ = writeln!(text, "folder   {}", store.folder().display());
            if let Ok(url) = std::env::var(qd_store::REMOTE)
                && !url.is_empty()
            {
                let _ = writeln!(text, "behind   {url}");
            }
            let _ = writeln!(text, "entries  {}", usage.entries);
            let _ = writeln!(
                text,
                "bytes    {} of at most {}",
                usage.bytes,
                store.limit()
            );
        }
        Command::Verify => {
            let (whole, damaged) = store.verify();
            for path in &damaged {
                let _ = writeln!(text, "damaged, removed: {}", path.display());
            }
            let _ = writeln!(
                text,
                "{whole} entries are whole, {} were damaged",
                damaged.len()
            );
            code = ExitCode::from(u8::from(!damaged.is_empty()));
        }
        Command::Clear => {
            let usage = store.usage();
            let folder = store.folder().display();
            store.clear().map_err(|e| format!("{folder}: {e}"))?;
            let _ = writeln!(
                text,
                "removed {} entries, {} bytes",
                usage.entries, usage.bytes
            );
        }
    }
    Ok((text, code))
}
