//! The prefix cache: which block holds what, and which is evicted first.
//!
//! vLLM keeps one queue of free blocks, takes from its front, puts blocks without content back in front and
//! blocks with content at the back. So all blocks without content come first, and among themselves they are
//! alike: here they are a stack, and the rest is a list in order of last use.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// No block.
const NIL: u32 = u32::MAX;

/// What a lookup found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Hits {
    /// Cached blocks from the start of the sequence.
    pub(super) blocks: u32,
    /// How many of them nothing holds, so that taking them uses up free blocks.
    pub(super) unused: u32,
}

/// The keys are hashes already.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 << 8) | u64::from(*byte);
        }
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

#[derive(Debug, Clone, Copy)]
struct Link {
    prev: u32,
    next: u32,
}

const UNLINKED: Link = Link { prev: NIL, next: NIL };

#[derive(Debug)]
struct Block {
    /// 0: no content.
    hash: u64,
    users: u32,
    /// Neighbours in the list of unused blocks, by last use.
    unused: Link,
    /// Neighbours among the blocks of equal content, by registration: the first is the one found.
    twins: Link,
}

#[derive(Debug)]
pub(super) struct PrefixCache {
    /// Blocks that have ever been used: there may be far more that have not.
    blocks: Vec<Block>,
    count: u32,
    /// Blocks without content that nothing holds, of those that have been used.
    empty: Vec<u32>,
    /// Ends of the list of unused blocks with content: `next` is evicted first.
    unused: Link,
    by_hash: HashMap<u64, Link, BuildHasherDefault<Identity>>,
    /// Changes whenever a lookup could give another answer.
    pub(super) version: u64,
}

impl PrefixCache {
    pub(super) fn new(count: u32) -> Self {
        Self {
            blocks: Vec::new(),
            count,
            empty: Vec::new(),
            unused: UNLINKED,
            by_hash: HashMap::default(),
            version: 0,
        }
    }

    fn at(&mut self, block: u32) -> &mut Block {
        &mut self.blocks[block as usize]
    }

    /// Takes a free block for new content; the caller knows that there is one.
    pub(super) fn pop(&mut self) -> u32 {
        let block = match self.empty.pop() {
            Some(block) => block,
            None if self.blocks.len() < self.count as usize => {
                self.blocks.push(Block {
                    hash: 0,
                    users: 0,
                    unused: UNLINKED,
                    twins: UNLINKED,
                });
                (self.blocks.len() - 1) as u32
            }
            None => {
                let oldest = self.unused.next;
                self.unlink_unused(oldest);
                self.forget(oldest);
                oldest
            }
        };
        self.at(block).users = 1;
        block
    }

    /// How far `hashes` are cached from the start.
    pub(super) fn lookup(&self, hashes: &[u64]) -> Hits {
        let mut hits = Hits::default();
        for hash in hashes {
            let Some(list) = self.by_hash.get(hash) else { break };
            hits.blocks += 1;
            hits.unused += u32::from(self.blocks[list.next as usize].users == 0);
        }
        hits
    }

    /// Takes the cached block of `hash`.
    pub(super) fn acquire(&mut self, hash: u64) -> Option<u32> {
        let block = self.by_hash.get(&hash)?.next;
        self.version += 1;
        if self.at(block).users == 0 {
            self.unlink_unused(block);
        }
        self.at(block).users += 1;
        Some(block)
    }

    /// Says that `block` holds the content of `hash`.
    pub(super) fn register(&mut self, block: u32, hash: u64) {
        self.version += 1;
        let list = self.by_hash.entry(hash).or_insert(UNLINKED);
        let last = std::mem::replace(&mut list.prev, block);
        if last == NIL {
            list.next = block;
        } else {
            self.at(last).twins.next = block;
        }
        let entry = self.at(block);
        entry.hash = hash;
        entry.twins = Link {
            prev: last,
            next: NIL,
        };
    }

    /// Gives `block` back once. True if nothing holds it any more.
    pub(super) fn release(&mut self, block: u32) -> bool {
        let entry = self.at(block);
        entry.users -= 1;
        if entry.users > 0 {
            return false;
        }
        self.version += 1;
        let entry = self.at(block);
        if entry.hash == 0 {
            self.empty.push(block);
        } else {
            let last = std::mem::replace(&mut self.unused.prev, block);
            self.at(block).unused = Link {
                prev: last,
                next: NIL,
            };
            if last == NIL {
                self.unused.next = block;
            } else {
                self.at(last).unused.next = block;
            }
        }
        true
    }

    fn unlink_unused(&mut self, block: u32) {
        let Link { prev, next } = std::mem::replace(&mut self.at(block).unused, UNLINKED);
        if prev == NIL {
            self.unused.next = next;
        } else {
            self.at(prev).unused.next = next;
        }
        if next == NIL {
            self.unused.prev = prev;
        } else {
            self.at(next).unused.prev = prev;
        }
    }

    fn forget(&mut self, block: u32) {
        self.version += 1;
        let entry = self.at(block);
        let hash = std::mem::take(&mut entry.hash);
        let Link { prev, next } = std::mem::replace(&mut entry.twins, UNLINKED);
        if prev != NIL {
            self.at(prev).twins.next = next;
        }
        if next != NIL {
            self.at(next).twins.prev = prev;
        }
        let Some(list) = self.by_hash.get_mut(&hash) else {
            return;
        };
        if prev == NIL {
            list.next = next;
        }
        if next == NIL {
            list.prev = prev;
        }
        if list.next == NIL {
            self.by_hash.remove(&hash);
        }
    }
}

#[cfg(test)]
mod tests;
