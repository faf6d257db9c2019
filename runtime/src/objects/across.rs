//! Copies between devices. Each device reaches the host, but not necessarily the other device's
//! memory. So copies go through the host in pieces, and one piece is read from the first device
//! while another is written to the second.

use super::{
    buffer::Buffer,
    pinned::Pinned,
    stream::{Priority, Stream},
};
use crate::Error;
use qd_artifact::Dtype;
use std::{collections::VecDeque, ops::Range};

/// Bytes of a piece, and how many are under way. In tests, whose fake lets no memory go, they are few.
const PIECE: u64 = if cfg!(test) { 4 << 10 } else { 4 << 20 };
const PIECES: u64 = 2;

/// The rows of a piece, of so many bytes in all.
fn rows(piece: u64, bytes: u64) -> Range<u64> {
    let first = piece * PIECE;
    first..bytes.min(first + PIECE)
}

impl Buffer {
    /// Copies the elements to a buffer of another device, after all writes to them and all uses of
    /// the other. The copy is complete when this returns.
    pub(super) fn copy_across(&self, on: &Stream, to: &Buffer) -> Result<(), Error> {
        self.check_device(on.device())?;
        to.device().0.check()?;
        to.check_writable()?;
        self.check_alike(to)?;
        let beside = to.device().stream(Priority::Normal)?;
        let bytes = self.bytes();
        let [from, to] = [self, to].map(|buffer| buffer.cast(Dtype::U8, &[bytes]));
        let (from, to) = (from?, to?);

        let pieces = bytes.div_ceil(PIECE);
        let read = |piece, host| from.rows(rows(piece, bytes))?.read_async(on, host);
        let mut under_way = VecDeque::new();
        for piece in 0..pieces.min(PIECES) {
            let host = Pinned::new(on.device(), bytes.min(PIECE) as usize)?;
            under_way.push_back((piece, read(piece, host)?));
        }
        while let Some((piece, pending)) = under_way.pop_front() {
            let host = pending.wait()?;
            let part = to.rows(rows(piece, bytes))?;
            part.write_bytes(&beside, &host[..part.bytes() as usize])?;
            let next = piece + PIECES;
            if next < pieces {
                under_way.push_back((next, read(next, host)?));
            }
        }
        beside.synchronize()
    }
}

#[cfg(test)]
mod tests;
