//! Two kernels and a copy as one graph, on another image of another length each time.
//!
//! `cargo run -p qd-frontend --example recording -- --device=cuda:0`

mod common;

use common::{Outcome, load, open};
use qd_frontend::{
    Dtype, args,
    objects::{Buffer, Priority, Recording},
};

/// Pixels of the longest image.
const MOST: u64 = 100_000;

fn main() -> Outcome {
    let device = open()?;
    let stream = device.stream(Priority::Normal)?;
    let loaded = load(&device, include_str!("kernels/blur.mlir"))?;
    let (blur, sum) = (loaded.kernel("blur")?, loaded.kernel("sum")?);

    let mut recording = Recording::new(&device);
    let image = recording.slot(&blur.argument("image")?.kind);
    let blurred = recording.slot(&blur.argument("out")?.kind);
    let pixels = recording.slot(&sum.argument("n")?.kind);
    let total = recording.slot(&sum.argument("out")?.kind);
    let longest = Buffer::new(&stream, Dtype::I32, &[MOST])?;
    let out = Buffer::new(&stream, Dtype::I32, &[1])?;
    let n = Buffer::new(&stream, Dtype::I32, &[])?;
    let slots = sum.minimum("scratch", &args![&longest, &out, _, &n])?;
    let scratch = Buffer::new(&stream, Dtype::I32, &[slots])?;
    recording.launch(&blur, &args![image, blurred])?;
    recording.launch(&sum, &args![blurred, &out, &scratch, pixels])?;
    recording.copy(&out, total)?;
    let mut step = recording.finish()?;

    let mut totals = Vec::new();
    for length in [1, 5, 1000, MOST, 0, 777] {
        let host: Vec<i32> = (0..length as i32).map(|i| i % 1000 - 500).collect();
        // All but the first pixel are counted twice: with their own and with the one before.
        let expected = 2 * host.iter().sum::<i32>() - host.first().copied().unwrap_or(0);
        let frame = Buffer::from_slice(&stream, &host)?;
        let count = Buffer::from_slice(&stream, &[length as i32])?.cast(Dtype::I32, &[])?;
        let result = Buffer::new(&stream, Dtype::I32, &[1])?;
        let blurry = longest.rows(0..length)?;
        step.bind(image, &frame)?;
        step.bind(blurred, &blurry)?;
        step.bind(pixels, &count)?;
        step.bind(total, &result)?;
        step.launch(&stream)?;
        totals.push((length, result, expected));
        // Nothing is waited for: what was bound lives until its launch has ended.
    }
    for (length, result, expected) in &totals {
        let total = result.to_vec::<i32>(&stream)?;
        if total != [*expected] {
            return Err(format!("{length} pixels: {total:?}, not {expected}").into());
        }
    }
    println!("{} images on {device:?}", totals.len());
    Ok(())
}
