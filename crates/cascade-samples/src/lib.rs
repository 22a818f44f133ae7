//! The bundled samples: two finished OPT-125m profiles, **reconstructed from published statistics**.
//!
//! Nobody published the profiler's own files, but many of their sums, means and medians. This crate builds files
//! from which every one of those figures comes out again. What a file holds is one of three things:
//!
//! * *exact*: a published value, such as a repeat's request time or the cycles of a kernel group;
//! * *derived*: it follows from published values, such as a repeat's pre-first-step time;
//! * *distributed*: only a sum or a mean is published, and a fixed rule spreads it over launches or steps.
//!
//! `metadata.json` of each sample lists which is which. The samples are made by `cargo xtask samples`, with
//! fixed arithmetic alone: the same bytes every time.

mod a100;
mod build;
mod codes;
mod files;
mod h100;
mod layout;
mod log;
mod metadata;
mod share;

use build::Profile;

/// What every file of a sample says about itself.
pub const PROVENANCE: &str = "reconstructed from published statistics";

/// A file of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its bytes, not compressed.
    pub bytes: Vec<u8>,
    /// Whether it is kept compressed, as `<name>.gz`.
    pub packed: bool,
}

/// A sample: a folder of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The folder's name.
    pub name: &'static str,
    /// Its files.
    pub files: Vec<File>,
}

/// Both samples.
///
/// # Errors
/// When a value cannot be written as JSON.
pub fn samples() -> serde_json::Result<Vec<Sample>> {
    let make = |profile: &Profile| -> serde_json::Result<Sample> {
        Ok(Sample {
            name: profile.name,
            files: files::all(profile)?,
        })
    };
    Ok(vec![make(&h100::profile())?, make(&a100::profile())?])
}

#[cfg(test)]
mod tests;
