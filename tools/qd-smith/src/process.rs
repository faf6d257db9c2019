//! The supervisor's side of a worker: a process that is given jobs, and that a
//! job may crash or hang.

use crate::job::{Answer, Done, Job};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, Write},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

/// How a job ended.
pub enum Ending {
    Done(Done),
    /// The process is gone: how, and how far it had come.
    Crashed {
        how: String,
        stage: String,
    },
    /// It did not answer in time, and was killed.
    Hung {
        stage: String,
    },
}

/// Where workers run: the same program, told which device it has.
#[derive(Clone, Debug)]
pub struct Setting {
    pub program: PathBuf,
    pub corpus: PathBuf,
    /// Subgroup size of lavapipe, where jobs are for it.
    pub lavapipe: Option<u32>,
}

/// A running worker.
pub struct Worker {
    child: Child,
    jobs: ChildStdin,
    answers: Receiver<Answer>,
    errors: File,
}

impl Worker {
    pub fn start(setting: &Setting) -> io::Result<Self> {
        let errors = tempfile::tempfile()?;
        let mut command = Command::new(&setting.program);
        command
            .arg("worker")
            .arg("--corpus")
            .arg(&setting.corpus)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors.try_clone()?);
        if Path::new("/usr/bin/spirv-val").exists() {
            command.env("QD_SPIRV_VAL", "1");
        }
        if let Some(lanes) = setting.lavapipe {
            // Lanes are 32 bits wide; caches hold what was compiled for another size.
            command
                .env("LP_NATIVE_VECTOR_WIDTH", (32 * lanes).to_string())
                .env("MESA_SHADER_CACHE_DISABLE", "true")
                .env("QD_CACHE_DIR", "");
            if let Some(driver) = lavapipe() {
                command.env("VK_DRIVER_FILES", driver);
            }
        }
        let mut child = command.spawn()?;
        let jobs = child.stdin.take().expect("it is piped");
        let output = child.stdout.take().expect("it is piped");
        let (sender, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                // A driver may print lines of its own.
                let Ok(answer) = serde_json::from_str(&line) else {
                    continue;
                };
                if sender.send(answer).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child,
            jobs,
            answers,
            errors,
        })
    }

    /// Has a job done. After anything but [`Ending::Done`] the worker is gone.
    pub fn run(&mut self, job: &Job, limit: Duration) -> Ending {
        let line = serde_json::to_string(job).expect("jobs are plain data");
        // A worker that is gone is found out below.
        let _ = writeln!(self.jobs, "{line}").and_then(|()| self.jobs.flush());
        let mut stage = String::new();
        loop {
            match self.answers.recv_timeout(limit) {
                Ok(Answer::Stage(text)) => stage = text,
                Ok(Answer::Done(done)) => return Ending::Done(done),
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return Ending::Hung { stage };
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Ending::Crashed {
                        how: self.cause(),
                        stage,
                    };
                }
            }
        }
    }

    fn cause(&mut self) -> String {
        let status = match self.child.wait() {
            Ok(status) => match status.signal() {
                Some(signal) => format!("signal {signal}"),
                None => status.to_string(),
            },
            Err(error) => error.to_string(),
        };
        let mut said = String::new();
        let _ = self.errors.rewind();
        let _ = self.errors.read_to_string(&mut said);
        let lines: Vec<&str> = said.lines().collect();
        let last = &lines[lines.len().saturating_sub(3)..];
        format!("{status}: {}", last.join(" | "))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// lavapipe's entry in the Vulkan loader's list.
fn lavapipe() -> Option<PathBuf> {
    let folder = Path::new("/usr/share/vulkan/icd.d");
    let entries = folder.read_dir().ok()?;
    entries.flatten().map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("lvp_icd") && name.ends_with(".json")
    })
}
