//! Tokenizers that were read, kept for the models that were asked for last.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::files::{VOCAB, first};
use super::{BadFile, CONFIG, SPECIAL, TEMPLATE, TOKENIZER, Tokens};

/// Most tokenizers kept.
const MAX_KEPT: usize = 8;

/// Length and time of each file that matters: another tokenizer has others.
type Stamp = Vec<Option<(u64, Option<SystemTime>)>>;

/// Tokenizers by folder, the one used last at the end.
#[derive(Debug, Default)]
pub(crate) struct Shelf(Mutex<VecDeque<(PathBuf, Stamp, Arc<Tokens>)>>);

impl Shelf {
    /// The tokenizer of the first of these folders that has one. Blocks: a large one takes a second to read, and
    /// others wait meanwhile rather than read it too.
    ///
    /// # Errors
    /// A file that is of no use.
    pub(in crate::openai) fn get(&self, folders: &[PathBuf]) -> Result<Option<Arc<Tokens>>, BadFile> {
        let Some(folder) = first(folders) else {
            return Ok(None);
        };
        let now = stamp(folder);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(known, ..)| known == folder);
        if let Some((path, then, tokens)) = known.and_then(|at| kept.remove(at))
            && then == now
        {
            kept.push_back((path, then, Arc::clone(&tokens)));
            return Ok(Some(tokens));
        }
        let tokens = Arc::new(Tokens::read(folder)?);
        if kept.len() >= MAX_KEPT {
            kept.pop_front();
        }
        kept.push_back((folder.to_owned(), now, Arc::clone(&tokens)));
        Ok(Some(tokens))
    }
}

fn stamp(folder: &Path) -> Stamp {
    let files = [
        TOKENIZER,
        VOCAB,
        "merges.txt",
        CONFIG,
        SPECIAL,
        TEMPLATE,
        "config.json",
    ];
    let one = |file: &&str| {
        let meta = std::fs::metadata(folder.join(file)).ok()?;
        Some((meta.len(), meta.modified().ok()))
    };
    files.iter().map(one).collect()
}
