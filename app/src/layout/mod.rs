//! What frames every page: the bar on top, the line at the bottom, the command palette.

mod focus;
mod palette;
mod scroll;
mod theme;
mod top_bar;

pub(crate) use theme::Theme;
pub(crate) use top_bar::{Footer, TopBar};

/// Moves the focus and the scroll position along with the pages; inside the router.
pub(crate) fn follow_route() {
    focus::follow();
    scroll::follow();
}
