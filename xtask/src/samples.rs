//! Writes the bundled samples, which `cascade-samples` makes, to `samples/`.

use std::fs;
use std::io::Write as _;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};

use crate::sh::{root, say};

/// Makes every sample again.
pub(crate) fn samples() -> Result<()> {
    for sample in cascade_samples::samples()? {
        let folder = root().join("samples").join(sample.name);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut written = 0;
        for file in sample.files {
            let (name, bytes) = match file.packed {
                true => (format!("{}.gz", file.name), pack(&file.bytes)?),
                false => (file.name, file.bytes),
            };
            let path = folder.join(name);
            fs::write(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
            written += bytes.len();
        }
        say(format!("samples/{}: {} KiB", sample.name, written / 1024));
    }
    Ok(())
}

/// The gzip file of some bytes, without a time, so that it is the same whenever it is made.
fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    gzip.write_all(bytes)?;
    Ok(gzip.finish()?)
}
