//! What can go wrong in a request, each with its HTTP status and the sentence the caller reads.

use cascade_api::limits::{FILE_NAME_PATTERN, MAX_FILE_BYTES, MAX_SIM_FILE_BYTES};
use cascade_api::{Detail, ErrorBody, FieldError, GpuName, RunId, SimId, SimState, TraceId, TraceState};

use crate::db::DbError;
use cascade_scenario::Refused;

/// A failed request.
///
/// The first half is the caller's doing and says what to change. The last three are ours: the caller learns
/// only that something failed, the log learns what.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No trace has this id.
    #[error("trace {0} not found")]
    NoTrace(TraceId),
    /// No run has this id.
    #[error("run {0} not found")]
    NoRun(RunId),
    /// No sim has this id.
    #[error("sim {0} not found")]
    NoSim(SimId),
    /// The sim has no file of this name.
    #[error("sim {sim} has no file '{name}'")]
    NoFile {
        /// The sim.
        sim: SimId,
        /// The name asked for.
        name: String,
    },
    /// The sim has not finished a kernel of this index.
    #[error("sim {sim} has no kernel {index}: it has finished {done}")]
    NoKernel {
        /// The sim.
        sim: SimId,
        /// The index asked for.
        index: String,
        /// How many kernels it has finished.
        done: u64,
    },
    /// No route serves this path.
    #[error("Not Found")]
    NoRoute,
    /// The path does not take this method.
    #[error("Method Not Allowed")]
    BadMethod,
    /// No token, or not ours.
    #[error("missing or wrong token")]
    Unauthorized,
    /// A session cookie came with a request from another site.
    #[error("this request came from another site")]
    CrossSite,
    /// The trace cannot be simulated yet, or never.
    #[error("trace {id} is {state}, not ready")]
    TraceNotReady {
        /// The trace.
        id: TraceId,
        /// Where it is.
        state: TraceState,
    },
    /// The trace is bundled and has no instructions.
    #[error(
        "trace {0} is a sample, which has no instruction traces; ask for a `replay` of its recorded results"
    )]
    SampleTrace(TraceId),
    /// Only a sample has recorded results.
    #[error("trace {0} is no sample, so there is nothing recorded to replay; leave `replay` out")]
    NotASample(TraceId),
    /// The sample was not simulated on this GPU.
    #[error("sample {trace} has no recorded results for {gpu}, only for {}", recorded.join(", "))]
    NothingRecorded {
        /// The sample.
        trace: TraceId,
        /// The GPU asked for.
        gpu: GpuName,
        /// The GPUs it has results for.
        recorded: Vec<String>,
    },
    /// The run is bundled, and its results with it.
    #[error("run {0} is a sample, whose results stay as they are")]
    SampleRun(RunId),
    /// No GPU config has this name.
    #[error("unknown gpu_config '{0}'")]
    UnknownGpu(GpuName),
    /// No GPU has this name, where a path names it.
    #[error("gpu config {0} not found")]
    NoGpu(GpuName),
    /// Another GPU has the name.
    #[error("there is another GPU named {0}: choose another name")]
    GpuExists(GpuName),
    /// A GPU that is not the user's own.
    #[error("{0} was not made from another GPU here and cannot be deleted")]
    GpuShipped(GpuName),
    /// A GPU that results rest on.
    #[error("{sims} {} on {gpu}, whose results need it", if *sims == 1 { "sim ran" } else { "sims ran" })]
    GpuUsed {
        /// The GPU.
        gpu: GpuName,
        /// Sims on it.
        sims: u64,
    },
    /// As many GPUs of the user's own as may be.
    #[error("there can be at most {0} GPUs of your own; delete some first")]
    TooManyGpus(usize),
    /// The GPU's architecture is not the trace's.
    #[error("{gpu} is {arch} but trace {trace} is {trace_arch}")]
    WrongArch {
        /// The GPU.
        gpu: GpuName,
        /// Its architecture.
        arch: String,
        /// The trace.
        trace: TraceId,
        /// The architecture it was captured on.
        trace_arch: String,
    },
    /// The file is not one that can be looked at.
    #[error("the file has no preview: {0}; download it instead")]
    NoPreview(&'static str),
    /// The address's query does not fit.
    #[error("{0}")]
    Query(String),
    /// The range asked for begins where the log has ended.
    #[error("the log has {0} bytes so far; the range begins after them")]
    Range(u64),
    /// A run of more sims than one request may ask for.
    #[error("a run can have at most {max} sims, not {asked}")]
    TooManySims {
        /// Sims asked for.
        asked: u64,
        /// The limit.
        max: u64,
    },
    /// A file name that could leave its directory or break a shell.
    #[error("file name '{0}' must match {FILE_NAME_PATTERN}")]
    FileName(String),
    /// One file over its limit.
    #[error("file is over the {} MiB per-file limit", MAX_FILE_BYTES >> 20)]
    FileTooBig,
    /// All files of a sim over their limit.
    #[error("the sim's files would pass {} MiB in all", MAX_SIM_FILE_BYTES >> 20)]
    SimFilesTooBig,
    /// A JSON body over its limit.
    #[error("body is over the {} MiB limit", .limit >> 20)]
    BodyTooBig {
        /// The limit in bytes.
        limit: u64,
    },
    /// The body broke off.
    #[error("the request body could not be read: {0}")]
    BodyUnread(String),
    /// The body does not fit its type.
    #[error("the body does not fit")]
    Invalid(Vec<FieldError>),
    /// No ready trace is of this model.
    #[error("there is no ready trace of model '{0}'")]
    NoModel(String),
    /// Nothing has been simulated that a profile could come from.
    #[error("no finished sim of trace {trace} on {gpu} has step timing; launch a run of it first")]
    NoBase {
        /// The trace.
        trace: TraceId,
        /// The GPU.
        gpu: GpuName,
    },
    /// The query names none or both.
    #[error("give exactly one of trace_id and model")]
    OneSelector,
    /// Neither the caller nor the trace names a GPU.
    #[error("trace {0} names no GPU; give gpu_config")]
    NoTarget(TraceId),
    /// Requests are not estimated on this GPU.
    #[error("requests are estimated on {targets} and GPUs made from them, not on {gpu}")]
    UnsupportedTarget {
        /// The GPU asked for.
        gpu: GpuName,
        /// Those that work.
        targets: String,
    },
    /// Requests of this model are not estimated.
    #[error("requests of trace {trace} cannot be estimated: {problem}")]
    UnsupportedModel {
        /// The trace.
        trace: TraceId,
        /// What is not covered.
        problem: String,
    },
    /// A sim's step timeline is not of repeats of one request.
    #[error("the step timeline of sim {sim} gives no profile: {problem}")]
    NoProfile {
        /// The sim.
        sim: SimId,
        /// What is wrong with it.
        problem: String,
    },
    /// The scenario does not fit or passes a limit.
    #[error(transparent)]
    Scenario(#[from] Refused),
    /// No saved scenario has this id.
    #[error("saved scenario {0} not found")]
    NoScenario(String),
    /// As many scenarios are saved as may be.
    #[error("{0} scenarios are saved, which is the most; delete one first")]
    TooManySaved(u64),
    /// The sim behind an estimate is of no use.
    #[error("the base sim {sim} of run {run}: {problem}")]
    BaseFailed {
        /// Its run.
        run: RunId,
        /// The sim.
        sim: SimId,
        /// What became of it.
        problem: String,
    },
    /// The sim behind an estimate is not done.
    #[error(
        "the base sim {sim} of run {run} is {state} after {seconds} s and goes on; ask again when it has finished, \
         or raise CASCADE_OPENAI_WAIT_S"
    )]
    BaseTimeout {
        /// Its run.
        run: RunId,
        /// The sim.
        sim: SimId,
        /// Where it is.
        state: SimState,
        /// How long it was waited for.
        seconds: f64,
    },
    /// The server stops.
    #[error("the server is stopping")]
    Stopping,
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
    /// A file could not be read or written.
    #[error("{what}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A task of ours broke off.
    #[error("a task broke off")]
    Task(#[from] tokio::task::JoinError),
}

impl Error {
    /// The HTTP status.
    pub fn status(&self) -> u16 {
        match self {
            Self::NoTrace(_)
            | Self::NoRun(_)
            | Self::NoSim(_)
            | Self::NoFile { .. }
            | Self::NoKernel { .. }
            | Self::NoRoute
            | Self::NoModel(_)
            | Self::NoBase { .. }
            | Self::NoGpu(_)
            | Self::NoScenario(_) => 404,
            Self::BadMethod => 405,
            Self::Unauthorized => 401,
            Self::CrossSite => 403,
            Self::TraceNotReady { .. }
            | Self::SampleTrace(_)
            | Self::SampleRun(_)
            | Self::GpuExists(_)
            | Self::GpuShipped(_)
            | Self::GpuUsed { .. }
            | Self::TooManyGpus(_)
            | Self::TooManySaved(_) => 409,
            Self::FileTooBig | Self::SimFilesTooBig | Self::BodyTooBig { .. } => 413,
            Self::UnknownGpu(_)
            | Self::NotASample(_)
            | Self::NothingRecorded { .. }
            | Self::WrongArch { .. }
            | Self::TooManySims { .. }
            | Self::Query(_)
            | Self::NoPreview(_)
            | Self::FileName(_)
            | Self::NoTarget(_)
            | Self::OneSelector
            | Self::UnsupportedTarget { .. }
            | Self::UnsupportedModel { .. }
            | Self::NoProfile { .. }
            | Self::Scenario(_)
            | Self::Invalid(_) => 422,
            Self::BodyUnread(_) => 400,
            Self::Range(_) => 416,
            Self::BaseFailed { .. } => 502,
            Self::Stopping => 503,
            Self::BaseTimeout { .. } => 504,
            Self::Db(_) | Self::Io { .. } | Self::Task(_) => 500,
        }
    }

    /// The body of the answer. What failed inside is not told to callers.
    pub fn body(&self) -> ErrorBody {
        match self {
            Self::Invalid(fields) => ErrorBody {
                detail: Detail::Fields(fields.clone()),
            },
            Self::Scenario(refused) => ErrorBody {
                detail: Detail::Fields(vec![refused.entry()]),
            },
            _ if self.status() == 500 => ErrorBody::text("Internal Server Error"),
            _ => ErrorBody::text(self.to_string()),
        }
    }

    /// Names what was being done when a file failed; for `map_err`.
    pub fn io(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { what, source }
    }

    /// The error and what caused it, in one line, for the log.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        text
    }
}
