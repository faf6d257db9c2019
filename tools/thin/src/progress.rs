//! How far a long compilation is, for a person who waits for it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use qd_request::Diagnostic;
use std::{
    io::{self, IsTerminal},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// Shorter ones show nothing.
const LONG: Duration = Duration::from_secs(1);
/// How often the line is drawn.
const TURN: Duration = Duration::from_millis(100);

/// A line on standard error, once the compilation has taken a second, if that is a terminal.
#[derive(Debug)]
pub struct Bar {
    progress: Arc<Progress>,
    drawn: Option<(Sender<()>, JoinHandle<()>)>,
}

/// Does what may take long, and shows how far it is. What it says is printed as the tool's when the line is gone.
pub fn with_bar<T>(tool: &str, work: impl FnOnce(&Bar, &mut dyn FnMut(&Diagnostic)) -> T) -> T {
    let bar = Bar::default();
    let mut said = Vec::new();
    let result = work(&bar, &mut |heard| said.push(heard.clone()));
    drop(bar);
    said.iter().for_each(|heard| heard.print(tool));
    result
}

/// How many of how many are compiled; nothing of how many is known at first.
#[derive(Debug, Default)]
struct Progress {
    done: AtomicU64,
    of: AtomicU64,
}

/// It begins now.
impl Default for Bar {
    fn default() -> Self {
        let is_seen = io::stderr().is_terminal();
        Self::begin(is_seen.then(ProgressDrawTarget::stderr), LONG)
    }
}

impl Bar {
    fn begin(to: Option<ProgressDrawTarget>, long: Duration) -> Self {
        let progress = Arc::new(Progress::default());
        let drawn = to.map(|to| {
            let (end, ended) = mpsc::channel::<()>();
            let progress = Arc::clone(&progress);
            let draw = move || {
                let is_over =
                    |time| !matches!(ended.recv_timeout(time), Err(RecvTimeoutError::Timeout));
                if is_over(long) {
                    return;
                }
                let bar = ProgressBar::with_draw_target(None, to);
                bar.set_style(style("compiling {spinner} {elapsed}"));
                let mut is_counted = false;
                loop {
                    // One that is alone is not done before all are.
                    let of = progress.of.load(Ordering::Relaxed);
                    if of > 1 {
                        if !is_counted {
                            bar.set_style(style("compiling {bar:30} {pos} of {len}, {eta} left"));
                            is_counted = true;
                        }
                        bar.set_length(of);
                        bar.set_position(progress.done.load(Ordering::Relaxed));
                    }
                    bar.tick();
                    if is_over(TURN) {
                        break;
                    }
                }
                bar.finish_and_clear();
            };
            (end, thread::spawn(draw))
        });
        Self { progress, drawn }
    }

    /// Shows how many of how many are compiled.
    pub fn show(&self, done: usize, of: usize) {
        self.progress.done.store(done as u64, Ordering::Relaxed);
        self.progress.of.store(of as u64, Ordering::Relaxed);
    }
}

/// Takes the line away.
impl Drop for Bar {
    fn drop(&mut self) {
        if let Some((end, drawn)) = self.drawn.take() {
            drop(end);
            // It does not panic; and the line is not what the compilation is for.
            let _ = drawn.join();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::{InMemoryTerm, TermLike};
    use std::time::Instant;

    const BRIEF: Duration = Duration::from_millis(1);

    fn begin(terminal: &InMemoryTerm, long: Duration) -> Bar {
        let terminal: Box<dyn TermLike> = Box::new(terminal.clone());
        Bar::begin(Some(ProgressDrawTarget::term_like(terminal)), long)
    }

    fn shows(terminal: &InMemoryTerm, text: &str) {
        let begin = Instant::now();
        while !terminal.contents().contains(text) {
            assert!(begin.elapsed() < Duration::from_secs(20), "{text}");
            thread::sleep(BRIEF);
        }
    }

    #[test]
    fn a_long_compilation_is_seen_until_it_ends() {
        let terminal = InMemoryTerm::new(10, 80);
        let bar = begin(&terminal, BRIEF);
        shows(&terminal, "compiling");
        // One kernel is a matter of time alone.
        bar.show(0, 1);
        shows(&terminal, "1s");
        assert!(!terminal.contents().contains(" of "));
        bar.show(3, 7);
        shows(&terminal, "3 of 7");
        drop(bar);
        assert_eq!(terminal.contents(), "");
    }

    #[test]
    fn a_short_one_shows_nothing() {
        let terminal = InMemoryTerm::new(10, 80);
        let begun = Instant::now();
        let bar = begin(&terminal, Duration::from_secs(3600));
        bar.show(1, 2);
        drop(bar);
        assert_eq!(terminal.contents(), "");
        // Its end is not waited for.
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
