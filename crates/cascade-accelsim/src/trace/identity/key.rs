//! A 256-bit key and the bytes it is made from.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::trace::Dim3;

/// A BLAKE3 digest: two different inputs never share one in practice.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key([u8; 32]);

impl Key {
    /// The key of plain bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The key of everything that `reader` gives.
    ///
    /// # Errors
    /// The reader's.
    pub fn of_reader(reader: &mut impl Read) -> io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        let mut buffer = [0; BATCH_BYTES];
        loop {
            let read = reader.read(&mut buffer)?;
            if read == 0 {
                return Ok(Self(*hasher.finalize().as_bytes()));
            }
            hasher.update(buffer.get(..read).unwrap_or(&buffer));
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// A text that is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key has 64 hexadecimal digits")]
pub struct BadKey;

impl FromStr for Key {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        match blake3::Hash::from_hex(text) {
            Ok(hash) => Ok(Self(*hash.as_bytes())),
            Err(_) => Err(BadKey),
        }
    }
}

impl TryFrom<String> for Key {
    type Error = BadKey;

    fn try_from(text: String) -> Result<Self, BadKey> {
        text.parse()
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.to_string()
    }
}

/// Bytes that are hashed at once: enough for BLAKE3's widest vectors.
const BATCH_BYTES: usize = 64 << 10;

/// Collects little-endian fields and hashes them in large pieces.
pub(super) struct Writer {
    hasher: blake3::Hasher,
    batch: Vec<u8>,
}

impl Writer {
    /// Starts with a text that keeps different kinds of keys apart.
    pub(super) fn new(kind: &str) -> Self {
        let mut writer = Self {
            hasher: blake3::Hasher::new(),
            batch: Vec::with_capacity(BATCH_BYTES),
        };
        writer.text(kind);
        writer
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        if self.batch.len() + bytes.len() > BATCH_BYTES {
            self.hasher.update(&self.batch);
            self.batch.clear();
        }
        self.batch.extend_from_slice(bytes);
    }

    #[inline]
    pub(super) fn u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    #[inline]
    pub(super) fn u16(&mut self, value: u16) {
        self.put(&value.to_le_bytes());
    }

    #[inline]
    pub(super) fn u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }

    #[inline]
    pub(super) fn u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }

    pub(super) fn dim(&mut self, dim: Dim3) {
        for extent in [dim.x, dim.y, dim.z] {
            self.u32(extent);
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.u64(text.len() as u64);
        self.put(text.as_bytes());
    }

    pub(super) fn finish(mut self) -> Key {
        self.hasher.update(&self.batch);
        Key(*self.hasher.finalize().as_bytes())
    }
}
