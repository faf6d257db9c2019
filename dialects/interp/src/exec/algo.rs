//! Device-wide algorithms, straight from their definitions: sequential code
//! over n elements. Scratch and workspaces hold garbage afterwards.

use super::{
    Engine,
    combine::{Folder, Tuples, identity},
    lanes::Lanes,
    scratch_slots,
};
use crate::{
    fault::{Fault, Outcome, SiteId, Trap},
    memory::Memref,
    program::{Algo, AlgoOp, Algorithm, Combiner, Limits, Reg},
    value::Element,
};

/// A buffer operand.
struct Operand {
    name: String,
    memref: Memref,
}

impl Operand {
    fn length(&self) -> u64 {
        self.memref.length() as u64
    }
}

impl Engine<'_> {
    pub(super) fn algorithm(
        &mut self,
        algo: &Algo,
        host: &Lanes,
        site: SiteId,
    ) -> Result<(), Fault> {
        let count = match &algo.limits {
            Some(limits) => Some(self.read_count(host, limits.count, site)?),
            None => None,
        };
        self.carry_out(algo, host, count)
            .map_err(|trap| trap.located(&self.program.sites, site))
    }

    fn carry_out(&mut self, algo: &Algo, host: &Lanes, count: Option<u64>) -> Outcome {
        let operand = |name: &str, reg: Reg| Operand {
            name: name.to_string(),
            memref: self.memrefs.get(host.get(reg, 0)).clone(),
        };
        let operands = |name: &str, regs: &[Reg]| -> Vec<Operand> {
            let numbered = |at| {
                if regs.len() == 1 {
                    name.into()
                } else {
                    format!("{name}{at}")
                }
            };
            regs.iter()
                .enumerate()
                .map(|(at, &reg)| operand(&numbered(at), reg))
                .collect()
        };
        let (mut read, mut written, mut garbage) = (Vec::new(), Vec::new(), Vec::new());
        let which = match &algo.op {
            AlgoOp::Reduce {
                inputs, outputs, ..
            } => {
                read = operands("input", inputs);
                written = operands("output", outputs);
                Algorithm::Reduce
            }
            AlgoOp::Scan {
                inclusive,
                inputs,
                outputs,
                ..
            } => {
                read = operands("input", inputs);
                written = operands("output", outputs);
                if *inclusive {
                    Algorithm::InclusiveScan
                } else {
                    Algorithm::ExclusiveScan
                }
            }
            AlgoOp::Compact {
                rest,
                input,
                flags,
                output,
                written: number,
            } => {
                read = vec![operand("input", *input), operand("flags", *flags)];
                written = vec![operand("output", *output), operand("num_out", *number)];
                if *rest {
                    Algorithm::Partition
                } else {
                    Algorithm::Select
                }
            }
            AlgoOp::Sort {
                keys,
                values,
                temporaries,
                ..
            } => {
                written.push(operand("keys", *keys));
                written.extend(values.map(|values| operand("values", values)));
                let names = ["tmp_keys", "tmp_values"];
                garbage.extend(
                    names
                        .iter()
                        .zip(temporaries)
                        .map(|(name, &reg)| operand(name, reg)),
                );
                Algorithm::Sort
            }
            AlgoOp::ReduceByKey {
                keys,
                values,
                keys_out,
                values_out,
                runs,
                ..
            } => {
                read = vec![operand("keys", *keys), operand("values", *values)];
                written = vec![
                    operand("keys_out", *keys_out),
                    operand("values_out", *values_out),
                    operand("num_runs", *runs),
                ];
                Algorithm::ReduceByKey
            }
        };
        if let Some(limits) = &algo.limits {
            read.push(operand("count", limits.count));
            garbage.extend(operands("scratch", &limits.scratch));
        }
        let n = count.unwrap_or_else(|| written[0].length());
        check_distinct(&read, &written, &garbage)?;
        if let Some(limits) = &algo.limits {
            check_limits(limits, which, n, &garbage)?;
        }
        check_lengths(which, n, &read, &written, &garbage)?;
        match &algo.op {
            AlgoOp::Reduce { combiner, .. } => self.reduce(n, &read, &written, combiner)?,
            AlgoOp::Scan {
                inclusive,
                combiner,
                ..
            } => {
                self.scan(n, *inclusive, &read, &written, combiner)?;
            }
            AlgoOp::Compact { rest, .. } => self.compact(n, *rest, &read, &written)?,
            AlgoOp::Sort {
                unsigned, end_bit, ..
            } => self.sort(n, *unsigned, *end_bit, &written)?,
            AlgoOp::ReduceByKey { combiner, .. } => {
                self.reduce_by_key(n, &read, &written, combiner)?;
            }
        }
        for Operand { memref, .. } in &garbage {
            let bytes = memref.bytes(memref.length());
            self.device[memref.slot as usize].scramble(bytes);
        }
        Ok(())
    }

    fn reduce(
        &mut self,
        n: u64,
        read: &[Operand],
        written: &[Operand],
        combiner: &Combiner,
    ) -> Outcome {
        let mut result = identity(combiner);
        let mut folder = Folder::new(combiner);
        for index in 0..n {
            let mut next = self.tuple(&read[..result.len()], index)?;
            if index > 0 {
                known(folder.combine((&result, 0), &mut next, 0)?)?;
            }
            result = next;
        }
        self.put_tuple(written, 0, &result)
    }

    fn scan(
        &mut self,
        n: u64,
        inclusive: bool,
        read: &[Operand],
        written: &[Operand],
        combiner: &Combiner,
    ) -> Outcome {
        let mut before = identity(combiner);
        let mut folder = Folder::new(combiner);
        for index in 0..n {
            let mut next = self.tuple(&read[..written.len()], index)?;
            if index > 0 {
                known(folder.combine((&before, 0), &mut next, 0)?)?;
            }
            self.put_tuple(written, index, if inclusive { &next } else { &before })?;
            before = next;
        }
        Ok(())
    }

    fn compact(&mut self, n: u64, rest: bool, read: &[Operand], written: &[Operand]) -> Outcome {
        let [input, flags, ..] = read else {
            return Ok(());
        };
        let [output, number] = written else {
            return Ok(());
        };
        let (mut kept, mut others) = (Vec::new(), Vec::new());
        for index in 0..n {
            match self.element(&flags.memref, &[index as i64], &flags.name)? {
                0 => others.push(index),
                _ => kept.push(index),
            }
        }
        let count = kept.len();
        if rest {
            kept.append(&mut others);
        }
        // All is read before anything is written.
        let rows = kept
            .into_iter()
            .map(|index| self.row(input, index))
            .collect::<Outcome<Vec<_>>>()?;
        for (index, row) in rows.into_iter().enumerate() {
            self.put_row(output, index as u64, &row)?;
        }
        self.put_count(number, count)
    }

    fn sort(
        &mut self,
        n: u64,
        unsigned: bool,
        end_bit: Option<u32>,
        written: &[Operand],
    ) -> Outcome {
        let (keys, values) = (&written[0], written.get(1));
        let element = keys.memref.element;
        let end_bit = end_bit.unwrap_or(element.width()).min(64);
        let mask = if end_bit == 0 {
            0
        } else {
            u64::MAX >> (64 - end_bit)
        };
        let mut entries = Vec::with_capacity(n as usize);
        for index in 0..n {
            let key = self.element(&keys.memref, &[index as i64], &keys.name)?;
            let row = values.map(|values| self.row(values, index)).transpose()?;
            entries.push((ordered_bits(element, unsigned, key) & mask, key, row));
        }
        entries.sort_by_key(|(order, ..)| *order);
        for (index, (_, key, row)) in entries.into_iter().enumerate() {
            self.put(&keys.memref, &[index as i64], key, &keys.name)?;
            if let (Some(values), Some(row)) = (values, row) {
                self.put_row(values, index as u64, &row)?;
            }
        }
        Ok(())
    }

    fn reduce_by_key(
        &mut self,
        n: u64,
        read: &[Operand],
        written: &[Operand],
        combiner: &Combiner,
    ) -> Outcome {
        let [keys, values, ..] = read else {
            return Ok(());
        };
        let [keys_out, values_out, number] = written else {
            return Ok(());
        };
        let element = keys.memref.element;
        let equal = |x: u64, y: u64| {
            if element.is_float() {
                element.float(x) == element.float(y)
            } else {
                x == y
            }
        };
        let (mut runs, mut all, mut last) = (Vec::new(), Tuples::new(1), None);
        let mut heads = Vec::new();
        for index in 0..n {
            let key = self.element(&keys.memref, &[index as i64], &keys.name)?;
            let head = !last.is_some_and(|last| equal(last, key));
            if head {
                runs.push((key, index as usize));
            }
            heads.push(head);
            all.push(self.tuple(std::slice::from_ref(values), index)?, 0);
            last = Some(key);
        }
        Folder::new(combiner).inclusive(&mut all, |index| heads[index])?;
        for (run, &(key, _)) in runs.iter().enumerate() {
            // A run ends where the next one starts.
            let end = runs.get(run + 1).map_or(n as usize, |(_, start)| *start);
            known(all.poison[end - 1])?;
            self.put(&keys_out.memref, &[run as i64], key, &keys_out.name)?;
            self.put(
                &values_out.memref,
                &[run as i64],
                all.get(end - 1)[0],
                &values_out.name,
            )?;
        }
        self.put_count(number, runs.len())
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
        range
            .into_iter()
            .try_for_each(|index| self.put(&memref, &[index as i64], value, "the buffer"))
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
    fn tuple(&self, operands: &[Operand], index: u64) -> Outcome<Vec<u64>> {
        operands
            .iter()
            .map(|operand| self.element(&operand.memref, &[index as i64], &operand.name))
            .collect()
    }

    fn put_tuple(&mut self, operands: &[Operand], index: u64, values: &[u64]) -> Outcome {
        for (operand, &value) in operands.iter().zip(values) {
            self.put(&operand.memref, &[index as i64], value, &operand.name)?;
        }
        Ok(())
    }

    /// All scalars of one row.
    fn row(&self, operand: &Operand, index: u64) -> Outcome<Vec<u64>> {
        let at = |column| indices(&operand.memref, index, column);
        (0..operand.memref.row())
            .map(|column| self.element(&operand.memref, &at(column), &operand.name))
            .collect()
    }

    fn put_row(&mut self, operand: &Operand, index: u64, row: &[u64]) -> Outcome {
        for (column, &value) in row.iter().enumerate() {
            let at = indices(&operand.memref, index, column);
            self.put(&operand.memref, &at, value, &operand.name)?;
        }
        Ok(())
    }

    /// Writes a count to a buffer of rank 0 or 1.
    fn put_count(&mut self, operand: &Operand, count: usize) -> Outcome {
        let zeros = vec![0; operand.memref.sizes.len()];
        self.put(&operand.memref, &zeros, count as u64, &operand.name)
    }
}

/// Indices of a scalar of a row, for rank 1 and 2.
fn indices(memref: &Memref, index: u64, column: usize) -> Vec<i64> {
    [index as i64, column as i64][..memref.sizes.len()].to_vec()
}

/// The bits in whose unsigned order keys are sorted.
fn ordered_bits(element: Element, unsigned: bool, key: u64) -> u64 {
    let sign = (element.mask() >> 1) + 1;
    if element.is_float() && key & sign != 0 {
        !key & element.mask()
    } else if element.is_float() || !unsigned {
        key ^ sign
    } else {
        key
    }
}

fn known(poison: u64) -> Outcome {
    if poison == 0 {
        Ok(())
    } else {
        Err(Trap::new("has a combiner that yields poison"))
    }
}

/// Capacity and scratch.
fn check_limits(limits: &Limits, which: Algorithm, n: u64, garbage: &[Operand]) -> Outcome {
    let capacity = 1u64 << (8 * limits.depth);
    if n > capacity {
        return Err(Trap::new(format!(
            "is given {n} elements, more than its capacity of 256^{} = {capacity}",
            limits.depth
        )));
    }
    let needed = scratch_slots(which, n, limits.depth);
    for operand in garbage
        .iter()
        .filter(|operand| operand.name.starts_with("scratch"))
    {
        if operand.length() < needed {
            return Err(Trap::new(format!(
                "is given {} slots of scratch, but needs {needed} for {n} elements at capacity 256^{}",
                operand.length(),
                limits.depth
            )));
        }
    }
    Ok(())
}

/// Every buffer holds n elements; a workspace has its buffer's length.
fn check_lengths(
    which: Algorithm,
    n: u64,
    read: &[Operand],
    written: &[Operand],
    garbage: &[Operand],
) -> Outcome {
    let counts = ["count", "num_out", "num_runs"];
    for operand in read.iter().chain(written) {
        let single = which == Algorithm::Reduce && operand.name.starts_with("output");
        if counts.contains(&operand.name.as_str()) {
            continue;
        }
        let needed = if single { 1 } else { n };
        if operand.length() < needed {
            return Err(Trap::new(format!(
                "is given {n} elements, but '{}' holds {}",
                operand.name,
                operand.length()
            )));
        }
    }
    for (workspace, of) in [("tmp_keys", "keys"), ("tmp_values", "values")] {
        let find = |all: &[Operand], name: &str| {
            all.iter()
                .find(|operand| operand.name == name)
                .map(Operand::length)
        };
        if let (Some(has), Some(needs)) = (find(garbage, workspace), find(written, of))
            && has < needs
        {
            return Err(Trap::new(format!(
                "is given a '{workspace}' of {has} elements for '{of}' of {needs}"
            )));
        }
    }
    Ok(())
}

/// Nothing that is written overlaps anything else.
fn check_distinct(read: &[Operand], written: &[Operand], garbage: &[Operand]) -> Outcome {
    let changed: Vec<_> = written.iter().chain(garbage).collect();
    let all: Vec<_> = changed.iter().copied().chain(read).collect();
    for (at, one) in changed.iter().enumerate() {
        for other in &all[at + 1..] {
            let (x, y) = (&one.memref, &other.memref);
            let (a, b) = (x.bytes(x.length()), y.bytes(y.length()));
            if x.slot == y.slot && a.start < b.end && b.start < a.end {
                return Err(Trap::new(format!(
                    "is given overlapping buffers as '{}' and '{}'",
                    one.name, other.name
                )));
            }
        }
    }
    Ok(())
}
