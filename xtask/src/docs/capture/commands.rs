//! The commands that pages show.

/// One command, and what is done with its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Its name in the recordings.
    pub(super) id: &'static str,
    /// The operation that it shows.
    pub(super) operation: &'static str,
    /// What it shows, where that needs saying.
    pub(super) title: &'static str,
    /// The command. `$RUN` and `$SIM` are ids of a run and one of its sims.
    pub(super) command: &'static str,
    /// Whether its answer may be empty.
    pub(super) empty: bool,
}

const fn line(id: &'static str, operation: &'static str, title: &'static str, command: &'static str) -> Line {
    Line {
        id,
        operation,
        title,
        command,
        empty: false,
    }
}

const fn quiet(line: Line) -> Line {
    Line { empty: true, ..line }
}

/// Asked of an app with a finished run.
pub(super) const MAIN: &[Line] = &[
    line("cli-runs-show", "", "", r##"cascade runs show $RUN"##),
    line(
        "cli-runs-kernels",
        "",
        "",
        r##"cascade runs kernels $RUN | head -12"##,
    ),
    line(
        "cli-runs-steps",
        "",
        "",
        r##"cascade runs steps $RUN | tail -20"##,
    ),
    line("cli-help", "", "", r##"cascade --help"##),
    line("cli-help-upload", "", "", r##"cascade upload --help"##),
    line(
        "cli-help-simulate-trace",
        "",
        "",
        r##"cascade simulate-trace -h"##,
    ),
    line("cli-gpus", "", "", r##"cascade gpus"##),
    line("cli-trace-info", "", "", r##"cascade trace info demo | head -8"##),
    line(
        "cli-simulate-trace",
        "",
        "",
        r##"cascade simulate-trace ./demo-trace --gpu SM90_H100 --gpu SM90_H200 | tail -8"##,
    ),
    line("cli-plan", "", "", r##"cascade plan ./demo-trace | tail -12"##),
    line(
        "cli-scenario",
        "",
        "",
        r##"cascade scenario run --sample h100 --requests 8 --prompt 512 --output 128"##,
    ),
    line(
        "health",
        "GET /api/health",
        "",
        r##"curl -s "$CASCADE_URL/api/health""##,
    ),
    line(
        "metrics",
        "GET /metrics",
        "",
        r##"curl -s "$CASCADE_URL/metrics" -H "Authorization: Bearer $CASCADE_TOKEN" | head -12"##,
    ),
    line(
        "traces",
        "GET /api/traces",
        "",
        r##"curl -s "$CASCADE_URL/api/traces" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "trace",
        "GET /api/traces/{trace_id}",
        "",
        r##"curl -s "$CASCADE_URL/api/traces/demo" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "trace-404",
        "GET /api/traces/{trace_id}",
        "A name that nothing was uploaded under",
        r##"curl -s "$CASCADE_URL/api/traces/nope" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "synthetic-trace",
        "POST /api/synthetic-trace",
        "",
        r##"curl -s -X POST "$CASCADE_URL/api/synthetic-trace" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "gpu-configs",
        "GET /api/gpu-configs",
        "",
        r##"curl -s "$CASCADE_URL/api/gpu-configs" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "runs",
        "GET /api/runs",
        "",
        r##"curl -s "$CASCADE_URL/api/runs" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "run-create",
        "POST /api/runs",
        "",
        r##"curl -s -X POST "$CASCADE_URL/api/runs" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"trace_id": "demo", "entries": [{"gpu_config": "SM90_H200", "count": 1}]}'"##,
    ),
    line(
        "run-409",
        "POST /api/runs",
        "A sample has no instructions to simulate",
        r##"curl -s -X POST "$CASCADE_URL/api/runs" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"trace_id": "sample__facebook_opt-125m__h100-e2e", "entries": [{"gpu_config": "SM90_H100", "count": 1}]}'"##,
    ),
    line(
        "run-422-arch",
        "POST /api/runs",
        "A GPU of another architecture",
        r##"curl -s -X POST "$CASCADE_URL/api/runs" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"trace_id": "demo", "entries": [{"gpu_config": "SM80_A100", "count": 1}]}'"##,
    ),
    line(
        "run-422",
        "POST /api/runs",
        "A body that does not fit",
        r##"curl -s -X POST "$CASCADE_URL/api/runs" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"trace_id": "demo", "entries": [{"gpu_config": "SM90_H100", "count": 0}]}'"##,
    ),
    line(
        "run",
        "GET /api/runs/{run_id}",
        "",
        r##"curl -s "$CASCADE_URL/api/runs/$RUN" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "run-cancel",
        "POST /api/runs/{run_id}/cancel",
        "A run that has finished stays as it is",
        r##"curl -s -X POST "$CASCADE_URL/api/runs/$RUN/cancel" -H "Authorization: Bearer $CASCADE_TOKEN" | jq '{id, state, sim_counts}'"##,
    ),
    line(
        "run-comparison",
        "GET /api/runs/{run_id}/comparison",
        "",
        r##"curl -s "$CASCADE_URL/api/runs/$RUN/comparison" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "run-kernels",
        "GET /api/runs/{run_id}/kernels",
        "",
        r##"curl -s "$CASCADE_URL/api/runs/$RUN/kernels" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "run-step-digests",
        "GET /api/runs/{run_id}/step-digests",
        "",
        r##"curl -s "$CASCADE_URL/api/runs/$RUN/step-digests" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "run-step-timelines",
        "GET /api/runs/{run_id}/step-timelines",
        "",
        r##"curl -s "$CASCADE_URL/api/runs/$RUN/step-timelines" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "run-results",
        "GET /api/runs/{run_id}/results",
        "",
        r##"curl -s "$CASCADE_URL/api/runs/$RUN/results" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "run-files",
        "GET /api/runs/{run_id}/files",
        "",
        r##"curl -s "$CASCADE_URL/api/runs/$RUN/files" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "run-perfetto",
        "GET /api/runs/{run_id}/perfetto",
        "",
        r##"curl -s "$CASCADE_URL/api/runs/$RUN/perfetto" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "run-events",
        "GET /api/runs/{run_id}/events",
        "The first event of a finished run; one under way sends more",
        r##"curl -sN --max-time 2 "$CASCADE_URL/api/runs/$RUN/events" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "sim-results",
        "GET /api/sims/{sim_id}/results",
        "",
        r##"curl -s "$CASCADE_URL/api/sims/$SIM/results" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "sim-kernel",
        "GET /api/sims/{sim_id}/kernels/{index}",
        "",
        r##"curl -s "$CASCADE_URL/api/sims/$SIM/kernels/0" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "run-kernel-rows",
        "GET /api/runs/{run_id}/kernel-rows",
        "",
        r##"curl -s "$CASCADE_URL/api/runs/$RUN/kernel-rows?rows=3" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "sim-file-preview",
        "GET /api/sims/{sim_id}/files/{name}/preview",
        "",
        r##"curl -s "$CASCADE_URL/api/sims/$SIM/files/kernel-stats.csv/preview" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "sim-log",
        "GET /api/sims/{sim_id}/log",
        "",
        r##"curl -s "$CASCADE_URL/api/sims/$SIM/log" -H "Authorization: Bearer $CASCADE_TOKEN" | tail -12"##,
    ),
    line(
        "sim-files",
        "GET /api/sims/{sim_id}/files",
        "",
        r##"curl -s "$CASCADE_URL/api/sims/$SIM/files" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "sim-file",
        "GET /api/sims/{sim_id}/files/{name}",
        "",
        r##"curl -s "$CASCADE_URL/api/sims/$SIM/files/kernel-stats.csv" -H "Authorization: Bearer $CASCADE_TOKEN" | head -3"##,
    ),
    line(
        "scenario",
        "POST /api/scenarios",
        "",
        r##"curl -s -X POST "$CASCADE_URL/api/scenarios" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"trace_id": "sample__facebook_opt-125m__h100-e2e", "num_requests": 8, "prompt_tokens": 512, "output_tokens": 128}'"##,
    ),
    line(
        "scenario-422",
        "POST /api/scenarios",
        "A field that there is not",
        r##"curl -s -X POST "$CASCADE_URL/api/scenarios" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"trace_id": "demo", "num_request": 8}'"##,
    ),
    line(
        "scenario-save",
        "POST /api/scenarios/saved",
        "",
        r##"curl -s -X POST "$CASCADE_URL/api/scenarios/saved" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"name": "eight at once", "scenario": {"trace_id": "sample__facebook_opt-125m__h100-e2e", "num_requests": 8, "prompt_tokens": 512, "output_tokens": 128}}'"##,
    ),
    line(
        "scenarios-saved",
        "GET /api/scenarios/saved",
        "",
        r##"curl -s "$CASCADE_URL/api/scenarios/saved" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "scenario-schema",
        "GET /api/scenarios/schema",
        "",
        r##"curl -s "$CASCADE_URL/api/scenarios/schema" -H "Authorization: Bearer $CASCADE_TOKEN" | jq '{"$schema", "$ref"}'"##,
    ),
    line(
        "v1-models",
        "GET /v1/models",
        "",
        r##"curl -s "$CASCADE_URL/v1/models" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "v1-completion",
        "POST /v1/completions",
        "",
        r##"curl -s -X POST "$CASCADE_URL/v1/completions" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"model": "sample__facebook_opt-125m__h100-e2e", "prompt": "Hello, my name is", "max_tokens": 32, "seed": 42}' \
  | jq 'del(.cascade.profiled, .cascade.timing.assumptions)'"##,
    ),
    line(
        "v1-404",
        "POST /v1/completions",
        "A model of which there is no trace",
        r##"curl -s -X POST "$CASCADE_URL/v1/completions" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"model": "no/such-model", "prompt": "Hi"}'"##,
    ),
    line(
        "v1-chat",
        "POST /v1/chat/completions",
        "As a stream",
        r##"curl -sN -X POST "$CASCADE_URL/v1/chat/completions" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"model": "sample__facebook_opt-125m__h100-e2e", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3, "seed": 1, "stream": true}'"##,
    ),
];

/// Asked of an app whose sim runs and waits for its simulator's word.
pub(super) const SIMULATOR: &[Line] = &[
    line(
        "sim-heartbeat",
        "POST /api/sims/{sim_id}/heartbeat",
        "",
        r##"curl -s -X POST "$CASCADE_URL/api/sims/$SIM/heartbeat" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"state": "running", "engine": "custom"}'"##,
    ),
    quiet(line(
        "sim-logs",
        "POST /api/sims/{sim_id}/logs",
        "",
        r##"curl -s -X POST "$CASCADE_URL/api/sims/$SIM/logs" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"seq": 0, "lines": ["kernel_name = copy", "gpu_sim_cycle = 6174"]}'"##,
    )),
    line(
        "sim-put-file",
        "PUT /api/sims/{sim_id}/files/{name}",
        "",
        r##"echo "kernel,cycles" | curl -s -X PUT "$CASCADE_URL/api/sims/$SIM/files/mine.csv" -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/octet-stream" --data-binary @-"##,
    ),
    line(
        "sim-put-422",
        "PUT /api/sims/{sim_id}/files/{name}",
        "A name that no file may have",
        r##"echo | curl -s -X PUT "$CASCADE_URL/api/sims/$SIM/files/my%20file.csv" -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/octet-stream" --data-binary @-"##,
    ),
    line(
        "no-token",
        "",
        "Without a token",
        r##"curl -s "$CASCADE_URL/api/runs""##,
    ),
    line(
        "no-route",
        "",
        "An address that there is not",
        r##"curl -s "$CASCADE_URL/api/nope" -H "Authorization: Bearer $CASCADE_TOKEN""##,
    ),
    line(
        "run-cancelled",
        "",
        "",
        r##"curl -s -X POST "$CASCADE_URL/api/runs/$RUN/cancel" -H "Authorization: Bearer $CASCADE_TOKEN" | jq '{id, state, sim_counts}'"##,
    ),
    line(
        "sim-cancel",
        "POST /api/sims/{sim_id}/heartbeat",
        "After the run was cancelled",
        r##"curl -s -X POST "$CASCADE_URL/api/sims/$SIM/heartbeat" \
  -H "Authorization: Bearer $CASCADE_TOKEN" -H "Content-Type: application/json" \
  -d '{"state": "running"}'"##,
    ),
];

/// Where a recording stands: in the order of this file.
pub(super) fn order(id: &str) -> usize {
    let all = MAIN.iter().chain(SIMULATOR);
    all.take_while(|line| line.id != id).count()
}
