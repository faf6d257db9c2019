//! How far a long compilation is, for a person who waits for it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use qd_frontend::CompileProgress;
use std::time::{Duration, Instant};

/// Shorter ones show nothing.
const LONG: Duration = Duration::from_secs(1);

/// A bar on standard error, once the compilation has taken a second, if that is a terminal.
pub struct Bar {
    begin: Instant,
    bar: Option<ProgressBar>,
}

impl Bar {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            begin: Instant::now(),
            bar: None,
        }
    }

    /// Shows how far it is.
    pub fn show(&mut self, progress: CompileProgress) {
        if self.begin.elapsed() < LONG {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            // Draws nothing where there is no terminal.
            let to = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(progress.of as u64), to);
            let style =
                ProgressStyle::with_template("compiling {bar:30} {pos} of {len}, {eta} left");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_position(progress.done as u64);
    }

    /// Takes the bar away.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
