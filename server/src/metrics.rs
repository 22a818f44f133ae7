//! `/metrics` in Prometheus' text format, version 0.0.4. A handful of numbers do not need a library.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use cascade_api::{SimState, TraceState};

use crate::db::DbResult;
use crate::runs::Service;

/// Answers by the first digit of their status.
#[derive(Debug, Default)]
pub struct Requests {
    by_class: [AtomicU64; 6],
}

impl Requests {
    /// Counts one answer.
    pub fn count(&self, status: u16) {
        if let Some(class) = self.by_class.get(usize::from(status / 100)) {
            class.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The whole page.
pub async fn page(service: &Service, requests: &Requests) -> DbResult<String> {
    let mut out = String::new();
    let classes = requests.by_class.iter().enumerate().skip(1);
    let answers: Vec<(String, u64)> = classes
        .map(|(class, count)| (format!("class=\"{class}xx\""), count.load(Ordering::Relaxed)))
        .collect();
    family(
        &mut out,
        "cascade_http_answers_total",
        "counter",
        "HTTP answers by class.",
        &answers,
    );

    let sims = service.db.sims_by_state().await?;
    let of = |state: SimState| sims.iter().find(|(s, _)| *s == state).map_or(0, |(_, n)| *n);
    let sims: Vec<_> = SimState::ALL
        .iter()
        .map(|s| (format!("state=\"{s}\""), of(*s)))
        .collect();
    family(&mut out, "cascade_sims", "gauge", "Sims by state.", &sims);

    let traces = service.db.traces_list().await?;
    let of = |state: TraceState| traces.iter().filter(|t| t.state == state).count() as u64;
    let traces: Vec<_> = TraceState::ALL
        .iter()
        .map(|s| (format!("state=\"{s}\""), of(*s)))
        .collect();
    family(&mut out, "cascade_traces", "gauge", "Traces by state.", &traces);

    let streams = [(String::new(), service.events.subscribers() as u64)];
    family(
        &mut out,
        "cascade_event_streams",
        "gauge",
        "Open event streams.",
        &streams,
    );
    let sent = [(String::new(), service.events.sent())];
    family(
        &mut out,
        "cascade_events_total",
        "counter",
        "Events told to at least one stream.",
        &sent,
    );
    service.live.page(&mut out);
    Ok(out)
}

fn family(out: &mut String, name: &str, kind: &str, help: &str, values: &[(String, u64)]) {
    let mut written = write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    for (labels, value) in values {
        let labels = if labels.is_empty() {
            String::new()
        } else {
            format!("{{{labels}}}")
        };
        written = written.and(writeln!(out, "{name}{labels} {value}"));
    }
    // Writing to a String cannot fail.
    debug_assert!(written.is_ok());
}
