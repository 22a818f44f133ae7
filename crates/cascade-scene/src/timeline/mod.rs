//! The timeline of a run: lanes of kernels in simulated time, as data that a canvas draws.
//!
//! [`Scene`] holds the lanes. A [`Camera`] says what is looked at; [`Scene::draw`] turns both into a [`Frame`] of
//! draw commands and [`Scene::hit`] says what is at a place. Nothing here knows a browser, and what a frame costs
//! grows with the pixels, not with the kernels: see [`lane`] and [`bars`].

pub mod bars;
pub mod frame;
pub mod groups;
pub mod lane;
pub mod layout;
pub mod link;
pub mod read;
pub mod scene;
pub mod ticks;
pub mod view;

pub use frame::{Frame, Ink, Rect, Text};
pub use groups::{Filter, PAINTS};
pub use layout::{Camera, Target};
pub use link::Link;
pub use scene::{Align, Lane, Pick, Scene};
pub use view::View;

#[cfg(test)]
mod tests;
