//! GPUs: the list, one with its values, and the form that makes hypothetical ones.

mod detail;
mod form;
mod list;
mod new;

pub(crate) use detail::GpuPage;
pub(crate) use list::Gpus;
pub(crate) use new::NewGpu;
