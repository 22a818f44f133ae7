//! The request table: sorted, a page of it, or all of it as CSV.

use std::cmp::Ordering;
use std::fmt::Write;

use cascade_api::RequestMetrics;
use cascade_scenario::Ran;
use cascade_scene::explorer::{Answer, Column, ROWS, Row};
use cascade_scene::format;
use cascade_serving::sim::Record;

use crate::engine::Kept;

/// A page of a GPU's requests. A page past the end is the last one.
pub(crate) fn page(kept: &Kept, by: Column, descending: bool, page: usize) -> Answer {
    let ran = &kept.ran;
    let mut order: Vec<(usize, &Record)> = ran.requests.iter().enumerate().collect();
    order.sort_by(|(i, a), (j, b)| {
        let ordering = compare(a, b, by);
        let ordering = if descending { ordering.reverse() } else { ordering };
        ordering.then(i.cmp(j))
    });
    let total = order.len();
    let page = page.min(total.saturating_sub(1) / ROWS);
    let shown = order.into_iter().skip(page * ROWS).take(ROWS);
    let rows = shown.map(|(_, record)| row(&ran.row(record))).collect();
    Answer::Rows { rows, total, page }
}

fn compare(a: &Record, b: &Record, by: Column) -> Ordering {
    match by {
        Column::Number => a.id.cmp(&b.id),
        Column::Arrival => a.arrival_ns.cmp(&b.arrival_ns),
        Column::Prompt => a.prompt_tokens.cmp(&b.prompt_tokens),
        Column::Output => a.output_tokens.cmp(&b.output_tokens),
        Column::Queue => a.queue_ns().cmp(&b.queue_ns()),
        Column::Ttft => a.ttft_ns().cmp(&b.ttft_ns()),
        Column::Tpot => {
            let tpot = |record: &Record| record.tpot_ns().unwrap_or(-1.0);
            tpot(a).total_cmp(&tpot(b))
        }
        Column::E2e => a.e2e_ns().cmp(&b.e2e_ns()),
        Column::Preemptions => a.preemptions.cmp(&b.preemptions),
    }
}

fn row(request: &RequestMetrics) -> Row {
    Row {
        id: request.id.clone(),
        arrival_s: request.arrival_s,
        prompt: request.prompt_tokens,
        output: request.output_tokens,
        queue_ms: request.queue_ms,
        ttft_ms: request.ttft_ms,
        tpot_ms: request.tpot_ms,
        e2e_ms: request.e2e_ms,
        cached: request.cached_tokens,
        preemptions: request.preemptions,
        why: why(request),
    }
}

/// What a reason of waiting means.
pub(crate) fn reason(name: &str) -> &'static str {
    match name {
        "budget" => "token budget used up",
        "seqs" => "max running requests",
        "chunk" => "prompt did not fit the step",
        "blocks" => "too few KV blocks",
        "preemption" => "the step preempted",
        _ => "step under way",
    }
}

/// Why a request waited, the longest reason first; or why it was refused.
fn why(request: &RequestMetrics) -> String {
    if let Some(refusal) = &request.refusal {
        return format!("Refused: {refusal}");
    }
    let mut waits: Vec<_> = request.waits_ms.iter().collect();
    waits.sort_by(|a, b| b.1.total_cmp(a.1));
    let mut parts: Vec<String> = waits
        .into_iter()
        .map(|(name, ms)| format!("{} {}", reason(name), format::duration_ns(ms * 1e6)))
        .collect();
    if request.preemptions > 0 {
        parts.push(format!(
            "preempted {}",
            format::plural(u64::from(request.preemptions), "time")
        ));
    }
    parts.join(" · ")
}

/// All requests, in the order of the load. Times are in ms.
pub(crate) fn csv(ran: &Ran) -> String {
    let reasons = cascade_serving::metrics::Wait::ALL.map(cascade_serving::metrics::Wait::name);
    let mut out = String::from(
        "id,arrival_s,prompt_tokens,output_tokens,queue_ms,ttft_ms,tpot_ms,mean_itl_ms,e2e_ms,cached_tokens,preemptions,refusal",
    );
    for reason in reasons {
        // Writing to a `String` cannot fail, here and below.
        _ = write!(out, ",waited_{reason}_ms");
    }
    out.push('\n');
    let optional = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for request in ran.rows() {
        let refusal = request.refusal.as_deref().unwrap_or_default();
        _ = write!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{}",
            quoted(&request.id),
            request.arrival_s,
            request.prompt_tokens,
            request.output_tokens,
            request.queue_ms,
            optional(request.ttft_ms),
            optional(request.tpot_ms),
            optional(request.mean_itl_ms),
            request.e2e_ms,
            request.cached_tokens,
            request.preemptions,
            quoted(refusal),
        );
        for reason in reasons {
            _ = write!(out, ",{}", request.waits_ms.get(reason).copied().unwrap_or(0.0));
        }
        out.push('\n');
    }
    out
}

/// A CSV cell (RFC 4180); one that a spreadsheet would take for a formula is made text.
fn quoted(text: &str) -> String {
    let text = match text.chars().next() {
        Some('=' | '+' | '-' | '@') => format!("'{text}"),
        _ => text.to_owned(),
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}
