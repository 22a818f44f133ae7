//! Parts: where each is written, and its record.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};
use serde::{Deserialize, Serialize};

use super::{Claims, DATA, MAX_PARTS, MIN_PART_BYTES, OpenUpload, lock, read_json};
use crate::error::{Result, StoreError, io};
use crate::store::{Store, dirs};
use crate::upload::digest::Checksums;
use crate::upload::{Received, Target};

const STRIDE: &str = "stride.json";

/// A part that was received.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PartRecord {
    /// Bytes.
    pub(crate) size: u64,
    /// MD5 of the bytes.
    pub(crate) md5: [u8; 16],
    /// Checksums in base64.
    pub(crate) checksums: Checksums,
    /// When it was received.
    pub(crate) modified: SystemTime,
    /// The file that holds it; `None` for its place in `data`.
    pub(super) file: Option<String>,
    /// The run of the machine in which it was received.
    #[serde(default)]
    pub(super) boot: String,
}

impl PartRecord {
    /// The ETag, without quotes.
    pub(crate) fn etag(&self) -> String {
        hex::encode(self.md5)
    }
}

/// A part's place in `data`. While it lives nobody else writes there.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The file.
    pub(crate) file: File,
    /// First byte of the part.
    pub(crate) offset: u64,
    claims: Arc<Mutex<Claims>>,
    upload: String,
    number: i32,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut claims = lock(&self.claims);
        if let Some(busy) = claims.busy.get_mut(&self.upload) {
            busy.remove(&self.number);
            if busy.is_empty() {
                claims.busy.remove(&self.upload);
            }
        }
    }
}

fn record_name(number: i32) -> String {
    format!("part-{number:05}.json")
}

impl Store {
    /// Where to write a part of this length (`None` where it is not known beforehand).
    ///
    /// # Errors
    /// A part number outside 1 to [`MAX_PARTS`]; the system's.
    pub(crate) fn part_target(
        &self,
        upload: &OpenUpload,
        number: i32,
        length: Option<u64>,
    ) -> Result<Target> {
        if !(1..=MAX_PARTS).contains(&number) {
            return Err(StoreError::Invalid(format!(
                "the part number is {number}; it must be from 1 to {MAX_PARTS}"
            )));
        }
        match self.slot(upload, number, length)? {
            Some(slot) => Ok(Target::Slot(slot)),
            None => Ok(Target::Temp(self.temp()?)),
        }
    }

    fn slot(&self, upload: &OpenUpload, number: i32, length: Option<u64>) -> Result<Option<Slot>> {
        let Some(length) = length else { return Ok(None) };
        // One at a time, so that the first large part alone sets the stride.
        let mut claims = self.uploads.claims();
        let stride = match read_json::<u64>(&upload.dir, STRIDE)? {
            Some(stride) => stride,
            None if length >= MIN_PART_BYTES => {
                self.write_json(&upload.dir, STRIDE, &length)?;
                length
            }
            None => return Ok(None),
        };
        let busy = claims
            .busy
            .get(&upload.id)
            .is_some_and(|busy| busy.contains(&number));
        if length > stride || busy || claims.completing.contains(&upload.id) {
            return Ok(None);
        }
        // Bytes that a record vouches for are never written over.
        let record = read_json::<PartRecord>(&upload.dir, &record_name(number))?;
        if record.is_some_and(|record| record.file.is_none()) {
            return Ok(None);
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        let file = openat(&upload.dir, DATA, flags, mode).map_err(io("opening a multipart upload"))?;
        claims.busy.entry(upload.id.clone()).or_default().insert(number);
        Ok(Some(Slot {
            file: File::from(file),
            offset: stride.saturating_mul(u64::try_from(number - 1).unwrap_or(0)),
            claims: Arc::clone(&self.uploads.claims),
            upload: upload.id.clone(),
            number,
        }))
    }

    /// Records a received part, in place of an earlier one of its number.
    ///
    /// # Errors
    /// [`StoreError::NoSuchUpload`] where the upload ended meanwhile; the system's.
    pub(crate) fn record_part(
        &self,
        upload: &OpenUpload,
        number: i32,
        received: Received,
    ) -> Result<PartRecord> {
        // Ended since the part began?
        self.open_upload(&upload.info.bucket, &upload.info.key, &upload.id)?;
        let before = read_json::<PartRecord>(&upload.dir, &record_name(number))?;
        let mut record = PartRecord {
            size: received.length,
            md5: received.md5,
            checksums: received.checksums,
            modified: SystemTime::now(),
            file: None,
            boot: self.uploads.boot.clone(),
        };
        // A slot stays claimed until its record is written.
        let slot = match received.target {
            Target::Slot(slot) => Some(slot),
            Target::Temp(temp) => {
                let name = format!("part-{number:05}-{}", temp.name());
                let renamed = temp.rename(&upload.dir, &name, false);
                renamed.map_err(|(_file, error)| io("storing a part")(error))?;
                record.file = Some(name);
                None
            }
        };
        self.write_json(&upload.dir, &record_name(number), &record)?;
        drop(slot);
        if let Some(old) = before.and_then(|record| record.file) {
            unlinkat(&upload.dir, old, AtFlags::empty()).map_err(io("removing a replaced part"))?;
        }
        Ok(record)
    }

    /// The parts received so far, by number.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn parts(&self, upload: &OpenUpload) -> Result<BTreeMap<i32, PartRecord>> {
        let mut parts = BTreeMap::new();
        for entry in Dir::read_from(&upload.dir).map_err(io("reading a multipart upload"))? {
            let entry = entry.map_err(io("reading a multipart upload"))?;
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            let number = name.strip_prefix("part-").and_then(|n| n.strip_suffix(".json"));
            if let Some(number) = number.and_then(|n| n.parse().ok())
                && let Some(record) = read_json(&upload.dir, name)?
            {
                parts.insert(number, record);
            }
        }
        Ok(parts)
    }

    /// The length of a place in `data`, once one is set.
    pub(super) fn stride(&self, upload: &OpenUpload) -> Result<Option<u64>> {
        read_json(&upload.dir, STRIDE)
    }

    /// Opens the file that holds a part, and where in it the part begins.
    pub(super) fn open_part(
        &self,
        upload: &OpenUpload,
        number: i32,
        part: &PartRecord,
    ) -> Result<(File, u64)> {
        let lost = || StoreError::Part {
            number,
            why: "its bytes are gone: upload it again".to_owned(),
        };
        let file = dirs::open_file(&upload.dir, part.file.as_deref().unwrap_or(DATA))?.ok_or_else(lost)?;
        let offset = match (&part.file, self.stride(upload)?) {
            (None, Some(stride)) => stride.saturating_mul(u64::try_from(number - 1).unwrap_or(0)),
            _ => 0,
        };
        let length = file.metadata().map_err(io("reading a part"))?.len();
        if length < offset.saturating_add(part.size) {
            return Err(lost());
        }
        Ok((file, offset))
    }
}
