//! MD5 sums of files, which S3 uses as ETags.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};

use crate::{Error, Result};

/// Bytes hashed at a time.
const BLOCK: usize = 256 << 10;

/// The MD5 of `len` bytes of a file from `start`, computed off the async threads.
///
/// # Errors
/// [`Error::File`], also when the file ends earlier: it is being written to.
pub(super) async fn md5(path: &Path, start: u64, len: u64) -> Result<[u8; 16]> {
    let path: PathBuf = path.to_owned();
    let failed = Error::file(path.clone());
    tokio::task::spawn_blocking(move || range(&path, start, len))
        .await
        .unwrap_or_else(|error| Err(std::io::Error::other(error)))
        .map_err(failed)
}

fn range(path: &Path, start: u64, len: u64) -> std::io::Result<[u8; 16]> {
    let mut file = std::fs::File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    let mut md5 = Md5::new();
    let mut block = vec![0; BLOCK];
    let mut left = len;
    while left > 0 {
        let want = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        let got = file.read(block.get_mut(..want).unwrap_or_default())?;
        if got == 0 {
            return Err(std::io::Error::other("the file became shorter while it was read"));
        }
        md5.update(block.get(..got).unwrap_or_default());
        left -= got as u64;
    }
    Ok(md5.finalize().into())
}

/// The ETag of an object that came in parts: the MD5 of the parts' MD5s and their number.
pub(super) fn parts_etag(parts: &[[u8; 16]]) -> String {
    let mut md5 = Md5::new();
    for part in parts {
        md5.update(part);
    }
    format!("{}-{}", hex::encode(md5.finalize()), parts.len())
}

#[cfg(test)]
mod tests {
    use super::parts_etag;

    #[test]
    fn an_etag_of_parts_is_the_md5_of_their_md5s() {
        // The sums of "a" and "b"; the result is from `md5sum` over their 32 bytes.
        let a = hex::decode("0cc175b9c0f1b6a831c399e269772661")
            .unwrap()
            .try_into()
            .unwrap();
        let b = hex::decode("92eb5ffee6ae2fec3ad71c777531578f")
            .unwrap()
            .try_into()
            .unwrap();
        assert_eq!(parts_etag(&[a, b]), "96e024ba2074fe77e8e965ba43a704be-2");
    }
}
