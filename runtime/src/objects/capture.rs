//! Calls on a stream under capture: they become part of its owner's graph.

use super::{
    allocation::{Allocation, Touch},
    driver::{Op, OpKind},
    evaluate::Evaluated,
    executable::Loaded,
    stream::{Priority, Stream},
};
use crate::Error;
use std::sync::Arc;

/// A captured call, apart from its ops.
pub(super) struct Call<'a> {
    /// As messages say it.
    pub what: String,
    pub touches: Vec<Touch>,
    /// Its control words.
    pub control_bytes: u64,
    /// The code that it runs.
    pub code: Vec<Arc<Loaded>>,
    pub max_iterations: Option<u64>,
    /// Adds its ops, with their control from an address on, after some.
    pub evaluate: Evaluate<'a>,
}

type Evaluate<'a> = Box<dyn FnOnce(&mut Evaluated, u64, &[u32]) -> Result<(), Error> + 'a>;

/// What the owner's graph holds.
struct Held {
    _code: Vec<Arc<Loaded>>,
    _touched: Vec<Touch>,
    _control: Option<Arc<Allocation>>,
}

impl Call<'_> {
    /// Adds the call to the graph that the stream is being captured into. That graph, and all that
    /// is made of it, keep alive what the call needs. An error leaves the capture unchanged.
    pub fn splice(self, on: &Stream) -> Result<(), Error> {
        for touch in &self.touches {
            let uses = touch.allocation.lock();
            if let Some(other) = uses.unsettled(&on.0, &touch.bytes, touch.is_write) {
                return Err(Error::Capture(format!(
                    "{}: a buffer was last used on stream {other}, outside of the capture: synchronize that, or have {on:?} wait for it, before the capture begins",
                    self.what
                )));
            }
        }
        let control = self.control(on)?;
        let at = control.as_ref().map_or(0, |memory| memory.raw.address);
        let mut evaluated = Evaluated::default();
        let mut entry = Vec::new();
        if self.control_bytes > 0 {
            // Each run of the owner's graph begins with it, whatever the one before left.
            let words = evaluated.words([at, self.control_bytes / 4, 0]);
            entry.push(evaluated.push("control", Vec::new(), OpKind::Fill { size: 4, words }));
        }
        (self.evaluate)(&mut evaluated, at, &entry)?;
        let shared = on.0.shared();
        if !shared.driver.info().decides && has_condition(&evaluated.shape.ops) {
            return Err(Error::Capture(format!(
                "{}: it has a loop or an `if`, at which the host has to look on {:?}",
                self.what,
                on.device()
            )));
        }
        let held = Box::new(Held {
            _code: self.code,
            _touched: self.touches,
            _control: control,
        });
        let Evaluated { shape, words, .. } = evaluated;
        let driver = &shared.driver;
        let spliced = driver.splice(on.0.raw, &shape, &words, self.max_iterations, held);
        spliced.map_err(|fault| shared.failed(&format!("{}: capturing it", self.what), fault))
    }

    /// Control words of its own: the owner may run the graph concurrently with other calls.
    fn control(&self, on: &Stream) -> Result<Option<Arc<Allocation>>, Error> {
        if self.control_bytes == 0 {
            return Ok(None);
        }
        // What is allocated on the captured stream would be part of the graph.
        let beside = Stream::open(on.device(), Priority::Normal)?;
        let what = || format!("{}: its control", self.what);
        let memory = Allocation::new(&beside, self.control_bytes, what)?;
        beside.synchronize()?;
        Ok(Some(memory))
    }
}

fn has_condition(ops: &[Op]) -> bool {
    let is_one = |op: &Op| matches!(op.kind, OpKind::While { .. } | OpKind::If { .. });
    ops.iter().any(is_one)
}

#[cfg(test)]
mod tests;
