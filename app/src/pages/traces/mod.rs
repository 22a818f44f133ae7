//! Traces: the list, and one of them.

mod detail;
mod kernels;
mod list;

pub(crate) use detail::TracePage;
pub(crate) use list::{Traces, trace_table};
