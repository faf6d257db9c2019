//! Identifies what makes modules of records, for keys of what is kept on disk: a hash of this crate's sources.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::Path,
};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=src");
    let mut hasher = DefaultHasher::new();
    add(Path::new("src"), &mut hasher)?;
    println!("cargo:rustc-env=QD_BUILDER={:016x}", hasher.finish());
    Ok(())
}

fn add(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    if path.is_file() {
        (path, fs::read(path)?).hash(hasher);
        return Ok(());
    }
    let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    entries.iter().try_for_each(|entry| add(entry, hasher))
}
