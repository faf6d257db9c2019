//! Device-wide algorithms: steps of a kernel, like phases. What each does, and what its buffers must
//! be, is on the page of `qd.algo`.

use super::{Builder, Combiner, V};
use crate::{
    attributes,
    ir::{self, Op},
};
use melior::ir::{Attribute, Region, attribute::DenseI32ArrayAttribute};

/// How many elements an algorithm has, and where it works.
#[derive(Clone, Copy)]
pub struct Room<'b, 'c> {
    /// Workspace: `i32`, or `i64` for scalars of 8 bytes that are reduced or scanned.
    pub scratch: V<'b, 'c>,
    /// A buffer of rank 0 with the number of elements, read on the device.
    pub count: V<'b, 'c>,
    /// D, where there are at most 256^D elements: 1 to 4.
    pub log256_max_n: i32,
}

/// How a sort compares integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By their value with a sign.
    #[default]
    Signed,
    /// By their value without one.
    Unsigned,
}

/// An algorithm's operands, by groups, some of which may be empty.
type Groups<'a, 'b, 'c> = &'a [&'a [V<'b, 'c>]];

impl<'c> Builder<'c> {
    /// `out[0]` is all elements combined.
    pub fn reduce<'b>(
        &'b self,
        combiner: &Combiner<'c>,
        input: V<'b, 'c>,
        out: V<'b, 'c>,
        room: Room<'b, 'c>,
    ) -> Op<'c> {
        self.combining("reduce", combiner, &[&[input], &[out]], room)
    }

    /// `out[i]` is all elements up to `i` combined, and with it.
    pub fn inclusive_scan<'b>(
        &'b self,
        combiner: &Combiner<'c>,
        input: V<'b, 'c>,
        out: V<'b, 'c>,
        room: Room<'b, 'c>,
    ) -> Op<'c> {
        self.combining("inclusive_scan", combiner, &[&[input], &[out]], room)
    }

    /// `out[i]` is all elements before `i` combined.
    pub fn exclusive_scan<'b>(
        &'b self,
        combiner: &Combiner<'c>,
        input: V<'b, 'c>,
        out: V<'b, 'c>,
        room: Room<'b, 'c>,
    ) -> Op<'c> {
        self.combining("exclusive_scan", combiner, &[&[input], &[out]], room)
    }

    /// Copies the elements whose flag is not 0 to the front of `out`, and counts them.
    pub fn select<'b>(
        &'b self,
        input: V<'b, 'c>,
        flags: V<'b, 'c>,
        out: V<'b, 'c>,
        num_out: V<'b, 'c>,
        room: Room<'b, 'c>,
    ) -> Op<'c> {
        self.plain("select", &[input, flags, out, num_out], room)
    }

    /// As [`select`](Self::select), with the other elements behind them.
    pub fn partition<'b>(
        &'b self,
        input: V<'b, 'c>,
        flags: V<'b, 'c>,
        out: V<'b, 'c>,
        num_out: V<'b, 'c>,
        room: Room<'b, 'c>,
    ) -> Op<'c> {
        self.plain("partition", &[input, flags, out, num_out], room)
    }

    /// Sorts keys in place, stably; `tmp` is as large.
    pub fn sort<'b>(
        &'b self,
        keys: V<'b, 'c>,
        tmp: V<'b, 'c>,
        order: Order,
        room: Room<'b, 'c>,
    ) -> Op<'c> {
        self.sorting(&[&[keys], &[tmp], &[], &[]], order, room)
    }

    /// As [`sort`](Self::sort), and moves values with their keys; each with a buffer as large.
    pub fn sort_pairs<'b>(
        &'b self,
        [keys, tmp_keys]: [V<'b, 'c>; 2],
        [values, tmp_values]: [V<'b, 'c>; 2],
        order: Order,
        room: Room<'b, 'c>,
    ) -> Op<'c> {
        let groups: Groups<'_, 'b, 'c> = &[&[keys], &[tmp_keys], &[values], &[tmp_values]];
        self.sorting(groups, order, room)
    }

    /// Makes one entry of each run of equal keys: the key, and its values combined; and counts them.
    pub fn reduce_by_key<'b>(
        &'b self,
        combiner: &Combiner<'c>,
        [keys, values]: [V<'b, 'c>; 2],
        [keys_out, values_out]: [V<'b, 'c>; 2],
        num_runs: V<'b, 'c>,
        room: Room<'b, 'c>,
    ) -> Op<'c> {
        let (named, region) = combiner.carried(self.location());
        let operands = [
            keys,
            values,
            keys_out,
            values_out,
            num_runs,
            room.scratch,
            room.count,
        ];
        self.algorithm("reduce_by_key", &operands, None, named, vec![region], room)
    }

    fn combining(
        &self,
        name: &str,
        combiner: &Combiner<'c>,
        groups: Groups<'_, '_, 'c>,
        room: Room<'_, 'c>,
    ) -> Op<'c> {
        let (named, region) = combiner.carried(self.location());
        self.grouped(name, groups, named, vec![region], room)
    }

    fn plain(&self, name: &str, operands: &[V<'_, 'c>], room: Room<'_, 'c>) -> Op<'c> {
        let all = [operands, &[room.scratch, room.count]].concat();
        self.algorithm(name, &all, None, Vec::new(), Vec::new(), room)
    }

    fn sorting(&self, groups: Groups<'_, '_, 'c>, order: Order, room: Room<'_, 'c>) -> Op<'c> {
        let named = match order {
            Order::Signed => Vec::new(),
            Order::Unsigned => vec![("is_unsigned", attributes::unit(self.context()))],
        };
        self.grouped("sort", groups, named, Vec::new(), room)
    }

    /// An algorithm whose operands are told apart by how many each has.
    fn grouped(
        &self,
        name: &str,
        groups: Groups<'_, '_, 'c>,
        named: Vec<(&'static str, Attribute<'c>)>,
        regions: Vec<Region<'c>>,
        room: Room<'_, 'c>,
    ) -> Op<'c> {
        let own: Groups<'_, '_, 'c> = &[&[room.scratch], &[room.count]];
        let groups = [groups, own].concat();
        let sizes: Vec<_> = groups.iter().map(|group| group.len() as i32).collect();
        let sizes = DenseI32ArrayAttribute::new(self.context(), &sizes).into();
        self.algorithm(name, &groups.concat(), Some(sizes), named, regions, room)
    }

    fn algorithm(
        &self,
        name: &str,
        operands: &[V<'_, 'c>],
        sizes: Option<Attribute<'c>>,
        mut named: Vec<(&'static str, Attribute<'c>)>,
        regions: Vec<Region<'c>>,
        room: Room<'_, 'c>,
    ) -> Op<'c> {
        let depth = attributes::i32(self.context(), room.log256_max_n);
        named.push(("log256_max_n", depth));
        named.extend(sizes.map(|sizes| ("operandSegmentSizes", sizes)));
        let operands: Vec<_> = operands.iter().map(|v| v.value()).collect();
        let name = format!("qd.algo.{name}");
        self.insert(ir::build(
            &name,
            self.location(),
            &operands,
            &[],
            &named,
            regions,
        ))
    }
}
