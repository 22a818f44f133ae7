//! What components render on the server.

mod contrast;

use cascade_api::{Engine, SimState};
use leptos::prelude::*;

use super::{
    Age, DataTable, EngineBadge, Failure, Field, Progress, SampleNote, SelectInput, SelectOption, SimBadge,
    SortTable,
};
use crate::data::DataError;

/// The HTML of a view.
fn html<V: IntoView>(view: impl FnOnce() -> V) -> String {
    Owner::new().with(|| view().to_html())
}

#[test]
fn a_badge_says_where_numbers_come_from() {
    let replay = html(|| view! { <EngineBadge engine=Engine::Replay /> });
    assert!(
        replay.contains("recorded") && !replay.contains("simulated"),
        "{replay}"
    );
    let lost = html(|| view! { <SimBadge state=SimState::Lost /> });
    assert!(
        lost.contains("data-tone=\"warn\"") && lost.contains("lost"),
        "{lost}"
    );
}

#[test]
fn a_table_always_has_a_body() {
    let table =
        html(|| view! { <DataTable label="Empty" columns=vec!["#Size".into()]>{None::<String>}</DataTable> });
    assert!(
        table.contains("<tbody>"),
        "without it the browser adds one and hydration breaks: {table}"
    );
    assert!(
        table.contains("<th scope=\"col\" class=\"number\">Size"),
        "{table}"
    );
}

#[test]
fn progress_never_passes_its_end() {
    let bar = html(|| view! { <Progress label="Kernels" done=9 total=4 /> });
    assert!(bar.contains("max=\"4\"") && bar.contains("value=\"4\""), "{bar}");
    let unknown = html(|| view! { <Progress label="Kernels" done=0 total=0 /> });
    assert!(
        unknown.contains("max=\"1\"") && unknown.contains("value=\"0\""),
        "{unknown}"
    );
}

#[test]
fn a_choice_that_is_refused_says_why() {
    let options = vec![SelectOption {
        value: "SM80_A100".into(),
        label: "SM80_A100".into(),
        refused: Some("sm_80, but the trace is sm_90".into()),
    }];
    let field = html(|| {
        view! {
            <Field label="GPU" id="gpu">
                <SelectInput id="gpu" value=RwSignal::new(String::new()) options invalid=false />
            </Field>
        }
    });
    assert!(
        field.contains("disabled") && field.contains("but the trace is sm_90"),
        "{field}"
    );
    assert!(
        field.contains("for=\"gpu\"") && field.contains("aria-describedby=\"gpu-error\""),
        "{field}"
    );
}

#[test]
fn text_from_outside_stays_text() {
    let error = DataError::text(404, "trace <script>alert(1)</script> not found");
    let failure = html(|| view! { <Failure error on_retry=|()| () /> });
    assert!(!failure.contains("<script>"), "{failure}");
}

#[test]
fn a_time_is_the_same_text_until_the_page_is_alive() {
    let age = html(|| view! { <Age at="2026-11-08T03:05:34Z".parse().unwrap() /> });
    assert!(
        age.contains("2026-11-08 03:05 UTC") && age.contains("datetime=\"2026-11-08T03:05:34Z\""),
        "{age}"
    );
}

#[test]
fn a_sorted_column_says_so_and_the_others_can_be() {
    let columns = vec![("Group", Some(0)), ("#Error", Some(1)), ("", None)];
    let table = html(|| {
        view! { <SortTable label="Groups" columns order=RwSignal::new((1, true))>{None::<String>}</SortTable> }
    });
    assert_eq!(table.matches("aria-sort=\"descending\"").count(), 1, "{table}");
    assert_eq!(table.matches("aria-sort=\"none\"").count(), 1, "{table}");
    assert_eq!(table.matches("<button").count(), 2, "{table}");
}

#[test]
fn a_list_with_a_sample_says_what_a_sample_is() {
    let note = html(|| view! { <SampleNote any=true /> });
    assert!(note.contains("reconstructed from published statistics"), "{note}");
    let none = html(|| view! { <SampleNote any=false /> });
    assert!(!none.contains("<p"), "{none}");
}

#[test]
fn a_search_wants_every_word_in_any_order_and_case() {
    assert!(super::has_words("h100 DEMO", "demo-opt-125m on SM90_H100"));
    assert!(!super::has_words("h100 a100", "demo-opt-125m on SM90_H100"));
    assert!(super::has_words("  ", "anything"));
}
