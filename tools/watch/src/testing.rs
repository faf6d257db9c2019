//! For tests of tools that watch: a tool that was started, and the lines it says, each waited for.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

/// A line is waited for at most so long.
const PATIENCE: Duration = Duration::from_secs(120);

/// A tool that runs until it is ended.
pub struct Tool {
    child: Child,
    /// Lines of standard output.
    shown: Receiver<String>,
    /// Lines of standard error.
    said: Receiver<String>,
}

impl Tool {
    /// Starts it, with standard output and standard error read.
    pub fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null());
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the tool starts");
        let shown = read(child.stdout.take().expect("it is piped"));
        let said = read(child.stderr.take().expect("it is piped"));
        Self { child, shown, said }
    }

    /// The lines of standard output from here to one that holds `text`, that one included.
    pub fn shows(&self, text: &str) -> Vec<String> {
        until(&self.shown, text)
    }

    /// Those of standard error.
    pub fn says(&self, text: &str) -> Vec<String> {
        until(&self.said, text)
    }

    /// Ends it from outside, and says how it ended. Not as Ctrl-C does, which is ignored by what a shell
    /// runs in the background.
    pub fn end(mut self) -> ExitStatus {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status();
        assert!(sent.expect("kill runs").success());
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                return status;
            }
            assert!(begin.elapsed() < PATIENCE, "it does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

fn until(lines: &Receiver<String>, text: &str) -> Vec<String> {
    let begin = Instant::now();
    let mut found = Vec::new();
    while let Some(left) = PATIENCE.checked_sub(begin.elapsed()) {
        let Ok(line) = lines.recv_timeout(left) else {
            break;
        };
        let is_it = line.contains(text);
        found.push(line);
        if is_it {
            return found;
        }
    }
    panic!("no {text:?} in {found:#?}");
}

impl Drop for Tool {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { return };
            if send.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
