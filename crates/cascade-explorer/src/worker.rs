//! The module that the web worker loads: texts in, texts out, as `worker.js` passes them on.

use wasm_bindgen::prelude::wasm_bindgen;

use crate::{Engine, bench};

#[wasm_bindgen]
extern "C" {
    /// Milliseconds since the worker began.
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

/// The engine as JavaScript holds it.
#[wasm_bindgen]
pub struct Worker(Engine);

#[wasm_bindgen]
impl Worker {
    /// An engine that has nothing yet.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "only JavaScript makes one")]
    pub fn new() -> Self {
        Self(Engine::new(now))
    }

    /// Answers one ask; both are JSON.
    pub fn handle(&mut self, ask: &str) -> String {
        self.0.handle(ask)
    }
}

/// Requests per second of a named workload (`W1`, `W2`), the best of `runs`; NaN for another name.
#[wasm_bindgen(js_name = bench)]
pub fn bench_named(name: &str, runs: u32) -> f64 {
    let best = |workload| {
        let one = |_| {
            let from = now();
            let requests = bench(workload).unwrap_or_default();
            requests as f64 * 1e3 / (now() - from)
        };
        (0..runs).map(one).fold(0.0, f64::max)
    };
    crate::Workload::named(name).map_or(f64::NAN, best)
}
