//! A frontend on `qd-frontend` alone: it builds kernels, compiles them and runs them, and compares
//! the results with plain Rust.
//!
//! `cargo run -p embed -- --device=cuda:0`

mod kernels;

use qd_frontend::{
    Artifact, CompileRequest, Diagnostics, Dtype, Source, args, build, compile,
    objects::{Arg, Buffer, Device, DeviceOptions, Executable, Priority, Stream},
};
use std::error::Error;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let device = device()?;
    let stream = device.stream(Priority::Normal)?;
    let program = build(kernels::program)?;
    let loaded = device.load(&compiled(program, &device)?)?;
    saxpy(&loaded, &stream)?;
    sum_of_squares(&loaded, &stream)?;
    sort_pairs(&loaded, &stream)?;
    println!("all is right on {device:?}");
    let Err(errors) = compiled(build(kernels::nonsense)?, &device) else {
        return Err("nonsense compiles".into());
    };
    let place = errors[0].at.as_ref().map(ToString::to_string);
    if place.as_deref() != Some("program.toy:5:10") {
        return Err(errors.into());
    }
    println!("and what is wrong is said: {errors}");
    Ok(())
}

/// The device that `--device` names: `cpu` unless it is given.
fn device() -> Outcome<Device> {
    let given = std::env::args().nth(1);
    let name = match &given {
        None => "cpu",
        Some(word) => word
            .strip_prefix("--device=")
            .ok_or_else(|| format!("'{word}' is not known: only --device=NAME is"))?,
    };
    Ok(Device::open(&name.parse()?, &DeviceOptions::default())?)
}

/// Kernels for a device.
fn compiled(source: Source, device: &Device) -> Result<Artifact, Diagnostics> {
    compile(&CompileRequest {
        source,
        targets: vec![device.target().clone()],
        ..CompileRequest::default()
    })
}

/// Fails if two are not the same.
fn same<T: PartialEq>(what: &str, computed: &[T], expected: &[T]) -> Outcome {
    match computed == expected {
        true => Ok(()),
        false => Err(format!("{what}: the device and the host do not agree").into()),
    }
}

/// How many elements there are, where kernels read it.
fn count(stream: &Stream, n: usize) -> Outcome<Buffer> {
    let count = Buffer::from_slice(stream, &[i32::try_from(n)?])?;
    Ok(count.cast(Dtype::I32, &[])?)
}

fn saxpy(loaded: &Executable, stream: &Stream) -> Outcome {
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let y: Vec<f32> = x.iter().map(|x| 1000.0 - x).collect();
    let (x_there, y_there) = (
        Buffer::from_slice(stream, &x)?,
        Buffer::from_slice(stream, &y)?,
    );
    let saxpy = loaded.kernel("saxpy")?;
    saxpy.launch(stream, &args![0.5_f32, &x_there, &y_there])?;
    let expected: Vec<_> = x.iter().zip(&y).map(|(x, y)| 0.5 * x + y).collect();
    same("saxpy", &y_there.to_vec(stream)?, &expected)
}

fn sum_of_squares(loaded: &Executable, stream: &Stream) -> Outcome {
    let kernel = loaded.kernel("sum_of_squares")?;
    // Small numbers, whose sums are the same in any order.
    let x: Vec<f32> = (0..100_000).map(|i| (i % 8) as f32).collect();
    let n = count(stream, x.len())?;
    let sum = Buffer::new(stream, Dtype::F32, &[1])?;
    // Who wants to know how much scratch there must be, or to make it, asks before there is an array.
    let shape = [x.len() as u64];
    let slots = kernel.minimum("scratch", &args![_, _, _, Arg::Shape(&shape), _])?;
    let scratch = Buffer::new(stream, Dtype::I32, &[slots])?;
    let squares = Buffer::new(stream, Dtype::F32, &shape)?;
    let x_there = Buffer::from_slice(stream, &x)?;
    kernel.launch(stream, &args![&x_there, &sum, &n, &squares, &scratch])?;
    let expected: [f32; 1] = [x.iter().map(|x| x * x).sum()];
    same("a sum of squares", &sum.to_vec(stream)?, &expected)?;
    // Who does not leaves it out.
    let again = Buffer::new(stream, Dtype::F32, &[1])?;
    kernel.launch(stream, &args![&x_there, &again, &n, _, _])?;
    same("a sum of squares", &again.to_vec(stream)?, &expected)
}

fn sort_pairs(loaded: &Executable, stream: &Stream) -> Outcome {
    // Knuth's multiplicative hash: in no order.
    let keys: Vec<u32> = (0..50_000_u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();
    let values: Vec<f32> = (0..50_000).map(|i| i as f32).collect();
    let n = count(stream, keys.len())?;
    let (keys_there, values_there) = (
        Buffer::from_slice(stream, &keys)?,
        Buffer::from_slice(stream, &values)?,
    );
    let arguments = args![&keys_there, &values_there, &n, _, _, _];
    loaded.kernel("sort_pairs")?.launch(stream, &arguments)?;
    let mut pairs: Vec<_> = keys.into_iter().zip(values).collect();
    pairs.sort_by_key(|(key, _)| *key);
    let (keys, values): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    same("sorted keys", &keys_there.to_vec(stream)?, &keys)?;
    same("their values", &values_there.to_vec(stream)?, &values)
}
