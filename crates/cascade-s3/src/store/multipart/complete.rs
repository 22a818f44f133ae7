//! Completing a multipart upload: the parts are checked and become one object.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crc_fast::CrcAlgorithm;
use md5::{Digest as _, Md5};
use s3s::crypto::Checksum as _;

use super::{DATA, MIN_PART_BYTES, OpenUpload, PartRecord};
use crate::error::{Result, StoreError, io};
use crate::key::Key;
use crate::store::meta::{Extra, Meta};
use crate::store::temp::TempFile;
use crate::store::{Conditions, Store};
use crate::upload::digest::{Algorithm, Checksums};

/// Bytes read at a time where a part is compared.
const BLOCK_BYTES: usize = 256 << 10;

/// A part as the client names it on completion.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// Part number.
    pub(crate) number: i32,
    /// ETag, without quotes.
    pub(crate) etag: Option<String>,
    /// Checksums in base64.
    pub(crate) checksums: Checksums,
}

impl Store {
    /// Makes the object of an upload, durably, and ends the upload.
    ///
    /// # Errors
    /// Parts that are missing, differ, are too small or out of order; what [`Store::put_file`] gives. The
    /// upload goes on then.
    pub(crate) fn complete_upload(
        &self,
        upload: &OpenUpload,
        wanted: &[Wanted],
        limit: u64,
        conditions: &Conditions,
    ) -> Result<Meta> {
        let have = self.parts(upload)?;
        let parts = check(wanted, &have)?;
        let size = parts.iter().map(|(_, part)| part.size).sum::<u64>();
        if size > limit {
            return Err(StoreError::TooLarge {
                what: "object",
                limit,
            });
        }
        self.check_bytes(upload, &parts)?;
        let (md5, count) = etag(&parts);
        let (checksums, composite) = checksums(&upload.info.algorithm, upload.info.full_object, &parts);
        let extra = Extra {
            checksums,
            composite,
            ..upload.info.extra.clone()
        };
        let quiet = self.begin_completing(upload);
        let result = self.assemble(upload, &parts, size, quiet).and_then(|file| {
            let key = Key::parse(&upload.info.key)?;
            let bucket = self.bucket(&upload.info.bucket)?;
            self.put_file(bucket, &key, file, md5, count, extra, conditions)
        });
        if result.is_ok()
            && let Err(error) = self.remove_upload(upload)
        {
            tracing::warn!(%error, id = upload.id, "a completed multipart upload could not be removed");
        }
        self.uploads.claims().completing.remove(&upload.id);
        result
    }

    /// Compares the parts that may have been lost with their MD5s: those that the machine went down after.
    fn check_bytes(&self, upload: &OpenUpload, parts: &[(i32, &PartRecord)]) -> Result<()> {
        let boot = &self.uploads.boot;
        for (number, part) in parts {
            if part.boot == *boot && !boot.is_empty() {
                continue;
            }
            let (mut file, offset) = self.open_part(upload, *number, part)?;
            file.seek(SeekFrom::Start(offset)).map_err(io("reading a part"))?;
            let mut bytes = file.take(part.size);
            let mut md5 = Md5::new();
            let mut block = vec![0; BLOCK_BYTES];
            loop {
                let read = bytes.read(&mut block).map_err(io("reading a part"))?;
                if read == 0 {
                    break;
                }
                md5.update(block.get(..read).unwrap_or_default());
            }
            if part.md5 != <[u8; 16]>::from(md5.finalize()) {
                return Err(StoreError::Part {
                    number: *number,
                    why: "its bytes were lost when the machine went down: upload it again".to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Keeps new writers out of `data`; true where there is none at present.
    fn begin_completing(&self, upload: &OpenUpload) -> bool {
        let mut claims = self.uploads.claims();
        claims.completing.insert(upload.id.clone()) && !claims.busy.contains_key(&upload.id)
    }

    /// The parts as one file: `data` itself where they lie in it back to back, else a copy.
    fn assemble(
        &self,
        upload: &OpenUpload,
        parts: &[(i32, &PartRecord)],
        size: u64,
        quiet: bool,
    ) -> Result<TempFile> {
        if quiet && self.is_contiguous(upload, parts)? {
            let (number, last) = parts.last().copied().ok_or(StoreError::PartOrder(0))?;
            self.open_part(upload, number, last)?;
            // A second name for the same file: the upload stays whole should something fail below.
            if let Ok(file) = self.temp.link(&upload.dir, DATA) {
                file.file()
                    .set_len(size)
                    .map_err(io("ending a multipart upload"))?;
                return Ok(file);
            }
        }
        let temp = self.temp()?;
        for (number, part) in parts {
            let (mut file, offset) = self.open_part(upload, *number, part)?;
            file.seek(SeekFrom::Start(offset)).map_err(io("reading a part"))?;
            let copied = std::io::copy(&mut file.take(part.size), &mut temp.file());
            copied.map_err(io("putting the parts together"))?;
        }
        Ok(temp)
    }

    fn is_contiguous(&self, upload: &OpenUpload, parts: &[(i32, &PartRecord)]) -> Result<bool> {
        let Some(stride) = self.stride(upload)? else {
            return Ok(false);
        };
        let last = parts.len().saturating_sub(1);
        Ok((1..)
            .zip(parts)
            .enumerate()
            .all(|(at, (expected, (number, part)))| {
                *number == expected && part.file.is_none() && (part.size == stride || at == last)
            }))
    }
}

/// Checks the parts a client names against those received.
fn check<'a>(wanted: &[Wanted], have: &'a BTreeMap<i32, PartRecord>) -> Result<Vec<(i32, &'a PartRecord)>> {
    if wanted.is_empty() {
        return Err(StoreError::Invalid(
            "no parts are named: name those to put together".to_owned(),
        ));
    }
    let mut parts: Vec<(i32, &PartRecord)> = Vec::new();
    for want in wanted {
        let number = want.number;
        let wrong = |why: &str| StoreError::Part {
            number,
            why: why.to_owned(),
        };
        if parts.last().is_some_and(|(before, _)| *before >= number) {
            return Err(StoreError::PartOrder(number));
        }
        let part = have
            .get(&number)
            .ok_or_else(|| wrong("it was not uploaded: upload it first"))?;
        if want.etag.as_ref().is_some_and(|etag| *etag != part.etag()) {
            return Err(wrong(
                "its ETag differs from the uploaded part's: name the one UploadPart gave",
            ));
        }
        if want
            .checksums
            .iter()
            .any(|(algorithm, sum)| part.checksums.get(algorithm).is_some_and(|s| s != sum))
        {
            return Err(wrong("its checksum differs from the uploaded part's"));
        }
        parts.push((number, part));
    }
    let but_last = parts.len().saturating_sub(1);
    match parts
        .iter()
        .take(but_last)
        .find(|(_, part)| part.size < MIN_PART_BYTES)
    {
        Some((number, part)) => Err(StoreError::PartTooSmall {
            number: *number,
            size: part.size,
            min: MIN_PART_BYTES,
        }),
        None => Ok(parts),
    }
}

/// MD5 of the parts' MD5s, and their number.
fn etag(parts: &[(i32, &PartRecord)]) -> ([u8; 16], u16) {
    let mut md5 = Md5::new();
    parts.iter().for_each(|(_, part)| md5.update(part.md5));
    (
        md5.finalize().into(),
        u16::try_from(parts.len()).unwrap_or(u16::MAX),
    )
}

/// The object's checksum from those of its parts, and whether it is over the parts' checksums. None where a
/// part lacks its own.
fn checksums(
    algorithm: &Option<Algorithm>,
    full_object: bool,
    parts: &[(i32, &PartRecord)],
) -> (Checksums, bool) {
    let sum = algorithm.and_then(|algorithm| {
        let sums = parts.iter().map(|(_, part)| {
            let raw = BASE64.decode(part.checksums.get(&algorithm)?).ok()?;
            Some((raw, part.size))
        });
        let sums = sums.collect::<Option<Vec<_>>>()?;
        let sum = if full_object {
            combined(algorithm, &sums)?
        } else {
            composite(algorithm, &sums)
        };
        Some((algorithm, sum))
    });
    (sum.into_iter().collect(), !full_object)
}

/// The checksum over the parts' checksums, with their number.
fn composite(algorithm: Algorithm, sums: &[(Vec<u8>, u64)]) -> String {
    let all: Vec<u8> = sums.iter().flat_map(|(raw, _)| raw.iter().copied()).collect();
    let sum = match algorithm {
        Algorithm::Crc32 => s3s::crypto::Crc32::checksum(&all).to_vec(),
        Algorithm::Crc32c => s3s::crypto::Crc32c::checksum(&all).to_vec(),
        Algorithm::Crc64nvme => s3s::crypto::Crc64Nvme::checksum(&all).to_vec(),
        Algorithm::Sha1 => s3s::crypto::Sha1::checksum(&all).to_vec(),
        Algorithm::Sha256 => s3s::crypto::Sha256::checksum(&all).to_vec(),
    };
    format!("{}-{}", BASE64.encode(sum), sums.len())
}

/// The CRC of the whole from those of the parts; `None` for algorithms that do not combine.
fn combined(algorithm: Algorithm, sums: &[(Vec<u8>, u64)]) -> Option<String> {
    let (crc, bytes) = match algorithm {
        Algorithm::Crc32 => (CrcAlgorithm::Crc32IsoHdlc, 4),
        Algorithm::Crc32c => (CrcAlgorithm::Crc32Iscsi, 4),
        Algorithm::Crc64nvme => (CrcAlgorithm::Crc64Nvme, 8),
        Algorithm::Sha1 | Algorithm::Sha256 => return None,
    };
    let number = |raw: &[u8]| raw.iter().fold(0u64, |n, byte| (n << 8) | u64::from(*byte));
    let ((first, _), rest) = sums.split_first()?;
    let whole = rest.iter().fold(number(first), |sum, (raw, size)| {
        crc_fast::checksum_combine(crc, sum, number(raw), *size)
    });
    let all = whole.to_be_bytes();
    Some(BASE64.encode(all.get(8 - bytes..)?))
}
