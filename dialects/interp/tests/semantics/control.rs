//! Structured control flow, in which lanes diverge and reconverge.

use crate::support::*;

fn sequence() -> Vec<i32> {
    (0..64).collect()
}

#[test]
fn ifs_part_the_lanes() {
    let body = "%c3 = arith.constant 3 : i32
      %c0 = arith.constant 0 : i32
      %m = arith.remsi %x, %c3 : i32
      %p = arith.cmpi eq, %m, %c0 : i32
      %r = scf.if %p -> i32 {
        %c20 = arith.constant 20 : i32
        %q = arith.cmpi slt, %x, %c20 : i32
        %s = scf.if %q -> i32 {
          %a = arith.addi %x, %c20 : i32
          scf.yield %a : i32
        } else {
          scf.yield %c0 : i32
        }
        scf.yield %s : i32
      } else {
        %b = arith.muli %x, %x : i32
        scf.yield %b : i32
      }";
    let f = |x: i32| match (x % 3, x < 20) {
        (0, true) => x + 20,
        (0, false) => 0,
        _ => x * x,
    };
    for wave in WAVES {
        let expected: Vec<_> = sequence().into_iter().map(f).collect();
        assert_eq!(
            map64::<i32, i32>("i32", "i32", body, &sequence(), wave),
            expected
        );
    }
}

/// A lane keeps what it had when it left the loop, while others go on; carried
/// values are exchanged at once.
#[test]
fn loops_of_different_lengths() {
    let body = "%zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.index_cast %x : i32 to index
      %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero, %b = %one) -> (i32, i32) {
        %sum = arith.addi %a, %b : i32
        scf.yield %b, %sum : i32, i32
      }";
    let fibonacci = |n: i32| {
        (0..n)
            .fold((0i32, 1i32), |(a, b), _| (b, a.wrapping_add(b)))
            .0
    };
    for wave in WAVES {
        let expected: Vec<_> = sequence().into_iter().map(fibonacci).collect();
        assert_eq!(
            map64::<i32, i32>("i32", "i32", body, &sequence(), wave),
            expected
        );
    }
}

#[test]
fn nested_loops_and_narrow_bounds() {
    let body = "%c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %m10 = arith.constant -10 : i32
      %r = scf.for %i = %m10 to %x step %c2 iter_args(%a = %c0) -> i32 : i32 {
        %inner = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> i32 : i32 {
          %s = arith.addi %b, %j : i32
          scf.yield %s : i32
        }
        %u = arith.addi %inner, %c1 : i32
        scf.yield %u : i32
      }";
    let f = |x: i32| {
        let mut a = 0;
        for i in (-10..x).step_by(2) {
            a += (0..i).sum::<i32>() + 1;
        }
        a
    };
    let expected: Vec<_> = sequence().into_iter().map(f).collect();
    assert_eq!(
        map64::<i32, i32>("i32", "i32", body, &sequence(), 16),
        expected
    );
}

#[test]
fn while_loops() {
    // Collatz: steps to 1.
    let body = "%one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %three = arith.constant 3 : i32
      %zero = arith.constant 0 : i32
      %start = arith.addi %x, %one : i32
      %r = scf.while (%n = %start, %steps = %zero) : (i32, i32) -> i32 {
        %go = arith.cmpi ne, %n, %one : i32
        %even = arith.remsi %n, %two : i32
        %is_even = arith.cmpi eq, %even, %zero : i32
        %half = arith.divsi %n, %two : i32
        %triple = arith.muli %n, %three : i32
        %up = arith.addi %triple, %one : i32
        %next = arith.select %is_even, %half, %up : i32
        %counted = arith.addi %steps, %one : i32
        %kept = arith.select %go, %counted, %steps : i32
        scf.condition(%go) %kept : i32
      } do {
      ^bb0(%k: i32):
        %dummy = arith.addi %k, %zero : i32
        scf.yield %dummy, %k : i32, i32
      }";
    // The second region only sees what the first passes on: this one loops on
    // its own count, until it hits 1.
    let f = |x: i32| {
        let (mut n, mut steps) = (x + 1, 0);
        loop {
            let go = n != 1;
            let kept = if go { steps + 1 } else { steps };
            if !go {
                return kept;
            }
            (n, steps) = (kept, kept);
        }
    };
    let expected: Vec<_> = sequence().into_iter().map(f).collect();
    assert_eq!(
        map64::<i32, i32>("i32", "i32", body, &sequence(), 32),
        expected
    );
}

#[test]
fn switches_and_regions() {
    let body = "%i = arith.index_cast %x : i32 to index
      %s = scf.index_switch %i -> i32
      case 2 {
        %c = arith.constant 200 : i32
        scf.yield %c : i32
      }
      case 63 {
        %c = arith.constant 6300 : i32
        scf.yield %c : i32
      }
      default {
        scf.yield %x : i32
      }
      %r = scf.execute_region -> i32 {
        %d = arith.addi %s, %s : i32
        scf.yield %d : i32
      }";
    let mut expected: Vec<i32> = sequence().into_iter().map(|x| 2 * x).collect();
    (expected[2], expected[63]) = (400, 12600);
    assert_eq!(
        map64::<i32, i32>("i32", "i32", body, &sequence(), 8),
        expected
    );
}

#[test]
fn calls_are_inlined() {
    let functions = "
      func.func private @square(%x: i32) -> i32 {
        %r = arith.muli %x, %x : i32
        return %r : i32
      }
      func.func private @fourth(%x: i32) -> i32 {
        %a = func.call @square(%x) : (i32) -> i32
        %b = func.call @square(%a) : (i32) -> i32
        return %b : i32
      }";
    let text = map_text("i32", "i32", "%r = func.call @fourth(%x) : (i32) -> i32");
    let out = run(
        &format!("{functions}\n{text}"),
        map_arguments::<i32, i32>(&sequence()),
        32,
    );
    let expected: Vec<_> = sequence().into_iter().map(|x| x * x * x * x).collect();
    assert_eq!(values::<i32>(&out[1]), expected);
}

/// As deep as a module that is read may be, and on a thread of two megabytes, as
/// this test has.
#[test]
fn nesting_is_no_recursion_without_end() {
    let mut body = String::from("%r = arith.addi %x, %x : i32\n%p = arith.cmpi eq, %r, %r : i32\n");
    body += &"scf.if %p {\n".repeat(250);
    body += &"}\n".repeat(250);
    let text = map_text("i32", "i32", &body);
    let out = run(&text, map_arguments::<i32, i32>(&sequence()), 32);
    let expected: Vec<_> = sequence().into_iter().map(|x| 2 * x).collect();
    assert_eq!(values::<i32>(&out[1]), expected);
}

#[test]
fn recursion_is_an_error() {
    let text = map_text("i32", "i32", "%r = func.call @f(%x) : (i32) -> i32");
    let function = "func.func private @f(%x: i32) -> i32 {
        %r = func.call @f(%x) : (i32) -> i32
        return %r : i32
      }";
    let arguments = map_arguments::<i32, i32>(&sequence());
    faults(
        &format!("{function}\n{text}"),
        arguments,
        32,
        &["func.call", "recursively"],
    );
}

#[test]
fn assertions() {
    let body = "%c60 = arith.constant 60 : i32
      %p = arith.cmpi slt, %x, %c60 : i32
      cf.assert %p, \"below sixty\"
      %r = arith.addi %x, %x : i32";
    let text = map_text("i32", "i32", body);
    faults(
        &text,
        map_arguments::<i32, i32>(&sequence()),
        32,
        &["cf.assert", "below sixty"],
    );
    run(&text, map_arguments::<i32, i32>(&[1; 64]), 32);
}

#[test]
fn active_lanes_print_in_order() {
    let body = |format: &str, values: &str| {
        let body = format!(
            "%c3 = arith.constant 3 : i32
             %p = arith.cmpi slt, %x, %c3 : i32
             %half = arith.constant 5.0e-1 : f16
             scf.if %p {{ gpu.printf \"{format}\"{values} }}
             %r = arith.addi %x, %x : i32"
        );
        map_text("i32", "i32", &body)
    };
    let of = |text: &str| prints(text, map_arguments::<i32, i32>(&sequence()), 32);
    let lines = of(&body("%d is %g%%;", ", %x, %half : i32, f16")).0;
    let below: Vec<_> = sequence().into_iter().filter(|x| *x < 3).collect();
    let expected = below.iter().map(|x| format!("{x} is 0.5%;"));
    assert!(!below.is_empty());
    assert_eq!(lines, expected.collect::<Vec<_>>());
    // What comes before a fault is there.
    let text = body("%d", ", %x : i32").replace(
        "%r = arith.addi",
        "cf.assert %p, \"few\"
         %r = arith.addi",
    );
    let (lines, fault) = of(&text);
    assert!(!lines.is_empty());
    assert!(fault.is_some_and(|fault| fault.to_string().contains("few")));
    let fault = of(&body("%f", ", %x : i32")).1.expect("an integer");
    let fault = fault.to_string();
    assert!(
        fault.contains("'%f' takes a float, but value 0 is of type i32"),
        "{fault}"
    );
}

#[test]
fn a_loop_up_to_the_last_number_ends() {
    let body = "%c1 = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %low = arith.constant 9223372036854775804 : i64
      %high = arith.constant 9223372036854775807 : i64
      %c2 = arith.constant 2 : i64
      %r = scf.for %i = %low to %high step %c2 iter_args(%a = %c0) -> i32 : i64 {
        %b = arith.addi %a, %one : i32
        scf.yield %b : i32
      }";
    assert_eq!(map64::<i32, i32>("i32", "i32", body, &sequence(), 8)[0], 2);
}

/// What says only what is to come computes nothing.
#[test]
fn hints_change_nothing() {
    let body = "memref.prefetch %in[%t], read, locality<2>, data : memref<64xi32>
      qd.simt.pause 1000
      %r = arith.addi %x, %x : i32";
    for wave in WAVES {
        let expected: Vec<_> = sequence().iter().map(|x| x + x).collect();
        let doubled = map64::<i32, i32>("i32", "i32", body, &sequence(), wave);
        assert_eq!(doubled, expected);
    }
}
