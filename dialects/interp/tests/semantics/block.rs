//! Block operations and shared memory.

use crate::support::*;

const N: usize = 256;

/// One block of 256 threads: `%r` of `%x` in each thread `%t`.
fn block(body: &str, input: &[i32], wave: u32) -> Vec<i32> {
    let text = phase(
        "%in: memref<256xi32>, %out: memref<256xi32>",
        1,
        N,
        &format!(
            "%t = qd.simt.block.thread_id
             %x = memref.load %in[%t] : memref<256xi32>
             {body}
             memref.store %r, %out[%t] : memref<256xi32>"
        ),
    );
    let out = run(&text, vec![buffer(input), buffer(&[0i32; N])], wave);
    values(&out[1])
}

fn sample() -> Vec<i32> {
    noise(11, N)
        .into_iter()
        .map(|x| (x % 2000) as i32 - 1000)
        .collect()
}

#[test]
fn identities() {
    let text = phase(
        "%out: memref<192x4xindex>",
        3,
        64,
        "%b = qd.simt.block.id
         %d = qd.simt.block.dim
         %t = qd.simt.block.thread_id
         %g = qd.simt.grid.dim
         %o = arith.muli %b, %d : index
         %i = arith.addi %o, %t : index
         %c0 = arith.constant 0 : index
         %c1 = arith.constant 1 : index
         %c2 = arith.constant 2 : index
         %c3 = arith.constant 3 : index
         memref.store %b, %out[%i, %c0] : memref<192x4xindex>
         memref.store %d, %out[%i, %c1] : memref<192x4xindex>
         memref.store %t, %out[%i, %c2] : memref<192x4xindex>
         memref.store %g, %out[%i, %c3] : memref<192x4xindex>",
    );
    let out = qd_interp::Buffer::from_slice(&[0usize; 768])
        .reshaped(&[192, 4])
        .expect("768 elements");
    let out = run(&text, vec![out.into()], 4);
    let expected: Vec<usize> = (0..192).flat_map(|i| [i / 64, 64, i % 64, 3]).collect();
    assert_eq!(values::<usize>(&out[0]), expected);
}

#[test]
fn reductions_and_scans() {
    let x = sample();
    let prefix = |end: usize| x[..end].iter().sum::<i32>();
    for wave in WAVES {
        assert_eq!(
            block("%r = qd.simt.block.reduce_all add %x : i32", &x, wave),
            [prefix(N); N]
        );
        assert_eq!(
            block("%r = qd.simt.block.inclusive_scan add %x : i32", &x, wave),
            (0..N).map(|t| prefix(t + 1)).collect::<Vec<_>>()
        );
        assert_eq!(
            block("%r = qd.simt.block.exclusive_scan maxsi %x : i32", &x, wave),
            (0..N)
                .map(|t| x[..t].iter().copied().max().unwrap_or(i32::MIN))
                .collect::<Vec<_>>()
        );
        let first = "%s = qd.simt.block.reduce minui %x : i32
          %c0 = arith.constant 0 : index
          %first = arith.cmpi eq, %t, %c0 : index
          %r = arith.select %first, %s, %x : i32";
        let least = x.iter().map(|&x| x as u32).min().expect("not empty") as i32;
        assert_eq!(block(first, &x, wave)[0], least);
    }
}

/// Keeps the left operand unless it is 0: the order decides.
#[test]
fn regions_combine_in_thread_order() {
    let x: Vec<i32> = sample()
        .into_iter()
        .map(|x| if x % 5 == 0 { x } else { 0 })
        .collect();
    let body = "%r = qd.simt.block.inclusive_scan %x : i32 identity [0 : i32] combiner {
      ^bb0(%l: i32, %r0: i32):
        %zero = arith.constant 0 : i32
        %p = arith.cmpi eq, %l, %zero : i32
        %s = scf.if %p -> i32 {
          scf.yield %r0 : i32
        } else {
          scf.yield %l : i32
        }
        qd.yield %s : i32
      }";
    let expected: Vec<i32> = (0..N)
        .map(|t| x[..=t].iter().copied().find(|&x| x != 0).unwrap_or(0))
        .collect();
    for wave in WAVES {
        assert_eq!(block(body, &x, wave), expected);
    }
}

#[test]
fn shared_memory_reverses() {
    let body = "%tile = qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
      memref.store %x, %tile[%t] : memref<256xi32, #gpu.address_space<workgroup>>
      qd.simt.block.sync
      %last = arith.constant 255 : index
      %m = arith.subi %last, %t : index
      %r = memref.load %tile[%m] : memref<256xi32, #gpu.address_space<workgroup>>";
    let x = sample();
    let expected: Vec<i32> = x.iter().rev().copied().collect();
    for wave in WAVES {
        assert_eq!(block(body, &x, wave), expected);
    }
}

/// A tree in shared memory, with barriers in a loop all threads take.
#[test]
fn shared_memory_tree() {
    let body = "%tile = qd.simt.block.shared : memref<256xi32, #gpu.address_space<workgroup>>
      memref.store %x, %tile[%t] : memref<256xi32, #gpu.address_space<workgroup>>
      qd.simt.block.sync
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c256 = arith.constant 256 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %i1 = arith.addi %i, %c1 : index
        %half = arith.shrui %c256, %i1 : index
        %low = arith.cmpi ult, %t, %half : index
        scf.if %low {
          %o = arith.addi %t, %half : index
          %a = memref.load %tile[%t] : memref<256xi32, #gpu.address_space<workgroup>>
          %b = memref.load %tile[%o] : memref<256xi32, #gpu.address_space<workgroup>>
          %s = arith.addi %a, %b : i32
          memref.store %s, %tile[%t] : memref<256xi32, #gpu.address_space<workgroup>>
        }
        qd.simt.block.sync
      }
      %r = memref.load %tile[%c0] : memref<256xi32, #gpu.address_space<workgroup>>";
    let x = sample();
    for wave in WAVES {
        assert_eq!(block(body, &x, wave), [x.iter().sum::<i32>(); N]);
    }
}

const RANK: &str = "
  %hist = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
  %start = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
  %c64 = arith.constant 64 : i32
  %c63 = arith.constant 63 : index
  %d = arith.remui %x, %c64 : i32";

#[test]
fn radix_ranks() {
    let x = sample();
    let digits: Vec<usize> = x.iter().map(|&x| (x as u32 % 64) as usize).collect();
    let below = |d: usize| digits.iter().filter(|&&e| e < d).count();
    let memref = "memref<64xi32, #gpu.address_space<workgroup>>";
    for wave in WAVES {
        let body = format!(
            "{RANK}\n %r = qd.simt.block.radix_rank %d, %hist, %start {{radix_bits = 6 : i32}} : {memref}, {memref}"
        );
        let expected: Vec<i32> = (0..N)
            .map(|t| {
                let before = digits[..t].iter().filter(|&&e| e == digits[t]).count();
                (below(digits[t]) + before) as i32
            })
            .collect();
        assert_eq!(block(&body, &x, wave), expected);
        // Both arrays are there for the whole block afterwards, with no barrier.
        let body = format!(
            "{RANK}
             %k = qd.simt.block.radix_rank %d, %hist, %start {{radix_bits = 6 : i32}} : {memref}, {memref}
             %i = arith.andi %t, %c63 : index
             %h = memref.load %hist[%i] : {memref}
             %s = memref.load %start[%i] : {memref}
             %c1000 = arith.constant 1000 : i32
             %m = arith.muli %s, %c1000 : i32
             %r = arith.addi %m, %h : i32"
        );
        let expected: Vec<i32> = (0..N)
            .map(|t| {
                let d = t % 64;
                (below(d) * 1000 + digits.iter().filter(|&&e| e == d).count()) as i32
            })
            .collect();
        assert_eq!(block(&body, &x, wave), expected);
    }
}

#[test]
fn radix_ranks_of_some() {
    let x = sample();
    let memref = "memref<64xi32, #gpu.address_space<workgroup>>";
    let body = format!(
        "{RANK}
         %c0 = arith.constant 0 : i32
         %p = arith.cmpi sgt, %x, %c0 : i32
         %k = qd.simt.block.radix_rank %d, %hist, %start where %p {{radix_bits = 6 : i32}} : {memref}, {memref}
         %minus = arith.constant -1 : i32
         %r = arith.select %p, %k, %minus : i32"
    );
    let digit = |t: usize| (x[t] as u32 % 64) as usize;
    let taking: Vec<usize> = (0..N).filter(|&t| x[t] > 0).collect();
    let expected: Vec<i32> = (0..N)
        .map(|t| {
            if x[t] <= 0 {
                return -1;
            }
            let before = |&&o: &&usize| (digit(o), o) < (digit(t), t);
            taking.iter().filter(before).count() as i32
        })
        .collect();
    assert_eq!(block(&body, &x, 32), expected);
}

/// Ranking twice with the same arrays needs a barrier between what reads them
/// and what overwrites them.
#[test]
fn radix_rank_overwrites() {
    let memref = "memref<64xi32, #gpu.address_space<workgroup>>";
    let body = |barrier: &str| {
        format!(
            "{RANK}
             %k = qd.simt.block.radix_rank %d, %hist, %start {{radix_bits = 6 : i32}} : {memref}, {memref}
             qd.simt.block.sync
             %i = arith.andi %t, %c63 : index
             %h = memref.load %hist[%i] : {memref}
             {barrier}
             %k2 = qd.simt.block.radix_rank %d, %hist, %start {{radix_bits = 6 : i32}} : {memref}, {memref}
             %r = arith.addi %h, %k2 : i32"
        )
    };
    block(&body("qd.simt.block.sync"), &sample(), 32);
    let text = phase(
        "%in: memref<256xi32>, %out: memref<256xi32>",
        1,
        N,
        &format!(
            "%t = qd.simt.block.thread_id
             %x = memref.load %in[%t] : memref<256xi32>
             {}
             memref.store %r, %out[%t] : memref<256xi32>",
            body("")
        ),
    );
    let arguments = vec![buffer(&sample()), buffer(&[0i32; N])];
    faults(
        &text,
        arguments,
        32,
        &["qd.simt.block.radix_rank", "data race", "memref.load"],
    );
}

/// Nor may a thread write to the arrays before a barrier after the ranking.
#[test]
fn radix_rank_is_still_reading() {
    let memref = "memref<64xi32, #gpu.address_space<workgroup>>";
    let text = |array: &str, barrier: &str| {
        phase(
            "%in: memref<256xi32>",
            1,
            N,
            &format!(
                "%t = qd.simt.block.thread_id
                 %x = memref.load %in[%t] : memref<256xi32>
                 {RANK}
                 %k = qd.simt.block.radix_rank %d, %hist, %start {{radix_bits = 6 : i32}} : {memref}, {memref}
                 {barrier}
                 %c0 = arith.constant 0 : index
                 %first = arith.cmpi eq, %t, %c0 : index
                 scf.if %first {{
                   memref.store %k, {array}[%c0] : {memref}
                 }}"
            ),
        )
    };
    for array in ["%hist", "%start"] {
        let arguments = || vec![buffer(&sample())];
        run(&text(array, "qd.simt.block.sync"), arguments(), 32);
        for barrier in ["", "qd.simt.sync"] {
            faults(
                &text(array, barrier),
                arguments(),
                32,
                &["memref.store", "data race", "qd.simt.block.radix_rank"],
            );
        }
    }
}

#[test]
fn private_arrays() {
    let function = "func.func private @six(%x: i32) -> i32 {
      %mine = memref.alloca() : memref<4xi32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0 : i32
      scf.for %i = %c0 to %c4 step %c1 {
        %v = arith.index_cast %i : index to i32
        %p = arith.muli %v, %x : i32
        memref.store %p, %mine[%i] : memref<4xi32>
      }
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %zero) -> i32 {
        %v = memref.load %mine[%i] : memref<4xi32>
        %s = arith.addi %a, %v : i32
        scf.yield %s : i32
      }
      return %r : i32
    }";
    let input: Vec<i32> = (0..64).map(|i| i * i - 5).collect();
    let text = map_text("i32", "i32", "%r = func.call @six(%x) : (i32) -> i32");
    for wave in WAVES {
        let out = run(
            &format!("{function}\n{text}"),
            map_arguments::<i32, i32>(&input),
            wave,
        );
        assert_eq!(
            values::<i32>(&out[1]),
            input.iter().map(|x| 6 * x).collect::<Vec<_>>()
        );
    }
}
