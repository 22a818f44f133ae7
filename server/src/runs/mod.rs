//! The service: what can be done with traces, runs and sims. HTTP handlers, pages, the launcher and the
//! monitor all come through here.

mod change;
mod launch;
mod service;

pub use service::{Service, SimEnded, Urls};
