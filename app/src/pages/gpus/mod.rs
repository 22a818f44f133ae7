//! GPUs: the list, one with its values, and the form that makes hypothetical ones.

mod detail;
mod fields;
mod form;
mod list;
mod new;
mod send;

pub(crate) use detail::GpuPage;
pub(crate) use list::Gpus;
pub(crate) use new::NewGpu;
