//! Request bodies, checked field by field.
//!
//! Every problem of a body is reported at once, in the shape that pydantic and FastAPI made common, so that
//! clients written for such services understand it.

mod body;
mod field;
mod gpu;
mod openai;
mod scenario;
mod search;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::{
    ChatCreate, CompletionCreate, FieldError, GpuConfigCreate, Heartbeat, Loc, LogChunk, RunCreate,
    ScenarioCreate, ScenarioSave, ScenarioSearch, StepTimelineUpload,
};

pub use field::Checker;

/// A body that can be read from JSON with a full list of what is wrong.
pub trait Validate: Sized {
    /// The value, or every problem found.
    fn validate(value: Value) -> Result<Self, Vec<FieldError>>;
}

/// Parses JSON text and validates it.
pub fn from_slice<T: Validate>(bytes: &[u8]) -> Result<T, Vec<FieldError>> {
    match serde_json::from_slice(bytes) {
        Ok(value) => T::validate(value),
        Err(error) if bytes.iter().all(u8::is_ascii_whitespace) => {
            let _: serde_json::Error = error;
            Err(vec![field::missing(vec![Loc::Name("body".into())], Value::Null)])
        }
        Err(error) => Err(vec![field::bad_json(bytes, &error)]),
    }
}

macro_rules! body {
    ($type:ty, $read:path) => {
        impl Validate for $type {
            fn validate(value: Value) -> Result<Self, Vec<FieldError>> {
                let mut checker = Checker::new();
                let read = $read(&mut checker, &value);
                checker.finish(read)
            }
        }
    };
}

body!(RunCreate, body::run_create);
body!(Heartbeat, body::heartbeat);
body!(LogChunk, body::log_chunk);
body!(StepTimelineUpload, body::step_timeline);
body!(GpuConfigCreate, gpu::gpu_config_create);
body!(ScenarioCreate, scenario::scenario_create);
body!(ScenarioSave, scenario::scenario_save);
body!(CompletionCreate, openai::completion_create);
body!(ChatCreate, openai::chat_create);
body!(ScenarioSearch, search::scenario_search);
