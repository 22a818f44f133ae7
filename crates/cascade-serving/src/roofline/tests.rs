//! Tests of the roofline: what it reproduces, and rules that hold for any batch.

use proptest::prelude::*;

use super::*;
use crate::datasheet::{Efficiency, datasheet, datasheets};
use crate::facts::{builtin, builtin_names};
use crate::profile::tests::h100;

fn only(model: &str, gpu: &str) -> PerfProfile {
    let (model, gpu) = (builtin(model).unwrap(), datasheet(gpu).unwrap());
    PerfProfile::from_datasheet(model, gpu, Efficiency::default(), HostTime::default()).unwrap()
}

fn prefill(query: u32, context: u32, samples: bool) -> Batch {
    let mut batch = Batch::default();
    batch.push(query, context, true, samples);
    batch
}

#[test]
fn profiled_sizes_give_their_floors_at_any_efficiency() {
    let profile = h100();
    for bound in Bound::ALL {
        let roofline = Roofline::new(&profile, bound);
        let cost = roofline.step(&prefill(6, 6, true));
        let floor = profile.prefill.unwrap();
        assert_eq!((cost.groups, cost.gpu_ns), (floor.groups, floor.gpu_ns()));
        assert_eq!(cost.provenance, Provenance::Measured);
        for floor in &profile.decode {
            let cost = roofline.step(&Batch::decodes(1, u64::from(floor.tokens)));
            assert_eq!((cost.groups, cost.gpu_ns), (floor.groups, floor.gpu_ns()));
            assert_eq!(cost.provenance, Provenance::Measured);
        }
    }
}

#[test]
fn a_decode_between_profiled_contexts_is_interpolated() {
    let mut profile = h100();
    profile.decode.retain(|floor| [8, 16, 32].contains(&floor.tokens));
    profile.decode[1].groups.attention += 8_000;
    let at = |context| Roofline::new(&profile, Bound::Assumed).step(&Batch::decodes(1, context));
    let (low, middle) = (at(8).groups.attention, at(12).groups.attention);
    assert_eq!(middle - low, 4_000);
    assert_eq!(at(12).provenance, Provenance::Interpolated);
    // Outside, the floor of the nearest end holds.
    assert_eq!((at(7).gpu_ns, at(33).gpu_ns), (at(8).gpu_ns, at(32).gpu_ns));
    assert_eq!(
        [at(7), at(33)].map(|cost| cost.provenance),
        [Provenance::Extrapolated; 2]
    );
}

#[test]
fn what_is_no_profiled_step_is_extrapolated() {
    let roofline = Roofline::new(&h100(), Bound::Assumed);
    let batches = [
        prefill(7, 7, true),
        prefill(6, 12, true),
        prefill(6, 6, false),
        Batch::decodes(2, 16),
    ];
    for batch in batches {
        assert_eq!(
            roofline.step(&batch).provenance,
            Provenance::Extrapolated,
            "{batch:?}"
        );
    }
}

#[test]
fn a_chunk_that_samples_nothing_has_no_output_projection() {
    let groups = Roofline::new(&h100(), Bound::Assumed)
        .step(&prefill(6, 6, false))
        .groups;
    assert_eq!((groups.lm_head, groups.sampler), (0, 0));
    assert!(groups.linear > 0);
}

/// A decode of Llama-3.1-8B on an H100 reads 16 GB less an embedding table: 15.01 GB / (0.8 x 3.35 TB/s).
#[test]
fn a_datasheet_decode_is_the_time_to_read_the_weights() {
    let profile = only("meta-llama/Llama-3.1-8B", "SM90_H100");
    let cost = Roofline::new(&profile, Bound::Assumed).step(&Batch::decodes(1, 1));
    assert_eq!(cost.provenance, Provenance::Datasheet);
    let ms = cost.gpu_ns as f64 / 1e6;
    assert!((ms - 15.01 / 2.68).abs() < 0.02, "{ms}");
}

#[test]
fn no_datasheet_decode_beats_reading_the_weights_once() {
    for gpu in datasheets() {
        for model in builtin_names() {
            let profile = only(model, &gpu.gpu);
            for bound in Bound::ALL {
                let roofline = Roofline::new(&profile, bound);
                for seqs in [1, 16, 256] {
                    let batch = Batch::decodes(seqs, u64::from(seqs) * 100);
                    let cost = roofline.step(&batch);
                    assert!(
                        !roofline.beats_weight_read(&batch, &cost),
                        "{model} on {}",
                        gpu.gpu
                    );
                }
            }
        }
    }
}

#[test]
fn a_decode_that_is_too_fast_is_found() {
    let mut profile = h100();
    profile.decode.truncate(1);
    profile.decode[0].groups.linear = 1;
    profile.decode[0].groups.elementwise = 1;
    profile.decode[0].groups.attention = 1;
    profile.decode[0].groups.kv_write = 1;
    profile.decode[0].unattributed_ns = 0;
    let roofline = Roofline::new(&profile, Bound::Assumed);
    let batch = Batch::decodes(1, 7);
    assert!(roofline.beats_weight_read(&batch, &roofline.step(&batch)));
}

/// A sequence: query tokens, tokens computed before, whether it does prefill, whether it samples.
fn sequence() -> impl Strategy<Value = (u32, u32, bool, bool)> {
    let prefill = (1_u32..9000, 0_u32..9000, Just(true), any::<bool>());
    let decode = (Just(1_u32), 38_u32..30_000, Just(false), Just(true));
    prop_oneof![prefill, decode]
}

fn batch(sequences: &[(u32, u32, bool, bool)]) -> Batch {
    let mut batch = Batch::default();
    for (query, before, prefill, samples) in sequences {
        batch.push(*query, before + query, *prefill, *samples);
    }
    batch
}

proptest! {
    #[test]
    fn more_work_never_takes_less_time(sequences in prop::collection::vec(sequence(), 1..12), more in sequence(),
            gpu in prop::sample::select(vec!["SM90_H100", "SM80_A100", "SM89_L4"]),
            model in prop::sample::select(builtin_names().collect::<Vec<_>>())) {
        let mut longer = sequences.clone();
        longer.push(more);
        for profile in [only(model, gpu), h100()] {
            let roofline = Roofline::new(&profile, Bound::Assumed);
            let (a, b) = (batch(&sequences), batch(&longer));
            // Another kind of step has other floors.
            prop_assume!(a.has_prefill() == b.has_prefill());
            prop_assert!(roofline.step(&a).gpu_ns <= roofline.step(&b).gpu_ns);
        }
    }

    #[test]
    fn longer_prompts_and_contexts_never_take_less_time(tokens in 6_u32..100_000, more in 0_u32..100_000) {
        let roofline = Roofline::new(&h100(), Bound::Assumed);
        let prompt = |tokens| roofline.step(&prefill(tokens, tokens, true)).gpu_ns;
        prop_assert!(prompt(tokens) <= prompt(tokens + more));
        let decode = |tokens| roofline.step(&Batch::decodes(1, tokens)).gpu_ns;
        prop_assert!(decode(u64::from(tokens) + 31) <= decode(u64::from(tokens + more) + 31));
    }

    #[test]
    fn no_anchored_roofline_exceeds_a_floor(floors in prop::collection::vec((1_u32..4000, prop::array::uniform6(0_u64..3_000_000)), 1..6)) {
        let mut profile = h100();
        profile.decode = floors.iter().map(|(tokens, groups)| crate::profile::Floor {
            tokens: *tokens, groups: GroupTimes::from_array(*groups), unattributed_ns: -7, steps: 1,
        }).collect();
        profile.decode.sort_by_key(|floor| floor.tokens);
        profile.decode.dedup_by_key(|floor| floor.tokens);
        for bound in Bound::ALL {
            let roofline = Roofline::new(&profile, bound);
            for floor in &profile.decode {
                let cost = roofline.step(&Batch::decodes(1, u64::from(floor.tokens)));
                prop_assert_eq!(cost.groups, floor.groups);
            }
        }
    }

    #[test]
    fn without_floors_a_lower_efficiency_is_slower(sequences in prop::collection::vec(sequence(), 1..12)) {
        let profile = only("Qwen/Qwen3-30B-A3B", "SM90_H200");
        let batch = batch(&sequences);
        let times = Bound::ALL.map(|bound| Roofline::new(&profile, bound).step(&batch).gpu_ns);
        prop_assert!(times.is_sorted_by(|slower, faster| slower >= faster), "{times:?}");
    }
}
