//! Cascade's pages and components, rendered on the server and hydrated in the browser.
//!
//! The server gives [`data::Backend`] to the pages while it renders them and mounts [`shell`] around them; the
//! browser calls the REST API instead. `ssr` and `hydrate` are never on together.
#![recursion_limit = "256"]
#![expect(
    unreachable_pub,
    reason = "Leptos's component macro makes public items, in private modules too"
)]

mod clock;
pub mod data;
mod layout;
mod live;
mod pages;
mod plot;
#[cfg(feature = "ssr")]
mod shell;
mod site;
pub mod ui;

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::{SsrMode, path};

#[cfg(feature = "ssr")]
pub use shell::shell;
pub use site::{SITE_META, Site};

use layout::{Footer, TopBar};
use pages::NotFound;

/// The whole application.
///
/// Its type is erased, as each page's is: the full one has a name of 800,000 letters, which every crate that
/// renders it would carry and compile again.
#[component]
pub fn App() -> AnyView {
    provide_meta_context();
    provide_context(site::initial_site());
    clock::provide();
    view! {
        <Title formatter=document_title text="Cascade" />
        <Router>
            <a class="skip-link" href="#main">"Skip to content"</a>
            <TopBar />
            <main id="main" tabindex="-1">
                <Routes fallback=|| view! { <NotFound /> }>
                    <Route path=path!("/") view=|| view! { <pages::Home /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/token") view=|| view! { <pages::Token /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/traces") view=|| view! { <pages::Traces /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/traces/:id") view=|| view! { <pages::TracePage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/runs") view=|| view! { <pages::Runs /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/runs/new") view=|| view! { <pages::NewRun /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/explore") view=|| view! { <pages::Explore /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/gpus") view=|| view! { <pages::Gpus /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/gpus/new") view=|| view! { <pages::NewGpu /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/gpus/:name") view=|| view! { <pages::GpuPage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/compare") view=|| view! { <pages::Compare /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/runs/:id") view=|| view! { <pages::RunPage /> }.into_any() ssr=SsrMode::Async />
                </Routes>
            </main>
            <Footer />
        </Router>
    }
    .into_any()
}

/// A page's title with the product's name. While rendering on the server `leptos_meta` writes it into the HTML as
/// it is, so what could end the element there (ids come from addresses) is escaped; the browser sets it as text.
fn document_title(title: String) -> String {
    let title = format!("{title} · Cascade");
    if cfg!(feature = "ssr") {
        title
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    } else {
        title
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    #[test]
    fn a_title_cannot_end_its_element() {
        let title = super::document_title("</title><script>alert(1)</script> & co".to_owned());
        assert_eq!(
            title,
            "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; co · Cascade"
        );
    }
}
