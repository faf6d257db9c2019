//! Arrays that stay on the device: one upload, a thousand calls, one download.
//!
//! `cargo run -p qd-frontend --example resident -- --device=cuda:0`

mod common;

use common::{Outcome, load, open};
use qd_frontend::{
    Dtype, args,
    objects::{Buffer, Priority},
};

fn main() -> Outcome {
    let device = open()?;
    let stream = device.stream(Priority::Normal)?;
    let sort = load(&device, include_str!("kernels/sort.mlir"))?.kernel("sort")?;

    // Knuth's multiplicative hash: in no order.
    let mut host: Vec<u32> = (0..10_000_u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();
    let keys = Buffer::from_slice(&stream, &host)?;
    let tmp = Buffer::new(&stream, Dtype::U32, keys.shape())?;
    let n = Buffer::from_slice(&stream, &[host.len() as i32])?.cast(Dtype::I32, &[])?;
    let slots = sort.minimum("scratch", &args![&keys, &tmp, _, &n])?;
    let scratch = Buffer::new(&stream, Dtype::I32, &[slots])?;
    let before = device.memory();
    for _ in 0..1000 {
        sort.launch(&stream, &args![&keys, &tmp, &scratch, &n])?;
    }
    let after = device.memory();
    if (before.uploaded, before.downloaded) != (after.uploaded, after.downloaded) {
        return Err("a call copied something".into());
    }

    let sorted = keys.to_vec::<u32>(&stream)?;
    host.sort_unstable();
    if sorted != host {
        return Err("the keys are not sorted".into());
    }
    println!("{} keys, sorted on {device:?}", sorted.len());
    Ok(())
}
