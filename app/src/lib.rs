//! Cascade's pages and components, rendered on the server and hydrated in the browser.

pub mod data;
