//! A worker process, which a job may crash: jobs come on standard input, answers
//! go to standard output.

use crate::{
    compare,
    forms::Forms,
    generate::{self, Has},
    job::{Answer, Done, Job},
    mutate::Mutator,
};
use std::{
    io::{self, BufRead, Write},
    path::Path,
};

/// Says how far the job at hand has come.
pub fn stage(text: impl Into<String>) {
    answer(&Answer::Stage(text.into()));
}

fn answer(answer: &Answer) {
    let line = serde_json::to_string(answer).expect("answers are plain data");
    let mut out = io::stdout().lock();
    // Without a supervisor the answer has no reader.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Works until standard input ends.
pub fn run(corpus: &Path) -> Result<(), String> {
    let mut forms = Forms::default();
    let mut mutator: Option<Mutator> = None;
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|e| format!("standard input: {e}"))?;
        let job: Job = serde_json::from_str(&line).map_err(|e| format!("no job: {e}"))?;
        let done = match job {
            Job::Kernel { seed, targets } => {
                stage("generation");
                let program = generate::generate(seed, Has::of(&targets), &mut forms);
                compare::compare(&program, &targets)
            }
            Job::Make { seed, targets } => Done {
                program: Some(generate::generate(seed, Has::of(&targets), &mut forms)),
                ..Done::default()
            },
            Job::Check { program, target } => compare::compare(&program, &[target]),
            Job::Mutant { seed } => {
                if mutator.is_none() {
                    mutator = Some(Mutator::new(corpus)?);
                }
                match &mutator {
                    Some(mutator) => mutator.try_seed(seed),
                    None => Done::default(),
                }
            }
            Job::Text { text, target } => crate::mutate::try_text(&text, &target),
        };
        answer(&Answer::Done(done));
    }
    Ok(())
}
