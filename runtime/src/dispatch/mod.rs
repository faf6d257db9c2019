//! Performance dispatch: of several variants of one operation, the fastest runs, as measured on
//! this device.
//!
//! A [`Dispatcher`] chooses. It knows names, geometries, times and a clock, and neither kernels nor
//! devices: a language's bindings give it [`Call`]s. A [`KernelDispatcher`] is one whose variants
//! are [`Kernel`](crate::objects::Kernel)s that are launched on streams.
//!
//! - Each call runs one variant, once. Variants need not be idempotent, but have to have the same
//!   results, side effects included. That is not checked.
//! - The calls of a geometry that has no winner are trials, in turns: first untimed ones, then timed
//!   ones, between two waits for the device. [`Policy`] says how many, and when all are tried again.
//! - If only one variant is eligible, it is the winner, without a trial.
//! - A call of a geometry that has a winner takes one look-up more than the variant itself.
//! - Nothing is measured on a stream under capture, after [`Dispatcher::freeze`], and while a
//!   variant is forced, by [`Dispatcher::force`] or by the [`Environment`].
//! - [`Winners`] are saved for a device and its driver, and loaded.
//!
//! A dispatcher of functions, without any device:
//!
//! ```
//! use qd_runtime::dispatch::{Call, Dispatcher, Error, Settings, Variant};
//!
//! struct Sum<'a>(&'a [u64]);
//!
//! impl Call for Sum<'_> {
//!     type Output = u64;
//!     type Error = Error;
//!
//!     fn synchronize(&mut self) -> Result<(), Error> {
//!         Ok(()) // Functions have done their work when they return.
//!     }
//!
//!     fn run(&mut self, variant: usize) -> Result<u64, Error> {
//!         Ok(match variant {
//!             0 => self.0.iter().sum(),
//!             _ => self.0.chunks(64).map(|chunk| chunk.iter().sum::<u64>()).sum(),
//!         })
//!     }
//! }
//!
//! let variants = vec![Variant::new("plain"), Variant::new("chunks")];
//! let sum = Dispatcher::new("sum", variants, Settings::default())?;
//! let values = vec![1; 1000];
//! let geometry = values.len().ilog2();
//! // By default each variant is tried twice, and the second time counts.
//! for _ in 0..4 {
//!     assert_eq!(sum.call(&geometry, &mut Sum(&values))?, 1000);
//! }
//! assert!(sum.winner(&geometry).is_some());
//! # Ok::<(), Error>(())
//! ```

mod clock;
mod dispatcher;
mod environment;
mod error;
mod evaluation;
mod kernels;
mod policy;
mod winners;

#[cfg(test)]
mod tests;

pub use clock::{Clock, SystemClock};
pub use dispatcher::{Call, Dispatcher, Geometry, Print, Settings, Variant};
pub use environment::Environment;
pub use error::Error;
pub use evaluation::{Evaluation, Next, Situation, Trials};
pub use kernels::{KernelDispatcher, KernelVariant};
pub use policy::Policy;
pub use winners::{DeviceKey, Winners};
