//! The rules for whole bodies.

use serde_json::{Value, json};

use super::Checker;
use crate::limits::{MAX_COUNT, MAX_LOG_SEQ};
use crate::{
    Engine, GpuName, Heartbeat, Loc, LogChunk, ReportedState, RunCreate, RunEntry, StepTimelineUpload,
    TraceId,
};

pub(super) fn run_create(c: &mut Checker, value: &Value) -> Option<RunCreate> {
    let object = c.object(value)?;
    let trace_id = c
        .required(object, "trace_id", |c, v| c.string(v))
        .map(TraceId::from);
    let entries = c.required(object, "entries", |c, v| c.list(v, 1, run_entry));
    let replay = c.optional(object, "replay", Checker::boolean);
    Some(RunCreate {
        trace_id: trace_id?,
        entries: entries?,
        replay: replay?.unwrap_or(false),
    })
}

fn run_entry(c: &mut Checker, value: &Value) -> Option<RunEntry> {
    let object = c.object(value)?;
    let gpu_config = c
        .required(object, "gpu_config", |c, v| c.string(v))
        .map(GpuName::from);
    let count = c.required(object, "count", |c, v| {
        c.integer(v, Some(1), Some(i64::from(MAX_COUNT)))
    });
    Some(RunEntry {
        gpu_config: gpu_config?,
        count: u32::try_from(count?).ok()?,
    })
}

pub(super) fn heartbeat(c: &mut Checker, value: &Value) -> Option<Heartbeat> {
    let object = c.object(value)?;
    let states = [
        ("running", ReportedState::Running),
        ("succeeded", ReportedState::Succeeded),
        ("failed", ReportedState::Failed),
    ];
    let state = c.required(object, "state", |c, v| c.literal(v, &states));
    let exit_code = c.optional(object, "exit_code", |c, v| {
        c.integer(v, Some(i64::from(i32::MIN)), Some(i64::from(i32::MAX)))
    });
    let error = c.optional(object, "error", |c, v| c.string(v));
    let engines: Vec<(&str, Engine)> = Engine::ALL.iter().map(|e| (e.as_str(), *e)).collect();
    let engine = c.optional(object, "engine", |c, v| c.literal(v, &engines));
    let exit_code = match exit_code? {
        Some(code) => Some(i32::try_from(code).ok()?),
        None => None,
    };
    Some(Heartbeat {
        state: state?,
        exit_code,
        error: error?,
        engine: engine?,
    })
}

pub(super) fn log_chunk(c: &mut Checker, value: &Value) -> Option<LogChunk> {
    let object = c.object(value)?;
    let seq = c.required(object, "seq", |c, v| c.integer(v, Some(0), Some(MAX_LOG_SEQ)));
    let lines = c.required(object, "lines", |c, v| c.list(v, 0, Checker::string));
    Some(LogChunk {
        seq: u64::try_from(seq?).ok()?,
        lines: lines?,
    })
}

pub(super) fn step_timeline(c: &mut Checker, value: &Value) -> Option<StepTimelineUpload> {
    let object = c.object(value)?;
    let simulated = c.required(object, "simulated", |c, v| {
        let dict = c.dict(v)?;
        let has_steps = dict.get("steps").is_some_and(Value::is_array);
        let has_summary = dict.get("summary").is_some_and(Value::is_object);
        if !(has_steps && has_summary) {
            let reason = "needs a 'steps' list and a 'summary' object";
            c.report(
                "value_error",
                format!("Value error, {reason}"),
                v,
                Some(json!({ "error": reason })),
            );
            return None;
        }
        Some(dict)
    });
    // Unlike other optional fields, `compare` is checked where it stands so that `null` and absence agree.
    let compare = match object.get("compare") {
        None | Some(Value::Null) => Some(None),
        Some(v) => c.at(Loc::Name("compare".into()), |c| c.dict(v)).map(Some),
    };
    Some(StepTimelineUpload {
        simulated: simulated?,
        compare: compare?,
    })
}
