//! Gives jobs to workers, counts the results, and reports progress.

use crate::{
    job::{Done, Finding, Job, Kind},
    mutate::READING,
    process::{Ending, Setting, Worker},
    report::Findings,
    shrink,
};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    collections::{BTreeMap, HashMap},
    io::IsTerminal,
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// A hang is what takes longer than this for a mutant.
const MUTANT_LIMIT: Duration = Duration::from_secs(10);
/// A kernel is compiled several times, and another process may want the machine.
const KERNEL_LIMIT: Duration = Duration::from_secs(60);
/// Between two lines of progress, where there is no terminal to draw on.
const EVERY: Duration = Duration::from_secs(10);

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Plan {
    pub program: PathBuf,
    pub corpus: PathBuf,
    pub seed: u64,
    pub kernels: u64,
    pub mutants: u64,
    pub time: Option<Duration>,
    /// Targets that name their subgroup size.
    pub targets: Vec<String>,
    /// Whether each kernel runs on one of the targets instead of on all.
    pub by_turns: bool,
    /// Whether to stop at the first finding instead of making it smaller.
    pub is_first_enough: bool,
    pub jobs: usize,
    pub out: PathBuf,
}

/// How much was done.
#[derive(Default)]
pub struct Counts {
    pub kernels: AtomicU64,
    pub faults: AtomicU64,
    pub comparisons: AtomicU64,
    pub mutants: AtomicU64,
    pub rejected: AtomicU64,
    /// Crashes and hangs of upstream's bytecode reader, which are no findings.
    pub upstream: AtomicU64,
}

/// Ops that ran, with the types of their operands, by the kind of target.
pub type Coverage = BTreeMap<String, BTreeMap<String, u64>>;

/// Everything that workers share.
struct Shared<'a> {
    plan: &'a Plan,
    counts: Counts,
    coverage: Mutex<Coverage>,
    findings: Mutex<Findings>,
    next: AtomicU64,
    start: Instant,
    progress: ProgressBar,
}

/// The end of a run.
pub struct Summary {
    pub counts: Counts,
    pub coverage: Coverage,
    pub findings: Findings,
    pub time: Duration,
}

/// Targets that one process can run: all but lavapipe's, of which each process
/// has one size.
fn columns(targets: &[String]) -> Vec<(Option<u32>, Vec<String>)> {
    let mut columns: Vec<(Option<u32>, Vec<String>)> = Vec::new();
    for target in targets {
        let lanes = target
            .starts_with("vulkan")
            .then(|| crate::compare::wave_of(target))
            .flatten();
        match columns.iter_mut().find(|(of, _)| *of == lanes) {
            Some((_, all)) => all.push(target.clone()),
            None => columns.push((lanes, vec![target.clone()])),
        }
    }
    columns
}

/// Does what the plan says.
pub fn run(plan: &Plan) -> Result<Summary, String> {
    let total = plan.kernels + plan.mutants;
    let progress = match std::io::stderr().is_terminal() {
        true => ProgressBar::new(total),
        false => ProgressBar::hidden(),
    };
    let style = "{elapsed_precise} [{bar:30}] {pos}/{len} {msg}";
    progress.set_style(ProgressStyle::with_template(style).expect("a template"));
    let findings = Findings::new(&plan.out)?;
    let shared = Shared {
        plan,
        counts: Counts::default(),
        coverage: Mutex::default(),
        findings: Mutex::new(findings),
        next: AtomicU64::new(0),
        start: Instant::now(),
        progress,
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.jobs)
            .map(|_| scope.spawn(|| Lane::new(&shared).work()))
            .collect();
        let mut said = Instant::now();
        while workers.iter().any(|worker| !worker.is_finished()) {
            thread::sleep(Duration::from_millis(50));
            shared.progress.set_message(shared.line());
            if shared.progress.is_hidden() && said.elapsed() >= EVERY {
                said = Instant::now();
                eprintln!(
                    "{:>5} s  {}",
                    shared.start.elapsed().as_secs(),
                    shared.line()
                );
            }
        }
        let outcomes = workers.into_iter().map(|worker| worker.join());
        outcomes
            .map(|outcome| outcome.unwrap_or_else(|_| Err("a thread panicked".into())))
            .collect::<Result<Vec<()>, String>>()
    })?;
    shared.progress.finish_and_clear();
    Ok(Summary {
        time: shared.start.elapsed(),
        counts: shared.counts,
        coverage: shared
            .coverage
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner),
        findings: shared
            .findings
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner),
    })
}

impl Shared<'_> {
    fn line(&self) -> String {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        format!(
            "{} kernels ({} faulted), {} comparisons, {} mutants ({} rejected), {} findings",
            of(&self.counts.kernels),
            of(&self.counts.faults),
            of(&self.counts.comparisons),
            of(&self.counts.mutants),
            of(&self.counts.rejected),
            findings.len(),
        )
    }

    fn found(&self) -> u64 {
        self.findings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    /// The next piece of work: kernels and mutants evenly mixed.
    fn next(&self) -> Option<(bool, u64)> {
        if self
            .plan
            .time
            .is_some_and(|time| self.start.elapsed() >= time)
        {
            return None;
        }
        if self.plan.is_first_enough && self.found() > 0 {
            return None;
        }
        let (kernels, mutants) = (self.plan.kernels, self.plan.mutants);
        let i = self.next.fetch_add(1, Ordering::Relaxed);
        if i >= kernels + mutants {
            return None;
        }
        // How many of the first i are kernels, in proportion.
        let total = u128::from(kernels + mutants);
        let share = |i: u64| (u128::from(i) * u128::from(kernels) / total) as u64;
        let (before, after) = (share(i), share(i + 1));
        Some(match after > before {
            true => (true, self.plan.seed.wrapping_add(before)),
            false => (false, self.plan.seed.wrapping_add(i - before)),
        })
    }
}

/// A thread with its workers, one for each device.
struct Lane<'a> {
    shared: &'a Shared<'a>,
    columns: Vec<(Option<u32>, Vec<String>)>,
    workers: HashMap<Option<u32>, Worker>,
}

impl<'a> Lane<'a> {
    fn new(shared: &'a Shared<'a>) -> Self {
        Self {
            shared,
            columns: columns(&shared.plan.targets),
            workers: HashMap::new(),
        }
    }

    fn work(&mut self) -> Result<(), String> {
        while let Some((is_kernel, seed)) = self.shared.next() {
            match is_kernel {
                true => self.kernel(seed)?,
                false => self.mutant(seed)?,
            }
            self.shared.progress.inc(1);
        }
        Ok(())
    }

    /// Has a job done by a worker, a new one if the last is gone.
    fn run(&mut self, lanes: Option<u32>, job: &Job, limit: Duration) -> Result<Ending, String> {
        let mut worker = match self.workers.remove(&lanes) {
            Some(worker) => worker,
            None => {
                let setting = Setting {
                    program: self.shared.plan.program.clone(),
                    corpus: self.shared.plan.corpus.clone(),
                    lavapipe: lanes,
                };
                Worker::start(&setting).map_err(|e| format!("cannot start a worker: {e}"))?
            }
        };
        let ending = worker.run(job, limit);
        if matches!(&ending, Ending::Done(done) if !done.is_last) {
            self.workers.insert(lanes, worker);
        }
        Ok(ending)
    }

    /// The same, with a crash and a hang as findings. What hangs is tried again
    /// with more time: the machine may have been busy.
    fn tried(&mut self, lanes: Option<u32>, job: &Job, limit: Duration) -> Result<Done, String> {
        let mut ending = self.run(lanes, job, limit)?;
        if matches!(&ending, Ending::Hung { stage } if !stage.starts_with(READING)) {
            ending = self.run(lanes, job, 3 * limit)?;
        }
        let finding = |kind, message: String, stage: String| {
            let (first, input) = stage.split_once('\n').unwrap_or((&stage, ""));
            let target = first
                .split_once(" for ")
                .or_else(|| first.split_once(" on "));
            Finding {
                kind,
                target: target.map_or("", |(_, target)| target).into(),
                message: format!("{message}; at {first}"),
                input: input.into(),
            }
        };
        let found = match ending {
            Ending::Done(done) => return Ok(done),
            Ending::Crashed { stage, .. } | Ending::Hung { stage }
                if stage.starts_with(READING) =>
            {
                self.shared.counts.upstream.fetch_add(1, Ordering::Relaxed);
                return Ok(Done::default());
            }
            Ending::Crashed { how, stage } => finding(Kind::Crash, how, stage),
            Ending::Hung { stage } => {
                let limit = 3 * limit.as_secs();
                finding(Kind::Hang, format!("no answer in {limit} s"), stage)
            }
        };
        Ok(Done {
            findings: vec![found],
            ..Done::default()
        })
    }

    fn kernel(&mut self, seed: u64) -> Result<(), String> {
        let columns = match self.shared.plan.by_turns {
            true => {
                let all: Vec<_> = self
                    .columns
                    .iter()
                    .flat_map(|(lanes, targets)| {
                        targets.iter().map(|target| (*lanes, vec![target.clone()]))
                    })
                    .collect();
                vec![all[(seed % all.len() as u64) as usize].clone()]
            }
            false => self.columns.clone(),
        };
        for (lanes, targets) in columns {
            let job = Job::Kernel {
                seed,
                targets: targets.clone(),
            };
            let done = self.tried(lanes, &job, KERNEL_LIMIT)?;
            let count = done.compared.len() as u64;
            self.shared
                .counts
                .comparisons
                .fetch_add(count, Ordering::Relaxed);
            if let Some(fault) = &done.fault {
                self.shared.counts.faults.fetch_add(1, Ordering::Relaxed);
                if std::env::var_os("QD_SMITH_FAULTS").is_some() {
                    eprintln!("seed {seed}: {fault}");
                }
            }
            self.cover(&done);
            for finding in done.findings {
                self.shrink_and_keep(lanes, (seed, &targets), finding)?;
            }
        }
        self.shared.counts.kernels.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn cover(&self, done: &Done) {
        let mut coverage = self
            .shared
            .coverage
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for target in &done.compared {
            let kind = target.split([',', ':']).next().unwrap_or_default();
            for form in &done.forms {
                let targets = coverage.entry(form.clone()).or_default();
                *targets.entry(kind.to_string()).or_default() += 1;
            }
        }
    }

    fn shrink_and_keep(
        &mut self,
        lanes: Option<u32>,
        (seed, targets): (u64, &[String]),
        finding: Finding,
    ) -> Result<(), String> {
        let wanted = self.findings(|all| all.is_wanted(&finding));
        if !wanted {
            self.findings(|all| all.count(&finding));
            return Ok(());
        }
        let make = Job::Make {
            seed,
            targets: targets.to_vec(),
        };
        let made = self.tried(lanes, &make, KERNEL_LIMIT)?;
        let Some(mut program) = made.program else {
            // It is the generator that failed.
            return self.findings(|all| all.keep_text(&finding, seed));
        };
        let target = match finding.target.is_empty() {
            // Whichever comes first: it is before any.
            true => self.shared.plan.targets[0].clone(),
            false => finding.target.clone(),
        };
        if finding.kind != Kind::Hang && !self.shared.plan.is_first_enough {
            let mut failed = None;
            program = shrink::program(program, &mut |smaller| {
                let job = Job::Check {
                    program: smaller.clone(),
                    target: target.clone(),
                };
                match self.tried(lanes, &job, KERNEL_LIMIT) {
                    Ok(done) => done.findings.iter().any(|f| f.kind == finding.kind),
                    Err(error) => {
                        failed = Some(error);
                        false
                    }
                }
            });
            if let Some(error) = failed {
                return Err(error);
            }
        }
        self.findings(|all| all.keep_program(&finding, seed, &program))
    }

    fn mutant(&mut self, seed: u64) -> Result<(), String> {
        let done = self.tried(None, &Job::Mutant { seed }, MUTANT_LIMIT)?;
        self.shared.counts.mutants.fetch_add(1, Ordering::Relaxed);
        let rejected = u64::from(done.is_rejected);
        self.shared
            .counts
            .rejected
            .fetch_add(rejected, Ordering::Relaxed);
        for mut finding in done.findings {
            let wanted = self.findings(|all| all.is_wanted(&finding));
            if !wanted {
                self.findings(|all| all.count(&finding));
                continue;
            }
            let is_text = !finding.input.starts_with("hex:");
            if is_text && finding.kind != Kind::Hang && !self.shared.plan.is_first_enough {
                let target = match finding.target.as_str() {
                    "" => "cpu",
                    target => target,
                };
                let target = target.to_string();
                let mut failed = None;
                let text = shrink::lines(&finding.input, &mut |text| {
                    let job = Job::Text {
                        text: text.into(),
                        target: target.clone(),
                    };
                    match self.tried(None, &job, MUTANT_LIMIT) {
                        Ok(done) => done.findings.iter().any(|f| f.key() == finding.key()),
                        Err(error) => {
                            failed = Some(error);
                            false
                        }
                    }
                });
                if let Some(error) = failed {
                    return Err(error);
                }
                finding.input = text;
            }
            self.findings(|all| all.keep_text(&finding, seed))?;
        }
        Ok(())
    }

    fn findings<R>(&self, with: impl FnOnce(&mut Findings) -> R) -> R {
        with(
            &mut self
                .shared
                .findings
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}
