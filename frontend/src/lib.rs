//! The WASM entry point.
