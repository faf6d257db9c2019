//! Kernels: their steps.

use super::{
    Decoder, Op, block,
    body::{Body, Setting},
    operations, read,
};
use crate::{
    fault::Fault,
    program::{
        Action, Code, Control, Id, Instruction, Kernel, Owned, Reg, Step, SubgroupFill, Swap,
        Variant,
    },
    table::{Form, form},
};
use melior::ir::{BlockLike, ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The host's side of a kernel.
#[derive(Default)]
pub(super) struct Host {
    pub values: HashMap<usize, Reg>,
    pub registers: Reg,
    pub controls: Vec<Control>,
}

impl Host {
    pub fn reg(&self, op: Op, index: usize) -> Result<Reg, Fault> {
        let value = op
            .operand(index)
            .map_err(|_| read::fault(op, format!("lacks operand {index}")))?;
        self.values
            .get(&read::identity(value))
            .copied()
            .ok_or_else(|| read::fault(op, "uses a value that the host does not know"))
    }

    /// A new register for an op's result.
    pub fn result(&mut self, op: Op) -> Result<Reg, Fault> {
        let result = op.result(0).map_err(|_| read::fault(op, "has no result"))?;
        self.values
            .insert(read::identity(result.into()), self.registers);
        self.registers += 1;
        Ok(self.registers - 1)
    }

    pub fn regs(&self, op: Op, range: std::ops::Range<usize>) -> Result<Vec<Reg>, Fault> {
        range.map(|index| self.reg(op, index)).collect()
    }
}

impl<'c: 'm, 'm> Decoder<'c, 'm> {
    /// Decodes a kernel, unless it is already; its number.
    pub(super) fn kernel(&mut self, op: Op<'c, 'm>, name: &str) -> Result<usize, Fault> {
        if let Some(&number) = self.numbers.get(name) {
            if self.kernels[number].is_none() {
                return Err(read::fault(
                    op,
                    format!("dispatches to itself, by way of '{name}'"),
                ));
            }
            return Ok(number);
        }
        let number = self.kernels.len();
        self.kernels.push(None);
        self.numbers.insert(name.to_string(), number);
        let Some(entry) = block(op, 0)? else {
            return Err(read::fault(op, "has no body"));
        };
        let site = self.site(op);
        let (mut host, mut parameters) = (Host::default(), Vec::new());
        let (mut scratch, mut may_alias) = (Vec::new(), Vec::new());
        for index in 0..entry.argument_count() {
            let argument = entry
                .argument(index)
                .map_err(|_| read::fault(op, "lacks an argument"))?;
            let parameter = read::parameter(op, argument.r#type())?;
            if read::has_of_argument(op, index, "qd.scratch") {
                scratch.push(host.registers);
            }
            if read::has_of_argument(op, index, "qd.may_alias") {
                may_alias.push(host.registers);
            }
            parameters.push((host.registers, parameter));
            host.values
                .insert(read::identity(argument.into()), host.registers);
            host.registers += 1;
        }
        let steps = self.steps(&mut host, op, 0)?;
        self.kernels[number] = Some(Kernel {
            site,
            name: name.to_string(),
            parameters,
            scratch,
            may_alias,
            registers: host.registers,
            controls: host.controls,
            steps,
        });
        Ok(number)
    }

    fn steps(
        &mut self,
        host: &mut Host,
        op: Op<'c, 'm>,
        region: usize,
    ) -> Result<Vec<Step>, Fault> {
        let mut steps: Vec<Step> = Vec::new();
        for inner in operations(op, region)? {
            let Some(form) = form(&read::text(inner.name())) else {
                return Err(read::fault(inner, "has no reference semantics"));
            };
            if let Form::Terminator = form {
                break;
            }
            let site = self.site(inner);
            let action = match form {
                Form::Phase => self.phase(host, inner)?,
                Form::ForEach => self.for_each(host, inner)?,
                Form::Launch => self.launch(host, inner)?,
                Form::DoWhile => Action::DoWhile {
                    flag: host.reg(inner, 0)?,
                    swap: swap(host, inner)?,
                    body: self.steps(host, inner, 0)?,
                },
                Form::RunIf => Action::RunIf {
                    condition: host.reg(inner, 0)?,
                    body: self.steps(host, inner, 0)?,
                },
                Form::Fill => self.fill(host, inner)?,
                Form::Dispatch => self.dispatch(host, inner)?,
                Form::Control => {
                    self.workspace(host, inner, Owned::Control)?;
                    continue;
                }
                Form::Scratch => {
                    self.workspace(host, inner, Owned::Scratch)?;
                    continue;
                }
                Form::Faults => {
                    self.workspace(host, inner, Owned::Faults(read::sites(inner)?))?;
                    Action::Host(self.first_site(host, inner)?)
                }
                Form::Prints => {
                    self.workspace(host, inner, Owned::Prints(read::prints(inner)?))?;
                    Action::Host(self.first_site(host, inner)?)
                }
                Form::Id(what @ (Id::SubgroupSize | Id::Log2SubgroupSize)) => Action::Size {
                    register: host.result(inner)?,
                    is_log2: what == Id::Log2SubgroupSize,
                },
                Form::Algorithm(definition) => {
                    Action::Algorithm(Box::new(self.algorithm(host, inner, definition)?))
                }
                _ => Action::Host(self.on_host(host, inner, form)?),
            };
            steps.push(Step { site, action });
        }
        Ok(steps)
    }

    /// Words that are there before the first step, however often the host comes by.
    fn workspace(&mut self, host: &mut Host, op: Op<'c, 'm>, owned: Owned) -> Result<(), Fault> {
        let register = host.result(op)?;
        let result = op.result(0).map_err(|_| read::fault(op, "has no result"))?;
        let (element, shape) = read::static_memref(op, result.r#type())?;
        host.controls.push(Control {
            site: self.site(op),
            register,
            element,
            words: shape.iter().product(),
            owned,
        });
        Ok(())
    }

    /// The number of the first site: a record has those of one launch.
    fn first_site(&mut self, host: &mut Host, op: Op<'c, 'm>) -> Result<Code, Fault> {
        let mut body = Body::host(std::mem::take(&mut host.values), host.registers);
        let (site, dst) = (self.site(op), body.result(op, 1)?);
        body.emit(site, Instruction::Constant { dst, bits: 0 });
        body.emit(site, Instruction::End);
        let (code, values) = body.into_host();
        host.registers = code.registers;
        host.values = values;
        Ok(code)
    }

    /// One operation that the host evaluates.
    fn on_host(&mut self, host: &mut Host, op: Op<'c, 'm>, form: Form) -> Result<Code, Fault> {
        let mut body = Body::host(std::mem::take(&mut host.values), host.registers);
        self.operation(&mut body, op, form)?;
        let site = self.site(op);
        body.emit(site, Instruction::End);
        let (code, values) = body.into_host();
        host.registers = code.registers;
        host.values = values;
        Ok(code)
    }

    fn phase(&mut self, host: &mut Host, op: Op<'c, 'm>) -> Result<Action, Fault> {
        let blocks = host.reg(op, 0)?;
        let threads = read::required_u32(op, "threads")?;
        let mut body = Body::new(Setting::Thread, Some(&host.values));
        self.region(&mut body, op, 0)?;
        Ok(Action::Phase {
            code: self.finish(body, op),
            blocks,
            threads,
        })
    }

    fn fill(&mut self, host: &mut Host, op: Op<'c, 'm>) -> Result<Action, Fault> {
        let last = op.operand_count().saturating_sub(1);
        Ok(Action::Fill {
            buffer: host.reg(op, 0)?,
            bounds: match last {
                0 | 1 => None,
                _ => Some((host.reg(op, 1)?, host.reg(op, 2)?)),
            },
            value: host.reg(op, last)?,
        })
    }

    fn for_each(&mut self, host: &mut Host, op: Op<'c, 'm>) -> Result<Action, Fault> {
        let extent = host.reg(op, 0)?;
        let count = (op.operand_count() > 1)
            .then(|| host.reg(op, 1))
            .transpose()?;
        let subgroups = match op.has_attribute("subgroups") {
            true => Some(read::case(op, "subgroups", subgroup_fill)?),
            false => None,
        };
        let threads = match op.has_attribute("threads") {
            true => Some(read::required_u32(op, "threads")?),
            false => None,
        };
        let setting = match subgroups {
            Some(_) => Setting::ElementOfSubgroup,
            None => Setting::Element,
        };
        let mut body = Body::new(setting, Some(&host.values));
        let Some(entry) = block(op, 0)? else {
            return Err(read::fault(op, "has no body"));
        };
        let site = self.site(op);
        let index = body.fresh();
        body.emit(
            site,
            Instruction::Id {
                dst: index,
                what: Id::Element,
            },
        );
        body.bind_argument(op, entry, 0, index)?;
        self.region(&mut body, op, 0)?;
        Ok(Action::ForEach {
            code: self.finish(body, op),
            extent,
            count,
            threads,
            subgroups,
        })
    }

    fn launch(&mut self, host: &mut Host, op: Op<'c, 'm>) -> Result<Action, Fault> {
        let callee = read::symbol(op, "body")?;
        let Some(&function) = self.symbols.get(&callee) else {
            return Err(read::fault(
                op,
                format!("launches '{callee}', which is not in this module"),
            ));
        };
        let threads = read::required_u32(function, "qd.threads")?;
        let Some(entry) = block(function, 0)? else {
            return Err(read::fault(
                op,
                format!("launches '{callee}', which has no body"),
            ));
        };
        let mut body = Body::new(Setting::Thread, None);
        for index in 0..entry.argument_count() {
            let reg = body.fresh();
            body.bind_argument(function, entry, index, reg)?;
            body.code.captures.push((host.reg(op, index + 1)?, reg));
        }
        self.region(&mut body, function, 0)?;
        Ok(Action::Launch {
            code: self.finish(body, function),
            blocks: host.reg(op, 0)?,
            threads,
            id: read::required_integer(op, "id")?,
            after: read::integers(op, "after"),
        })
    }

    fn dispatch(&mut self, host: &mut Host, op: Op<'c, 'm>) -> Result<Action, Fault> {
        let arguments = host.regs(op, 0..op.operand_count())?;
        let mut variants = Vec::new();
        for variant in operations(op, 0)? {
            let callee = read::symbol(variant, "callee")?;
            let Some(&kernel) = self.symbols.get(&callee) else {
                return Err(read::fault(
                    variant,
                    format!("names '{callee}', which is not in this module"),
                ));
            };
            let predicate = if block(variant, 0)?.is_some() {
                let mut body = Body::new(Setting::Host, Some(&host.values));
                let yielded = self.yielding(&mut body, variant, 0, 0)?;
                let Some(&holds) = yielded.first() else {
                    return Err(read::fault(variant, "has a predicate that yields nothing"));
                };
                Some((self.finish(body, variant), holds))
            } else {
                None
            };
            variants.push(Variant {
                kernel: self.kernel(kernel, &callee)?,
                predicate,
            });
        }
        Ok(Action::Dispatch {
            arguments,
            variants,
        })
    }

    fn finish(&mut self, mut body: Body, op: Op<'c, 'm>) -> Code {
        let site = self.site(op);
        body.emit(site, Instruction::End);
        body.code
    }
}

fn subgroup_fill(case: &str) -> Option<SubgroupFill> {
    match case {
        "full" => Some(SubgroupFill::Full),
        "partial" => Some(SubgroupFill::Partial),
        _ => None,
    }
}

/// The pairs of buffers that a loop exchanges, whose names in its body are known from now on.
fn swap(host: &mut Host, op: Op) -> Result<Vec<Swap>, Fault> {
    let mut names = Vec::new();
    if let Some(entry) = block(op, 0)? {
        for index in 0..entry.argument_count() {
            let name = entry.argument(index);
            let name = name.map_err(|_| read::fault(op, "lacks an argument"))?;
            host.values
                .insert(read::identity(name.into()), host.registers);
            names.push(host.registers);
            host.registers += 1;
        }
    }
    let pairs = names.chunks_exact(2).enumerate();
    pairs
        .map(|(pair, names)| {
            let buffer = |of: usize| host.reg(op, 1 + 2 * pair + of);
            Ok(Swap {
                buffers: [buffer(0)?, buffer(1)?],
                names: [names[0], names[1]],
            })
        })
        .collect()
}
