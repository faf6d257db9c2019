//! Assertions: a kernel whose assertion fails goes on, and whoever waits for it is told which one, where, in which
//! thread, and of which numbers. The interpreter refuses it.

use qd_conformance::{Data, Subject, all, any_wave, interpret, report};
use std::sync::{Mutex, PoisonError};

/// Held by each test: the first fault of a device is told to whoever waits first, and the tests share one.
static DEVICE: Mutex<()> = Mutex::new(());

/// Adds 1 to each element, of which each is to be `relation` to `bound`.
fn bounded(relation: &str, bound: i32) -> String {
    format!(
        "qd.grid.kernel @main(%a: memref<?xi32>) {{
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each \"bounded\" %i to %len {{
    %one = arith.constant 1 : i32
    %bound = arith.constant {bound} : i32
    %x = memref.load %a[%i] : memref<?xi32>
    %holds = arith.cmpi {relation}, %x, %bound : i32
    cf.assert %holds, \"bounded {relation} {bound}\"
    %y = arith.addi %x, %one : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }}
}}"
    )
}

/// What the target says of a kernel on this data, and that the interpreter refuses it, too.
fn refused(source: &str, data: Vec<Data>, text: &str) -> Option<String> {
    let arguments = all(data);
    let fault = interpret(source, 32, &arguments).expect_err("it fails");
    assert!(fault.to_string().contains(text), "{fault}");
    let said = Subject::new(source).run(any_wave(), &arguments)?;
    Some(said.expect_err("it fails"))
}

fn values(last: i32, len: usize) -> Vec<i32> {
    let mut values = vec![0; len];
    values[len - 3] = last;
    values
}

#[test]
fn the_fault_is_told_and_the_next_run_is_well() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    for (relation, bound, bad, compared) in [
        ("slt", 60, 60, "60 < 60"),
        ("sgt", -7, -8, "-8 > -7"),
        ("ult", 60, -1, "4294967295 < 60"),
        ("ne", 5, 5, "5 ≠ 5"),
    ] {
        let source = bounded(relation, bound);
        let about = format!("bounded {relation} {bound}");
        for len in [3, 300, 1000] {
            let bad = Data::I32(values(bad, len));
            if let Some(said) = refused(&source, vec![bad], &about) {
                let place = (len - 3) % 256;
                for part in [
                    "kernel 'main'".into(),
                    format!("\"{about}\" does not hold at "),
                    ":9:5, in thread ".into(),
                    format!("in thread {place} of block "),
                    "of phase 'bounded'".into(),
                    format!(": {compared} is false"),
                ] {
                    assert!(said.contains(&part), "{part}: {said}");
                }
            }
            // What was noted is gone, and what holds is as ever.
            let well = all([Data::I32(vec![9; len])]);
            Subject::new(source.clone()).check(any_wave(), &well, &about);
        }
    }
    report("assertions that fail");
}

/// All lanes fail, behind a condition, in front of a barrier and a collective.
const MANY: &str = "qd.grid.kernel @main(%a: memref<?xi32>, %n: memref<i32>) {
  %blocks = arith.constant 3 : index
  qd.grid.phase \"many\" blocks(%blocks) threads(96) {
    %shared = qd.simt.block.shared : memref<96xi32, #gpu.address_space<workgroup>>
    %t = qd.simt.block.thread_id
    %n32 = memref.load %n[] : memref<i32>
    %c0 = arith.constant 0 : i32
    %c0_index = arith.constant 0 : index
    %none = arith.cmpi eq, %n32, %c0 : i32
    %t32 = arith.index_cast %t : index to i32
    %half = arith.constant 48 : i32
    %low = arith.cmpi slt, %t32, %half : i32
    scf.if %low {
      cf.assert %none, \"none\"
    }
    memref.store %t32, %shared[%t] : memref<96xi32, #gpu.address_space<workgroup>>
    qd.simt.block.sync
    %last = arith.constant 95 : index
    %other = arith.subi %last, %t : index
    %x = memref.load %shared[%other] : memref<96xi32, #gpu.address_space<workgroup>>
    %first = arith.cmpi eq, %t, %c0_index : index
    scf.if %first {
      %b = qd.simt.block.id
      memref.store %x, %a[%b] : memref<?xi32>
    }
  }
}";

#[test]
fn one_of_many_is_told() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let data = |n| vec![Data::I32(vec![0; 3]), Data::Count(n)];
    if let Some(said) = refused(MANY, data(4), "none") {
        assert!(said.contains("\"none\" does not hold"), "{said}");
        assert!(said.ends_with("of phase 'many': 4 = 0 is false"), "{said}");
        let thread = said
            .split("in thread ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        let thread: u32 = thread
            .and_then(|number| number.parse().ok())
            .expect("a number");
        assert!(thread < 48, "{said}");
    }
    Subject::new(MANY).check(any_wave(), &all(data(0)), "none");
    report("one of many");
}

/// Two phases with an assertion of the same text and another place; conditions that are loaded.
const TWICE: &str = "qd.grid.kernel @main(%a: memref<2xi1>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase \"one\" blocks(%c1) threads(32) {
    %zero = arith.constant 0 : index
    %p = memref.load %a[%zero] : memref<2xi1>
    cf.assert %p, \"set\"
  }
  qd.grid.phase \"two\" blocks(%c1) threads(32) {
    %one = arith.constant 1 : index
    %p = memref.load %a[%one] : memref<2xi1>
    cf.assert %p, \"set\"
  }
}";

#[test]
fn each_has_its_place() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    for (values, place) in [([false, true], ":6:5,"), ([true, false], ":11:5,")] {
        let data = vec![Data::Bool(values.to_vec())];
        if let Some(said) = refused(TWICE, data, "set") {
            assert!(said.contains(place), "{said}");
        }
    }
    report("places");
}
