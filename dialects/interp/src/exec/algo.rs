//! Device-wide algorithms: their operands, checks and access to buffers. The contents of
//! scratch and workspaces are undefined afterwards.

use super::{Engine, lanes::Lanes};
use crate::{
    algorithms::{Access, Algorithm},
    fault::{Fault, Outcome, SiteId, Trap},
    memory::Memref,
    program::{Algo, Combiner, Reg},
    value::Element,
};

/// A buffer operand.
pub(crate) struct Operand {
    name: String,
    access: Access,
    pub memref: Memref,
}

impl Operand {
    fn length(&self) -> u64 {
        self.memref.length() as u64
    }
}

/// What an algorithm is given.
pub(crate) struct Call<'a> {
    /// Elements there are.
    pub n: u64,
    algo: &'a Algo,
    /// For each operand of the definition.
    groups: Vec<Vec<Operand>>,
}

impl Call<'_> {
    /// The buffers of an operand, by its number.
    pub fn all(&self, number: usize) -> &[Operand] {
        &self.groups[number]
    }

    /// The only buffer of an operand.
    pub fn one(&self, number: usize) -> Outcome<&Operand> {
        let name = self.algo.definition.operands[number].name;
        let missing = || Trap::new(format!("lacks its operand '{name}'"));
        self.groups[number].first().ok_or_else(missing)
    }

    /// What combines elements.
    pub fn combiner(&self) -> Outcome<&Combiner> {
        let missing = || Trap::new("has nothing that combines");
        self.algo.combiner.as_ref().ok_or_else(missing)
    }

    /// Whether results may depend on the input and the capacity alone.
    pub fn is_deterministic(&self) -> bool {
        self.algo.is_deterministic
    }

    /// The elements' types, of the buffers of an operand.
    pub fn elements(&self, number: usize) -> Vec<Element> {
        let buffers = self.all(number).iter();
        buffers.map(|operand| operand.memref.element).collect()
    }

    /// Whether keys are integers without a sign.
    pub fn is_unsigned(&self) -> bool {
        self.algo.is_unsigned
    }

    /// Low bits of a key that take part, if not all do.
    pub fn end_bit(&self) -> Option<u32> {
        self.algo.end_bit
    }

    fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.groups.iter().flatten()
    }

    fn with(&self, accesses: impl Fn(Access) -> bool) -> Vec<&Operand> {
        self.operands()
            .filter(|operand| accesses(operand.access))
            .collect()
    }
}

fn is_written(access: Access) -> bool {
    matches!(access, Access::Written | Access::WrittenOnce)
}

fn is_garbage(access: Access) -> bool {
    matches!(access, Access::Workspace(_) | Access::Scratch)
}

impl Engine<'_> {
    pub(super) fn algorithm(
        &mut self,
        algo: &Algo,
        host: &Lanes,
        site: SiteId,
    ) -> Result<(), Fault> {
        let count = match algo.count() {
            Some(count) => Some(self.read_count(host, count, site)?),
            None => None,
        };
        self.carry_out(algo, host, count)
            .map_err(|trap| trap.located(&self.program.sites, site))
    }

    fn carry_out(&mut self, algo: &Algo, host: &Lanes, count: Option<u64>) -> Outcome {
        let definitions = algo.definition.operands.iter();
        let groups = definitions
            .zip(&algo.groups)
            .map(|(definition, registers)| {
                let operand = |(at, register): (usize, &Reg)| Operand {
                    name: match registers.len() {
                        1 => definition.name.into(),
                        _ => format!("{}{at}", definition.name),
                    },
                    access: definition.access,
                    memref: self.memrefs.get(host.get(*register, 0)).clone(),
                };
                registers.iter().enumerate().map(operand).collect()
            });
        let mut call = Call {
            n: 0,
            algo,
            groups: groups.collect(),
        };
        // Without a count, all of what is changed.
        call.n = match count {
            Some(count) => count,
            None => call.one(0)?.length(),
        };
        check_distinct(&call)?;
        check_capacity(algo, call.n)?;
        check_scratch(algo.definition, &call)?;
        check_lengths(&call)?;
        (algo.definition.run)(self, &call)?;
        for Operand { memref, .. } in call.with(is_garbage) {
            let bytes = memref.bytes(memref.length());
            self.device[memref.slot as usize].scramble(bytes);
        }
        Ok(())
    }

    /// A scalar of a buffer.
    pub fn scalar(&self, operand: &Operand, index: u64) -> Outcome<u64> {
        self.element(&operand.memref, &[index as i64], &operand.name)
    }

    /// Sets a scalar of a buffer.
    pub fn put_scalar(&mut self, operand: &Operand, index: u64, bits: u64) -> Outcome {
        self.put(&operand.memref, &[index as i64], bits, &operand.name)
    }

    /// Sets a range of a buffer to a value.
    pub(super) fn fill(&mut self, buffer: u64, range: std::ops::Range<u64>, value: u64) -> Outcome {
        let memref = self.memrefs.get(buffer).clone();
        if range.start > range.end || range.end > memref.length() as u64 {
            return Err(Trap::new(format!(
                "is out of bounds: fills {} to {} of {} elements",
                range.start,
                range.end,
                memref.length()
            )));
        }
        range.into_iter().try_for_each(|index| {
            let at = indices(&memref, index, 0);
            self.put(&memref, &at, value, "the buffer")
        })
    }

    /// An element of device memory.
    pub(super) fn element(&self, memref: &Memref, indices: &[i64], name: &str) -> Outcome<u64> {
        let byte = memref.address(indices.iter().copied())?;
        let allocation = &self.device[memref.slot as usize];
        let size = memref.element.bytes();
        allocation.units(byte, size)?;
        allocation.read(byte, size).ok_or_else(|| {
            let at = indices
                .first()
                .map(|index| format!("[{index}]"))
                .unwrap_or_default();
            Trap::new(format!("reads {name}{at}, which was never written"))
        })
    }

    fn put(&mut self, memref: &Memref, indices: &[i64], bits: u64, name: &str) -> Outcome {
        let byte = memref
            .address(indices.iter().copied())
            .map_err(|mut trap| {
                trap.message = format!("writes to {name}, which {}", trap.message);
                trap
            })?;
        let allocation = &mut self.device[memref.slot as usize];
        let size = memref.element.bytes();
        allocation.units(byte, size)?;
        allocation.write(byte, size, bits);
        Ok(())
    }

    /// One element of each of several buffers.
    pub fn tuple(&self, operands: &[Operand], index: u64) -> Outcome<Vec<u64>> {
        operands
            .iter()
            .map(|operand| self.element(&operand.memref, &[index as i64], &operand.name))
            .collect()
    }

    pub fn put_tuple(&mut self, operands: &[Operand], index: u64, values: &[u64]) -> Outcome {
        for (operand, &value) in operands.iter().zip(values) {
            let at = indices(&operand.memref, index, 0);
            self.put(&operand.memref, &at, value, &operand.name)?;
        }
        Ok(())
    }

    /// All scalars of one row.
    pub fn row(&self, operand: &Operand, index: u64) -> Outcome<Vec<u64>> {
        let at = |column| indices(&operand.memref, index, column);
        (0..operand.memref.row())
            .map(|column| self.element(&operand.memref, &at(column), &operand.name))
            .collect()
    }

    pub fn put_row(&mut self, operand: &Operand, index: u64, row: &[u64]) -> Outcome {
        for (column, &value) in row.iter().enumerate() {
            let at = indices(&operand.memref, index, column);
            self.put(&operand.memref, &at, value, &operand.name)?;
        }
        Ok(())
    }

    /// Writes a count to a buffer of rank 0 or 1.
    pub fn put_count(&mut self, operand: &Operand, count: usize) -> Outcome {
        let zeros = vec![0; operand.memref.sizes.len()];
        self.put(&operand.memref, &zeros, count as u64, &operand.name)
    }
}

/// Indices of a scalar of a row, for rank 1 and 2; for rank 0 of the one element.
fn indices(memref: &Memref, index: u64, column: usize) -> Vec<i64> {
    [index as i64, column as i64][..memref.sizes.len()].to_vec()
}

/// The capacity.
fn check_capacity(algo: &Algo, n: u64) -> Outcome {
    let Some(depth) = algo.depth else {
        return Ok(());
    };
    let capacity = 1u64 << (8 * depth);
    if n > capacity {
        return Err(Trap::new(format!(
            "is given {n} elements, more than its capacity of 256^{depth} = {capacity}"
        )));
    }
    Ok(())
}

fn check_scratch(definition: &Algorithm, call: &Call<'_>) -> Outcome {
    let Some(depth) = call.algo.depth else {
        return Ok(());
    };
    let needed = definition.slots(call.n, depth).unwrap_or(0);
    for operand in call.with(|access| access == Access::Scratch) {
        if operand.length() < needed {
            return Err(Trap::new(format!(
                "is given {} slots of scratch, but needs {needed} for {} elements at capacity 256^{depth}",
                operand.length(),
                call.n,
            )));
        }
    }
    Ok(())
}

/// Every buffer holds n elements; a workspace has its buffer's length.
fn check_lengths(call: &Call<'_>) -> Outcome {
    for operand in call.operands() {
        let needed = match operand.access {
            Access::Read | Access::Written => call.n,
            Access::WrittenOnce if !operand.memref.sizes.is_empty() => 1,
            _ => 0,
        };
        if operand.length() < needed {
            return Err(Trap::new(format!(
                "is given {} elements, but '{}' holds {}",
                call.n,
                operand.name,
                operand.length()
            )));
        }
        let Access::Workspace(of) = operand.access else {
            continue;
        };
        let (has, of) = (operand.length(), call.one(of)?);
        if has < of.length() {
            return Err(Trap::new(format!(
                "is given a '{}' of {has} elements for '{}' of {}",
                operand.name,
                of.name,
                of.length()
            )));
        }
    }
    Ok(())
}

/// Nothing that is written overlaps anything else.
fn check_distinct(call: &Call<'_>) -> Outcome {
    let changed = [call.with(is_written), call.with(is_garbage)].concat();
    let read = call.with(|access| matches!(access, Access::Read | Access::Count));
    let all = [changed.clone(), read].concat();
    for (at, one) in changed.iter().enumerate() {
        for other in &all[at + 1..] {
            if one.memref.overlaps(&other.memref) {
                return Err(Trap::new(format!(
                    "is given overlapping buffers as '{}' and '{}'",
                    one.name, other.name
                )));
            }
        }
    }
    Ok(())
}
