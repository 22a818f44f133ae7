//! What can be asked for as `model`.

use std::collections::BTreeSet;

use cascade_api::{Model, ModelBase, ModelList, TraceSummary};

use super::problem::Problem;
use crate::error::Error;
use crate::runs::Service;

/// Traces by their ids, then models by their names.
pub(super) async fn list(service: &Service) -> Result<ModelList, Problem> {
    let (mut traces, mut names, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for trace in service.traces().await? {
        let gpu_configs = service.scenario_targets(&trace).await?;
        if gpu_configs.is_empty() {
            continue;
        }
        let named = trace
            .suggested_sim_config
            .as_ref()
            .or(trace.real_gpu_config.as_ref());
        let base = ModelBase {
            trace_id: trace.id.clone(),
            model: trace.model.clone(),
            default_gpu_config: named.filter(|gpu| gpu_configs.contains(gpu)).cloned(),
            gpu_configs,
            sample: trace.sample,
        };
        traces.push(entry(trace.id.as_str(), &trace, &base));
        // The newest trace of a model comes first.
        if let Some(name) = trace.model.as_ref().filter(|name| seen.insert((*name).clone())) {
            names.push(entry(name, &trace, &base));
        }
    }
    traces.extend(names);
    Ok(ModelList {
        object: "list".to_owned(),
        data: traces,
    })
}

/// One of them.
pub(super) async fn get(service: &Service, id: &str) -> Result<Model, Problem> {
    let mut models = list(service).await?.data.into_iter();
    models
        .find(|model| model.id == id)
        .ok_or_else(|| Error::NoModel(id.to_owned()).into())
}

fn entry(id: &str, trace: &TraceSummary, base: &ModelBase) -> Model {
    Model {
        id: id.to_owned(),
        object: "model".to_owned(),
        created: trace.created_at.as_micros() / 1_000_000,
        owned_by: "cascade".to_owned(),
        cascade: base.clone(),
    }
}
