//! Device-wide algorithms: steps of a kernel, like phases. The page of `qd.algo` has their
//! semantics and their buffers.

use super::{Builder, Combiner, V, Values};
use crate::{
    algorithm, attributes,
    ir::{self, Op},
    ops::{Algorithm, algo},
};
use melior::ir::{Attribute, Region, attribute::DenseI32ArrayAttribute};

/// An algorithm's operands besides its inputs and outputs, and its options.
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

    /// Names a strategy, instead of the target's default.
    pub fn strategy(mut self, name: &str) -> Self {
        self.strategy = Some(name.into());
        self
    }

    /// Requires results that depend on the input and the capacity alone, to the last bit.
    pub fn deterministic(mut self) -> Self {
        self.is_deterministic = true;
        self
    }

    /// Makes a count that is out of range an error on the device as well, which no target supports
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
    /// Signed integers, floats by their value: the default.
    pub fn signed() -> Self {
        Self::default()
    }

    /// Unsigned integers.
    pub fn unsigned() -> Self {
        Self {
            is_unsigned: true,
            ..Self::default()
        }
    }

    /// Compares only the lowest `bits` bits: a positive multiple of 8.
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

type Named<'c> = (&'static str, Attribute<'c>);

/// The parts of an algorithm's operation.
struct Parts<'a, 'b, 'c> {
    algorithm: Algorithm,
    /// By operands of the definition, some of which may be none.
    operands: &'a [&'a [V<'b, 'c>]],
    attributes: Vec<Named<'c>>,
    regions: Vec<Region<'c>>,
}

impl<'c> Builder<'c> {
    /// `out[0]` is the combination of all elements, or the combiner's identity if there are none. A
    /// combiner of several scalars takes as many inputs, outputs and scratch buffers, as arrays.
    pub fn reduce<'b, T: Values<'b, 'c>>(
        &'b self,
        combiner: &Combiner<'c>,
        input: T,
        out: T,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        self.combining(Algorithm::Reduce, combiner, [input, out], workspace)
    }

    /// `out[i]` is the combination of all elements up to and including `i`.
    pub fn inclusive_scan<'b, T: Values<'b, 'c>>(
        &'b self,
        combiner: &Combiner<'c>,
        input: T,
        out: T,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        self.combining(Algorithm::InclusiveScan, combiner, [input, out], workspace)
    }

    /// `out[i]` is the combination of all elements before `i`.
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
        self.algorithm(
            Algorithm::Select,
            &[&[input, flags, out, num_out]],
            workspace,
        )
    }

    /// As [`select`](Self::select), with the other elements after them.
    pub fn partition<'b>(
        &'b self,
        input: V<'b, 'c>,
        flags: V<'b, 'c>,
        out: V<'b, 'c>,
        num_out: V<'b, 'c>,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        self.algorithm(
            Algorithm::Partition,
            &[&[input, flags, out, num_out]],
            workspace,
        )
    }

    /// Sorts keys in place, stably; `tmp` is a buffer of the same size.
    pub fn sort<'b>(
        &'b self,
        keys: V<'b, 'c>,
        tmp: V<'b, 'c>,
        order: Order,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        self.sorting(&[&[keys], &[tmp], &[], &[]], order, workspace)
    }

    /// As [`sort`](Self::sort), and moves values with their keys; each with a workspace of the same
    /// size.
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

    /// Writes one entry for each run of equal keys, its key and the combination of its values, and
    /// the number of runs. Takes as many buffers of values as the combiner has scalars.
    pub fn reduce_by_key<'b, T: Values<'b, 'c>>(
        &'b self,
        combiner: &Combiner<'c>,
        (keys, values): (V<'b, 'c>, T),
        (keys_out, values_out): (V<'b, 'c>, T),
        num_runs: V<'b, 'c>,
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        let (attributes, region) = combiner.carried(self.location());
        let parts = Parts {
            algorithm: Algorithm::ReduceByKey,
            operands: &[
                &[keys],
                &values.to_vec(),
                &[keys_out],
                &values_out.to_vec(),
                &[num_runs],
            ],
            attributes,
            regions: vec![region],
        };
        self.build_algorithm(parts, workspace)
    }

    /// Sorts all keys in place, and values with them, without scratch: not stable, and slow.
    /// Deprecated.
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
        let name = algo::ParallelSort::NAME;
        self.op(name, &operands, &[], &order.attributes(self))
    }

    /// Any algorithm without a combiner: `operands` has the buffers of each operand of its definition,
    /// none for one that is left out. Those of `workspace` come after them.
    pub fn algorithm<'b>(
        &'b self,
        algorithm: Algorithm,
        operands: &[&[V<'b, 'c>]],
        workspace: &Workspace<'b, 'c>,
    ) -> Op<'c> {
        let parts = Parts {
            algorithm,
            operands,
            attributes: Vec::new(),
            regions: Vec::new(),
        };
        self.build_algorithm(parts, workspace)
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
        let attributes = [
            ("algorithm", algorithm.attribute(context)),
            ("log256_max_n", attributes::i32(context, log256_max_n)),
        ];
        let slots = self.index_type();
        self.result(algo::ScratchSlots::NAME, &[n], slots, &attributes)
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
            attributes,
            regions: vec![region],
        };
        self.build_algorithm(parts, workspace)
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
            attributes: order.attributes(self),
            regions: Vec::new(),
        };
        self.build_algorithm(parts, workspace)
    }

    /// Builds an algorithm, with its workspace after its own operands.
    fn build_algorithm(&self, parts: Parts<'_, '_, 'c>, workspace: &Workspace<'_, 'c>) -> Op<'c> {
        let count = [workspace.count];
        let groups = [parts.operands, &[&workspace.scratch, &count]].concat();
        let mut named = parts.attributes;
        named.extend(workspace.attributes(self));
        let name = format!("{}{}", algo::PREFIX, parts.algorithm.name());
        if algorithm::has_operand_segments(self.context(), &name) {
            let sizes: Vec<_> = groups.iter().map(|group| group.len() as i32).collect();
            let sizes = DenseI32ArrayAttribute::new(self.context(), &sizes);
            named.push(("operandSegmentSizes", sizes.into()));
        }
        let operands: Vec<_> = groups.concat().iter().map(|v| v.value()).collect();
        self.insert(ir::build(
            &name,
            self.location(),
            &operands,
            &[],
            &named,
            parts.regions,
        ))
    }
}
