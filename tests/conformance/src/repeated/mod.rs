//! One program on a device, run repeatedly: the initial contents of scratch and results differ from
//! run to run, and the results may not.
//!
//! The kernel overwrites them itself before the algorithm, and compares after it: nothing is copied
//! between runs, so that a thousand of them take little time, and kernels of several threads are on
//! the device at once.

mod kernel;

use crate::{Data, Expect, Held, RAN, load, simulated, waves};
use qd_runtime::{
    Error,
    objects::{Arg, Buffer},
};
use std::env;

/// What an algorithm does with a buffer.
pub enum Role {
    /// Reads it.
    Given(Data),
    /// Writes its first elements, and leaves the others as they are.
    Result {
        /// What it holds afterwards.
        expected: Data,
        /// How many elements are written.
        live: usize,
    },
    /// Reads it, and writes it.
    InPlace {
        /// What it holds before.
        given: Data,
        /// What it holds afterwards.
        expected: Data,
    },
    /// Keeps there what it likes. The data is a type and a length.
    Scratch(Data),
}

/// An algorithm in text, and the buffers that it names.
pub struct Repeated {
    /// Such as `qd.algo.sort keys(%k, …) …`.
    pub op: String,
    /// Names of one letter or two, without `%`, and what they stand for. A count is of rank 0, all else
    /// of rank 1.
    pub buffers: Vec<(&'static str, Role)>,
}

/// How often a program is run: 1000 times on an NVIDIA GPU, and elsewhere 3, for the
/// time that tests may take; or as `QD_REPEATS` says.
///
/// # Panics
///
/// `QD_REPEATS` is no number from 1 on.
pub fn repeats() -> u32 {
    match env::var("QD_REPEATS") {
        Ok(text) => match text.parse() {
            Ok(count @ 1..) => count,
            _ => panic!("QD_REPEATS={text}: it is to be a number from 1 on"),
        },
        Err(_) if waves::is_nvptx() => 1000,
        Err(_) => 3,
    }
}

impl Role {
    /// What it holds afterwards, if that is known.
    fn expected(&self) -> Option<&Data> {
        match self {
            Role::Result { expected, .. } | Role::InPlace { expected, .. } => Some(expected),
            Role::Given(_) | Role::Scratch(_) => None,
        }
    }

    /// The arguments that it makes, of which the first is the buffer.
    fn arguments(&self) -> Vec<Data> {
        match self {
            Role::Given(data) | Role::Scratch(data) => vec![data.clone()],
            Role::Result { expected, live } => {
                let live = i32::try_from(*live).expect("a test's size");
                vec![expected.clone(), expected.clone(), Data::Count(live)]
            }
            Role::InPlace { given, expected } => {
                vec![given.clone(), expected.clone(), given.clone()]
            }
        }
    }
}

impl Repeated {
    /// Runs it so many times, on a stream and buffers of its own, unless it is another run's turn.
    ///
    /// # Errors
    ///
    /// It does not compile or run, or which results were wrong and how often.
    pub fn run(&self, count: u32) -> Result<(), String> {
        match simulated::is_ours(&kernel::text(self)) {
            true => self.run_always(count),
            false => Ok(()),
        }
    }

    /// As [`Self::run`], whoever's turn it is.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn run_always(&self, count: u32) -> Result<(), String> {
        let target = waves::target_with(waves::own_wave()).expect("a size that the target has");
        RAN.set(RAN.get() + 1);
        let main = load(&kernel::text(self), &target, None)?;
        let results = self.buffers.iter().filter_map(|(_, role)| role.expected());
        let counters = [vec![0; 1], vec![0; results.count()]].map(Data::I32);
        let roles = self.buffers.iter().flat_map(|(_, role)| role.arguments());
        let arguments: Vec<_> = roles.chain(counters).collect();
        let ran = || -> Result<Vec<Held>, Error> {
            let (kernel, stream) = main.apart()?;
            let buffers = arguments.iter().map(|d| d.upload(Expect::Same, &stream));
            let buffers: Vec<Buffer> = buffers.collect::<Result<_, _>>()?;
            let given: Vec<_> = buffers.iter().map(Arg::from).collect();
            for _ in 0..count {
                kernel.launch(&stream, &given)?;
            }
            let held = buffers.iter().map(|buffer| Held::read(buffer, &stream));
            held.collect()
        };
        let held = ran().map_err(|error| format!("{target}: {error}"))?;
        self.judge(&held, count)
            .map_err(|wrong| format!("{target}: {wrong}"))
    }

    fn judge(&self, held: &[Held], count: u32) -> Result<(), String> {
        let counters = held.len() - 2;
        let made = held[counters].words()[0];
        if u32::try_from(made) != Ok(count) {
            return Err(format!("{made} runs were made, not {count}"));
        }
        let mut wrong = held[counters + 1].words().into_iter();
        let mut said = Vec::new();
        let mut at = 0;
        for (name, role) in &self.buffers {
            if let Some(expected) = role.expected() {
                let wrong = wrong.next().expect("one for each result");
                // From here as well: what compares is compiled like what is compared.
                let same = held[at].bytes == expected.bytes(Expect::Same);
                if wrong != 0 || !same {
                    let last = if same { "not in" } else { "in" };
                    said.push(format!(
                        "elements of %{name} were wrong {wrong} times in {count} runs, {last} the last"
                    ));
                }
            }
            at += role.arguments().len();
        }
        match said.is_empty() {
            true => Ok(()),
            false => Err(said.join("; ")),
        }
    }
}
