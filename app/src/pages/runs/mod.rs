//! Runs: the list, and starting a new one.

mod form;
mod list;
mod new;
mod rows;
#[cfg(test)]
mod tests;
mod trace;

pub(crate) use form::trace_refusal;
pub(crate) use list::{Runs, run_table};
pub(crate) use new::NewRun;
