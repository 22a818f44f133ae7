//! The engines' part of `/metrics`: vLLM's names, labels and buckets, and how late we are.

use std::fmt::Write;

use super::Engines;
use super::stats::{Histogram, Stats};

/// One engine's numbers, and its labels.
struct Shown {
    labels: String,
    stats: Stats,
    lateness: Histogram,
}

type Number = fn(&Stats) -> f64;
type Times = fn(&Shown) -> &Histogram;

const NUMBERS: [(&str, &str, &str, Number); 9] = [
    (
        "vllm:num_requests_running",
        "gauge",
        "Requests in the running batch.",
        |s| s.running as f64,
    ),
    (
        "vllm:num_requests_waiting",
        "gauge",
        "Requests that wait to be scheduled.",
        |s| s.waiting as f64,
    ),
    (
        "vllm:kv_cache_usage_perc",
        "gauge",
        "Share of the KV blocks in use, from 0 to 1.",
        |s| s.kv_usage,
    ),
    (
        "vllm:prompt_tokens_total",
        "counter",
        "Prompt tokens of requests past their prefill.",
        |s| s.prompt_tokens as f64,
    ),
    (
        "vllm:generation_tokens_total",
        "counter",
        "Tokens generated.",
        |s| s.generation_tokens as f64,
    ),
    ("vllm:num_preemptions_total", "counter", "Preemptions.", |s| {
        s.preemptions as f64
    }),
    (
        "vllm:prefix_cache_queries_total",
        "counter",
        "Prompt tokens looked up in the prefix cache.",
        |s| s.prefix_queries as f64,
    ),
    (
        "vllm:prefix_cache_hits_total",
        "counter",
        "Prompt tokens found in the prefix cache.",
        |s| s.prefix_hits as f64,
    ),
    (
        "vllm:admission_rejections_total",
        "counter",
        "Requests refused by a full queue.",
        |s| s.rejected as f64,
    ),
];

const TIMES: [(&str, &str, Times); 6] = [
    (
        "vllm:time_to_first_token_seconds",
        "Predicted time to first token.",
        |s| &s.stats.ttft,
    ),
    (
        "vllm:inter_token_latency_seconds",
        "Predicted time between tokens.",
        |s| &s.stats.inter_token,
    ),
    (
        "vllm:request_time_per_output_token_seconds",
        "Predicted mean time per output token after the first, by request.",
        |s| &s.stats.per_token,
    ),
    (
        "vllm:e2e_request_latency_seconds",
        "Predicted time of whole requests.",
        |s| &s.stats.e2e,
    ),
    (
        "vllm:request_queue_time_seconds",
        "Predicted time before the first step.",
        |s| &s.stats.queue,
    ),
    (
        "cascade_v1_lateness_seconds",
        "Time from when a token was due to when its connection's task took it.",
        |s| &s.lateness,
    ),
];

impl Engines {
    /// Adds the metrics of every engine.
    pub(crate) fn page(&self, out: &mut String) {
        let shown: Vec<Shown> = self
            .lock()
            .iter()
            .map(|entry| Shown {
                labels: format!(
                    "model_name=\"{}\",gpu_config=\"{}\",engine=\"{}\"",
                    escaped(&entry.model),
                    escaped(entry.gpu.as_str()),
                    entry.number
                ),
                stats: entry.engine.stats().clone(),
                lateness: entry.engine.lateness().clone(),
            })
            .collect();
        if !shown.is_empty() {
            let written = write(out, &shown);
            // Writing to a String cannot fail.
            debug_assert!(written.is_ok());
        }
    }
}

fn write(out: &mut String, shown: &[Shown]) -> std::fmt::Result {
    for (name, kind, help, number) in NUMBERS {
        head(out, name, kind, help)?;
        for Shown { labels, stats, .. } in shown {
            let value = number(stats);
            match name {
                "vllm:admission_rejections_total" => {
                    writeln!(out, "{name}{{{labels},reason=\"max_num_queued_reqs\"}} {value}")?;
                }
                _ => writeln!(out, "{name}{{{labels}}} {value}")?,
            }
        }
    }
    let name = "vllm:request_success_total";
    head(out, name, "counter", "Requests that ended, by reason.")?;
    for Shown { labels, stats, .. } in shown {
        for (reason, count) in [
            ("length", stats.length),
            ("abort", stats.abort),
            ("error", stats.error),
        ] {
            writeln!(out, "{name}{{{labels},finished_reason=\"{reason}\"}} {count}")?;
        }
    }
    for (name, help, times) in TIMES {
        head(out, name, "histogram", help)?;
        for one in shown {
            histogram(out, name, &one.labels, times(one))?;
        }
    }
    Ok(())
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n")
}

fn histogram(out: &mut String, name: &str, labels: &str, histogram: &Histogram) -> std::fmt::Result {
    let mut below = 0;
    let bounds = histogram.bounds.iter().map(|bound| format!("{bound:?}"));
    for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(&histogram.counts) {
        below += count;
        writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {below}")?;
    }
    writeln!(out, "{name}_sum{{{labels}}} {}", histogram.sum)?;
    writeln!(out, "{name}_count{{{labels}}} {below}")
}

/// A label's value, as Prometheus' text format wants it.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up_and_hold_their_bounds() {
        let mut stats = Stats::default();
        stats.ttft.observe(1e6, 2);
        stats.ttft.observe(1e6 + 1.0, 1);
        stats.ttft.observe(1e13, 1);
        stats.abort = 3;
        let shown = Shown {
            labels: format!("model_name=\"{}\"", escaped("a\"\\\nb")),
            stats,
            lateness: Histogram::lateness(),
        };
        let mut page = String::new();
        write(&mut page, &[shown]).unwrap();
        for line in [
            "# TYPE vllm:time_to_first_token_seconds histogram",
            "vllm:time_to_first_token_seconds_bucket{model_name=\"a\\\"\\\\\\nb\",le=\"0.001\"} 2",
            "vllm:time_to_first_token_seconds_bucket{model_name=\"a\\\"\\\\\\nb\",le=\"0.005\"} 3",
            "vllm:time_to_first_token_seconds_bucket{model_name=\"a\\\"\\\\\\nb\",le=\"+Inf\"} 4",
            "vllm:time_to_first_token_seconds_count{model_name=\"a\\\"\\\\\\nb\"} 4",
            "vllm:request_success_total{model_name=\"a\\\"\\\\\\nb\",finished_reason=\"abort\"} 3",
        ] {
            assert!(page.lines().any(|other| other == line), "{line}\n{page}");
        }
        // Every family is told once, and no line twice.
        let mut lines: Vec<&str> = page.lines().collect();
        lines.sort_unstable();
        assert!(lines.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
