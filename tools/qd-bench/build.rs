//! Finds what algorithms are measured by: `bench.rs` and `bench.cu` in the folder of each.

use std::{env, fmt::Write, fs, path::Path};

const ALGORITHMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lowering/src/algorithms");

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={ALGORITHMS}");
    let mut names = Vec::new();
    for folder in fs::read_dir(ALGORITHMS)? {
        let folder = folder?;
        if folder.path().join("bench.rs").exists() {
            names.push(folder.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    let (mut modules, mut benches, mut peers) = (String::new(), String::new(), String::new());
    for name in names {
        let file = |kind: &str| format!("{:?}", format!("{ALGORITHMS}/{name}/bench.{kind}"));
        let is_written = writeln!(modules, "#[path = {}]\nmod {name};", file("rs"))
            .and_then(|()| write!(benches, "{name}::BENCH, "))
            .and_then(|()| {
                write!(
                    peers,
                    "\"{{\\n\", include_str!({}), \"}}\\n\", ",
                    file("cu")
                )
            });
        is_written.expect("into a string");
    }
    let text = format!(
        "{modules}\nconst BENCHES: &[Bench] = &[{benches}];\n\n\
         /// What the peer does for these rows, in a function of its program.\n\
         pub const PEERS: &str = concat!({peers});\n"
    );
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("benches.rs"), text)
}
