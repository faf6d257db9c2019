//! A body under construction: instructions, and which register holds which
//! value.

use super::{Decoder, Op, block, operations, read};
use crate::{
    fault::{Fault, SiteId},
    program::{Code, Combiner, CombinerRegion, Instruction, Reg, Target},
    table::{Form, form},
    value::Element,
};
use melior::ir::{BlockLike, BlockRef, Value, attribute::ArrayAttribute, operation::OperationLike};
use std::collections::HashMap;

/// Where a body runs, which decides what may stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// On the host, before launches.
    Host,
    /// In every thread of a phase.
    Thread,
    /// Once for each index of a `for_each`.
    Element,
    /// The same, where its lane takes part in its subgroup's collectives.
    ElementOfSubgroup,
    /// In a combiner: no memory, no other thread.
    Combiner,
}

pub(super) struct Body<'o> {
    pub code: Code,
    pub setting: Setting,
    values: HashMap<usize, Reg>,
    /// Values of the kernel around it, which it may capture.
    outer: Option<&'o HashMap<usize, Reg>>,
    /// Functions that are being inlined.
    calls: Vec<String>,
}

impl<'o> Body<'o> {
    pub fn new(setting: Setting, outer: Option<&'o HashMap<usize, Reg>>) -> Self {
        Self {
            code: Code::default(),
            setting,
            values: HashMap::new(),
            outer,
            calls: Vec::new(),
        }
    }

    /// A host body whose registers go on from those before it.
    pub fn host(values: HashMap<usize, Reg>, registers: Reg) -> Self {
        let code = Code {
            registers,
            ..Code::default()
        };
        Self {
            values,
            code,
            ..Self::new(Setting::Host, None)
        }
    }

    /// The host's values, to go on with.
    pub fn into_host(self) -> (Code, HashMap<usize, Reg>) {
        (self.code, self.values)
    }

    pub fn fresh(&mut self) -> Reg {
        self.code.registers += 1;
        self.code.registers - 1
    }

    /// The register that holds a value, captured from the kernel if need be.
    pub fn reg(&mut self, op: Op, value: Value) -> Result<Reg, Fault> {
        let key = read::identity(value);
        if let Some(&reg) = self.values.get(&key) {
            return Ok(reg);
        }
        let Some(&theirs) = self.outer.and_then(|outer| outer.get(&key)) else {
            return Err(read::fault(op, "uses a value that is not known here"));
        };
        let reg = self.fresh();
        self.code.captures.push((theirs, reg));
        self.values.insert(key, reg);
        Ok(reg)
    }

    pub fn operand(&mut self, op: Op, index: usize) -> Result<Reg, Fault> {
        let value = op
            .operand(index)
            .map_err(|_| read::fault(op, format!("lacks operand {index}")))?;
        self.reg(op, value)
    }

    pub fn operands(&mut self, op: Op, range: std::ops::Range<usize>) -> Result<Box<[Reg]>, Fault> {
        range.map(|index| self.operand(op, index)).collect()
    }

    /// A new register for a result. To be made after the operands were looked
    /// up: a result's number is above theirs.
    pub fn result(&mut self, op: Op, index: usize) -> Result<Reg, Fault> {
        let reg = self.fresh();
        self.bind_result(op, index, reg)?;
        Ok(reg)
    }

    pub fn results(&mut self, op: Op) -> Result<Box<[Reg]>, Fault> {
        (0..op.result_count())
            .map(|index| self.result(op, index))
            .collect()
    }

    /// Lets a register stand for a result.
    pub fn bind_result(&mut self, op: Op, index: usize, reg: Reg) -> Result<(), Fault> {
        let result = op
            .result(index)
            .map_err(|_| read::fault(op, format!("lacks result {index}")))?;
        self.values.insert(read::identity(result.into()), reg);
        Ok(())
    }

    pub fn bind_results(&mut self, op: Op, regs: &[Reg]) -> Result<(), Fault> {
        regs.iter()
            .enumerate()
            .try_for_each(|(index, &reg)| self.bind_result(op, index, reg))
    }

    /// Lets a register stand for a block's argument.
    pub fn bind_argument(
        &mut self,
        op: Op,
        block: BlockRef,
        index: usize,
        reg: Reg,
    ) -> Result<(), Fault> {
        let argument = block
            .argument(index)
            .map_err(|_| read::fault(op, format!("its region lacks argument {index}")))?;
        self.values.insert(read::identity(argument.into()), reg);
        Ok(())
    }

    pub fn emit(&mut self, site: SiteId, instruction: Instruction) {
        self.code.instructions.push(instruction);
        self.code.sites.push(site);
    }

    /// Copies, unless there is nothing to copy.
    pub fn copy(&mut self, site: SiteId, to: &[Reg], from: &[Reg]) {
        let pairs: Box<[_]> = to
            .iter()
            .copied()
            .zip(from.iter().copied())
            .filter(|(to, from)| to != from)
            .collect();
        if !pairs.is_empty() {
            self.emit(site, Instruction::Copy { pairs });
        }
    }

    /// Where the next instruction will stand.
    pub fn here(&self) -> Target {
        self.code.instructions.len() as Target
    }

    /// Emits a jump whose target is not known yet; see [`Self::land`].
    pub fn emit_forward(&mut self, site: SiteId, instruction: Instruction) -> usize {
        self.emit(site, instruction);
        self.code.instructions.len() - 1
    }

    /// Lets the jump at a position go to `here`.
    pub fn land(&mut self, jump: usize) {
        let here = self.here();
        use Instruction as I;
        match &mut self.code.instructions[jump] {
            I::If { otherwise: to, .. }
            | I::Else { end: to }
            | I::ForTest { exit: to, .. }
            | I::ForStep { exit: to, .. }
            | I::WhileTest { exit: to, .. } => *to = here,
            _ => {}
        }
    }

    /// Inlines what `decode` decodes as the body of another function: its values
    /// are its own.
    pub fn inlined<T>(
        &mut self,
        op: Op,
        callee: &str,
        decode: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.calls.iter().any(|name| name == callee) {
            return Err(read::fault(op, format!("calls '{callee}' recursively")));
        }
        self.calls.push(callee.to_string());
        let values = std::mem::take(&mut self.values);
        let outer = self.outer.take();
        let decoded = decode(self);
        self.values = values;
        self.outer = outer;
        self.calls.pop();
        decoded
    }
}

impl<'c: 'm, 'm> Decoder<'c, 'm> {
    /// Decodes the operations of a region up to its terminator, which is
    /// returned.
    pub(super) fn region(
        &mut self,
        body: &mut Body,
        op: Op<'c, 'm>,
        region: usize,
    ) -> Result<Option<Op<'c, 'm>>, Fault> {
        for inner in operations(op, region)? {
            let name = read::text(inner.name());
            match form(&name) {
                Some(Form::Terminator) => return Ok(Some(inner)),
                Some(form) => self.operation(body, inner, form)?,
                None => return Err(read::fault(inner, "has no reference semantics")),
            }
        }
        Ok(None)
    }

    /// Decodes a region and gives the registers of what its terminator hands
    /// over, from operand `first` on.
    pub(super) fn yielding(
        &mut self,
        body: &mut Body,
        op: Op<'c, 'm>,
        region: usize,
        first: usize,
    ) -> Result<Box<[Reg]>, Fault> {
        match self.region(body, op, region)? {
            Some(end) => body.operands(end, first..end.operand_count()),
            None => Ok(Box::default()),
        }
    }

    /// A combiner: the kind, or the region of an operation.
    pub(super) fn combiner(
        &mut self,
        op: Op<'c, 'm>,
        elements: &[Element],
    ) -> Result<Combiner, Fault> {
        if elements.len() > 64 {
            return Err(read::fault(op, "combines more than 64 values at once"));
        }
        if let Some(kind) = read::kind(op)? {
            let element = *elements
                .first()
                .ok_or_else(|| read::fault(op, "combines nothing"))?;
            return Ok(Combiner::Kind(kind, element));
        }
        let Some(block) = block(op, 0)? else {
            return Err(read::fault(
                op,
                "has neither a combining kind nor a combiner region",
            ));
        };
        let mut body = Body::new(Setting::Combiner, None);
        let mut parameters = Vec::new();
        for index in 0..block.argument_count() {
            let reg = body.fresh();
            body.bind_argument(op, block, index, reg)?;
            parameters.push(reg);
        }
        let results = self.yielding(&mut body, op, 0, 0)?.into_vec();
        let site = self.site(op);
        body.emit(site, Instruction::End);
        let identities = ArrayAttribute::try_from(read::required(op, "identities")?)
            .map_err(|_| read::fault(op, "'identities' is not an array"))?;
        let identities = elements
            .iter()
            .enumerate()
            .map(|(index, &element)| {
                let attribute = identities.element(index).ok();
                attribute
                    .and_then(|attribute| read::constant(attribute, element))
                    .ok_or_else(|| read::fault(op, format!("lacks an identity of type {element}")))
            })
            .collect::<Result<Vec<_>, _>>()?;
        if parameters.len() != 2 * elements.len() || results.len() != elements.len() {
            return Err(read::fault(
                op,
                "has a combiner that does not fit its operands",
            ));
        }
        let region = CombinerRegion {
            code: body.code,
            parameters,
            results,
            identities,
        };
        Ok(Combiner::Region(Box::new(region)))
    }
}
