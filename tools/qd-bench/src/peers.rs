//! The peers: loops written by hand over rayon, as a careful Rust programmer
//! would.

use rayon::prelude::*;

/// Elements a thread takes at a time: fits the second-level cache.
const CHUNK: usize = 1 << 16;

/// Sum of floats: 32 running sums, so that it vectorises.
pub fn sum_f32(input: &[f32]) -> f32 {
    input
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut sums = [0.0f32; 32];
            let (rows, rest) = chunk.as_chunks::<32>();
            for row in rows {
                for (sum, x) in sums.iter_mut().zip(row) {
                    *sum += x;
                }
            }
            sums.iter().sum::<f32>() + rest.iter().sum::<f32>()
        })
        .sum()
}

/// Sum of integers, wrapping.
pub fn sum_u32(input: &[u32]) -> u32 {
    input
        .par_chunks(CHUNK)
        .map(|chunk| chunk.iter().fold(0u32, |a, x| a.wrapping_add(*x)))
        .reduce(|| 0, u32::wrapping_add)
}

/// Exclusive prefix sums: the chunks' sums, then each chunk.
pub fn scan_u32(input: &[u32], output: &mut [u32]) {
    let sums: Vec<u32> = input
        .par_chunks(CHUNK)
        .map(|chunk| chunk.iter().fold(0u32, |a, x| a.wrapping_add(*x)))
        .collect();
    let starts = exclusive(&sums);
    output
        .par_chunks_mut(CHUNK)
        .zip(input.par_chunks(CHUNK))
        .zip(starts)
        .for_each(|((output, input), start)| {
            let mut sum = start;
            for (out, x) in output.iter_mut().zip(input) {
                *out = sum;
                sum = sum.wrapping_add(*x);
            }
        });
}

/// The flagged elements: the chunks' counts, then each chunk. Yields how many.
pub fn select_u32(input: &[u32], flags: &[u32], output: &mut [u32]) -> usize {
    let counts: Vec<u32> = flags
        .par_chunks(CHUNK)
        .map(|flags| flags.iter().sum())
        .collect();
    let total = counts.iter().sum::<u32>() as usize;
    let mut rest = &mut output[..total];
    let mut parts = Vec::new();
    for count in &counts {
        let (part, behind) = rest.split_at_mut(*count as usize);
        parts.push(part);
        rest = behind;
    }
    parts
        .into_par_iter()
        .zip(input.par_chunks(CHUNK))
        .zip(flags.par_chunks(CHUNK))
        .for_each(|((output, input), flags)| {
            let mut at = 0;
            for (x, flag) in input.iter().zip(flags) {
                if *flag != 0 {
                    output[at] = *x;
                    at += 1;
                }
            }
        });
    total
}

fn exclusive(values: &[u32]) -> Vec<u32> {
    let mut sum = 0u32;
    values
        .iter()
        .map(|x| {
            let before = sum;
            sum = sum.wrapping_add(*x);
            before
        })
        .collect()
}
