//! Profiles of a device's work, which do not change its results. `QD_DEVICE` names the device.

mod common;

use common::{load, open};
use qd_frontend::{
    Dtype, args,
    objects::{Buffer, Detail, Profiler, SpanKind, step_totals},
};
use std::time::{Duration, Instant};

#[test]
fn steps_of_a_sort_are_in_its_call_and_take_time() {
    let (device, stream) = open(None);
    let source = include_str!("../examples/kernels/sort.mlir");
    let sort = load(&device, source).kernel("sort").expect("there");
    let length = 100_003_u32;
    let host: Vec<u32> = (0..length).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let mut expected = host.clone();
    expected.sort_unstable();
    let tmp = Buffer::new(&stream, Dtype::U32, &[length.into()]).expect("memory");
    let n = Buffer::from_slice(&stream, &[length as i32]).expect("memory");
    let n = n.cast(Dtype::I32, &[]).expect("one element");
    for detail in [Detail::Calls, Detail::Steps] {
        let keys = Buffer::from_slice(&stream, &host).expect("memory");
        let slots = sort.minimum("scratch", &args![&keys, &tmp, _, &n]);
        let slots = slots.expect("known");
        let scratch = Buffer::new(&stream, Dtype::I32, &[slots]).expect("memory");
        let begin = Instant::now();
        let profiler = Profiler::new(&device, detail).expect("events");
        let attached = profiler.attach(&stream).expect("its stream");
        for _ in 0..2 {
            let launched = sort.launch(&stream, &args![&keys, &tmp, &scratch, &n]);
            launched.expect("runs");
        }
        assert_eq!(keys.to_vec::<u32>(&stream).expect("read"), expected);
        drop(attached);
        stream.synchronize().expect("done");
        let took = begin.elapsed();
        let spans = profiler.take().expect("times");
        let calls: Vec<_> = spans
            .iter()
            .filter(|span| matches!(&span.kind, SpanKind::Call { name } if &**name == "sort"))
            .collect();
        assert_eq!(calls.len(), 2);
        let in_all: Duration = calls.iter().map(|call| call.duration).sum();
        assert!(in_all > Duration::ZERO && in_all <= took, "{in_all:?}");
        assert!(calls[0].start + calls[0].duration <= calls[1].start);
        let steps = step_totals(&spans);
        if detail == Detail::Calls {
            assert!(steps.is_empty());
            continue;
        }
        assert!(steps.iter().any(|of| of.step.is_launch));
        assert!(steps.iter().all(|step| step.runs == 2), "{steps:?}");
        let of_steps: Duration = steps.iter().map(|step| step.total).sum();
        // A driver tells times in half microseconds.
        let slack = Duration::from_micros(2 * spans.len() as u64);
        assert!(of_steps <= in_all + slack, "{of_steps:?} of {in_all:?}");
        assert!(of_steps > Duration::ZERO);
    }
}

const DOWN: &str = r#"
qd.grid.kernel @down(%n: memref<i32> {qd.name = "n"}) {
  %one = arith.constant 1 : index
  qd.grid.do_while %n : memref<i32> {
    qd.grid.phase "down" blocks(%one) threads(64) {
      %i = qd.simt.block.thread_id
      %zero = arith.constant 0 : index
      %is_first = arith.cmpi eq, %i, %zero : index
      scf.if %is_first {
        %unit = arith.constant 1 : i32
        %x = memref.load %n[] : memref<i32>
        %y = arith.subi %x, %unit : i32
        memref.store %y, %n[] : memref<i32>
      }
    }
  }
}
"#;

#[test]
fn a_step_of_a_loop_has_a_time_for_each_time_round() {
    let (device, stream) = open(None);
    let down = load(&device, DOWN).kernel("down").expect("there");
    for rounds in [1, 5] {
        let n = Buffer::from_slice(&stream, &[rounds]).expect("memory");
        let n = n.cast(Dtype::I32, &[]).expect("one element");
        let profiler = Profiler::new(&device, Detail::Steps).expect("events");
        let attached = profiler.attach(&stream).expect("its stream");
        down.launch(&stream, &args![&n]).expect("runs");
        drop(attached);
        assert_eq!(n.to_vec::<i32>(&stream).expect("read"), [0]);
        let steps = step_totals(&profiler.take().expect("times"));
        let runs: Vec<_> = steps.iter().map(|of| (&*of.step.name, of.runs)).collect();
        assert_eq!(runs, [("down", rounds as u64)]);
    }
}
