//! Where a device's memory comes from and goes to, for whoever has arrays in it.

use super::{
    device::Shared,
    driver::{Fault, RawMemory, RawStream},
};
use crate::Error;

impl Shared {
    /// Memory for use on the stream. Where there is no room, what nobody uses is given back, and it
    /// is tried again.
    pub fn allocate(
        &self,
        bytes: u64,
        on: RawStream,
        what: impl FnOnce() -> String,
    ) -> Result<RawMemory, Error> {
        let driver = &self.driver;
        let made = driver.allocate(bytes, on).or_else(|fault| match fault {
            Fault::OutOfMemory { .. } => {
                // What was freed on it may be in use until then.
                driver.synchronize(on)?;
                driver.trim(0)?;
                driver.allocate(bytes, on)
            }
            fault => Err(fault),
        });
        let made = made.map_err(|fault| match fault {
            Fault::OutOfMemory { free } => Error::OutOfMemory {
                what: what(),
                bytes: Some(bytes),
                free,
                pooled: Some(self.reserved().saturating_sub(self.counters.live())),
            },
            fault => self.failed(&what(), fault),
        })?;
        self.counters.allocated(bytes);
        Ok(made)
    }

    /// Gives memory back behind all that is on the stream.
    pub fn free(&self, memory: RawMemory, on: RawStream) {
        self.driver.free(memory, on);
        self.counters.freed(memory.bytes);
    }

    /// Bytes that are held for arrays.
    pub fn reserved(&self) -> u64 {
        let is_there = self.check().is_ok();
        let pool = is_there.then(|| self.driver.reserved()).flatten();
        pool.unwrap_or_else(|| self.counters.live())
    }
}

#[cfg(test)]
mod tests;
