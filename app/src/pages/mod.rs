//! One module for each page.

mod home;
mod not_found;

pub(crate) use home::Home;
pub(crate) use not_found::NotFound;
