//! Two streams that share an array: calls that conflict are ordered, and the others are
//! concurrent.
//!
//! `cargo run -p qd-frontend --example two_streams -- --device=cuda:0`

mod common;

use common::{Outcome, load, open};
use qd_frontend::{
    Dtype, args,
    objects::{Buffer, Priority},
};

fn main() -> Outcome {
    let device = open()?;
    let [a, b] = [
        device.stream(Priority::Normal)?,
        device.stream(Priority::High)?,
    ];
    let loaded = load(&device, include_str!("kernels/fill.mlir"))?;
    let (fill, add) = (loaded.kernel("fill")?, loaded.kernel("add")?);

    let n = 1_000_000;
    let x = Buffer::new(&a, Dtype::F32, &[2 * n])?;
    let total = Buffer::zeros(&b, Dtype::F32, &[2 * n])?;
    fill.launch(&a, &args![&x.rows(0..n)?, 1f32])?;
    // After the making of `x`, and concurrent with the other half's fill.
    fill.launch(&b, &args![&x.rows(n..2 * n)?, 2f32])?;
    // After both fills.
    add.launch(&a, &args![&x, &total])?;
    add.launch(&b, &args![&x, &total])?;
    // Freed after its last use.
    drop(x);

    let totals = total.to_vec::<f32>(&a)?;
    let is_right = |(i, value): (u64, &f32)| *value == if i < n { 2.0 } else { 4.0 };
    if !(0..).zip(&totals).all(is_right) {
        return Err("the sums are not those of what was filled".into());
    }
    println!("{} sums of two streams on {device:?}", totals.len());
    Ok(())
}
