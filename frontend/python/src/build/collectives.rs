//! Operations of blocks and of subgroups, and algorithms.

use super::{
    super::{
        dtype::DType,
        record::{Atomic, Block, Node, Step, Subgroup},
    },
    Lowering,
};
use qd_dialects::{
    attributes,
    ir::OpExt,
    ops::{grid, simt},
};
use qd_frontend::builder::{Algorithm, Combiner, Kind, Order, V, Workspace};

/// How an atomic combines values of a type; none if it exchanges them.
pub(super) fn kind(atomic: Atomic, dtype: DType) -> Option<Kind> {
    let of = |real, signed, unsigned| match (dtype.is_real(), dtype.is_signed()) {
        (true, _) => real,
        (_, true) => signed,
        _ => unsigned,
    };
    Some(match atomic {
        Atomic::Add => Kind::Add,
        Atomic::Mul => Kind::Mul,
        Atomic::Min => of(Kind::MinNumF, Kind::MinSi, Kind::MinUi),
        Atomic::Max => of(Kind::MaxNumF, Kind::MaxSi, Kind::MaxUi),
        Atomic::And => Kind::And,
        Atomic::Or => Kind::Or,
        Atomic::Xor => Kind::Xor,
        Atomic::Exchange => return None,
    })
}

/// The parts of a node of a subgroup's operation.
pub(super) type Parts = (Subgroup, Option<Atomic>, Option<u32>);

impl<'b, 'c> Lowering<'b, 'c, '_> {
    /// A value of these, and another one of the others.
    fn or_neutral(&self, value: V<'b, 'c>, neutral: impl FnOnce() -> V<'b, 'c>) -> V<'b, 'c> {
        match self.is_there.get() {
            Some(is_there) => is_there.select(value, neutral()),
            None => value,
        }
    }

    /// An operation of a block; none of one without a value.
    pub(super) fn block(
        &self,
        node: Node,
        operation: Block,
        combine: Option<Atomic>,
    ) -> Option<V<'b, 'c>> {
        let b = self.b;
        Some(match operation {
            Block::Sync => {
                b.sync();
                return None;
            }
            Block::MemFence => {
                b.op(simt::BlockMemFence::NAME, &[], &[], &[]);
                return None;
            }
            Block::GridFence => {
                b.op(grid::MemFence::NAME, &[], &[], &[]);
                return None;
            }
            Block::ThreadId => b.thread_id().to_i32(),
            Block::GlobalThreadId => (b.block_id() * b.block_dim() + b.thread_id()).to_i32(),
            Block::Reduce | Block::ReduceAll | Block::InclusiveScan | Block::ExclusiveScan => {
                let kind = combine.and_then(|combine| kind(combine, node.dtype));
                let kind = kind.expect("a combination that is recorded");
                let value = self.value(node.operands[0]);
                let combiner = Combiner::kind(b.context(), kind, value.ty());
                let value = self.or_neutral(value, || combiner.neutral(b)[0]);
                let [value] = b.combine(operation.name(), &combiner, [value]);
                value
            }
        })
    }

    pub(super) fn algorithm(&self, node: Node, step: &Step) {
        let b = self.b;
        let array = |at: usize| self.arguments[step.arrays[at] as usize];
        let first = |at: usize| self.place(array(at), b.index(0));
        let dtype = |at: usize| self.record.arguments[step.arrays[at] as usize].dtype;
        let combiner = |at: usize| {
            let kind = step.combine.and_then(|combine| kind(combine, dtype(at)));
            let kind = kind.expect("an algorithm that combines says how");
            Combiner::kind(b.context(), kind, array(at).element())
        };
        let count = self.place(self.arguments[step.count as usize], self.index(node));
        let scratch = self.arguments[step.scratch as usize];
        let mut workspace = Workspace::new(scratch, count, step.log256_max_n as i32);
        if step.is_deterministic {
            workspace = workspace.deterministic();
        }
        match step.algorithm {
            Algorithm::Reduce => b.reduce(&combiner(0), array(0), first(1), &workspace),
            Algorithm::ExclusiveScan => {
                b.exclusive_scan(&combiner(0), array(0), array(1), &workspace)
            }
            Algorithm::Select => b.select(array(0), array(1), array(2), first(3), &workspace),
            Algorithm::ReduceByKey => {
                let (inputs, outputs) = ((array(0), array(1)), (array(2), array(3)));
                b.reduce_by_key(&combiner(1), inputs, outputs, first(4), &workspace)
            }
            Algorithm::Sort => {
                let is_unsigned = !dtype(0).is_real() && !dtype(0).is_signed();
                let order = match is_unsigned {
                    true => Order::unsigned(),
                    false => Order::signed(),
                };
                let order = match step.end_bit {
                    Some(bits) => order.low_bits(bits as i32),
                    None => order,
                };
                match step.arrays.len() {
                    2 => b.sort(array(0), array(1), order, &workspace),
                    _ => {
                        let (keys, values) = ([array(0), array(1)], [array(2), array(3)]);
                        b.sort_pairs(keys, values, order, &workspace)
                    }
                }
            }
            _ => unreachable!("the recorder names no other algorithm"),
        };
    }

    /// An operation of a subgroup; none of one without a value.
    pub(super) fn subgroup(
        &self,
        node: Node,
        (operation, combine, tile): Parts,
    ) -> Option<V<'b, 'c>> {
        let b = self.b;
        let operand = |at: usize| self.value(node.operands[at]);
        let tile = tile.map(|log2| ("tile", attributes::i32(b.context(), log2 as i32)));
        let tile: Vec<_> = tile.into_iter().collect();
        let name = format!("{}{}", simt::PREFIX, operation.name());
        let bit = || b.int_type(1);
        Some(match operation {
            Subgroup::Sync | Subgroup::MemFence => {
                b.op(&name, &[], &[], &[]);
                return None;
            }
            Subgroup::LaneId => b.lane_id(),
            Subgroup::Elect => b.result(&name, &[], bit(), &[]),
            Subgroup::Shuffle
            | Subgroup::ShuffleUp
            | Subgroup::ShuffleDown
            | Subgroup::ShuffleXor => b.shuffle(operation.name(), operand(0), operand(1)),
            Subgroup::Broadcast => {
                let value = operand(0);
                b.result(&name, &[value, operand(1)], value.ty(), &[])
            }
            Subgroup::BroadcastFirst => {
                let value = operand(0);
                b.result(&name, &[value], value.ty(), &[])
            }
            Subgroup::Ballot => b.ballot(self.or_neutral(operand(0), || b.bool(false))),
            Subgroup::All | Subgroup::Any => {
                let is_all = operation == Subgroup::All;
                let predicate = self.or_neutral(operand(0), || b.bool(is_all));
                b.result(&name, &[predicate], bit(), &tile)
            }
            Subgroup::MatchAny => b.result(&name, &[operand(0)], b.int_type(64), &[]),
            Subgroup::AllEqual => b.result(&name, &[operand(0)], bit(), &tile),
            Subgroup::Reduce
            | Subgroup::ReduceAll
            | Subgroup::InclusiveScan
            | Subgroup::ExclusiveScan
            | Subgroup::SegmentedReduce => {
                let dtype = self.record.nodes[node.operands[0] as usize].dtype;
                let kind = combine.and_then(|combine| kind(combine, dtype));
                let kind = kind.expect("a combination that is recorded");
                let value = operand(0);
                let combiner = Combiner::kind(b.context(), kind, value.ty());
                let value = self.or_neutral(value, || combiner.neutral(b)[0]);
                let mut operands = vec![value.value()];
                if operation == Subgroup::SegmentedReduce {
                    operands.push(operand(1).value());
                }
                let op = b.insert(combiner.build(&name, b.location(), &operands));
                for (name, value) in tile {
                    op.set_attr(name, value);
                }
                b.v(op.first_result())
            }
        })
    }
}
