//! For the tools that compile again what is saved: a file that is watched, and what an edit redid, in
//! words.
//!
//! The system tells of saves, and the file is looked at every second besides: file systems of networks
//! tell nothing, and a folder that was replaced is another. What has the same contents as before is no
//! save.

mod file;
mod report;
pub mod testing;

pub use file::{Event, Watch};
pub use report::redone;
