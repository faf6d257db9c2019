//! Opening a device concurrently with other work.

use super::{Device, DeviceId, DeviceOptions, target};
use crate::Error;
use qd_artifact::TargetSpec;
use std::{
    panic,
    thread::{self, JoinHandle},
};

/// A device that a thread of its own is opening. Drivers take a while for it, an NVIDIA one a
/// quarter of a second, in which a kernel can be compiled.
///
/// Dropping it waits, too: a process that ends while a driver initialises may crash.
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

    /// Whether `target` lacks something that the compiler has to know, and its device knows.
    pub fn is_needed(target: &TargetSpec) -> bool {
        !target::says_all(target)
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

    /// The target to compile for, as by [`Device::resolve`]. Waits for the device only if
    /// `target` lacks something that the compiler has to know.
    ///
    /// # Errors
    ///
    /// As for [`Device::open`].
    pub fn resolve(self, target: &TargetSpec) -> Result<(TargetSpec, Self), Error> {
        if !Self::is_needed(target) {
            return Ok((target.clone(), self));
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
