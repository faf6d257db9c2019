//! Memory: allocations, which of their bytes are initialised, and memrefs of parts of
//! them.

use crate::{
    fault::{Outcome, Trap},
    race::Cell,
    value::{Buffer, Element, bits_of},
};
use std::{collections::HashMap, ops::Range};

/// Which memory a memref points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// A buffer of the caller's.
    Device,
    /// An array of the block.
    Shared,
    /// An array that each thread has for itself.
    Private,
}

/// A memref: part of an allocation, seen as elements of a type. In registers it
/// is a number in [`Memrefs`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Memref {
    pub space: Space,
    /// Which allocation of the space.
    pub slot: u32,
    pub element: Element,
    /// Bytes from the allocation's start.
    pub offset: i64,
    pub sizes: Box<[i64]>,
    /// In elements.
    pub strides: Box<[i64]>,
}

/// Bytes between where two allocations of a space begin: none is as large.
const APART: u64 = 1 << 40;

impl Memref {
    /// Where it begins, as the host sees it: those of one allocation are as far apart as their bytes.
    pub fn begin(&self) -> u64 {
        (u64::from(self.slot) + 1) * APART + self.offset as u64
    }

    /// Whether it shares bytes with another, where both are contiguous.
    pub fn overlaps(&self, other: &Self) -> bool {
        !self.common(other).is_empty()
    }

    /// The bytes that it shares with another, where both are contiguous.
    pub fn common(&self, other: &Self) -> Range<i64> {
        let (a, b) = (self.bytes(self.length()), other.bytes(other.length()));
        match self.slot == other.slot {
            true => a.start.max(b.start)..a.end.min(b.end),
            false => 0..0,
        }
    }

    /// A whole allocation, row-major.
    pub fn whole(space: Space, slot: u32, element: Element, shape: &[usize]) -> Self {
        let sizes: Box<[i64]> = shape.iter().map(|&size| size as i64).collect();
        let mut strides = vec![1; sizes.len()];
        for at in (1..sizes.len()).rev() {
            strides[at - 1] = strides[at] * sizes[at];
        }
        Self {
            space,
            slot,
            element,
            offset: 0,
            sizes,
            strides: strides.into(),
        }
    }

    /// The byte at which the element of these indices starts.
    pub fn address(&self, indices: impl Iterator<Item = i64>) -> Outcome<i64> {
        let mut offset = 0;
        for (dimension, index) in indices.enumerate() {
            let size = self.sizes[dimension];
            if index < 0 || index >= size {
                return Err(Trap::new(format!(
                    "is out of bounds: index {index} in dimension {dimension} of size {size}"
                )));
            }
            offset += index * self.strides[dimension];
        }
        Ok(self.offset + offset * self.element.bytes() as i64)
    }

    /// Elements of the first dimension; 1 for rank 0.
    pub fn length(&self) -> i64 {
        self.sizes.first().copied().unwrap_or(1)
    }

    /// Elements in all.
    pub fn elements(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// Elements per index of the first dimension.
    pub fn row(&self) -> usize {
        self.sizes.iter().skip(1).product::<i64>() as usize
    }

    /// The bytes from the first element to the end of the last of the first `rows`
    /// rows; empty if there are none.
    pub fn bytes(&self, rows: i64) -> Range<i64> {
        if rows <= 0 || self.sizes.iter().skip(1).any(|&size| size == 0) {
            return self.offset..self.offset;
        }
        let mut last = 0;
        for (dimension, (size, stride)) in self.sizes.iter().zip(&self.strides).enumerate() {
            last += stride * (if dimension == 0 { rows } else { *size } - 1);
        }
        self.offset..self.offset + (last + 1) * self.element.bytes() as i64
    }
}

/// The memrefs that registers refer to by number. Equal ones have one number.
#[derive(Debug, Default)]
pub(crate) struct Memrefs {
    list: Vec<Memref>,
    numbers: HashMap<Memref, u64>,
}

impl Memrefs {
    pub fn add(&mut self, memref: Memref) -> u64 {
        if let Some(&number) = self.numbers.get(&memref) {
            return number;
        }
        let number = self.list.len() as u64;
        self.numbers.insert(memref.clone(), number);
        self.list.push(memref);
        number
    }

    pub fn get(&self, number: u64) -> &Memref {
        &self.list[number as usize]
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Forgets what was added since there were `length`.
    pub fn truncate(&mut self, length: usize) {
        for memref in self.list.drain(length..) {
            self.numbers.remove(&memref);
        }
    }
}

/// A buffer, a shared array, or the private arrays of a subgroup's threads.
#[derive(Debug)]
pub(crate) struct Allocation {
    /// Bytes per element, the unit of what is known and of races. A wider
    /// access covers several.
    pub unit: usize,
    data: Vec<u8>,
    known: Vec<bool>,
    /// The bytes that are a kernel's own while it runs: it loads none that it has not
    /// written.
    pub owned: Range<i64>,
    /// Bytes that may not be written, each with the two arguments that overlap there.
    pub shared: Vec<(Range<i64>, [usize; 2])>,
    /// The first two of those of which bytes were written.
    pub overwritten: Option<[usize; 2]>,
    /// The accesses to each unit, for races; created when first needed.
    pub history: Vec<Cell>,
}

impl Allocation {
    /// Uninitialised memory.
    pub fn new(element: Element, length: usize) -> Self {
        let unit = element.bytes();
        Self {
            unit,
            data: vec![0xA5; length * unit],
            known: vec![false; length],
            owned: 0..0,
            shared: Vec::new(),
            overwritten: None,
            history: Vec::new(),
        }
    }

    pub fn of_buffer(buffer: &mut Buffer) -> Self {
        let length = buffer.len();
        let mut known = std::mem::take(&mut buffer.known);
        known.resize(length, true);
        Self {
            unit: buffer.element.bytes(),
            data: std::mem::take(&mut buffer.data),
            known,
            owned: 0..0,
            shared: Vec::new(),
            overwritten: None,
            history: Vec::new(),
        }
    }

    pub fn into_buffer(self, buffer: &mut Buffer) {
        buffer.data = self.data;
        let all = self.known.iter().all(|&known| known);
        buffer.known = if all { Vec::new() } else { self.known };
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// The units that `size` bytes at `byte` cover.
    pub fn units(&self, byte: i64, size: usize) -> Outcome<Range<usize>> {
        if byte < 0 || byte as usize + size > self.data.len() {
            return Err(Trap::new(format!(
                "is out of bounds: {size} bytes at byte {byte} of an allocation of {}",
                self.data.len()
            )));
        }
        if !(byte as usize).is_multiple_of(size) {
            return Err(Trap::new(format!(
                "is misaligned: {size} bytes at byte {byte} of the allocation"
            )));
        }
        let first = byte as usize / self.unit;
        Ok(first..first + size.div_ceil(self.unit))
    }

    /// The value at a byte whose bounds have been checked; none if part of it
    /// was never written.
    pub fn read(&self, byte: i64, size: usize) -> Option<u64> {
        let byte = byte as usize;
        let units = byte / self.unit..(byte + size).div_ceil(self.unit);
        self.known[units]
            .iter()
            .all(|&known| known)
            .then(|| bits_of(&self.data[byte..byte + size]))
    }

    /// Writes a value at a byte whose bounds have been checked.
    pub fn write(&mut self, byte: i64, size: usize, bits: u64) {
        self.watch(&(byte..byte + size as i64));
        let byte = byte as usize;
        self.data[byte..byte + size].copy_from_slice(&bits.to_le_bytes()[..size]);
        self.known[byte / self.unit..(byte + size).div_ceil(self.unit)].fill(true);
    }

    /// Has a kernel own a range of bytes, of which it knows nothing yet. What was owned
    /// before.
    pub fn own(&mut self, bytes: Range<i64>) -> Range<i64> {
        self.scramble(bytes.clone());
        std::mem::replace(&mut self.owned, bytes)
    }

    /// The first unit that is not 0, and the word it holds, signed.
    pub fn first_not_zero(&self) -> Option<(usize, i64)> {
        let words = self.data.chunks_exact(self.unit).enumerate();
        let mut others = words.filter(|(_, word)| word.iter().any(|byte| *byte != 0));
        others
            .next()
            .map(|(at, word)| (at, i64::from(bits_of(word) as i32)))
    }

    /// Leaves garbage in a range of bytes: reading it yields poison.
    pub fn scramble(&mut self, bytes: Range<i64>) {
        self.watch(&bytes);
        let start = (bytes.start.max(0) as usize).min(self.data.len());
        let end = (bytes.end.max(0) as usize).clamp(start, self.data.len());
        for (at, byte) in self.data[start..end].iter_mut().enumerate() {
            *byte = 0xA5 ^ (at as u8).wrapping_mul(29);
        }
        self.known[start / self.unit..end.div_ceil(self.unit)].fill(false);
    }

    /// Notes that bytes are written which two arguments share.
    fn watch(&mut self, bytes: &Range<i64>) {
        let mut shared = self.shared.iter();
        let is_hit = |(of, _): &&(Range<i64>, _)| of.start < bytes.end && bytes.start < of.end;
        if self.overwritten.is_none() {
            self.overwritten = shared.find(is_hit).map(|(_, arguments)| *arguments);
        }
    }

    /// The history of a range of units.
    pub fn cells(&mut self, units: Range<usize>) -> &mut [Cell] {
        if self.history.is_empty() {
            self.history.resize_with(self.known.len(), Cell::default);
        }
        &mut self.history[units]
    }

    /// The history of the unit at a byte.
    pub fn cell(&mut self, byte: i64) -> &mut Cell {
        let unit = byte as usize / self.unit;
        &mut self.cells(unit..unit + 1)[0]
    }
}
