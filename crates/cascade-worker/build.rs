//! Gives the program a fingerprint of the sources that its results depend on, so that results which an older
//! build has kept are never taken for this build's.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::{fs, io};

/// The engine, and what reads traces for it.
const SOURCES: [&str; 2] = ["../cascade-engine/src", "../cascade-accelsim/src/trace"];

fn main() -> io::Result<()> {
    // Differs between compiler versions, which costs a simulation and nothing else.
    let mut hasher = DefaultHasher::new();
    for folder in SOURCES {
        println!("cargo:rerun-if-changed={folder}");
        add(Path::new(folder), &mut hasher)?;
    }
    println!("cargo:rustc-env=CASCADE_SOURCES={:016x}", hasher.finish());
    Ok(())
}

fn add(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    if path.is_dir() {
        let mut entries = fs::read_dir(path)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        return entries.iter().try_for_each(|entry| add(entry, hasher));
    }
    path.to_string_lossy().hash(hasher);
    fs::read(path)?.hash(hasher);
    Ok(())
}
