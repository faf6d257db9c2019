//! The handles of ops: what they read is what the text says.

use qd_dialects::{
    attributes::Kind,
    ir::{Op, OpExt, Value, ValueExt},
    melior::ir::Module,
    ops::{self, Algorithm, Order, Scope, ShuffleMode, algo, grid, simt},
};

const SOURCE: &str = "
qd.grid.kernel @k(%k: memref<?xi32>, %t: memref<?xi32>, %v: memref<?xf32>, %tv: memref<?xf32>,
                  %s: memref<?xi32>, %n: memref<i32>, %out: memref<1xi32>, %len: index) {
  qd.algo.sort keys(%k, %t : memref<?xi32>, memref<?xi32>)
      values(%v, %tv : memref<?xf32>, memref<?xf32>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 3 end_bit = 16
  qd.algo.sort keys(%k, %t : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 3 unsigned
  qd.algo.reduce add ins(%k : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 strategy = \"tiled\"
  qd.grid.for_each \"a\" %i to %len count(%n : memref<i32>) {}
  qd.grid.for_each %i to %len {}
  %slots = qd.algo.scratch_slots reduce_by_key %len, 3
  qd.grid.launch 1 @f blocks(%len) args(%k, %s : memref<?xi32>, memref<?xi32>)
  qd.grid.launch 2 @f blocks(%len) args(%k, %s : memref<?xi32>, memref<?xi32>)
  qd.grid.launch 7 @f blocks(%slots) args(%k, %s : memref<?xi32>, memref<?xi32>) after [1, 2]
  qd.grid.launch 8 @f blocks(%len) args(%k, %s : memref<?xi32>, memref<?xi32>)
}
func.func @f(%a: memref<?xi32>, %b: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %lane = qd.simt.lane_id
  %p = qd.simt.elect
  %x = qd.simt.shuffle xor %lane, %lane : i32
  %y, %z = qd.simt.segmented_reduce %x, %lane heads %p tile(3) : i32, i32
      identity [0 : i32, 1 : i32] combiner {
    ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
      qd.yield %ra, %lb : i32, i32
    }
  %old = qd.grid.atomic.rmw maxsi %y, %a[%c0] block acq_rel : memref<?xi32>
  return
}";

fn all<'c, T>(ops: &[Op<'c>], of: impl Fn(Op<'c>) -> Option<T>) -> Vec<T> {
    ops.iter().filter_map(|op| of(*op)).collect()
}

fn with_ops(test: impl FnOnce(&[Op])) {
    let context = qd_dialects::context();
    let module = Module::parse(&context, SOURCE).expect("it parses");
    // Safety: the handle is used as long as the module is there.
    let top: Op = unsafe { Op::from_raw(module.as_operation().to_raw()) };
    test(&top.walk_all());
}

/// The numbers of the arguments that values are.
fn numbers<'c>(values: impl IntoIterator<Item = Value<'c>>) -> Vec<usize> {
    let number = |value: Value<'c>| value.block_argument().map(|(_, number)| number);
    values.into_iter().filter_map(number).collect()
}

#[test]
fn groups_of_operands_have_the_sizes_that_the_op_says() {
    with_ops(|ops| {
        let [pairs, keys] = all(ops, algo::Sort::of)[..] else {
            panic!("two sorts")
        };
        assert_eq!(numbers([pairs.keys(), pairs.tmp_keys()]), [0, 1]);
        assert_eq!(numbers(pairs.values()), [2]);
        assert_eq!(numbers(pairs.tmp_values()), [3]);
        assert_eq!(numbers([pairs.scratch(), pairs.count()]), [4, 5]);
        assert_eq!((pairs.end_bit(), pairs.is_unsigned()), (Some(16), false));
        assert!(keys.values().is_none() && keys.tmp_values().is_none());
        assert_eq!(numbers([keys.scratch(), keys.count()]), [4, 5]);
        assert_eq!((keys.end_bit(), keys.is_unsigned()), (None, true));
    });
}

#[test]
fn what_is_optional_may_be_missing() {
    with_ops(|ops| {
        let [counted, plain] = all(ops, grid::ForEach::of)[..] else {
            panic!("two elementwise phases")
        };
        assert_eq!(numbers([counted.extent(), plain.extent()]), [7, 7]);
        assert_eq!(numbers(counted.count()), [5]);
        assert!(plain.count().is_none());
        assert_eq!(counted.name().as_deref(), Some("a"));
        assert_eq!(plain.name(), None);
    });
}

#[test]
fn operands_behind_several_are_counted_from_the_end() {
    with_ops(|ops| {
        let [reduce] = all(ops, simt::SegmentedReduce::of)[..] else {
            panic!("a reduction")
        };
        let made_by = |value: Value| value.defining_op().map(|op| op.full_name().to_owned());
        assert_eq!(made_by(reduce.head()).as_deref(), Some(simt::Elect::NAME));
        let names: Vec<_> = reduce.values().into_iter().filter_map(made_by).collect();
        assert_eq!(names, [simt::Shuffle::NAME, simt::LaneId::NAME]);
        assert_eq!(reduce.results().len(), 2);
        assert_eq!((reduce.tile(), reduce.kind()), (Some(3), None));
        assert!(reduce.combiner().is_some());
        assert_eq!(all(ops, ops::Yield::of)[0].values().len(), 2);
    });
}

#[test]
fn attributes_have_types() {
    with_ops(|ops| {
        let [_, _, first, second] = all(ops, grid::Launch::of)[..] else {
            panic!("four launches")
        };
        assert_eq!((first.id(), second.id()), (7, 8));
        assert_eq!((first.after(), second.after()), (vec![1, 2], vec![]));
        assert_eq!((first.body().as_str(), first.args().len()), ("f", 2));
        let slots = all(ops, algo::ScratchSlots::of)[0];
        assert_eq!(slots.algorithm(), Algorithm::ReduceByKey);
        assert_eq!(first.blocks().key(), slots.slots().key());
        assert_eq!(all(ops, simt::Shuffle::of)[0].mode(), ShuffleMode::Xor);
        let atomic = all(ops, grid::AtomicRmw::of)[0];
        assert_eq!(atomic.kind(), Kind::MaxSi);
        assert_eq!(
            (atomic.scope(), atomic.order()),
            (Scope::Block, Order::AcqRel)
        );
        assert_eq!(atomic.indices().len(), 1);
    });
}

#[test]
fn ops_of_a_class_that_are_alike_have_a_handle() {
    with_ops(|ops| {
        let [reduce] = all(ops, algo::Combine::of)[..] else {
            panic!("one algorithm that combines")
        };
        assert!(algo::Reduce::of(reduce.op()).is_some());
        assert!(algo::InclusiveScan::of(reduce.op()).is_none());
        assert_eq!(numbers(reduce.inputs()), [0]);
        assert_eq!(numbers(reduce.outputs()), [6]);
        assert_eq!(numbers([reduce.count()]), [5]);
        assert_eq!(reduce.strategy().as_deref(), Some("tiled"));
        assert_eq!(reduce.log256_max_n(), 2);
    });
}

#[test]
#[should_panic = "'qd.simt.lane_id' is another op"]
fn another_op_cannot_be_cast() {
    with_ops(|ops| {
        let lane = all(ops, simt::LaneId::of)[0];
        simt::Elect::cast(lane.op());
    });
}
