//! The request layer: what users of an inference server would see, from the time that each step takes.
//!
//! [`scheduler`] decides what runs in each step, as vLLM 0.33.0 does it, and [`conform`] holds it against step
//! traces of the real one. [`profile`] and [`roofline`] say how long a step takes, from a simulated step timeline
//! and the facts of the model and the GPU; [`predict`] is one request alone.
//!
//! Everything here is pure: the same input gives the same bytes, natively and in WASM.

pub mod batch;
pub mod conform;
pub mod content;
pub mod datasheet;
pub mod facts;
pub mod kv;
pub mod predict;
pub mod profile;
pub mod request;
pub mod roofline;
pub mod scheduler;
