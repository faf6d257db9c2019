//! Dispatchers: threads, clocks and the environment around [`Evaluation`]s.

use super::{
    Clock, Environment, Error, Policy, SystemClock,
    evaluation::{Evaluation, Next, Situation},
};
use crossbeam_utils::sync::{ShardedLock, ShardedLockReadGuard, ShardedLockWriteGuard};
use rustc_hash::FxHashMap;
use std::{
    fmt,
    hash::Hash,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// What calls are told apart by: those of equal geometries have one winner. A key is hashed at
/// each call and kept for the dispatcher's life, so it should be small, and coarse: the logarithm of
/// a length, and not the length. It must not be read from the device.
pub trait Geometry: Clone + Eq + Hash + fmt::Debug + Send + Sync {}

impl<G: Clone + Eq + Hash + fmt::Debug + Send + Sync> Geometry for G {}

/// A variant, as the dispatcher knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name. It has no comma, so that the environment can name it.
    pub name: String,
    /// What tells its code from that of other variants of the name, if anything does: saved winners
    /// are refused where it differs.
    pub code: String,
}

impl Variant {
    /// A variant whose code is told by its name alone.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            code: String::new(),
        }
    }
}

/// How a dispatcher is made.
#[derive(Clone)]
pub struct Settings {
    /// How often variants are tried.
    pub policy: Policy,
    /// What times them. Default: the machine's monotonic clock.
    pub clock: Arc<dyn Clock>,
    /// What users say. Default: none, and [`Environment::read`] when the dispatcher is made.
    pub environment: Option<Environment>,
    /// Prints a line that the environment asks for. Default: to standard error.
    pub print: Print,
}

/// Prints a line.
pub type Print = Arc<dyn Fn(&str) + Send + Sync>;

impl Default for Settings {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            clock: Arc::new(SystemClock::default()),
            environment: None,
            print: Arc::new(|line| eprintln!("{line}")),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("policy", &self.policy)
            .field("clock", &self.clock)
            .field("environment", &self.environment)
            .finish_non_exhaustive()
    }
}

/// A call of a dispatcher: what its variants are for these arguments.
///
/// No lock is held while one of its functions runs, so that a variant may itself call a
/// dispatcher, this one too.
pub trait Call {
    /// What a variant returns.
    type Output;
    /// Why a variant fails.
    type Error: From<Error>;

    /// Whether a variant may run. It should follow from the geometry: it is asked of the winner at
    /// each call, and of the others only where there is none.
    fn is_eligible(&self, _variant: usize) -> bool {
        true
    }

    /// Whether it is possible to wait for the device now, as [`synchronize`](Self::synchronize)
    /// does. It is not where a stream is captured.
    fn may_measure(&self) -> bool {
        true
    }

    /// Waits until the work of earlier calls, and of this one, has been done.
    ///
    /// # Errors
    ///
    /// Some of it failed: it is the call's error.
    fn synchronize(&mut self) -> Result<(), Self::Error>;

    /// Runs a variant.
    ///
    /// # Errors
    ///
    /// It failed: it is the call's error.
    fn run(&mut self, variant: usize) -> Result<Self::Output, Self::Error>;
}

/// Chooses among variants of one operation by measuring them, for each geometry by itself.
///
/// Any thread may call it. One trial runs at a time: calls meanwhile do not wait for it, nor
/// are they timed. They run the winner of their geometry, or the one before, or the first eligible
/// variant.
pub struct Dispatcher<G> {
    name: String,
    variants: Vec<Variant>,
    policy: Policy,
    clock: Arc<dyn Clock>,
    /// Prints what is chosen, if somebody wants to know.
    print: Option<Print>,
    /// The variant that is forced, or [`NONE`].
    forced: AtomicUsize,
    is_frozen: AtomicBool,
    /// Readers share no cache line.
    state: ShardedLock<State<G>>,
}

/// No variant.
const NONE: usize = usize::MAX;

struct State<G> {
    /// By geometry.
    known: FxHashMap<G, Evaluation>,
    /// Whether a call is a trial just now.
    is_busy: bool,
}

impl<G: Geometry> Dispatcher<G> {
    /// A dispatcher of these variants, which later calls name by their indices. Reads the
    /// environment if the settings have none. If that names a variant which is not there, it prints
    /// a warning and measures, as the reference does.
    ///
    /// # Errors
    ///
    /// There are no variants or two of one name, a name is empty or cannot be in the environment's
    /// lists, the policy has no active rounds, or the environment is malformed.
    pub fn new(
        name: impl Into<String>,
        variants: Vec<Variant>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let name = name.into();
        check(&name, &variants)?;
        settings.policy.check(&name)?;
        let environment = match settings.environment {
            Some(environment) => environment,
            None => Environment::read()?,
        };
        let dispatcher = Self {
            name,
            variants,
            policy: settings.policy,
            clock: settings.clock,
            print: environment.prints.then(|| settings.print.clone()),
            forced: AtomicUsize::new(NONE),
            is_frozen: AtomicBool::new(false),
            state: ShardedLock::new(State {
                known: FxHashMap::default(),
                is_busy: false,
            }),
        };
        dispatcher.begin(&environment, &*settings.print);
        Ok(dispatcher)
    }

    /// Says what the environment asks for, and forces what it forces.
    fn begin(&self, environment: &Environment, print: &(dyn Fn(&str) + Send + Sync)) {
        let Self { name, .. } = self;
        if environment.lists || environment.prints {
            for variant in &self.variants {
                print(&format!(
                    "perf_dispatch '{name}': registered '{}'",
                    variant.name
                ));
            }
            let names = self.names();
            print(&format!(
                "perf_dispatch '{name}': available implementations: ['{}']",
                names.join("', '")
            ));
        }
        if let Some(forced) = environment.forced.get(name) {
            match self.force(forced) {
                Ok(()) if environment.prints => {
                    print(&format!("perf_dispatch '{name}': forced to '{forced}'"));
                }
                Ok(()) => {}
                Err(error) => print(&format!(
                    "warning: {error}: {} is ignored, and variants are measured",
                    Environment::FORCE
                )),
            }
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its variants, in order.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.variants.iter().map(|one| one.name.clone()).collect()
    }

    /// A variant's index.
    ///
    /// # Errors
    ///
    /// There is none of that name: the message lists the variants.
    pub fn variant(&self, name: &str) -> Result<usize, Error> {
        let found = self.variants.iter().position(|one| one.name == name);
        found.ok_or_else(|| Error::UnknownVariant {
            dispatcher: self.name.clone(),
            variant: name.into(),
            known: self.names(),
        })
    }

    /// Has each call run this variant from now on, whatever its condition says, and measures
    /// nothing.
    ///
    /// # Errors
    ///
    /// There is no variant of that name, and nothing has changed.
    pub fn force(&self, variant: &str) -> Result<(), Error> {
        self.forced.store(self.variant(variant)?, Ordering::Relaxed);
        Ok(())
    }

    /// Ends what [`force`](Self::force) or the environment began.
    pub fn unforce(&self) {
        self.forced.store(NONE, Ordering::Relaxed);
    }

    /// The variant that is forced.
    pub fn forced(&self) -> Option<usize> {
        let forced = self.forced.load(Ordering::Relaxed);
        (forced != NONE).then_some(forced)
    }

    /// Measures nothing from now on: winners stay, and geometries without one get the first
    /// eligible variant. Calls meanwhile do not count.
    pub fn freeze(&self) {
        self.is_frozen.store(true, Ordering::Relaxed);
    }

    /// Measures again.
    pub fn thaw(&self) {
        self.is_frozen.store(false, Ordering::Relaxed);
    }

    /// Whether nothing is measured.
    pub fn is_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::Relaxed)
    }

    /// The winner of a geometry: none while its variants are tried.
    pub fn winner(&self, geometry: &G) -> Option<usize> {
        self.read().known.get(geometry)?.winner()
    }

    /// Each geometry that has a winner, with it, in no order.
    pub fn winners(&self) -> Vec<(G, usize)> {
        let state = self.read();
        let known = state.known.iter();
        let known = known.filter_map(|(geometry, one)| Some((geometry.clone(), one.winner()?)));
        known.collect()
    }

    /// By variant, the mean of its times for a geometry, in the evaluation in progress or, if there
    /// is a winner, in the last one. Empty if nothing was tried.
    pub fn times(&self, geometry: &G) -> Vec<Option<Duration>> {
        let state = self.read();
        let trials = state.known.get(geometry).map(Evaluation::trials);
        let trials = trials.unwrap_or_default().iter();
        trials.map(|trials| trials.mean()).collect()
    }

    /// Sets winners, as if they had just been measured.
    pub(super) fn set_winners(&self, winners: Vec<(G, usize)>) {
        let now = self.clock.coarse();
        let mut state = self.write();
        for (geometry, winner) in winners {
            state.known.insert(geometry, Evaluation::of(winner, now));
        }
    }

    /// Forgets winners and trials.
    pub fn clear(&self) {
        self.write().known.clear();
    }

    /// Runs one variant: the forced one, the winner of the geometry, or one that is tried. A trial
    /// that is timed waits for the device before and after it. A variant that fails in a trial
    /// has been tried, without a time.
    ///
    /// # Errors
    ///
    /// No variant is eligible; the geometry has no winner and nothing may be measured; or what the
    /// variant, or waiting for it, returns.
    pub fn call<C: Call>(&self, geometry: &G, call: &mut C) -> Result<C::Output, C::Error> {
        let variant = self.forced().or_else(|| {
            let steady = self.steady(geometry)?;
            call.is_eligible(steady).then_some(steady)
        });
        match variant {
            Some(variant) => call.run(variant),
            None => self.call_unsteady(geometry, call),
        }
    }

    /// The variant that a call runs if nothing may be measured: what captures and recordings take.
    /// Counts as no call.
    ///
    /// # Errors
    ///
    /// No variant is eligible, or the geometry has no winner and more than one is.
    pub fn chosen<C: Call>(&self, geometry: &G, call: &C) -> Result<usize, Error> {
        if let Some(forced) = self.forced() {
            return Ok(forced);
        }
        let eligible = self.eligible(geometry, call)?;
        let best = self.read().known.get(geometry).and_then(Evaluation::best);
        match (best, &*eligible) {
            (Some(best), eligible) if eligible.contains(&best) => Ok(best),
            (None, [_, _, ..]) if !self.is_frozen() => Err(self.not_measured(geometry)),
            (_, eligible) => Ok(eligible[0]),
        }
    }

    fn steady(&self, geometry: &G) -> Option<usize> {
        let state = self.read();
        let known = state.known.get(geometry)?;
        match self.is_frozen() {
            true => known.winner(),
            false => known.steady(&self.policy, || self.clock.coarse()),
        }
    }

    #[cold]
    fn call_unsteady<C: Call>(&self, geometry: &G, call: &mut C) -> Result<C::Output, C::Error> {
        let eligible = self.eligible(geometry, call)?;
        let may_measure = call.may_measure();
        match self.next(geometry, &eligible, may_measure) {
            Next::Run(variant) => call.run(variant),
            Next::NotMeasured => Err(self.not_measured(geometry).into()),
            Next::Try { variant, is_timed } => {
                let mut trial = Trial {
                    dispatcher: self,
                    geometry,
                    eligible: &eligible,
                    variant,
                    time: None,
                };
                if !is_timed {
                    return call.run(variant);
                }
                call.synchronize()?;
                let begin = self.clock.now();
                let output = call.run(variant)?;
                call.synchronize()?;
                trial.time = Some(self.clock.now().saturating_sub(begin));
                Ok(output)
            }
        }
    }

    fn next(&self, geometry: &G, eligible: &[usize], may_measure: bool) -> Next {
        let now = self.clock.coarse();
        let is_frozen = self.is_frozen();
        let mut state = self.write();
        let situation = Situation {
            eligible,
            may_measure,
            is_busy: state.is_busy,
            is_frozen,
            now,
        };
        let known = state.known.entry(geometry.clone()).or_default();
        let next = known.next(&self.policy, situation, self.variants.len());
        if let Next::Try { .. } = next {
            state.is_busy = true;
        }
        next
    }

    /// The variants whose conditions hold.
    fn eligible<C: Call>(&self, geometry: &G, call: &C) -> Result<Vec<usize>, Error> {
        let variants = 0..self.variants.len();
        let eligible: Vec<_> = variants.filter(|one| call.is_eligible(*one)).collect();
        match eligible.is_empty() {
            false => Ok(eligible),
            true => Err(Error::NoEligible {
                dispatcher: self.name.clone(),
                geometry: format!("{geometry:?}"),
                known: self.names(),
            }),
        }
    }

    fn not_measured(&self, geometry: &G) -> Error {
        Error::NotMeasured {
            dispatcher: self.name.clone(),
            geometry: format!("{geometry:?}"),
        }
    }

    fn read(&self) -> ShardedLockReadGuard<'_, State<G>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> ShardedLockWriteGuard<'_, State<G>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_chosen(&self, geometry: &G, winner: usize) {
        let winner = &self.variants[winner].name;
        tracing::debug!(dispatcher = self.name, ?geometry, winner, "chose");
        let Some(print) = &self.print else {
            return;
        };
        let times = self.times(geometry);
        let times = self.variants.iter().zip(times);
        let times = times.filter_map(|(one, time)| Some(format!("{}: {:?}", one.name, time?)));
        let times = times.collect::<Vec<_>>().join(", ");
        print(&format!(
            "perf_dispatch '{}': chose '{winner}' for {geometry:?} ({times})",
            self.name
        ));
    }
}

/// A trial in progress. It ends when it is dropped, also by a panic.
struct Trial<'a, G: Geometry> {
    dispatcher: &'a Dispatcher<G>,
    geometry: &'a G,
    eligible: &'a [usize],
    variant: usize,
    time: Option<Duration>,
}

impl<G: Geometry> Drop for Trial<'_, G> {
    fn drop(&mut self) {
        let dispatcher = self.dispatcher;
        let now = dispatcher.clock.coarse();
        let mut state = dispatcher.write();
        state.is_busy = false;
        let (policy, time) = (&dispatcher.policy, self.time);
        let known = state.known.get_mut(self.geometry);
        let winner =
            known.and_then(|known| known.end(policy, self.eligible, self.variant, time, now));
        drop(state);
        if let Some(winner) = winner {
            dispatcher.has_chosen(self.geometry, winner);
        }
    }
}

impl<G> fmt::Debug for Dispatcher<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.variants.iter().map(|one| &*one.name);
        let names = names.collect::<Vec<_>>().join(", ");
        write!(f, "perf_dispatch '{}' of {names}", self.name)
    }
}

/// That there are variants, each of a name of its own, and that the environment can name all.
fn check(name: &str, variants: &[Variant]) -> Result<(), Error> {
    let named = |what: &'static str, given: &str, separators: &[char]| {
        let reason = match given {
            _ if given.trim().is_empty() => "it is empty",
            _ if given.trim() != given => "it begins or ends with a space",
            _ if given.contains(separators) => {
                "it contains a comma or, being a dispatcher's, a colon"
            }
            _ => return Ok(()),
        };
        Err(Error::Name {
            dispatcher: name.into(),
            what,
            name: given.into(),
            reason,
        })
    };
    named("a dispatcher", name, &[',', ':'])?;
    if variants.is_empty() {
        return Err(Error::NoVariants {
            dispatcher: name.into(),
        });
    }
    for (i, variant) in variants.iter().enumerate() {
        named("a variant", &variant.name, &[','])?;
        if variants[..i].iter().any(|other| other.name == variant.name) {
            return Err(Error::DuplicateVariant {
                dispatcher: name.into(),
                variant: variant.name.clone(),
            });
        }
    }
    Ok(())
}
