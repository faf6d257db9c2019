//! Allocation of a device's memory, from its driver or a foreign allocator.

use super::{
    device::Shared,
    driver::{Fault, RawMemory, RawStream},
};
use crate::Error;

impl Shared {
    /// Allocates memory for use on the stream. If there is no room, unused memory is released, and
    /// the allocation is tried again.
    pub fn allocate(
        &self,
        bytes: u64,
        on: RawStream,
        what: impl FnOnce() -> String,
    ) -> Result<RawMemory, Error> {
        let driver = &self.driver;
        let made = self.ask(bytes, on).or_else(|fault| match fault {
            Fault::OutOfMemory { .. } => {
                // What was freed on it may be in use until then.
                driver.synchronize(on)?;
                driver.trim(0)?;
                self.ask(bytes, on)
            }
            fault => Err(fault),
        });
        let made = made.map_err(|fault| match fault {
            Fault::OutOfMemory { free } => Error::OutOfMemory {
                what: what(),
                bytes: Some(bytes),
                free,
                pooled: self
                    .pool()
                    .map(|held| held.saturating_sub(self.counters.live())),
            },
            fault => self.failed(&what(), fault),
        })?;
        self.counters.allocated(bytes);
        Ok(made)
    }

    /// Frees memory after all work on the stream.
    pub fn free(&self, memory: RawMemory, on: RawStream) {
        match &self.allocator {
            None => self.driver.free(memory, on),
            Some(allocator) => {
                let mut free = || {
                    allocator
                        .get()
                        .free(memory.address, memory.bytes.max(1), on.0)
                };
                // A failure cannot be reported.
                let _ = self.driver.within(&mut free);
            }
        }
        self.counters.freed(memory.bytes);
    }

    fn ask(&self, bytes: u64, on: RawStream) -> Result<RawMemory, Fault> {
        let Some(allocator) = &self.allocator else {
            return self.driver.allocate(bytes, on);
        };
        let mut address = None;
        let mut allocate = || address = allocator.get().allocate(bytes.max(1), on.0);
        self.driver.within(&mut allocate)?;
        match address {
            None | Some(0) => Err(Fault::OutOfMemory { free: None }),
            Some(address) => Ok(RawMemory {
                address,
                bytes,
                handle: 0,
            }),
        }
    }

    /// Bytes that the driver's pool holds, if arrays are in one.
    fn pool(&self) -> Option<u64> {
        let is_asked = self.allocator.is_none() && self.check().is_ok();
        is_asked.then(|| self.driver.reserved()).flatten()
    }

    /// Bytes that are held for arrays.
    pub fn reserved(&self) -> u64 {
        self.pool().unwrap_or_else(|| self.counters.live())
    }
}

#[cfg(test)]
mod tests;
