//! Faults, which end an interpretation: undefined behaviour, bad arguments, an
//! operation without reference semantics.

use std::{error::Error, fmt};

/// Why an interpretation stopped, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// `file:line:column`, or MLIR's spelling where the location has none.
    pub location: String,
    /// Name of the operation, such as `qd.simt.shuffle`; empty where the module
    /// as a whole is at fault.
    pub operation: String,
    /// The message.
    pub message: String,
    /// Other places that take part: the second access of a race.
    pub notes: Vec<Note>,
}

/// A second place that takes part in a [`Fault`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// As [`Fault::location`].
    pub location: String,
    /// As [`Fault::operation`].
    pub operation: String,
    /// Its relation to the fault.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: ", self.location)?;
        if !self.operation.is_empty() {
            write!(f, "'{}' ", self.operation)?;
        }
        f.write_str(&self.message)?;
        for note in &self.notes {
            write!(
                f,
                "\n{}: note: '{}' {}",
                note.location, note.operation, note.message
            )?;
        }
        Ok(())
    }
}

impl Error for Fault {}

/// Where an instruction comes from.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub location: String,
    pub operation: String,
}

impl Site {
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault {
            location: self.location.clone(),
            operation: self.operation.clone(),
            message: message.into(),
            notes: Vec::new(),
        }
    }
}

/// Number of a [`Site`] in the program's table.
pub(crate) type SiteId = u32;

/// A fault in the making: what an instruction reports, before the machine that
/// runs it says where.
#[derive(Debug)]
pub(crate) struct Trap {
    pub message: String,
    /// Another site and what it did.
    pub other: Option<(SiteId, String)>,
    /// A site that is to be named instead of the running instruction's: one
    /// within a combiner.
    pub site: Option<SiteId>,
}

impl Trap {
    pub fn new(message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            message: message.into(),
            other: None,
            site: None,
        })
    }

    /// The fault this is, for an instruction of `site`.
    pub fn located(self, sites: &[Site], site: SiteId) -> Fault {
        let mut fault = sites[self.site.unwrap_or(site) as usize].fault(self.message);
        if let Some((other, message)) = self.other {
            let other = &sites[other as usize];
            fault.notes.push(Note {
                location: other.location.clone(),
                operation: other.operation.clone(),
                message,
            });
        }
        fault
    }
}

/// The result of one instruction.
pub(crate) type Outcome<T = ()> = Result<T, Box<Trap>>;
