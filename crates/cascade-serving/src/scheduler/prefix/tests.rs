//! The cache against a plain model of vLLM's queue.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

/// vLLM's free queue, word for word: pop from the front, no content to the front, content to the back.
#[derive(Default)]
struct Queue {
    free: VecDeque<(u32, u64)>,
}

/// The same blocks by our names, and by the model's with their content.
type Held = (Vec<u32>, Vec<(u32, u64)>);

#[derive(Debug, Clone)]
enum Op {
    Allocate { count: u8, hashed: u8 },
    Free { which: u8 },
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        (1u8..6, 0u8..6).prop_map(|(count, hashed)| Op::Allocate { count, hashed }),
        any::<u8>().prop_map(|which| Op::Free { which }),
    ];
    proptest::collection::vec(op, 1..80)
}

proptest! {
    /// Which contents survive is decided as by one queue of all free blocks.
    #[test]
    fn evicts_in_the_order_of_one_queue(ops in ops()) {
        let mut cache = PrefixCache::new(20);
        let mut queue = Queue { free: (0..20).map(|block| (block, 0)).collect() };
        let mut held: Vec<Held> = Vec::new();
        let mut name = 0;
        for op in ops {
            match op {
                Op::Allocate { count, hashed } if usize::from(count) <= queue.free.len() => {
                    let ours: Vec<u32> = (0..count).map(|_| cache.pop()).collect();
                    let mut theirs: Vec<(u32, u64)> =
                        (0..count).filter_map(|_| queue.free.pop_front()).map(|(block, _)| (block, 0)).collect();
                    for (block, other) in ours.iter().zip(&mut theirs).take(hashed.into()) {
                        name += 1;
                        cache.register(*block, name);
                        other.1 = name;
                    }
                    held.push((ours, theirs));
                }
                Op::Free { which } if !held.is_empty() => {
                    let (ours, theirs) = held.swap_remove(usize::from(which) % held.len());
                    for block in ours.into_iter().rev() {
                        prop_assert!(cache.release(block));
                    }
                    for block in theirs.into_iter().rev() {
                        if block.1 == 0 { queue.free.push_front(block) } else { queue.free.push_back(block) }
                    }
                }
                _ => {}
            }
            let known = |hash: u64| queue.free.iter().chain(held.iter().flat_map(|h| &h.1)).any(|b| b.1 == hash);
            for hash in 1..=name {
                prop_assert_eq!(cache.lookup(&[hash]).blocks == 1, known(hash), "hash {}", hash);
            }
        }
    }
}

#[test]
fn of_equal_contents_the_first_registered_is_found_and_any_may_go() {
    let mut cache = PrefixCache::new(3);
    let blocks = [cache.pop(), cache.pop(), cache.pop()];
    for block in blocks {
        cache.register(block, 9);
    }
    cache.release(blocks[1]);
    assert_eq!(cache.lookup(&[9]), Hits { blocks: 1, unused: 0 });
    assert_eq!(cache.pop(), blocks[1]);
    cache.release(blocks[0]);
    assert_eq!(cache.lookup(&[9]), Hits { blocks: 1, unused: 1 });
    assert_eq!(cache.pop(), blocks[0]);
    assert_eq!(cache.acquire(9), Some(blocks[2]));
    cache.release(blocks[2]);
    cache.release(blocks[2]);
    assert_eq!(cache.pop(), blocks[2]);
    assert_eq!(cache.lookup(&[9]), Hits::default());
}
