//! What the dictionary of a packed trace is trained on: the kernel's first lines, whatever the memory
//! budget, so that the output depends on nothing but the input.

use std::collections::BTreeMap;

use super::sort::Key;
use crate::trace::TraceFormat;

/// Text of a kernel from which a dictionary of at most 64 KiB pays, and which is looked at, bytes.
const LOOK_AT_BYTES: u64 = 4 << 20;
/// Warps that a dictionary is trained on.
const WARPS: usize = 512;
/// How much of each warp, bytes.
const WARP_BYTES: usize = 4 << 10;

/// Gathers the starts of the first warps.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    warps: BTreeMap<Key, Vec<u8>>,
    bytes: u64,
}

impl Samples {
    /// Takes the next line of the kernel.
    pub(crate) fn add(&mut self, key: Key, line: &[u8]) {
        if self.bytes >= LOOK_AT_BYTES {
            return;
        }
        self.bytes += line.len() as u64;
        if self.warps.len() >= WARPS && !self.warps.contains_key(&key) {
            return;
        }
        let text = self.warps.entry(key).or_default();
        if text.len() < WARP_BYTES {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }

    /// The dictionary for an output of `format`: empty for small kernels and other formats.
    pub(crate) fn dictionary(self, format: TraceFormat) -> Vec<u8> {
        #[cfg(feature = "compression")]
        if format == TraceFormat::Packed && self.bytes >= LOOK_AT_BYTES {
            let samples: Vec<Vec<u8>> = self.warps.into_values().collect();
            return crate::trace::tracez::train_dictionary(&samples);
        }
        #[cfg(not(feature = "compression"))]
        let _ = format;
        Vec::new()
    }
}
