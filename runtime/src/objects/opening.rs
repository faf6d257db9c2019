//! Devices that are opened while something else is done.

use super::{Device, DeviceId, DeviceOptions, target};
use crate::Error;
use std::{
    panic,
    thread::{self, JoinHandle},
};

/// A device that is being opened by a thread of its own. Drivers take a while for it, an NVIDIA
/// one a quarter of a second, in which a kernel can be compiled.
///
/// To drop it waits, too: a process that ends while a driver begins may crash.
#[derive(Debug)]
pub struct Opening(Option<State>);

#[derive(Debug)]
enum State {
    Begun(JoinHandle<Result<Device, Error>>),
    Open(Device),
}

impl Opening {
    /// Begins to open a device.
    pub fn begin(id: DeviceId, options: DeviceOptions) -> Self {
        let thread = thread::spawn(move || Device::open(&id, &options));
        Self(Some(State::Begun(thread)))
    }

    /// The device.
    ///
    /// # Errors
    ///
    /// As for [`Device::open`].
    pub fn wait(mut self) -> Result<Device, Error> {
        match self.0.take().expect("nobody has waited before") {
            State::Begun(thread) => thread
                .join()
                .unwrap_or_else(|panic| panic::resume_unwind(panic)),
            State::Open(device) => Ok(device),
        }
    }

    /// What is to be compiled for, as [`Device::resolve`] has it. Waits for the device only if
    /// `target` does not say all that a compiler has to know.
    ///
    /// # Errors
    ///
    /// As for [`Device::open`].
    pub fn resolve(self, target: &str) -> Result<(String, Self), Error> {
        if target::says_all(target) {
            return Ok((target.into(), self));
        }
        let device = self.wait()?;
        let resolved = device.resolve(target);
        Ok((resolved, Self(Some(State::Open(device)))))
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if let Some(State::Begun(thread)) = self.0.take() {
            let _ = thread.join();
        }
    }
}
