//! What Accel-Sim's counters say of one kernel. They do not say what limits it.

use indexmap::IndexMap;

use super::{KernelExplanation, Rate};
use crate::StatValue;

/// Caches whose accesses Accel-Sim counts: key in its log, key of the rate, what to call it.
const CACHES: [(&str, &str, &str); 2] = [
    ("L1D_total_cache", "l1_hits", "hits in L1"),
    ("L2_total_cache", "l2_hits", "hits in L2"),
];

type Stats = IndexMap<String, StatValue>;

/// Reads a kernel's block of Accel-Sim's log. `before` is the block of the kernel before: counters of caches are
/// never reset, so a kernel's own part is the difference. `None` where the block has none of these counters.
pub fn counters(before: Option<&Stats>, stats: &Stats) -> Option<KernelExplanation> {
    let mut rates = Vec::new();
    // The log says `12.5%`, of which the number is kept.
    let occupancy = number(stats, "gpu_occupancy").map(|percent| percent / 100.0);
    if let Some(share) = occupancy.filter(|share| (0.0..=1.0).contains(share)) {
        rates.push(Rate {
            key: "occupancy".into(),
            label: "warp slots in use, on SMs at work".into(),
            share,
            text: String::new(),
        });
    }
    for (cache, key, label) in CACHES {
        let grown = |what: &str| {
            let key = format!("{cache}_{what}");
            let before = before.map_or(Some(0.0), |stats| number(stats, &key));
            Some(number(stats, &key)? - before?)
        };
        let (Some(accesses), Some(misses)) = (grown("accesses"), grown("misses")) else {
            continue;
        };
        if accesses > 0.0 && (0.0..=accesses).contains(&misses) {
            rates.push(Rate {
                key: key.into(),
                label: label.into(),
                share: (accesses - misses) / accesses,
                text: format!("{:.0} of {accesses:.0} accesses", accesses - misses),
            });
        }
    }
    if rates.is_empty() {
        return None;
    }
    let mut caveats = vec![
        "The time includes the launch latency that the GPU's configuration adds to every kernel.".to_owned(),
    ];
    if before.is_some() {
        caveats.push(
            "Cache hits are counted since the kernel before ended: kernels that ran at once share them."
                .into(),
        );
    }
    Some(KernelExplanation {
        limit:
            "Accel-Sim counts what happened but does not say what the time went to; simulate the same trace \
                with Cascade's engine to see that."
                .into(),
        helps: Vec::new(),
        parts: Vec::new(),
        bounds: Vec::new(),
        waits: Vec::new(),
        rates,
        caveats,
    })
}

fn number(stats: &Stats, key: &str) -> Option<f64> {
    match stats.get(key)? {
        StatValue::Number(number) => Some(*number),
        StatValue::Text(text) => text.trim().parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(accesses: f64, misses: f64) -> Stats {
        let numbers = [
            ("L1D_total_cache_accesses", accesses),
            ("L1D_total_cache_misses", misses),
        ];
        let numbers = numbers.map(|(key, n)| (key.to_owned(), StatValue::Number(n)));
        let occupancy = ("gpu_occupancy".to_owned(), StatValue::Number(12.5));
        numbers.into_iter().chain([occupancy]).collect()
    }

    #[test]
    fn a_kernel_answers_for_its_own_accesses_only() {
        let (first, second) = (block(100.0, 60.0), block(150.0, 70.0));
        let alone = counters(None, &first).unwrap();
        assert_eq!(alone.rates[1].share, 0.4);
        let told = counters(Some(&first), &second).unwrap();
        assert_eq!(
            told.rates
                .iter()
                .map(|rate| (&*rate.key, rate.share))
                .collect::<Vec<_>>(),
            [("occupancy", 0.125), ("l1_hits", 0.8)]
        );
        assert_eq!(told.rates[1].text, "40 of 50 accesses");
        assert_eq!(told.caveats.len(), alone.caveats.len() + 1);
    }

    #[test]
    fn counters_that_make_no_sense_say_nothing() {
        assert_eq!(counters(None, &Stats::new()), None);
        let told = counters(Some(&block(200.0, 10.0)), &block(150.0, 70.0)).unwrap();
        assert_eq!(told.rates.len(), 1, "a counter that fell is left out");
        let odd = Stats::from([("gpu_occupancy".to_owned(), StatValue::Text("nan%".into()))]);
        assert_eq!(counters(None, &odd), None);
    }
}
