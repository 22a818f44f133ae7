//! What a prompt consists of, so that two prompts can be compared block by block without token values.
//!
//! A prompt is a list of runs. Two tokens are equal if they have the same run id and the same offset in it.
//! That covers shared system prompts, sessions whose next prompt repeats what was said before, Mooncake's
//! hash ids, and explicit token ids (runs of one token each).

/// A run of tokens: `len` tokens from offset `start` of the text called `id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Name of the text.
    pub id: u64,
    /// Offset of the first token in that text.
    pub start: u32,
    /// Number of tokens.
    pub len: u32,
}

/// The content of a prompt and the name of what the model answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The prompt's runs in order. Where they are shorter than the prompt, the rest belongs to no other one.
    pub prompt: Box<[Segment]>,
    /// Name of the generated text: a later prompt can repeat it.
    pub output: u64,
}

/// Chained hashes of a sequence's full blocks, computed as far as asked for.
///
/// As in vLLM, the hash of a block covers the hash of the block before it, so equal hashes mean equal prefixes.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    hashes: Vec<u64>,
    /// Next run of the content, and how much of it is used up.
    cursor: (usize, u32),
}

impl Chain {
    /// The hashes of the first `tokens / block_size` blocks.
    pub(crate) fn upto(&mut self, content: &Content, tokens: u32, block_size: u32) -> &[u64] {
        let blocks = (tokens / block_size) as usize;
        while self.hashes.len() < blocks {
            let previous = self.hashes.last().copied().unwrap_or(SEED);
            let hash = self.block(content, previous, block_size);
            self.hashes.push(hash);
        }
        self.hashes.get(..blocks).unwrap_or_default()
    }

    fn block(&mut self, content: &Content, previous: u64, block_size: u32) -> u64 {
        let mut hash = previous;
        let mut left = block_size;
        // A run may be cut at any place: runs that continue each other hash as one.
        let mut open: Option<Segment> = None;
        while left > 0 {
            let (index, used) = self.cursor;
            let run = match content.prompt.get(index) {
                Some(run) => *run,
                None => Segment {
                    id: content.output,
                    start: 0,
                    len: u32::MAX,
                },
            };
            let len = left.min(run.len - used);
            self.cursor = if used + len == run.len {
                (index + 1, 0)
            } else {
                (index, used + len)
            };
            if len == 0 {
                continue;
            }
            left -= len;
            let piece = Segment {
                id: run.id,
                start: run.start + used,
                len,
            };
            open = match open {
                Some(last) if last.id == piece.id && last.start + last.len == piece.start => Some(Segment {
                    len: last.len + piece.len,
                    ..last
                }),
                Some(last) => {
                    hash = mix_run(hash, last);
                    Some(piece)
                }
                None => Some(piece),
            };
        }
        open.map_or(hash, |last| mix_run(hash, last)).max(1)
    }
}

/// Any odd constant does: it only sets apart "no block before this one" (2^64 divided by the golden ratio).
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix_run(hash: u64, run: Segment) -> u64 {
    mix(
        mix(hash, run.id),
        (u64::from(run.start) << 32) | u64::from(run.len),
    )
}

/// One round of the SplitMix64 finaliser (Steele et al., OOPSLA 2014) over `hash` and `value`.
fn mix(hash: u64, value: u64) -> u64 {
    let mut z = hash.rotate_left(23).wrapping_mul(SEED) ^ value.wrapping_add(SEED);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
