//! What frames every page: the bar on top and the line at the bottom.

mod theme;
mod top_bar;

pub(crate) use top_bar::{Footer, TopBar};
