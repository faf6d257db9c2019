//! Help for the flags of `qd-opt` that `mlir-opt` does not have, before
//! upstream's own help.

use qd_dialects::pass::{Registered, for_each_registered};
use qd_lowering::pipelines::LEVELS;
use std::fmt::Write;

/// The text. Passes have been registered.
pub fn text() -> String {
    let levels = LEVELS.map(|level| level.name);
    let mut text = format!(
        "\
OVERVIEW: mlir-opt with the qd dialect and its passes

USAGE: qd-opt FILE [--to=<level> [--target=<target>]] [passes and options, of which some are below]

LEVELS AND TRACES:

  --to=<level>       lower to a level: {}. Passes named before it run before it
  --target=<target>  what for: cpu unless said otherwise, nvptx:sm_90, vulkan:1.3,subgroup=32, any, …
  --watch            lower FILE to the level again whenever it is saved, and say to standard error what
                     was lowered again, and why; until Ctrl-C. With -o <file> all kernels are
                     written each time, else those that were lowered again. No other passes
  --trace=<file>     write a Chrome trace of every pass
  --explain=<file>   write a page for a browser: which subgroup sizes and lowerings were chosen of
                     which, and why

  The pipelines of --to have print-plan=true, which writes to standard error why phases were fused
  and in what order launches wait for each other: --qd-to-plan='target=cpu print-plan=true'

ENVIRONMENT:

  QD_LOG=info        log each pass and its time to standard error; debug, or a filter
  QD_SPIRV_VAL=1     put each SPIR-V module to spirv-val: a rejection is an error

",
        levels.join(", ")
    );
    for (is_pipeline, title) in [(true, "PIPELINES OF QD:"), (false, "PASSES OF QD:")] {
        let _ = writeln!(text, "{title}\n");
        for_each_registered(|one| {
            if one.is_pipeline == is_pipeline {
                show(&mut text, one);
            }
        });
        text.push('\n');
    }
    text += "Everything else is mlir-opt's:\n";
    text
}

fn show(text: &mut String, one: &Registered) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "  --{:<28} {}", one.name, one.summary);
    for option in &one.options {
        let initial = match option.initial.as_str() {
            "" => String::new(),
            initial => format!(" ({initial})"),
        };
        let _ = writeln!(text, "      {:<26} {}{initial}", option.name, option.help);
    }
}
