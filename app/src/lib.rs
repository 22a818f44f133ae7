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
mod part;
mod plot;
#[cfg(feature = "ssr")]
mod shell;
mod site;
pub mod ui;

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::{Lazy, LazyRoute, SsrMode, path};

#[cfg(feature = "ssr")]
pub use shell::shell;
pub use site::{SITE_META, Site};

use layout::{Footer, Theme, TopBar};
use pages::NotFound;

/// Makes pages a part of the browser's module that is loaded when one of them is first shown. Pages that are looked
/// at together are in one part: each part has what only it needs, and what several need is in a file for each
/// combination of them.
///
/// `$preload` fetches the part. The router awaits it before it takes over the server's markup: a page that is still
/// on its way then would be built a second time beside it.
macro_rules! part {
    ($load:ident, $preload:ident: $kind:ident { $($page:ident),* $(,)? }) => {
        #[allow(clippy::enum_variant_names, reason = "the pages' own names")]
        enum $kind {
            $($page,)*
        }

        #[cfg_attr(
            not(feature = "ssr"),
            leptos::wasm_split::wasm_split(
                $load,
                wasm_split_path = leptos::wasm_split,
                preload($preload),
                fallible
            )
        )]
        fn $load(page: $kind) -> part::Part {
            Ok(match page {
                $($kind::$page => pages::$page().into_any(),)*
            })
        }

        $(
            struct $page;

            impl LazyRoute for $page {
                fn data() -> Self {
                    Self
                }

                #[cfg(feature = "ssr")]
                async fn view(_page: Self) -> AnyView {
                    // The page's head names the part, so that it loads together with what every page needs.
                    leptos::prefetch_lazy_fn_on_server(stringify!($load));
                    $load($kind::$page).ok().into_any()
                }

                #[cfg(not(feature = "ssr"))]
                async fn view(_page: Self) -> AnyView {
                    $load($kind::$page)
                        .await
                        .unwrap_or_else(|part::NotLoaded| part::not_loaded())
                }

                #[cfg(not(feature = "ssr"))]
                async fn preload() {
                    // What fails here is told by the view, which asks again.
                    _ = $preload().await;
                }
            }
        )*
    };
}

// The command palette is in this part too, and what a run's page shows after the first look in that of `detail`.
part!(lists, load_lists: Lists { Home, Token, Traces, TracePage, Runs, NewRun, Gpus, NewGpu, GpuPage, Components });
part!(results, load_results: Results { RunPage });
part!(detail, load_detail: Detail { KernelPage, TimelinePage });
part!(comparing, load_comparing: Comparing { Compare });
part!(exploring, load_exploring: Exploring { Explore });

/// The whole application.
///
/// Its type is erased, as each page's is: the full one has a name of 800,000 letters, which every crate that
/// renders it would carry and compile again.
#[component]
pub fn App() -> AnyView {
    provide_meta_context();
    provide_context(site::initial_site());
    clock::provide();
    Theme::provide();
    let toasts = ui::Toasts::default();
    provide_context(toasts);
    view! {
        <Title formatter=document_title text="Cascade" />
        <Router>
            <a class="skip-link" href="#main" rel="external">"Skip to content"</a>
            <FollowRoute />
            <TopBar />
            <main id="main" tabindex="-1">
                <Routes fallback=|| view! { <NotFound /> }>
                    <Route path=path!("/") view={Lazy::<Home>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/token") view={Lazy::<Token>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/traces") view={Lazy::<Traces>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/traces/:id") view={Lazy::<TracePage>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/runs") view={Lazy::<Runs>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/runs/new") view={Lazy::<NewRun>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/explore") view={Lazy::<Explore>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/gpus") view={Lazy::<Gpus>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/gpus/new") view={Lazy::<NewGpu>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/gpus/:name") view={Lazy::<GpuPage>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/sims/:id/kernels/:index") view={Lazy::<KernelPage>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/compare") view={Lazy::<Compare>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/runs/:id/timeline") view={Lazy::<TimelinePage>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/ui") view={Lazy::<Components>::new()} ssr=SsrMode::Async />
                    <Route path=path!("/runs/:id") view={Lazy::<RunPage>::new()} ssr=SsrMode::Async />
                </Routes>
            </main>
            <Footer />
        </Router>
        <ui::Toaster toasts />
        <ui::TooltipHost />
    }
    .into_any()
}

/// Focus and scroll position follow the pages; inside the router, which knows the path.
#[component]
fn FollowRoute() -> impl IntoView {
    layout::follow_route();
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
