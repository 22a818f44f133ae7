//! What was recorded of the traced run beside its timeline: `run.json`, `workload.json`, `metadata.json`.

use serde_json::{Map, Value};

use super::{PerfProfile, ProfiledRun};

/// The profiler's record of a run.
pub const RUN_FILE: &str = "run.json";
/// The profiler's record of what it ran.
pub const WORKLOAD_FILE: &str = "workload.json";
/// Most bytes that are read of either.
pub const MAX_RUN_FILE_BYTES: usize = 1 << 20;
/// Objects in which a file may hold a setting, beside its top.
const PLACES: [&str; 6] = [
    "run",
    "workload",
    "engine",
    "engine_args",
    "vllm_config",
    "model_config",
];

/// A file of a run, by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDocument {
    /// Its name.
    pub name: String,
    /// What it holds, or why it cannot be read.
    pub content: Result<Map<String, Value>, String>,
}

impl RunDocument {
    /// A document that was read.
    pub fn new(name: &str, content: Map<String, Value>) -> Self {
        Self {
            name: name.to_owned(),
            content: Ok(content),
        }
    }

    /// Parses a file.
    pub fn parse(name: &str, json: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            content: serde_json::from_slice(json).map_err(|error| error.to_string()),
        }
    }

    /// A field at the top, or in one of the objects that may hold settings.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let content = self.content.as_ref().ok()?;
        let within = PLACES.iter().filter_map(|place| content.get(*place)?.get(name));
        content
            .get(name)
            .into_iter()
            .chain(within)
            .find(|value| !value.is_null())
    }
}

impl PerfProfile {
    /// The same profile with settings of its run that the timeline lacks. The first document that has one
    /// counts; what cannot be a setting is passed over with a warning among the assumptions.
    #[must_use]
    pub fn with_recorded(mut self, documents: &[RunDocument]) -> Self {
        if let Some(run) = &mut self.run {
            run.fill(documents);
        }
        self.note();
        self
    }
}

impl ProfiledRun {
    fn fill(&mut self, documents: &[RunDocument]) {
        for document in documents {
            if let Err(problem) = &document.content {
                self.unused
                    .push(format!("{} was not used: {problem}", document.name));
            }
        }
        let share = |value: &Value| value.as_f64().filter(|share| *share > 0.0 && *share <= 1.0);
        let count = |value: &Value| u32::try_from(value.as_u64().filter(|n| *n > 0)?).ok();
        if self.gpu_memory_utilization.is_none() {
            self.gpu_memory_utilization = self.look(documents, "gpu_memory_utilization", share);
        }
        if self.max_model_len.is_none() {
            self.max_model_len = self.look(documents, "max_model_len", count);
        }
        if self.max_tokens.is_none() {
            self.max_tokens = self.look(documents, "max_tokens", count);
        }
    }

    /// The first document's value of a setting that can be one.
    fn look<T>(
        &mut self,
        documents: &[RunDocument],
        field: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        for document in documents {
            let Some(value) = document.field(field) else {
                continue;
            };
            match read(value) {
                Some(read) => {
                    self.sources.insert(field.to_owned(), document.name.clone());
                    return Some(read);
                }
                None => self.unused.push(format!(
                    "{field} of {} is {value}, which cannot be: it was not used",
                    document.name
                )),
            }
        }
        None
    }

    /// Where the settings come from, and which are not known, in sentences.
    pub(super) fn settings_notes(&self) -> Vec<String> {
        let text = |value: Option<f64>| value.map(|value| value.to_string());
        let settings = [
            ("gpu_memory_utilization", text(self.gpu_memory_utilization)),
            ("max_model_len", text(self.max_model_len.map(f64::from))),
            ("max_tokens", text(self.max_tokens.map(f64::from))),
        ];
        let said = settings.into_iter().map(|(field, value)| match value {
            Some(value) => {
                let source = self.sources.get(field).map_or("the timeline", String::as_str);
                format!("The traced run's {field} is {value}, says {source}.")
            }
            None => format!("The traced run's {field} was not recorded."),
        });
        let unused = self.unused.iter().map(|problem| format!("{problem}."));
        said.chain(unused).collect()
    }
}
