//! One module for each page.

mod compare;
mod components;
mod explore;
mod gpus;
mod home;
mod kernel;
mod not_found;
mod run;
mod runs;
mod timeline;
mod token;
mod traces;

pub(crate) use compare::Compare;
pub(crate) use components::Components;
pub(crate) use explore::Explore;
pub(crate) use gpus::{GpuPage, Gpus, NewGpu};
pub(crate) use home::Home;
pub(crate) use kernel::KernelPage;
pub(crate) use not_found::NotFound;
pub(crate) use run::RunPage;
pub(crate) use runs::{NewRun, Runs};
pub(crate) use timeline::TimelinePage;
pub(crate) use token::Token;
pub(crate) use traces::{TracePage, Traces};
