//! The request layer: what users of an inference server would see, from the time that each step takes.
//!
//! [`scheduler`] decides what runs in each step, as vLLM 0.33.0 does it, and [`conform`] holds it against step
//! traces of the real one. [`sim`] lets time pass: a [`workload`] sends requests, a [`step_time`] model says how
//! long each step takes, and [`metrics`] sums up what came out, by the names of `vllm bench serve`. [`profile`]
//! and [`roofline`] are such a model, from a simulated step timeline and the facts of the model and the GPU;
//! [`predict`] is one request alone. A [`scenario`] is all of it as data, and [`search`] runs many of them.
//!
//! Everything here is pure: the same input gives the same bytes, natively and in WASM.

pub mod batch;
pub mod conform;
pub mod content;
pub mod datasheet;
pub mod facts;
pub mod fit;
pub mod kv;
pub mod metrics;
pub mod predict;
pub mod profile;
pub mod random;
pub mod request;
pub mod roofline;
pub mod scenario;
pub mod scheduler;
pub mod search;
pub mod sim;
pub mod step_time;
pub mod workload;

#[cfg(test)]
mod testing;
