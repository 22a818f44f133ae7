//! Every type on Cascade's wire: ids, states and their transitions, requests, answers, events and errors.
//!
//! No behaviour lives here beyond validation and state transitions, so the server, the command line, the
//! worker and the browser all agree on what a message means. The crate does no IO, reads no clock and
//! compiles for `wasm32-unknown-unknown`.

mod call;
mod columns;
mod digest;
mod error;
mod event;
mod explain;
mod gpu;
mod id;
pub mod limits;
mod live;
mod openai;
mod openai_answer;
mod results;
mod run;
mod scenario;
mod scenario_answer;
mod scenario_search;
#[cfg(feature = "openapi")]
mod scenario_workload;
mod state;
mod time;
mod timeline;
mod trace;
pub mod validate;

pub use call::*;
pub use columns::*;
pub use digest::*;
pub use error::*;
pub use event::*;
pub use explain::*;
pub use gpu::*;
pub use id::*;
pub use live::*;
pub use openai::*;
pub use openai_answer::*;
pub use results::*;
pub use run::*;
pub use scenario::*;
pub use scenario_answer::*;
pub use scenario_search::*;
pub use state::*;
pub use time::*;
pub use timeline::*;
pub use trace::*;
