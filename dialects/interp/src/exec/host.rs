//! The host's side: a kernel's steps, one after another.

use super::{Engine, control::run_pure, lanes::Lanes, launch::Launch};
use crate::{
    fault::{Fault, SiteId, Trap},
    memory::{Allocation, Memref, Space},
    program::{Action, Code, Control, Kernel, Owned, Reg, Step, SubgroupFill, Swap, Variant},
};
use qd_artifact::{Dtype, printing, prints};

/// Lanes that the elements of a `for_each` are dealt out to.
const BATCH: usize = 64;

impl<'p> Engine<'p> {
    /// Runs a kernel with arguments as they stand in registers.
    pub fn kernel(&mut self, number: usize, arguments: &[u64]) -> Result<(), Fault> {
        let kernel: &'p Kernel = &self.program.kernels[number];
        let mut host = Lanes::new(1, kernel.registers);
        for ((reg, _), &bits) in kernel.parameters.iter().zip(arguments) {
            host.set_all(*reg, bits);
        }
        let scratch: Vec<_> = (kernel.scratch.iter())
            .map(|reg| self.memrefs.get(host.get(*reg, 0)).clone())
            .collect();
        let around: Vec<_> = (scratch.iter())
            .map(|memref| self.device[memref.slot as usize].own(memref.bytes(memref.length())))
            .collect();
        let first = self.device.len();
        for control in &kernel.controls {
            let memref = self.workspace(control);
            host.set_all(control.register, memref);
        }
        let outcome = self.steps(&kernel.steps, &mut host);
        for (memref, around) in scratch.iter().zip(around).rev() {
            let allocation = &mut self.device[memref.slot as usize];
            allocation.scramble(memref.bytes(memref.length()));
            allocation.owned = around;
        }
        outcome?;
        for (words, control) in self.device[first..].iter().zip(&kernel.controls) {
            let message = match (words.first_not_zero(), &control.owned) {
                (None, _) | (_, Owned::Scratch) => continue,
                (_, Owned::Prints(sites)) => {
                    printed(words, sites, self.print);
                    continue;
                }
                (_, Owned::Faults(sites)) => noted(words, sites),
                (Some((word, value)), Owned::Control) => format!(
                    "is left with {value} in word {word} when kernel '@{}' ends: \
                     it must be left 0, for the next run begins with it",
                    kernel.name
                ),
            };
            return Err(self.fault(control.site, message));
        }
        Ok(())
    }

    /// A buffer that is the runtime's: of words that are 0, or of scratch; its number.
    fn workspace(&mut self, control: &Control) -> u64 {
        let (element, words) = (control.element, control.words);
        let mut allocation = Allocation::new(element, words);
        let bytes = element.bytes();
        if let Owned::Scratch = control.owned {
            allocation.own(0..(words * bytes) as i64);
        } else {
            for word in 0..words {
                allocation.write((word * bytes) as i64, bytes, 0);
            }
        }
        let slot = self.device.len() as u32;
        self.device.push(allocation);
        let memref = Memref::whole(Space::Device, slot, element, &[words]);
        self.memrefs.add(memref)
    }

    fn steps(&mut self, steps: &'p [Step], host: &mut Lanes) -> Result<(), Fault> {
        steps.iter().try_for_each(|step| self.step(step, host))
    }

    fn step(&mut self, step: &'p Step, host: &mut Lanes) -> Result<(), Fault> {
        let site = step.site;
        self.spend(site)?;
        match &step.action {
            Action::Host(code) => self.pure(code, host, site)?,
            Action::Size { register, is_log2 } => {
                let size = match is_log2 {
                    true => self.wave.trailing_zeros() as u64,
                    false => self.wave as u64,
                };
                host.set_all(*register, size);
            }
            Action::Phase {
                code,
                blocks,
                threads,
            } => {
                let blocks = self.blocks(host, *blocks, site)?;
                self.window.barrier();
                self.run(code, host, site, blocks, *threads, None)?;
                self.window.barrier();
            }
            Action::Launch {
                code,
                blocks,
                threads,
                id,
                after,
            } => {
                let blocks = self.blocks(host, *blocks, site)?;
                self.run(code, host, site, blocks, *threads, Some((*id, after)))?;
            }
            Action::ForEach {
                code,
                extent,
                count,
                threads,
                subgroups,
            } => {
                self.window.barrier();
                let mut elements = self.length(host, *extent, "extent", site)?;
                if let Some(count) = count {
                    elements = elements.min(self.read_count(host, *count, site)?);
                }
                let captures = captures(code, host);
                let lanes = match subgroups {
                    Some(_) => self.wave,
                    None => BATCH,
                };
                if *subgroups == Some(SubgroupFill::Full) && elements % lanes as u64 != 0 {
                    let message = format!(
                        "promises that its elements fill subgroups, but has {elements} elements in subgroups of {lanes}"
                    );
                    return Err(self.fault(site, message));
                }
                let threads = threads.map_or(lanes, |threads| threads as usize);
                let blocks = elements.div_ceil(threads as u64);
                self.open(site, blocks, threads.div_ceil(lanes) as u32, None)?;
                self.launch(&Launch {
                    code,
                    blocks,
                    threads,
                    lanes,
                    elements: Some(elements),
                    captures,
                })?;
                self.window.barrier();
            }
            Action::DoWhile { flag, swap, body } => {
                let mut is_odd = false;
                loop {
                    for Swap { buffers, names } in swap {
                        for of in 0..2 {
                            let buffer = buffers[of ^ usize::from(is_odd)];
                            host.set_all(names[of], host.get(buffer, 0));
                        }
                    }
                    self.window.barrier();
                    self.steps(body, host)?;
                    self.window.barrier();
                    self.spend(site)?;
                    is_odd = !is_odd;
                    if self.read_scalar(host, *flag, "flag", site)? == 0 {
                        break;
                    }
                }
                let swapped = swap.iter().flat_map(|swap| swap.buffers);
                let swapped = swapped.map(|reg| self.memrefs.get(host.get(reg, 0)));
                let swapped: Vec<_> = swapped.cloned().collect();
                for (i, one) in swapped.iter().enumerate() {
                    if swapped[i + 1..].iter().any(|other| one.overlaps(other)) {
                        return Err(self.fault(site, "swaps buffers that overlap"));
                    }
                }
                for Swap { buffers, .. } in swap {
                    let [a, b] = buffers.map(|reg| self.memrefs.get(host.get(reg, 0)).clone());
                    if a.sizes != b.sizes {
                        let message = format!(
                            "swaps buffers of {:?} and {:?} elements, which must be as many",
                            a.sizes, b.sizes
                        );
                        return Err(self.fault(site, message));
                    }
                    if is_odd {
                        self.exchange(&a, &b, site)?;
                    }
                }
            }
            Action::RunIf { condition, body } => {
                self.window.barrier();
                if self.read_scalar(host, *condition, "condition", site)? != 0 {
                    self.steps(body, host)?;
                    self.window.barrier();
                }
            }
            Action::Fill {
                buffer,
                bounds,
                value,
            } => {
                self.window.barrier();
                let range = match bounds {
                    None => 0..1,
                    Some((lower, upper)) => {
                        let lower = self.length(host, *lower, "lower bound", site)?;
                        lower..self.length(host, *upper, "upper bound", site)?
                    }
                };
                if host.is_poison(*value, 0) {
                    return Err(self.fault(site, "uses poison as the value it stores"));
                }
                self.fill(host.get(*buffer, 0), range, host.get(*value, 0))
                    .map_err(|trap| trap.located(&self.program.sites, site))?;
            }
            Action::Dispatch {
                arguments,
                variants,
            } => {
                let kernel = self.choose(variants, host, site)?;
                let arguments: Vec<u64> = arguments.iter().map(|&reg| host.get(reg, 0)).collect();
                self.window.barrier();
                self.kernel(kernel, &arguments)?;
                self.window.barrier();
            }
            Action::Algorithm(algorithm) => {
                self.window.barrier();
                self.algorithm(algorithm, host, site)?;
            }
        }
        Ok(())
    }

    /// Exchanges the elements of two buffers.
    fn exchange(&mut self, a: &Memref, b: &Memref, site: SiteId) -> Result<(), Fault> {
        let bytes = a.element.bytes();
        let locate = |trap: Box<Trap>| trap.located(&self.program.sites, site);
        let mut places = Vec::new();
        let count: i64 = a.sizes.iter().product();
        for number in 0..count {
            let mut left = number;
            let mut at = vec![0; a.sizes.len()];
            for (index, size) in at.iter_mut().zip(&a.sizes).rev() {
                *index = left % size;
                left /= size;
            }
            let [a, b] = [a, b].map(|memref| memref.address(at.iter().copied()));
            places.push([a.map_err(locate)?, b.map_err(locate)?]);
        }
        let slots = [a, b].map(|memref| memref.slot as usize);
        for place in places {
            let mut values = [None; 2];
            for of in 0..2 {
                let allocation = &self.device[slots[of]];
                allocation.units(place[of], bytes).map_err(locate)?;
                values[1 - of] = allocation.read(place[of], bytes);
            }
            for of in 0..2 {
                let allocation = &mut self.device[slots[of]];
                match values[of] {
                    Some(bits) => allocation.write(place[of], bytes, bits),
                    None => allocation.scramble(place[of]..place[of] + bytes as i64),
                }
            }
        }
        Ok(())
    }

    fn pure(&mut self, code: &Code, host: &mut Lanes, site: SiteId) -> Result<(), Fault> {
        run_pure(code, host, &mut self.memrefs)
            .map_err(|trap| trap.located(&self.program.sites, site))
    }

    fn run(
        &mut self,
        code: &Code,
        host: &Lanes,
        site: SiteId,
        blocks: u64,
        threads: u32,
        id: Option<(i64, &[i64])>,
    ) -> Result<(), Fault> {
        let (threads, lanes) = (threads as usize, self.wave);
        self.open(site, blocks, threads.div_ceil(lanes) as u32, id)?;
        let captures = captures(code, host);
        self.launch(&Launch {
            code,
            blocks,
            threads,
            lanes,
            elements: None,
            captures,
        })
    }

    fn open(
        &mut self,
        site: SiteId,
        blocks: u64,
        per_block: u32,
        id: Option<(i64, &[i64])>,
    ) -> Result<(), Fault> {
        self.window
            .start(blocks, per_block, id)
            .ok_or_else(|| self.fault(site, format!("has {blocks} blocks, too many to interpret")))
    }

    /// The first variant that is eligible.
    fn choose(
        &mut self,
        variants: &'p [Variant],
        host: &Lanes,
        site: SiteId,
    ) -> Result<usize, Fault> {
        for variant in variants {
            let Some((code, holds)) = &variant.predicate else {
                return Ok(variant.kernel);
            };
            let mut lanes = Lanes::new(1, code.registers);
            for (reg, bits, poison) in captures(code, host) {
                lanes.set_all(reg, bits);
                lanes.set_poison(reg, poison as u64);
            }
            self.pure(code, &mut lanes, site)?;
            if lanes.is_poison(*holds, 0) {
                return Err(self.fault(site, "has a variant whose predicate is poison"));
            }
            if lanes.get(*holds, 0) != 0 {
                return Ok(variant.kernel);
            }
        }
        Err(self.fault(site, "has no eligible variant: no predicate holds"))
    }

    fn blocks(&self, host: &Lanes, reg: Reg, site: SiteId) -> Result<u64, Fault> {
        self.length(host, reg, "number of blocks", site)
    }

    /// A host value that counts something.
    pub(super) fn length(
        &self,
        host: &Lanes,
        reg: Reg,
        what: &str,
        site: SiteId,
    ) -> Result<u64, Fault> {
        if host.is_poison(reg, 0) {
            return Err(self.fault(site, format!("uses poison as its {what}")));
        }
        let value = host.get(reg, 0) as i64;
        u64::try_from(value)
            .map_err(|_| self.fault(site, format!("has a negative {what}, {value}")))
    }

    /// The value of a buffer of one element, sign-extended.
    fn read_scalar(&self, host: &Lanes, reg: Reg, what: &str, site: SiteId) -> Result<i64, Fault> {
        let memref = self.memrefs.get(host.get(reg, 0));
        let read = self.element(memref, &vec![0; memref.sizes.len()], what);
        read.map(|bits| memref.element.signed(bits))
            .map_err(|trap| trap.located(&self.program.sites, site))
    }

    /// A live count.
    pub(super) fn read_count(&self, host: &Lanes, reg: Reg, site: SiteId) -> Result<u64, Fault> {
        let count = self.read_scalar(host, reg, "count", site)?;
        u64::try_from(count).map_err(|_| self.fault(site, format!("has a negative count, {count}")))
    }
}

/// What a body takes over from the host.
fn captures(code: &Code, host: &Lanes) -> Vec<(Reg, u64, bool)> {
    let take =
        |&(theirs, ours): &(Reg, Reg)| (ours, host.get(theirs, 0), host.is_poison(theirs, 0));
    code.captures.iter().map(take).collect()
}

/// What a record says that is not empty.
/// Prints what is in a ring that nobody has read yet.
fn printed(ring: &Allocation, sites: &[(String, Vec<Dtype>)], print: &mut dyn FnMut(&str)) {
    let word = |at: usize| ring.read(4 * at as i64, 4).unwrap_or_default();
    let claimed = word(prints::CLAIMED) as usize;
    for number in 0..claimed.min(prints::RECORDS) {
        let record = prints::FIRST + number * prints::RECORD;
        let Some((format, types)) = sites.get(word(record + prints::SITE) as usize) else {
            continue;
        };
        let values = types.iter().enumerate().map(|(at, dtype)| {
            let low = record + prints::VALUES + 2 * at;
            (*dtype, word(low) | word(low + 1) << 32)
        });
        print(&printing::text(format, &values.collect::<Vec<_>>()));
    }
}

fn noted(record: &Allocation, sites: &[String]) -> String {
    let word = |at: i64| record.read(4 * at, 4).unwrap_or_default();
    match sites.get(word(2) as usize) {
        Some(site) if word(1) != 0 => format!(
            "has noted that {site} fails, in thread {} of block {}",
            word(4),
            word(3)
        ),
        _ => "is claimed, but not complete".into(),
    }
}
