//! The request layer: what users of an inference server would see, from the time that each step takes.
//!
//! [`scheduler`] decides what runs in each step, as vLLM 0.33.0 does it, and [`conform`] holds it against step
//! traces of the real one. Everything here is pure: the same input gives the same bytes, natively and in WASM.

pub mod batch;
pub mod conform;
pub mod content;
pub mod request;
pub mod scheduler;
