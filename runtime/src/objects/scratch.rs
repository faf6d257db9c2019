//! Scratch that a launch omits: memory of its stream, as long as the kernel uses it, which is freed
//! after the launch.

use super::{
    arguments::{self, Arg, Input},
    buffer::Buffer,
    stream::{Priority, Stream},
};
use crate::Error;
use qd_artifact::{Argument, ArgumentKind, Dtype, Kernel, Role};

/// Whether a launch allocates it: scratch without an argument.
pub(super) fn is_made(argument: &Argument, given: &Arg<'_>) -> bool {
    matches!(given, Arg::Missing)
        && argument.role == Role::Scratch
        && matches!(argument.kind, ArgumentKind::Buffer { .. })
}

/// Whether one of a launch's arguments is omitted.
pub(super) fn is_left_out(given: &[Arg<'_>]) -> bool {
    given.iter().any(|one| matches!(one, Arg::Missing))
}

/// An omitted array.
pub(super) struct LeftOut {
    /// Which of the kernel's arguments it is.
    pub place: usize,
    dtype: Dtype,
    shape: Vec<u64>,
}

/// The omitted arrays, from the given arguments, which have been checked.
///
/// # Errors
///
/// The length of one is not known.
pub(super) fn left_out(kernel: &Kernel, given: &[Arg<'_>]) -> Result<Vec<LeftOut>, Error> {
    let mut inputs: Vec<_> = given.iter().map(Input::of).collect();
    let mut found = Vec::new();
    loop {
        let before = found.len();
        let mut is_open = None;
        for place in 0..inputs.len() {
            if inputs[place] != Input::Missing {
                continue;
            }
            match LeftOut::of(kernel, place, &inputs)? {
                Ok(one) => {
                    inputs[place] = Input::shaped(&one.shape);
                    found.push(one);
                }
                // That may be found now.
                Err(depends) => is_open = Some((place, depends)),
            }
        }
        match is_open {
            None => return Ok(found),
            Some((place, on)) if found.len() == before => {
                let why = format!(
                    "its length depends on that of '{}'",
                    kernel.arguments[on].name
                );
                return Err(unknown(kernel, place, &why));
            }
            Some(_) => (),
        }
    }
}

impl LeftOut {
    /// What an argument has to be, or another one on which that depends, and which is missing.
    fn of(kernel: &Kernel, place: usize, inputs: &[Input]) -> Result<Result<Self, usize>, Error> {
        let argument = &kernel.arguments[place];
        let ArgumentKind::Buffer { dtype, shape } = &argument.kind else {
            return Err(unknown(kernel, place, "it is not an array"));
        };
        let rows = argument.length.as_ref().or(argument.minimum.as_ref());
        if rows.is_none() && shape.iter().any(Option::is_none) {
            return Err(unknown(kernel, place, "nothing says how long it must be"));
        }
        let rows = match arguments::rows(kernel, place, rows, inputs)? {
            Ok(rows) => rows,
            Err(depends) => return Ok(Err(depends)),
        };
        // The first extent alone may be open.
        let shape = shape.iter().map(|extent| extent.unwrap_or(rows));
        Ok(Ok(Self {
            place,
            dtype: *dtype,
            shape: shape.collect(),
        }))
    }

    /// Whether an array will do that was made for it before.
    pub fn may_be(&self, made: &Buffer) -> bool {
        let (wanted, made) = (self.shape.split_first(), made.shape().split_first());
        match (wanted, made) {
            (Some((rows, row)), Some((made, made_row))) => rows <= made && row == made_row,
            (wanted, made) => wanted.is_none() && made.is_none(),
        }
    }

    /// Allocates it for later work on the stream; under capture it belongs to the owner's graph
    /// alone.
    pub fn make(&self, on: &Stream) -> Result<Buffer, Error> {
        if !on.0.is_captured() {
            return Buffer::new(on, self.dtype, &self.shape);
        }
        // An allocation on the captured stream would be part of the graph.
        let beside = Stream::open(on.device(), Priority::Normal)?;
        let made = Buffer::new(&beside, self.dtype, &self.shape)?;
        beside.synchronize()?;
        Ok(made)
    }
}

fn unknown(kernel: &Kernel, place: usize, why: &str) -> Error {
    let argument = &kernel.arguments[place];
    Error::ArgumentType {
        kernel: kernel.name.clone(),
        argument: argument.name.clone(),
        expected: argument.kind.to_string(),
        given: format!("nothing, and {why}"),
    }
}

/// Allocates the omitted arrays of a launch, by place.
pub(super) fn make(
    kernel: &Kernel,
    on: &Stream,
    given: &[Arg<'_>],
) -> Result<Vec<(usize, Buffer)>, Error> {
    let left_out = left_out(kernel, given)?;
    let made = left_out.iter().map(|one| Ok((one.place, one.make(on)?)));
    made.collect()
}

/// What is given, and what was made for the rest.
pub(super) fn complete<'a>(given: &[Arg<'a>], made: &'a [(usize, Buffer)]) -> Vec<Arg<'a>> {
    let mut all = given.to_vec();
    for (place, buffer) in made {
        all[*place] = Arg::Buffer(buffer);
    }
    all
}

#[cfg(test)]
mod tests;
