//! The ring of a device into which kernels print, and what becomes of it.
//!
//! A device has one, as soon as a kernel that prints is launched on it; its address is part of the words of launches,
//! as that of the fault record is. Whoever waits for a stream, or reads an array, prints what is in it. Its layout is
//! on the page of `qd.grid.prints`.

use super::{
    device::{Device, Shared},
    driver::RawStream,
    faults::{WORD, Words},
};
use crate::Error;
use qd_artifact::{printing, prints};
use std::{
    io::Write,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

/// Takes what kernels print, a print at a time.
pub type Printer = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Default)]
pub(super) struct Prints {
    ring: OnceLock<Words>,
    /// Held while the ring is made, or read.
    seen: Mutex<Seen>,
    printer: Mutex<Option<Printer>>,
}

/// How far the ring was read.
#[derive(Default)]
struct Seen {
    /// Claims that were read or dropped.
    claims: u32,
    /// Claims that were dropped.
    dropped: u32,
}

impl Device {
    /// Has what kernels print given to a function instead of standard output: as text, a print at a time, when somebody
    /// waits for a stream of the device or reads an array, by the thread that does so, and when the device is dropped.
    /// The order is that in which threads came to print. None: standard output again.
    pub fn on_print(&self, printer: Option<Printer>) {
        *self.0.prints.printer() = printer;
    }
}

impl Prints {
    fn printer(&self) -> MutexGuard<'_, Option<Printer>> {
        self.printer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const WHAT: &str = "the ring of prints";

impl Shared {
    /// The address of the ring, which is made if there is none.
    pub(super) fn ring(&self) -> Result<u64, Error> {
        let _one = self.prints.seen();
        if let Some(ring) = self.prints.ring.get() {
            return Ok(ring.memory.address);
        }
        let ring = self.words(WHAT, prints::WORDS)?;
        Ok(self.prints.ring.get_or_init(|| ring).memory.address)
    }

    /// Prints what is in the ring. The stream is one whose work is done.
    pub(super) fn print(&self, on: RawStream) -> Result<(), Error> {
        let Some(ring) = self.prints.ring.get() else {
            return Ok(());
        };
        let texts = self.printed(ring.memory.address, on)?;
        if texts.is_empty() {
            return Ok(());
        }
        let printer = self.prints.printer().clone();
        match printer {
            Some(printer) => texts.iter().for_each(|text| printer(text)),
            None => {
                let mut out = std::io::stdout().lock();
                // Nobody may be there to read it.
                let _ = out.write_all(texts.concat().as_bytes());
                let _ = out.flush();
            }
        }
        Ok(())
    }

    /// What was printed since the last time.
    fn printed(&self, ring: u64, on: RawStream) -> Result<Vec<String>, Error> {
        let mut seen = self.prints.seen();
        let word = |word: usize| ring + (word * WORD) as u64;
        let read = |first: usize, count: usize| self.read_words(WHAT, on, word(first), count);
        // First what was dropped: all of it is among the claims that are counted then. Kernels of other streams may be
        // printing meanwhile.
        let dropped = read(prints::DROPPED, 1)?[0].wrapping_sub(seen.dropped);
        let claims = read(prints::CLAIMED, 1)?[0].wrapping_sub(seen.claims);
        if claims == 0 {
            return Ok(Vec::new());
        }
        let held = (claims as usize).min(prints::RECORDS);
        let start = seen.claims as usize % prints::RECORDS;
        let before_end = held.min(prints::RECORDS - start);
        let at = |record: usize| prints::FIRST + record * prints::RECORD;
        let mut words = read(at(start), before_end * prints::RECORD)?;
        if before_end < held {
            words.extend(read(at(0), (held - before_end) * prints::RECORD)?);
        }
        let records: Vec<&[u32]> = words.chunks_exact(prints::RECORD).collect();
        let is_complete = |place: usize| {
            let number = seen.claims.wrapping_add(place as u32);
            records[place][prints::COMPLETE] == number.wrapping_add(1)
        };
        let complete: Vec<bool> = (0..held).map(is_complete).collect();
        let missing = claims - complete.iter().filter(|is| **is).count() as u32;
        // What is missing was dropped, unless other streams are writing it: then what follows is read later.
        let is_all = missing == dropped;
        let taken = match is_all {
            true => held,
            false => complete.iter().position(|is| !is).unwrap_or(held),
        };
        let texts = (0..taken).filter(|place| complete[*place]);
        let mut texts: Vec<String> = texts.map(|place| self.text(records[place])).collect();
        if is_all && dropped > 0 {
            let (kept, s) = (prints::RECORDS, if dropped == 1 { "" } else { "s" });
            texts.push(format!(
                "[{dropped} more print{s} did not fit: a device keeps {kept} until somebody waits for it]\n"
            ));
        }
        let next = match is_all {
            true => claims,
            false => taken as u32,
        };
        seen.claims = seen.claims.wrapping_add(next);
        if is_all {
            seen.dropped = seen.dropped.wrapping_add(dropped);
        }
        let claims = seen.claims.to_le_bytes();
        let told = self.driver.upload(on, word(prints::READ), &claims);
        told.and_then(|()| self.driver.synchronize(on))
            .map_err(|fault| self.failed(WHAT, fault))?;
        Ok(texts)
    }

    fn text(&self, record: &[u32]) -> String {
        let Some(site) = self.faults.site(record[prints::SITE]) else {
            return format!(
                "[a print of site {}, which no kernel has]\n",
                record[prints::SITE]
            );
        };
        let words = record[prints::VALUES..].chunks_exact(2);
        let values = words.map(|words| u64::from(words[0]) | u64::from(words[1]) << 32);
        let types = site.printed.unwrap_or_default();
        let values: Vec<_> = types.into_iter().zip(values).collect();
        printing::text(&site.text, &values)
    }

    /// Prints what is left, and gives the ring back.
    pub(super) fn drop_ring(&mut self) {
        let Some(on) = self.prints.ring.get().map(|ring| ring.stream) else {
            return;
        };
        // A device that is lost has nothing to print.
        let _ = self.print(on);
        if let Some(ring) = self.prints.ring.take() {
            self.free_words(ring);
        }
    }
}

#[cfg(test)]
mod tests;
