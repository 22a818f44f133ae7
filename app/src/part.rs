//! Parts of the app that the browser loads on their own, so that nobody waits for what they do not look at.
//!
//! `wasm_split` makes an async function of one with a part's view, which fetches the part first; on the server it
//! stays what it is. A page is a part that the router waits for (`part!` in the crate's root). A part of a page is
//! shown by [`in_sight`] or [`once`]: the server's markup stands until the part is there and takes its place, so it
//! must use neither resources nor `Suspense`, whose numbers both sides count.

use leptos::html;
use leptos::prelude::*;

#[cfg(not(feature = "ssr"))]
mod browser;
#[cfg(not(feature = "ssr"))]
pub(crate) use browser::{in_sight, once};

/// A part that could not be fetched.
pub(crate) struct NotLoaded;

/// What a part shows.
pub(crate) type Part = Result<AnyView, NotLoaded>;

#[cfg(not(feature = "ssr"))]
impl From<leptos::wasm_split::SplitLoaderError> for NotLoaded {
    fn from(_: leptos::wasm_split::SplitLoaderError) -> Self {
        Self
    }
}

/// What stands in the place of a page that could not be fetched. The app's version may have changed meanwhile, so
/// only a new page is sure to help.
#[cfg(not(feature = "ssr"))]
pub(crate) fn not_loaded() -> AnyView {
    use crate::data::DataError;
    use crate::ui::Failure;

    let error = DataError::text(0, "The app could not be reached for this page's code.");
    let reload = |()| _ = window().location().reload();
    view! { <div class="page"><Failure error on_retry=reload /></div> }.into_any()
}

/// A part of a page, loaded once it is in sight or the page is used. The server renders it at once.
#[cfg(feature = "ssr")]
pub(crate) fn in_sight(part: impl Fn() -> Part) -> impl IntoView {
    frame(NodeRef::new(), part().ok())
}

/// A part of a page, loaded once it is wanted. The server renders nothing.
#[cfg(feature = "ssr")]
pub(crate) fn once(_wanted: Signal<bool>, _part: impl Fn() -> Part) -> impl IntoView {
    frame(NodeRef::new(), None)
}

/// Where a part stands. The browser gives it no children, and so leaves the server's as they are.
fn frame(node: NodeRef<html::Div>, inner: Option<AnyView>) -> AnyView {
    match inner {
        Some(inner) => view! { <div class="late" node_ref=node>{inner}</div> }.into_any(),
        None => view! { <div class="late" node_ref=node></div> }.into_any(),
    }
}
