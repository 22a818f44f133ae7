//! What a profiled request took, step by step: `corrected_timeline.json` and `simulated_timeline.json`.
//!
//! Both files have one shape. Times are in ns unless a field's name says ms. A field that the file holds and
//! that has no name here is kept in `extra` and written back; null and absence stay what they are.

mod kernel;
mod number;
mod read;
mod record;
mod request;
mod step;

pub use kernel::{Kernel, Shape};
pub use number::{MAX_TIME, Stamp};
pub use request::Request;
pub use step::Step;

pub(crate) use number::{Out, far, unfit};
pub(crate) use read::{Read, Shapes, read_text};
pub(crate) use record::record;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The most bytes of a timeline that are read: about five million kernels with long names.
pub const MAX_TIMELINE_BYTES: usize = 2 << 30;

/// The file that the profiler writes.
pub const CORRECTED: &str = "corrected_timeline.json";

/// The file that a simulation writes.
pub const SIMULATED: &str = "simulated_timeline.json";

/// Fields of an object by name, in the file's order.
pub type Extra = IndexMap<String, Value>;

/// Why a file is no timeline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimelineError {
    /// Larger than [`MAX_TIMELINE_BYTES`].
    #[error("{file}: {bytes} bytes are more than the {limit} that are read")]
    TooLarge {
        /// Which file.
        file: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Not JSON, or a field of another type; the text names the place and the field.
    #[error("{file}: {problem}")]
    Json {
        /// Which file.
        file: String,
        /// What and where.
        problem: String,
    },
    /// A value that cannot be.
    #[error("{file}: repeat {repeat}, step {step}: {field} {problem}")]
    Value {
        /// Which file.
        file: String,
        /// The step's repeat.
        repeat: i64,
        /// The step.
        step: i64,
        /// The field, with the kernel where it belongs to one.
        field: String,
        /// What is wrong.
        problem: String,
    },
    /// A value of a request that cannot be.
    #[error("{file}: request of repeat {repeat}: {field} {problem}")]
    Request {
        /// Which file.
        file: String,
        /// The request's repeat.
        repeat: i64,
        /// The field.
        field: String,
        /// What is wrong.
        problem: String,
    },
}

record! {
    /// A timeline of repeats of one workload: steps in order of time, with their kernels.
    #[derive(Default)]
    Timeline {
        /// What was profiled, on which GPU; an open list of fields.
        list meta: Extra,
        /// Steps, warm-up first.
        must steps: Vec<Step>,
        /// One request for each repeat.
        list requests: Vec<Request>,
        /// Sums over the steps; in a simulated timeline, how it was made.
        list summary: Extra,
    }
}

impl<'de> Deserialize<'de> for Timeline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer, &mut Shapes::default())
    }
}

impl Timeline {
    /// Reads and checks a timeline; `file` is its name in errors.
    ///
    /// # Errors
    /// Text that is no timeline, a negative wall, busy time or duration, a step or kernel that is there twice.
    pub fn parse(file: &str, json: &[u8]) -> Result<Self, TimelineError> {
        if json.len() > MAX_TIMELINE_BYTES {
            return Err(TimelineError::TooLarge {
                file: file.to_owned(),
                bytes: json.len(),
                limit: MAX_TIMELINE_BYTES,
            });
        }
        let timeline: Self = serde_json::from_slice(json).map_err(|e| TimelineError::Json {
            file: file.to_owned(),
            problem: e.to_string(),
        })?;
        timeline.check(file)?;
        Ok(timeline)
    }

    /// The timeline as the files hold it.
    ///
    /// # Errors
    /// None that a timeline can cause: only a map whose keys are no text cannot be written.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    /// Checks what [`Timeline::parse`] checks, for a timeline made otherwise.
    ///
    /// # Errors
    /// The first value that cannot be.
    pub fn check(&self, file: &str) -> Result<(), TimelineError> {
        let mut places: Vec<(i64, i64)> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            places.push((step.repeat, step.step));
            step.check().map_err(|(field, problem)| TimelineError::Value {
                file: file.to_owned(),
                repeat: step.repeat,
                step: step.step,
                field,
                problem,
            })?;
        }
        for request in &self.requests {
            request
                .check()
                .map_err(|(field, problem)| TimelineError::Request {
                    file: file.to_owned(),
                    repeat: request.repeat,
                    field,
                    problem,
                })?;
        }
        places.sort_unstable();
        match places.windows(2).find(|pair| pair.first() == pair.last()) {
            Some(&[(repeat, step), _]) => Err(TimelineError::Value {
                file: file.to_owned(),
                repeat,
                step,
                field: "step".to_owned(),
                problem: "is there twice".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// A field of `meta` that is text.
    pub fn meta_text(&self, field: &str) -> Option<&str> {
        self.meta.get(field).and_then(Value::as_str)
    }

    /// The steps that count: not warm-up.
    pub fn steady(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| !step.warmup)
    }
}

#[cfg(test)]
mod tests;
