//! Compiles a text for two targets, and shows an error in a text as a diagnostic with a location.
//!
//! `cargo run -p qd-frontend --example compile -- --device=cuda:0`

mod common;

use common::{Outcome, open};
use qd_frontend::{
    Artifact, CompileRequest, Dtype, Source, args, compile,
    objects::{Buffer, Priority},
};

fn main() -> Outcome {
    let device = open()?;
    let text = include_str!("kernels/fill.mlir");
    let request = CompileRequest {
        source: Source::text("fill.mlir", text),
        // The cpu's code goes along, for where there is no such device.
        targets: vec![device.target().clone(), "cpu".parse()?],
        kernels: Some(vec!["fill".into()]),
        ..CompileRequest::default()
    };
    let artifact = match compile(&request) {
        Ok(artifact) => artifact,
        Err(diagnostics) => {
            diagnostics.iter().for_each(|d| eprintln!("{d}"));
            return Err("it does not compile".into());
        }
    };
    let path = std::env::temp_dir().join(format!("fill-{}.qdart", std::process::id()));
    artifact.save(&path)?;

    // Another process may do this, and another machine.
    let loaded = device.load(&Artifact::open(&path)?)?;
    std::fs::remove_file(&path)?;
    let stream = device.stream(Priority::Normal)?;
    let x = Buffer::new(&stream, Dtype::F32, &[1000])?;
    loaded.kernel("fill")?.launch(&stream, &args![&x, 1.5f32])?;
    if x.to_vec::<f32>(&stream)? != [1.5; 1000] {
        return Err("it is filled with something else".into());
    }

    let broken = CompileRequest {
        source: Source::text("fill.mlir", text.replace("memref.store", "memref.stor")),
        ..request
    };
    let Err(diagnostics) = compile(&broken) else {
        return Err("nonsense compiles".into());
    };
    let error = diagnostics.first().ok_or("an error that is none")?;
    let place = error.at.as_ref().ok_or("an error without a place")?;
    if (&*place.file, diagnostics.len()) != ("fill.mlir", 1) {
        return Err(diagnostics.into());
    }
    println!("{} on {device:?}; and {error}", artifact.targets.join(", "));
    Ok(())
}
