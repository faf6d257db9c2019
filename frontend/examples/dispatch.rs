//! Two variants of a sum, of which the faster one is launched once both have been timed: for each
//! order of magnitude by itself.
//!
//! `cargo run -p qd-frontend --example dispatch -- --device=cuda:0`

mod common;

use common::{Outcome, load, open};
use qd_frontend::{
    Dtype, args,
    dispatch::{KernelDispatcher, KernelVariant, Policy, Settings},
    objects::{Arg, Buffer, Device, Executable, Priority},
};

/// Calls of 2^10 to 2^11 − 1 elements have one winner, and so on.
fn magnitude(arguments: &[Arg<'_>]) -> u32 {
    let length = arguments[0].shape().first().copied();
    length.and_then(u64::checked_ilog2).unwrap_or_default()
}

fn dispatcher(device: &Device, loaded: &Executable) -> Outcome<KernelDispatcher<u32>> {
    let variants = vec![
        KernelVariant::new(&loaded.kernel("sum")?),
        KernelVariant::new(&loaded.kernel("sum_by_levels")?),
    ];
    let policy = Policy {
        active: 5,
        ..Policy::default()
    };
    let settings = Settings {
        policy,
        ..Settings::default()
    };
    let made = KernelDispatcher::new("sum", device, magnitude, variants, settings)?;
    Ok(made)
}

fn main() -> Outcome {
    let device = open()?;
    let stream = device.stream(Priority::Normal)?;
    let loaded = load(&device, include_str!("kernels/sum.mlir"))?;
    let sum = dispatcher(&device, &loaded)?;

    for length in [1000_i32, 1_000_000] {
        let x = Buffer::from_slice(&stream, &vec![3; length as usize])?;
        let n = Buffer::from_slice(&stream, &[length])?.cast(Dtype::I32, &[])?;
        let out = Buffer::new(&stream, Dtype::I32, &[1])?;
        let slots = sum.minimum("scratch", &args![&x, &out, _, &n])?;
        let scratch = Buffer::new(&stream, Dtype::I32, &[slots])?;
        let arguments = args![&x, &out, &scratch, &n];
        // 2 · (1 + 5) trials, and calls of the winner after that.
        for _ in 0..50 {
            sum.launch(&stream, &arguments)?;
            if out.to_vec::<i32>(&stream)? != [3 * length] {
                return Err("a sum is wrong".into());
            }
        }
        let geometry = sum.geometry(&arguments);
        let times = sum.dispatcher().times(&geometry);
        for (variant, time) in sum.variants().iter().zip(times) {
            let name = &variant.variant().name;
            println!(
                "{length:>8} elements, {name:<14} {:?}",
                time.ok_or("was not timed")?
            );
        }
        println!(
            "{length:>8} elements, chosen: {}",
            sum.chosen(&arguments)?.variant().name
        );
    }

    // Another process need not measure: here another dispatcher of the same kernels.
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("winners.json");
    sum.save(&file)?;
    let again = dispatcher(&device, &loaded)?;
    let count = again.load(&file)?;
    again.dispatcher().freeze();
    if again.dispatcher().winner(&19) != sum.dispatcher().winner(&19) {
        return Err("another winner was loaded than was saved".into());
    }
    println!("{count} winners for {}", again.key());
    Ok(())
}
