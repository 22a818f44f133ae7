//! Runs: the list, and starting a new one.

mod form;
mod list;
mod new;

pub(crate) use list::{Runs, run_table};
pub(crate) use new::NewRun;
