//! What the profiles are before they are files.

use cascade_steps::{Provenance, SimDurations, Timeline};

use super::*;
use crate::layout::Kind;

#[test]
fn show() {
    for s in samples().unwrap() {
        for f in s.files { let d=std::path::Path::new("/tmp/smp").join(s.name); std::fs::create_dir_all(&d).unwrap(); eprintln!("{}/{} {}", s.name, f.name, f.bytes.len()); std::fs::write(d.join(f.name), f.bytes).unwrap(); }
    }
}
