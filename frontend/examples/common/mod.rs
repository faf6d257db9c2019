//! The examples' device, which the user chooses.

use qd_frontend::{
    compile_text,
    objects::{Device, DeviceOptions, Executable},
};
use std::error::Error;

pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The device that `--device` names: `cpu` unless it is given.
pub fn open() -> Outcome<Device> {
    let mut words = std::env::args().skip(1);
    let mut name = "cpu".to_string();
    while let Some(word) = words.next() {
        name = match word.strip_prefix("--device") {
            Some("") => words
                .next()
                .ok_or("--device takes a name, such as cuda:0")?,
            Some(rest) if rest.starts_with('=') => rest[1..].into(),
            _ => return Err(format!("'{word}' is not known: only --device=NAME is").into()),
        };
    }
    Ok(Device::open(&name.parse()?, &DeviceOptions::default())?)
}

/// Kernels in text, compiled for a device and loaded onto it.
#[allow(dead_code)] // Not all examples do it so.
pub fn load(device: &Device, source: &str) -> Outcome<Executable> {
    Ok(device.load(&compile_text(source, &device.target().to_string())?)?)
}
