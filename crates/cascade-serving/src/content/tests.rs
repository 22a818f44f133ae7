//! Equal prefixes hash equally however they are cut, and nothing else does.

use proptest::prelude::*;

use super::*;

fn run(id: u64, start: u32, len: u32) -> Segment {
    Segment { id, start, len }
}

fn hashes(prompt: Vec<Segment>, output: u64, tokens: u32) -> Vec<u64> {
    let content = Content {
        prompt: prompt.into(),
        output,
    };
    Chain::default().upto(&content, tokens, 4).to_vec()
}

#[test]
fn a_prompt_that_repeats_an_answer_continues_its_hashes() {
    let first = hashes(vec![run(1, 0, 6)], 7, 6 + 10);
    let next = hashes(vec![run(1, 0, 6), run(7, 0, 10), run(2, 0, 5)], 8, 21);
    assert_eq!(first.len(), 4);
    assert_eq!(next.get(..4), Some(first.as_slice()));
}

proptest! {
    #[test]
    fn cutting_a_run_changes_nothing(len in 1u32..60, cut in 0u32..60) {
        let cut = cut.min(len);
        let pieces = [run(5, 0, cut), run(5, cut, len - cut)].into_iter().filter(|r| r.len > 0).collect();
        prop_assert_eq!(hashes(vec![run(5, 0, len)], 9, len), hashes(pieces, 9, len));
    }

    #[test]
    fn a_difference_changes_its_block_and_all_after_it(at in 0u32..40) {
        let plain = hashes(vec![run(1, 0, 40)], 9, 40);
        let other = hashes([run(1, 0, at), run(2, 0, 1), run(1, at + 1, 39 - at)]
            .into_iter().filter(|r| r.len > 0).collect(), 9, 40);
        for (index, (a, b)) in plain.iter().zip(&other).enumerate() {
            prop_assert_eq!(a == b, (index as u32) < at / 4);
        }
    }
}
