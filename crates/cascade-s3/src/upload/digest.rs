//! Digests of a body: which ones a request asks for, and whether they fit.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::HeaderMap;
use md5::{Digest as _, Md5};
use s3s::checksum::ChecksumHasher;
use s3s::crypto::Checksum as _;
use serde::{Deserialize, Serialize};

use crate::error::{Result, StoreError};

/// A checksum algorithm of S3's `x-amz-checksum-*` headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Algorithm {
    /// CRC-32 (ISO-HDLC).
    Crc32,
    /// CRC-32C (Castagnoli).
    Crc32c,
    /// CRC-64/NVME.
    Crc64nvme,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
}

impl Algorithm {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::Crc32,
        Self::Crc32c,
        Self::Crc64nvme,
        Self::Sha1,
        Self::Sha256,
    ];

    /// The header, or trailer, that carries its value in base64.
    pub(crate) const fn header(self) -> &'static str {
        match self {
            Self::Crc32 => "x-amz-checksum-crc32",
            Self::Crc32c => "x-amz-checksum-crc32c",
            Self::Crc64nvme => "x-amz-checksum-crc64nvme",
            Self::Sha1 => "x-amz-checksum-sha1",
            Self::Sha256 => "x-amz-checksum-sha256",
        }
    }

    /// The algorithm by S3's name for it, for example `CRC32`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::from_header(&format!("x-amz-checksum-{name}"))
    }

    /// The algorithm whose header or trailer this is.
    pub(crate) fn from_header(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|a| name.eq_ignore_ascii_case(a.header()))
    }
}

/// Checksum values in base64 by algorithm.
pub(crate) type Checksums = BTreeMap<Algorithm, String>;

/// What a request says about its body.
#[derive(Debug, Default)]
pub(crate) struct Expect {
    /// Length of the decoded body in bytes, where announced.
    pub length: Option<u64>,
    content_md5: Option<String>,
    payload_sha256: Option<String>,
    checksums: Checksums,
    /// Algorithms to compute without a value to compare with (yet): trailers and the client's wish.
    compute: Vec<Algorithm>,
}

impl Expect {
    /// Reads the headers of a request. `length` is that of the decoded body.
    ///
    /// # Errors
    /// A digest header that cannot be a value of its kind.
    pub(crate) fn from_headers(headers: &HeaderMap, length: Option<u64>) -> Result<Self> {
        let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
        let mut out = Self {
            length,
            ..Self::default()
        };
        if let Some(value) = text("content-md5") {
            if BASE64.decode(value).map(|v| v.len()).ok() != Some(16) {
                return Err(StoreError::Invalid(
                    "Content-MD5 is not 16 bytes in base64".to_owned(),
                ));
            }
            out.content_md5 = Some(value.to_owned());
        }
        if let Some(value) = text("x-amz-content-sha256") {
            let is_hex = value.len() == 64 && value.bytes().all(|b| b.is_ascii_hexdigit());
            out.payload_sha256 = is_hex.then(|| value.to_ascii_lowercase());
        }
        for algorithm in Algorithm::ALL {
            if let Some(value) = text(algorithm.header()) {
                out.checksums.insert(algorithm, value.to_owned());
            }
        }
        let trailers = text("x-amz-trailer")
            .into_iter()
            .flat_map(|names| names.split(','));
        out.compute
            .extend(trailers.filter_map(|name| Algorithm::from_header(name.trim())));
        Ok(out)
    }

    /// Also computes an algorithm that the client did not send a value for.
    pub(crate) fn also(&mut self, algorithm: Algorithm) {
        self.compute.push(algorithm);
    }

    /// The hashers that this body needs.
    pub(crate) fn hashers(&self) -> Hashers {
        let mut sums = ChecksumHasher::default();
        let wanted = |a| self.checksums.contains_key(&a) || self.compute.contains(&a);
        sums.crc32 = wanted(Algorithm::Crc32).then(s3s::crypto::Crc32::new);
        sums.crc32c = wanted(Algorithm::Crc32c).then(s3s::crypto::Crc32c::new);
        sums.crc64nvme = wanted(Algorithm::Crc64nvme).then(s3s::crypto::Crc64Nvme::new);
        sums.sha1 = wanted(Algorithm::Sha1).then(s3s::crypto::Sha1::new);
        let sha256 = wanted(Algorithm::Sha256) || self.payload_sha256.is_some();
        sums.sha256 = sha256.then(s3s::crypto::Sha256::new);
        Hashers {
            md5: Md5::new(),
            sums,
        }
    }

    /// Compares what was received with what was announced, trailers included.
    ///
    /// # Errors
    /// [`StoreError::Length`] or [`StoreError::Digest`] for the first that does not fit.
    pub(crate) fn check(
        mut self,
        digests: &Digests,
        length: u64,
        trailers: &[(String, String)],
    ) -> Result<Checksums> {
        if let Some(expected) = self.length.filter(|expected| *expected != length) {
            return Err(StoreError::Length {
                expected,
                got: length,
            });
        }
        for (name, value) in trailers {
            if let Some(algorithm) = Algorithm::from_header(name) {
                self.checksums.insert(algorithm, value.clone());
            }
        }
        if let Some(sent) = self.content_md5 {
            same("Content-MD5", sent, BASE64.encode(digests.md5))?;
        }
        if let Some(sent) = self.payload_sha256 {
            let got = digests
                .sums
                .get(&Algorithm::Sha256)
                .and_then(|v| BASE64.decode(v).ok());
            same("x-amz-content-sha256", sent, hex::encode(got.unwrap_or_default()))?;
        }
        let mut kept = Checksums::new();
        for (algorithm, sent) in self.checksums {
            let Some(got) = digests.sums.get(&algorithm) else {
                let name = algorithm.header();
                return Err(StoreError::Invalid(format!(
                    "the trailer {name} was not announced: name it in x-amz-trailer"
                )));
            };
            same(algorithm.header(), sent, got.clone())?;
            kept.insert(algorithm, got.clone());
        }
        for algorithm in self.compute {
            if let Some(got) = digests.sums.get(&algorithm) {
                kept.insert(algorithm, got.clone());
            }
        }
        Ok(kept)
    }
}

fn same(what: &'static str, sent: String, got: String) -> Result<()> {
    if sent == got {
        Ok(())
    } else {
        Err(StoreError::Digest { what, sent, got })
    }
}

/// Running digests of one body.
pub(crate) struct Hashers {
    md5: Md5,
    sums: ChecksumHasher,
}

/// Finished digests of one body.
#[derive(Debug)]
pub(crate) struct Digests {
    /// MD5, the ETag of an object sent in one piece.
    pub md5: [u8; 16],
    sums: Checksums,
}

impl Hashers {
    /// Takes the next bytes.
    pub(crate) fn update(&mut self, data: &[u8]) {
        self.md5.update(data);
        self.sums.update(data);
    }

    /// Ends them all.
    pub(crate) fn finish(self) -> Digests {
        let sums = self.sums.finalize();
        let mut by_algorithm = Checksums::new();
        for (algorithm, value) in [
            (Algorithm::Crc32, sums.checksum_crc32),
            (Algorithm::Crc32c, sums.checksum_crc32c),
            (Algorithm::Crc64nvme, sums.checksum_crc64nvme),
            (Algorithm::Sha1, sums.checksum_sha1),
            (Algorithm::Sha256, sums.checksum_sha256),
        ] {
            if let Some(value) = value {
                by_algorithm.insert(algorithm, value);
            }
        }
        Digests {
            md5: self.md5.finalize().into(),
            sums: by_algorithm,
        }
    }
}
