//! The module that the web worker loads: texts in, texts out, as `worker.js` passes them on.

use wasm_bindgen::prelude::wasm_bindgen;

use crate::Engine;

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
