//! The explorer's engine: scenarios in, figures out. It runs in a web worker, so that the page never waits for
//! it; the server uses it for the figures of the first paint.

mod engine;
mod figures;
mod rows;
#[cfg(target_arch = "wasm32")]
mod worker;

pub use engine::Engine;

#[cfg(test)]
mod tests;
