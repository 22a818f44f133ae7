//! The KV block pool. Without prefix caching blocks are alike, so it only counts them.

use super::prefix::{Hits, PrefixCache};
use super::seq::Seq;

#[derive(Debug)]
pub(super) struct Blocks {
    usable: u32,
    free: u32,
    block_size: u32,
    pub(super) cache: Option<PrefixCache>,
}

impl Blocks {
    pub(super) fn new(usable: u32, block_size: u32, caching: bool) -> Self {
        Self {
            usable,
            free: usable,
            block_size,
            cache: caching.then(|| PrefixCache::new(usable)),
        }
    }

    pub(super) fn usable(&self) -> u32 {
        self.usable
    }

    /// Blocks that nothing holds; cached ones among them.
    pub(super) fn free(&self) -> u32 {
        self.free
    }

    /// Blocks that `tokens` tokens occupy.
    pub(super) fn for_tokens(&self, tokens: u32) -> u32 {
        tokens.div_ceil(self.block_size)
    }

    pub(super) fn block_size(&self) -> u32 {
        self.block_size
    }

    /// Gives `seq` the blocks that its first `tokens` tokens need, or none of them if too few are free.
    pub(super) fn grow(&mut self, seq: &mut Seq, tokens: u32) -> bool {
        let need = self.for_tokens(tokens).saturating_sub(seq.held);
        if need > self.free {
            return false;
        }
        if need > 0 {
            self.take(seq, need);
        }
        true
    }

    fn take(&mut self, seq: &mut Seq, count: u32) {
        self.free -= count;
        seq.held += count;
        if let (Some(cache), Some(prefix)) = (&mut self.cache, &mut seq.prefix) {
            for _ in 0..count {
                prefix.table.push(cache.pop());
            }
        }
    }

    /// Takes `count` blocks that are known to be free, for sequences that have no block table.
    pub(super) fn take_counted(&mut self, count: u32) {
        self.free -= count;
    }

    /// Registers the blocks that `tokens` known and computed tokens fill.
    pub(super) fn register(&mut self, seq: &mut Seq, tokens: u32) {
        let (Some(cache), Some(prefix)) = (&mut self.cache, &mut seq.prefix) else {
            return;
        };
        if tokens / self.block_size <= prefix.registered {
            return;
        }
        let hashes = prefix.chain.upto(&prefix.content, tokens, self.block_size);
        let new = hashes.iter().zip(&prefix.table).skip(prefix.registered as usize);
        for (hash, block) in new {
            cache.register(*block, *hash);
        }
        prefix.registered = tokens / self.block_size;
    }

    /// The cached blocks that `seq` would start with. Its last known token is never among them: it must be
    /// computed to sample the next.
    pub(super) fn lookup(&self, seq: &mut Seq) -> Hits {
        let (Some(cache), Some(prefix)) = (&self.cache, &mut seq.prefix) else {
            return Hits::default();
        };
        let most = (seq.prompt + seq.emitted).saturating_sub(1);
        cache.lookup(prefix.chain.upto(&prefix.content, most, self.block_size))
    }

    /// Gives `seq`, which holds nothing, the blocks that `lookup` has just found.
    pub(super) fn attach(&mut self, seq: &mut Seq, hits: Hits) {
        let (Some(cache), Some(prefix)) = (&mut self.cache, &mut seq.prefix) else {
            return;
        };
        let most = hits.blocks * self.block_size;
        for hash in prefix.chain.upto(&prefix.content, most, self.block_size) {
            if let Some(block) = cache.acquire(*hash) {
                prefix.table.push(block);
            }
        }
        seq.held = hits.blocks;
        prefix.registered = hits.blocks;
        self.free -= hits.unused;
    }

    /// Takes every block from `seq`.
    pub(super) fn release(&mut self, seq: &mut Seq) {
        match (&mut self.cache, &mut seq.prefix) {
            (Some(cache), Some(prefix)) => {
                // Tail first: the head of a prefix is worth more, so it is evicted later.
                for block in prefix.table.drain(..).rev() {
                    self.free += u32::from(cache.release(block));
                }
                prefix.registered = 0;
            }
            _ => self.free += seq.held,
        }
        seq.held = 0;
    }
}
