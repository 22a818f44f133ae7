//! A body on its way in: decoded, hashed and written to a temporary file, then compared with what was
//! announced. Nothing becomes visible before all of it fits.

pub(crate) mod chunk_signature;
pub(crate) mod chunked;
pub(crate) mod digest;
pub(crate) mod receive;

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use bytes::Bytes;

use self::chunked::Decoder;
use self::digest::{Checksums, Expect, Hashers};
use crate::error::{Result, StoreError, io};
use crate::store::multipart::Slot;
use crate::store::temp::TempFile;

/// How to take a body in.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What the request announced.
    pub expect: Expect,
    /// Set for aws-chunked bodies.
    pub decoder: Option<Decoder>,
    /// Most bytes of the decoded body.
    pub limit: u64,
    /// What the limit is for: `object` or `part`.
    pub what: &'static str,
}

/// Where a body is written.
#[derive(Debug)]
pub(crate) enum Target {
    /// A file of its own.
    Temp(TempFile),
    /// A place in a multipart upload's file.
    Slot(Slot),
}

impl Target {
    /// The file and where in it the body begins.
    pub(crate) fn place(&self) -> (&File, u64) {
        match self {
            Self::Temp(temp) => (temp.file(), 0),
            Self::Slot(slot) => (&slot.file, slot.offset),
        }
    }
}

/// A body that is being received. All its work blocks: call it on a blocking thread.
pub(crate) struct Upload {
    target: Target,
    plan: Plan,
    hashers: Hashers,
    length: u64,
}

/// A body that was received whole and fits what was announced.
#[derive(Debug)]
pub(crate) struct Received {
    /// Where it is, not yet synced nor visible.
    pub target: Target,
    /// Bytes.
    pub length: u64,
    /// MD5 of the body.
    pub md5: [u8; 16],
    /// The checksums asked for.
    pub checksums: Checksums,
}

impl Upload {
    /// Starts to write.
    ///
    /// # Errors
    /// A body announced as larger than the limit.
    pub(crate) fn new(target: Target, plan: Plan) -> Result<Self> {
        if plan.expect.length.is_some_and(|length| length > plan.limit) {
            return Err(StoreError::TooLarge {
                what: plan.what,
                limit: plan.limit,
            });
        }
        let hashers = plan.expect.hashers();
        Ok(Self {
            target,
            plan,
            hashers,
            length: 0,
        })
    }

    /// Takes the next bytes as they came.
    ///
    /// # Errors
    /// Broken framing, a body over its limit or announced length, a failing disk.
    pub(crate) fn feed(&mut self, raw: Bytes) -> Result<()> {
        let Self {
            target,
            plan,
            hashers,
            length,
        } = self;
        let (limit, what, announced) = (plan.limit, plan.what, plan.expect.length);
        let (file, start) = target.place();
        let mut sink = |data: Bytes| {
            let at = start + *length;
            *length += data.len() as u64;
            if *length > limit {
                return Err(StoreError::TooLarge { what, limit });
            }
            if let Some(expected) = announced.filter(|expected| *length > *expected) {
                return Err(StoreError::Length {
                    expected,
                    got: *length,
                });
            }
            hashers.update(&data);
            file.write_all_at(&data, at).map_err(io("writing the body"))
        };
        match &mut plan.decoder {
            Some(decoder) => decoder.feed(raw, sink),
            None => sink(raw),
        }
    }

    /// Bytes of the decoded body so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The file written to.
    pub(crate) fn file(&self) -> &File {
        self.target.place().0
    }

    /// Ends the body and compares it with what was announced.
    ///
    /// # Errors
    /// A short body, a digest that does not fit.
    pub(crate) fn finish(self) -> Result<Received> {
        let trailers = match self.plan.decoder {
            Some(decoder) => decoder.finish()?,
            None => Vec::new(),
        };
        let digests = self.hashers.finish();
        let checksums = self.plan.expect.check(&digests, self.length, &trailers)?;
        Ok(Received {
            target: self.target,
            length: self.length,
            md5: digests.md5,
            checksums,
        })
    }
}
