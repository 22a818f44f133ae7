//! What a simulator sends while it works.

use serde::{Deserialize, Serialize};

use crate::{Engine, SimState};

/// What a simulator may report about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReportedState {
    /// Working.
    Running,
    /// Done; sent once, last.
    Succeeded,
    /// Gave up; sent once, last.
    Failed,
}

impl From<ReportedState> for SimState {
    fn from(state: ReportedState) -> Self {
        match state {
            ReportedState::Running => Self::Running,
            ReportedState::Succeeded => Self::Succeeded,
            ReportedState::Failed => Self::Failed,
        }
    }
}

/// A sign of life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Heartbeat {
    /// What the simulator is doing.
    pub state: ReportedState,
    /// Its exit code, with the last heartbeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = -2147483648_f64, maximum = 2147483647))]
    pub exit_code: Option<i32>,
    /// A short reason, with a `failed` heartbeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The program that makes the numbers, once the simulator knows; otherwise the server's own guess stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
}

impl Heartbeat {
    /// A `running` heartbeat with nothing else to say.
    pub const fn running() -> Self {
        Self {
            state: ReportedState::Running,
            exit_code: None,
            error: None,
            engine: None,
        }
    }
}

/// The answer to a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeartbeatAck {
    /// The sim's state after this heartbeat.
    pub state: SimState,
    /// True when the sim was cancelled; the simulator must stop.
    pub cancel: bool,
}

/// A piece of a simulator's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogChunk {
    /// Counts up from 0; a number that was already taken is ignored.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 9000000000000000_i64))]
    pub seq: u64,
    /// Lines without their newline.
    pub lines: Vec<String>,
}

/// What a sim sends after step timing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepTimelineUpload {
    /// A simulated timeline, with a `steps` list and a `summary` object.
    #[cfg_attr(feature = "openapi", schema(inline, value_type = schema::Simulated))]
    pub simulated: serde_json::Map<String, serde_json::Value>,
    /// Its comparison with the real timeline.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub compare: Option<serde_json::Map<String, serde_json::Value>>,
}

/// What `GET /api/health` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// Always true: the process is serving requests.
    pub ok: bool,
    /// False only when the app runs without a token.
    pub auth: bool,
    /// The workspace's name, if it has one.
    pub workspace: Option<String>,
    /// Where a profiler uploads to.
    pub s3_endpoint: Option<String>,
    /// The bucket there.
    #[serde(default)]
    pub s3_bucket: Option<String>,
    /// The folder of traces in the bucket.
    #[serde(default)]
    pub s3_prefix: Option<String>,
    /// The app's version.
    #[serde(default)]
    pub version: String,
}

/// Shapes that only the OpenAPI document needs.
#[cfg(feature = "openapi")]
mod schema {
    /// A simulated timeline; other fields are kept as they come.
    #[derive(utoipa::ToSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub(super) struct Simulated {
        /// The steps.
        steps: Vec<serde_json::Value>,
        /// What they add up to.
        #[schema(value_type = Object)]
        summary: (),
    }
}
