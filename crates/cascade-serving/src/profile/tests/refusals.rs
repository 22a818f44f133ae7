//! Timelines that give no profile, each with its reason.

use super::*;

/// The reason why the timeline, changed so, is refused.
fn refusal(change: impl Fn(&mut Timeline)) -> String {
    let mut timeline = timeline();
    change(&mut timeline);
    build(&timeline).unwrap_err().to_string()
}

#[test]
fn another_gpu() {
    let text = refusal(|t| {
        let simulation = serde_json::json!({"gpu_config": "SM90_H200"});
        t.summary.insert("simulation".to_owned(), simulation);
    });
    assert_eq!(
        text,
        "the timeline was simulated for SM90_H200, the datasheet is that of SM90_H100"
    );
}

/// The step of this repeat and number.
fn find(timeline: &mut Timeline, repeat: i64, number: i64) -> &mut Step {
    let found = timeline
        .steps
        .iter_mut()
        .find(|s| s.repeat == repeat && s.step == number);
    found.unwrap()
}

#[test]
fn only_warm_up() {
    let text = refusal(|t| t.steps.iter_mut().for_each(|s| s.warmup = true));
    assert_eq!(text, "the timeline has no steady step: all 97 are warm-up");
}

#[test]
fn chunked_prefill() {
    let text = refusal(|t| find(t, 2, 1).kind = "prefill".to_owned());
    assert!(
        text.starts_with("repeat 2: step 1 is a prefill after the first"),
        "{text}"
    );
}

#[test]
fn a_repeat_that_begins_with_a_decode_or_ends_with_its_prefill() {
    let text = refusal(|t| t.steps.retain(|s| (s.repeat, s.step) != (3, 0)));
    assert_eq!(text, "repeat 3: does not begin with a prefill");
    let text = refusal(|t| t.steps.retain(|s| s.repeat != 1 || s.step == 0));
    assert!(text.starts_with("repeat 1: has no decode"), "{text}");
}

#[test]
fn several_requests() {
    let text = refusal(|t| find(t, 1, 5).num_reqs = Some(2));
    assert_eq!(
        text,
        "repeat 1, step 5: has 2 requests; a profile needs steps of one"
    );
    let text = refusal(|t| find(t, 1, 5).num_scheduled_tokens = Some(3));
    assert_eq!(
        text,
        "repeat 1, step 5: computes 3 tokens; a decode of one request computes 1"
    );
}

#[test]
fn repeats_of_different_shapes() {
    let text = refusal(|t| find(t, 2, 0).num_scheduled_tokens = Some(7));
    assert_eq!(
        text,
        "repeat 2: has 7 prompt tokens and 32 steps, the repeats before it 6 and 32"
    );
    let text = refusal(|t| t.steps.retain(|s| (s.repeat, s.step) != (3, 31)));
    assert_eq!(
        text,
        "repeat 3: has 6 prompt tokens and 31 steps, the repeats before it 6 and 32"
    );
}

#[test]
fn missing_times_and_kernels() {
    let text = refusal(|t| find(t, 1, 4).gpu_busy_ns = None);
    assert_eq!(text, "repeat 1, step 4: gpu_busy_ns is missing");
    let text = refusal(|t| find(t, 1, 4).kernels.clear());
    assert_eq!(text, "repeat 1, step 4: has no kernels: it was not profiled");
    let text = refusal(|t| {
        for step in &mut t.steps {
            step.kernels.retain(|k| !k.shape.name.contains("flash"));
        }
    });
    assert_eq!(
        text,
        "no kernel of the group `attention` was recognised by its name in the prefill steps"
    );
}
