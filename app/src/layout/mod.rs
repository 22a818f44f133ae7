//! What frames every page: the bar on top, the line at the bottom, the command palette.

mod focus;
mod palette;
mod theme;
mod top_bar;

pub(crate) use focus::follow_route;
pub(crate) use theme::Theme;
pub(crate) use top_bar::{Footer, TopBar};
