//! Traces: the list, and one of them.

mod detail;
mod kernels;
mod list;
mod replay;

pub(crate) use detail::TracePage;
pub(crate) use list::{Traces, trace_table};
