//! One module for each page.

mod compare;
mod explore;
mod gpus;
mod home;
mod not_found;
mod run;
mod runs;
mod token;
mod traces;

pub(crate) use compare::Compare;
pub(crate) use explore::Explore;
pub(crate) use gpus::{GpuPage, Gpus, NewGpu};
pub(crate) use home::Home;
pub(crate) use not_found::NotFound;
pub(crate) use run::RunPage;
pub(crate) use runs::{NewRun, Runs};
pub(crate) use token::Token;
pub(crate) use traces::{TracePage, Traces};
