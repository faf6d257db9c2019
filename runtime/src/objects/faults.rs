//! The fault record of a device, into which kernels note the first assertion that fails, and what
//! is known of assertions and prints.
//!
//! A device has one, as soon as a kernel with assertions is launched on it: its address is part of
//! the words of launches, captured ones included, and never changes. Whoever waits for a stream
//! reads it ([`Shared::read_notes`]). What the device writes there is described on the page of
//! `qd.grid.faults`; texts and places are here.

use super::{
    device::Shared,
    driver::{RawMemory, RawStream},
};
use crate::{Error, FailedAssertion};
use qd_artifact::{Comparison, Site, record};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// Bytes of a word.
pub(super) const WORD: usize = 4;

#[derive(Default)]
pub(super) struct Faults {
    record: OnceLock<Words>,
    /// Held while the record is made, or read.
    busy: Mutex<()>,
    known: Mutex<Known>,
}

/// Words of the device that kernels write into.
pub(super) struct Words {
    pub memory: RawMemory,
    pub stream: RawStream,
}

/// The assertions and prints of all kernels that were launched, by number. They stay known when their kernels
/// are gone: a fault may be read after that.
#[derive(Default)]
struct Known {
    next: u32,
    numbers: HashMap<Arc<Sites>, u32>,
    /// By the number of the first.
    all: BTreeMap<u32, Arc<Sites>>,
}

/// The assertions and prints of a kernel. Those that are equal have the same numbers, however often they are
/// loaded.
#[derive(PartialEq, Eq, Hash)]
struct Sites {
    /// The kernel that is launched, and the variant of it that has them, if it is one.
    kernel: String,
    variant: Option<String>,
    sites: Vec<Site>,
    places: Vec<String>,
}

/// What launches of a kernel with assertions or prints are given.
#[derive(Clone, Copy, Default)]
pub(super) struct Noting {
    /// The record's address; 0 if there are no assertions.
    pub record: u64,
    /// The ring's address; 0 if there are no prints.
    pub ring: u64,
    /// The number of the plan's first site.
    pub first: u64,
}

impl Faults {
    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The site of a number.
    pub fn site(&self, number: u32) -> Option<Site> {
        let known = self.known();
        let (of_kernel, place) = known.site(number)?;
        Some(of_kernel.sites[place].clone())
    }
}

impl Known {
    fn number(&mut self, sites: Sites) -> u32 {
        if let Some(number) = self.numbers.get(&sites) {
            return *number;
        }
        let sites = Arc::new(sites);
        let number = self.next;
        self.next = number.wrapping_add(sites.sites.len() as u32);
        self.numbers.insert(sites.clone(), number);
        self.all.insert(number, sites);
        number
    }

    fn site(&self, number: u32) -> Option<(&Sites, usize)> {
        let (first, sites) = self.all.range(..=number).next_back()?;
        let place = (number - first) as usize;
        (place < sites.sites.len()).then_some((sites, place))
    }
}

impl Shared {
    /// What launches of a kernel, or of a variant of it, with these assertions and prints note them by.
    pub fn noting(
        &self,
        kernel: &str,
        variant: Option<&str>,
        sites: &[Site],
        places: Option<&[String]>,
    ) -> Result<Noting, Error> {
        let has = |is_print: bool| sites.iter().any(|site| site.printed.is_some() == is_print);
        let (record, ring) = (
            if has(false) { self.record()? } else { 0 },
            if has(true) { self.ring()? } else { 0 },
        );
        let first = self.faults.known().number(Sites {
            kernel: kernel.into(),
            variant: variant.map(Into::into),
            sites: sites.into(),
            places: places.unwrap_or_default().into(),
        });
        Ok(Noting {
            record,
            ring,
            first: first.into(),
        })
    }

    /// The address of the record, which is made if there is none.
    fn record(&self) -> Result<u64, Error> {
        let _one = self.faults.busy.lock();
        if let Some(record) = self.faults.record.get() {
            return Ok(record.memory.address);
        }
        let record = self.words("the fault record", record::WORDS)?;
        Ok(self.faults.record.get_or_init(|| record).memory.address)
    }

    /// Words of the device, which are 0.
    pub(super) fn words(&self, what: &str, count: usize) -> Result<Words, Error> {
        let driver = &self.driver;
        let failed = |fault| self.failed(what, fault);
        // What is allocated on a stream under capture would be part of the graph.
        let stream = driver.open_stream(false).map_err(failed)?;
        let bytes = (count * WORD) as u64;
        let memory = driver.allocate(bytes, stream).map_err(failed)?;
        let cleared = driver.set(stream, memory.address, bytes, 0);
        cleared.map_err(failed)?;
        driver.synchronize(stream).map_err(failed)?;
        Ok(Words { memory, stream })
    }

    /// Some of the words at an address, when the work of a stream is done.
    pub(super) fn read_words(
        &self,
        what: &str,
        on: RawStream,
        at: u64,
        count: usize,
    ) -> Result<Vec<u32>, Error> {
        let mut bytes = vec![0; count * WORD];
        let read = self.driver.download(on, at, &mut bytes);
        read.map_err(|fault| self.failed(what, fault))?;
        let words = bytes.chunks_exact(WORD);
        let words = words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        Ok(words.collect())
    }

    pub(super) fn free_words(&self, words: Words) {
        self.driver.free(words.memory, words.stream);
        self.driver.close_stream(words.stream);
    }

    /// Prints what kernels have printed since the last time; and the first assertion that has failed since then, as
    /// an error. The stream is one whose work is done.
    pub fn read_notes(&self, on: RawStream) -> Result<(), Error> {
        self.print(on)?;
        let Some(record) = self.faults.record.get() else {
            return Ok(());
        };
        let _one = self.faults.busy.lock();
        let at = record.memory.address;
        let what = "reading the fault record";
        let failed = |fault| self.failed(what, fault);
        let driver = &self.driver;
        let read = || self.read_words(what, on, at, record::WORDS);
        if read()?[record::COMPLETE] == 0 {
            return Ok(());
        }
        // Another stream may have completed it while it was copied. Now nothing changes it.
        let words = read()?;
        // The claim last: whoever has the next one writes all of it.
        for word in [record::COMPLETE, record::CLAIMED] {
            let word = at + (word * WORD) as u64;
            driver.set(on, word, WORD as u64, 0).map_err(failed)?;
            driver.synchronize(on).map_err(failed)?;
        }
        Err(self.faults.known().error(&words))
    }

    /// Gives the record back.
    pub fn drop_record(&mut self) {
        if let Some(record) = self.faults.record.take() {
            self.free_words(record);
        }
    }
}

impl Known {
    fn error(&self, words: &[u32]) -> Error {
        let (block, thread) = (words[record::BLOCK], words[record::THREAD]);
        let Some((sites, place)) = self.site(words[record::SITE]) else {
            return Error::Device(format!(
                "the fault record names assertion {}, which no kernel has",
                words[record::SITE]
            ));
        };
        let site = &sites.sites[place];
        let wide = |low: usize| u64::from(words[low]) | u64::from(words[low + 1]) << 32;
        let compared = |relation| compared(wide(record::LEFT), relation, wide(record::RIGHT));
        Error::Assertion(Box::new(FailedAssertion {
            kernel: sites.kernel.clone(),
            variant: sites.variant.clone(),
            phase: site.phase.clone(),
            text: site.text.clone(),
            at: sites.places.get(place).cloned(),
            block,
            thread,
            compared: site.relation.map(compared),
        }))
    }
}

/// `7 < 5`.
fn compared(left: u64, relation: Comparison, right: u64) -> String {
    use Comparison as C;
    let (sign, is_signed) = match relation {
        C::Eq => ("=", true),
        C::Ne => ("≠", true),
        C::LtSigned => ("<", true),
        C::LeSigned => ("≤", true),
        C::GtSigned => (">", true),
        C::GeSigned => ("≥", true),
        C::LtUnsigned => ("<", false),
        C::LeUnsigned => ("≤", false),
        C::GtUnsigned => (">", false),
        C::GeUnsigned => ("≥", false),
    };
    match is_signed {
        true => format!("{} {sign} {}", left as i64, right as i64),
        false => format!("{} {sign} {}", unsigned(left), unsigned(right)),
    }
}

/// An unsigned number. An index below 0 is one of the largest.
fn unsigned(number: u64) -> String {
    match number as i64 {
        signed @ ..0 => format!("{number} ({signed} if it is signed)"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assertions(kernel: &str, texts: &[&str]) -> Sites {
        let sites = texts.iter().map(|text| Site {
            text: (*text).into(),
            phase: "p".into(),
            relation: Some(Comparison::LtSigned),
            printed: None,
        });
        Sites {
            kernel: kernel.into(),
            variant: None,
            sites: sites.collect(),
            places: vec!["k.mlir:1:2".into()],
        }
    }

    #[test]
    fn sites_are_known_by_number_and_equal_ones_once() {
        let mut known = Known::default();
        assert_eq!(known.number(assertions("a", &["x", "y"])), 0);
        assert_eq!(known.number(assertions("b", &["z"])), 2);
        assert_eq!(known.number(assertions("a", &["x", "y"])), 0);
        let mut words = [0; record::WORDS];
        let mut said = |site, left: i64| {
            words[record::SITE] = site;
            (words[record::BLOCK], words[record::THREAD]) = (7, 8);
            words[record::LEFT] = left as u32;
            words[record::LEFT + 1] = (left >> 32) as u32;
            words[record::RIGHT] = 5;
            known.error(&words).to_string()
        };
        assert_eq!(
            said(0, -1),
            "kernel 'a': \"x\" does not hold at k.mlir:1:2, in thread 8 of block 7 of phase 'p': -1 < 5 is false"
        );
        assert_eq!(
            said(1, 1 << 32),
            "kernel 'a': \"y\" does not hold, in thread 8 of block 7 of phase 'p': 4294967296 < 5 is false"
        );
        assert!(said(2, 6).starts_with("kernel 'b': \"z\""));
        assert!(said(3, 6).contains("assertion 3"));
    }

    #[test]
    fn indices_below_0_are_seen_to_be() {
        let of = |left: i64| compared(left as u64, Comparison::LtUnsigned, 3);
        assert_eq!(of(3), "3 < 3");
        assert_eq!(of(-1), "18446744073709551615 (-1 if it is signed) < 3");
    }
}
