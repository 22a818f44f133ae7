//! The timeline: a run's kernels in simulated time on a canvas, as a card and as a page of its own.
//!
//! What is drawn and what a hand points at is worked out by `cascade_scene::timeline`; here it meets the browser.

mod address;
mod bar;
mod card;
mod input;
mod page;
mod paint;
mod panel;
mod runs;
mod sight;
mod stage;
mod told;

pub(crate) use card::TimelineCard;
pub(crate) use page::TimelinePage;
