//! Device-wide algorithms: steps of a kernel, like phases. What each does, and what its buffers must
//! be, is on the page of `qd.algo`.

use super::{Builder, Combiner, V, Values};
use crate::{
    attributes,
    ir::{self, Op},
};
use melior::ir::{Attribute, Region, attribute::DenseI32ArrayAttribute};

/// What an algorithm is given besides its inputs and outputs, and how it goes about it.
#[derive(Clone)]
pub struct Workspace<'b, 'c> {
    scratch: Vec<V<'b, 'c>>,
    count: V<'b, 'c>,
    log256_max_n: i32,
    strategy: Option<String>,
    is_deterministic: bool,
    is_checked: bool,
}

impl<'b, 'c> Workspace<'b, 'c> {
    /// `scratch` is a buffer of `i32`, or of `i64` where scalars of 8 bytes are reduced or scanned;
    /// one for each of several inputs. `count` is a buffer of rank 0 that holds the number of
    /// elements, read on the device: at most 256^`log256_max_n`, of which the exponent is 1 to 4.
    pub fn new(scratch: impl Values<'b, 'c>, count: V<'b, 'c>, log256_max_n: i32) -> Self {
        Self {
            scratch: scratch.to_vec(),
            count,
            log256_max_n,
            strategy: None,
            is_deterministic: false,
            is_checked: false,
        }
    }

    /// Asks for a strategy by name, in place of the one that the target's table has.
    pub fn strategy(mut self, name: &str) -> Self {
        self.strategy = Some(name.into());
        self
    }

    /// Asks for results that depend on the input and the capacity alone, to the last bit.
    pub fn deterministic(mut self) -> Self {
        self.is_deterministic = true;
        self
    }

    /// Asks that a count that is out of range be an error on the device as well, which no target can
    /// yet.
    pub fn checked(mut self) -> Self {
        self.is_checked = true;
        self
    }

    fn attributes(&self, b: &Builder<'c>) -> Vec<Named<'c>> {
        let context = b.context();
        let unit = || attributes::unit(context);
        let strategy = self.strategy.as_ref();
        let strategy = strategy.map(|name| ("strategy", attributes::string(context, name)));
        let mut named = vec![("log256_max_n", attributes::i32(context, self.log256_max_n))];
        named.extend(strategy);
        named.extend(self.is_deterministic.then(|| ("deterministic", unit())));
        named.extend(self.is_checked.then(|| ("checked", unit())));
        named
    }
}

/// How a sort compares keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    is_unsigned: bool,
    end_bit: Option<i32>,
}

impl Order {
    /// Integers by their value with a sign, floats by their value: what sorts do unless they are told
    /// otherwise.
    pub fn signed() -> Self {
        Self::default()
    }

    /// Integers by their value without a sign.
    pub fn unsigned() -> Self {
        Self {
            is_unsigned: true,
            ..Self::default()
        }
    }

    /// By so many low bits alone: a positive multiple of 8.
    pub fn low_bits(self, bits: i32) -> Self {
        Self {
            end_bit: Some(bits),
            ..self
        }
    }

    fn attributes<'c>(self, b: &Builder<'c>) -> Vec<Named<'c>> {
        let unsigned = ("is_unsigned", attributes::unit(b.context()));
        let end = self.end_bit.map(|bit| attributes::i32(b.context(), bit));
        let mut named: Vec<_> = end.map(|end| ("end_bit", end)).into_iter().collect();
        named.extend(self.is_unsigned.then_some(unsigned));
        named
    }
}

/// An algorithm that takes scratch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Algorithm {
    Reduce,
    ExclusiveScan,
    InclusiveScan,
    Select,
    Sort,
    ReduceByKey,
    Partition,
}

impl Algorithm {
    /// As it is spelled: `inclusive_scan`.
    fn name(self) -> &'static str {
        match self {
            Algorithm::Reduce => "reduce",
            Algorithm::ExclusiveScan => "exclusive_scan",
            Algorithm::InclusiveScan => "inclusive_scan",
            Algorithm::Select => "select",
            Algorithm::Sort => "sort",
            Algorithm::ReduceByKey => "reduce_by_key",
            Algorithm::Partition => "partition",
        }
    }
}

type Named<'c> = (&'static str, Attribute<'c>);

/// What an algorithm's operation is made of.
struct Parts<'a, 'b, 'c> {
    algorithm: Algorithm,
    /// By groups, some of which may be empty.
    operands: &'a [&'a [V<'b, 'c>]],
    /// Whether the groups' sizes tell the operands apart.
    is_grouped: bool,
    attributes: Vec<Named<'c>>,
    regions: Vec<Region<'c>>,
}

impl<'c> Builder<'c> {
    /// `out[0]` is all elements combined, or the combiner's identity if there is none. A combiner of
    /// several scalars takes as many inputs, outputs and scratch buffers, as arrays.
    pub fn reduce<'b, T: Values<'b, 'c>>(
        &'b self,
        combiner: &Combiner<'c>,
        input: T,
        out: T,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        self.combining(Algorithm::Reduce, combiner, [input, out], workspace)
    }

    /// `out[i]` is all elements up to `i` combined, and with it.
    pub fn inclusive_scan<'b, T: Values<'b, 'c>>(
        &'b self,
        combiner: &Combiner<'c>,
        input: T,
        out: T,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        self.combining(Algorithm::InclusiveScan, combiner, [input, out], workspace)
    }

    /// `out[i]` is all elements before `i` combined.
    pub fn exclusive_scan<'b, T: Values<'b, 'c>>(
        &'b self,
        combiner: &Combiner<'c>,
        input: T,
        out: T,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        self.combining(Algorithm::ExclusiveScan, combiner, [input, out], workspace)
    }

    /// Copies the elements whose flag is not 0 to the front of `out`, and counts them.
    pub fn select<'b>(
        &'b self,
        input: V<'b, 'c>,
        flags: V<'b, 'c>,
        out: V<'b, 'c>,
        num_out: V<'b, 'c>,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        let operands = [input, flags, out, num_out];
        self.compacting(Algorithm::Select, operands, workspace)
    }

    /// As [`select`](Self::select), with the other elements behind them.
    pub fn partition<'b>(
        &'b self,
        input: V<'b, 'c>,
        flags: V<'b, 'c>,
        out: V<'b, 'c>,
        num_out: V<'b, 'c>,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        let operands = [input, flags, out, num_out];
        self.compacting(Algorithm::Partition, operands, workspace)
    }

    /// Sorts keys in place, stably; `tmp` is as large.
    pub fn sort<'b>(
        &'b self,
        keys: V<'b, 'c>,
        tmp: V<'b, 'c>,
        order: Order,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        self.sorting(&[&[keys], &[tmp], &[], &[]], order, workspace)
    }

    /// As [`sort`](Self::sort), and moves values with their keys; each with a buffer as large.
    pub fn sort_pairs<'b>(
        &'b self,
        [keys, tmp_keys]: [V<'b, 'c>; 2],
        [values, tmp_values]: [V<'b, 'c>; 2],
        order: Order,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        let operands: [&[_]; 4] = [&[keys], &[tmp_keys], &[values], &[tmp_values]];
        self.sorting(&operands, order, workspace)
    }

    /// Makes one entry of each run of equal keys: the key, and its values combined; and counts them.
    pub fn reduce_by_key<'b>(
        &'b self,
        combiner: &Combiner<'c>,
        [keys, values]: [V<'b, 'c>; 2],
        [keys_out, values_out]: [V<'b, 'c>; 2],
        num_runs: V<'b, 'c>,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        let (attributes, region) = combiner.carried(self.location());
        let parts = Parts {
            algorithm: Algorithm::ReduceByKey,
            operands: &[&[keys, values, keys_out, values_out, num_runs]],
            is_grouped: false,
            attributes,
            regions: vec![region],
        };
        self.algorithm(parts, workspace)
    }

    /// Sorts all keys in place, and values with them, without scratch: not stable, and slow. For what
    /// still asks for it.
    pub fn parallel_sort<'b>(
        &'b self,
        keys: V<'b, 'c>,
        values: Option<V<'b, 'c>>,
        order: Order,
    ) -> Op<'c> {
        let operands: Vec<_> = std::iter::once(keys)
            .chain(values)
            .map(|v| v.value())
            .collect();
        let name = "qd.algo.parallel_sort";
        self.op(name, &operands, &[], &order.attributes(self))
    }

    /// Slots of scratch that an algorithm needs for `n` elements, `index`, at a capacity of
    /// 256^`log256_max_n`.
    pub fn scratch_slots<'b>(
        &'b self,
        algorithm: Algorithm,
        n: V<'b, 'c>,
        log256_max_n: i32,
    ) -> V<'b, 'c> {
        let context = self.context();
        let name = attributes::case(context, "algorithm", algorithm.name());
        let attributes = [
            ("algorithm", name),
            ("log256_max_n", attributes::i32(context, log256_max_n)),
        ];
        let slots = self.index_type();
        self.result("qd.algo.scratch_slots", &[n], slots, &attributes)
    }

    fn combining<'b, T: Values<'b, 'c>>(
        &'b self,
        algorithm: Algorithm,
        combiner: &Combiner<'c>,
        buffers: [T; 2],
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        let (attributes, region) = combiner.carried(self.location());
        let [inputs, outputs] = buffers.map(Values::to_vec);
        let parts = Parts {
            algorithm,
            operands: &[&inputs, &outputs],
            is_grouped: true,
            attributes,
            regions: vec![region],
        };
        self.algorithm(parts, workspace)
    }

    fn compacting<'b>(
        &'b self,
        algorithm: Algorithm,
        operands: [V<'b, 'c>; 4],
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        let parts = Parts {
            algorithm,
            operands: &[&operands],
            is_grouped: false,
            attributes: Vec::new(),
            regions: Vec::new(),
        };
        self.algorithm(parts, workspace)
    }

    fn sorting(
        &self,
        operands: &[&[V<'_, 'c>]],
        order: Order,
        workspace: &Workspace<'_, 'c>,
    ) -> Op<'c> {
        let parts = Parts {
            algorithm: Algorithm::Sort,
            operands,
            is_grouped: true,
            attributes: order.attributes(self),
            regions: Vec::new(),
        };
        self.algorithm(parts, workspace)
    }

    /// Builds an algorithm, with its workspace behind its own operands.
    fn algorithm(&self, parts: Parts<'_, '_, 'c>, workspace: &Workspace<'_, 'c>) -> Op<'c> {
        let count = [workspace.count];
        let groups = [parts.operands, &[&workspace.scratch, &count]].concat();
        let mut named = parts.attributes;
        named.extend(workspace.attributes(self));
        if parts.is_grouped {
            let sizes: Vec<_> = groups.iter().map(|group| group.len() as i32).collect();
            let sizes = DenseI32ArrayAttribute::new(self.context(), &sizes);
            named.push(("operandSegmentSizes", sizes.into()));
        }
        let operands: Vec<_> = groups.concat().iter().map(|v| v.value()).collect();
        self.insert(ir::build(
            &format!("qd.algo.{}", parts.algorithm.name()),
            self.location(),
            &operands,
            &[],
            &named,
            parts.regions,
        ))
    }
}
