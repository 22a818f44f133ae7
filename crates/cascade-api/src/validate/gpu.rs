//! The rules for hypothetical GPUs. Which keys there are and what values fit is the engine's to say.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Checker;
use super::scenario::{number, only};
use crate::limits::{MAX_GPU_TITLE, MAX_SWEEP_VALUES};
use crate::{GpuConfigCreate, GpuSweep, Loc};

pub(super) fn gpu_config_create(c: &mut Checker, value: &Value) -> Option<GpuConfigCreate> {
    let object = c.object(value)?;
    only(c, object, &["name", "base", "title", "changes", "sweep"]);
    let sweep = c.optional(object, "sweep", sweep);
    // A sweep with a mistake is one, too: its name is not missing.
    let swept = object.get("sweep").is_some_and(|sweep| !sweep.is_null());
    let name = if swept {
        c.optional(object, "name", |c, v| c.string(v))
    } else {
        c.required(object, "name", |c, v| c.string(v)).map(Some)
    };
    let base = c.required(object, "base", |c, v| c.string(v));
    let title = c.optional(object, "title", title);
    let changes = c.optional(object, "changes", changes);
    Some(GpuConfigCreate {
        name: name?,
        base: base?,
        title: title?,
        changes: changes?.unwrap_or_default(),
        sweep: sweep?,
    })
}

fn title(c: &mut Checker, value: &Value) -> Option<String> {
    let title = c.string(value)?;
    if title.chars().count() > MAX_GPU_TITLE {
        let msg = format!("String should have at most {MAX_GPU_TITLE} characters");
        c.report("string_too_long", msg, value, None);
        return None;
    }
    Some(title)
}

fn changes(c: &mut Checker, value: &Value) -> Option<BTreeMap<String, f64>> {
    let object = c.object(value)?;
    let read = |(key, value): (&String, &Value)| {
        let found = c.at(Loc::Name(key.clone()), |c| number(c, value, f64::MIN, f64::MAX));
        found.map(|found| (key.clone(), found))
    };
    let read: Vec<_> = object.iter().map(read).collect();
    read.into_iter().collect()
}

fn sweep(c: &mut Checker, value: &Value) -> Option<GpuSweep> {
    let object = c.object(value)?;
    only(c, object, &["key", "values"]);
    let key = c.required(object, "key", |c, v| c.string(v));
    let values = c.required(object, "values", |c, v| {
        let values = c.list(v, 1, |c, v| number(c, v, f64::MIN, f64::MAX))?;
        if values.len() > MAX_SWEEP_VALUES {
            let msg = format!("List should have at most {MAX_SWEEP_VALUES} items");
            c.report("too_long", msg, v, None);
            return None;
        }
        Some(values)
    });
    Some(GpuSweep {
        key: key?,
        values: values?,
    })
}
