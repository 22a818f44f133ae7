//! The bar on top: where you are, where you can go, theme and session.

use leptos::prelude::*;
use leptos_router::components::A;
use leptos_router::hooks::use_location;

use super::palette::Palette;
use super::theme::ThemeSwitch;
use crate::site::use_site;
use crate::ui::{Icon, IconName};

/// Workspace, navigation, theme switch and log-out. The token page shows no navigation.
#[component]
pub(crate) fn TopBar() -> impl IntoView {
    let site = use_site();
    let name = site.name().to_owned();
    let path = use_location().pathname;
    let inside = move || path.get() != "/token";
    view! {
        <header class="top-bar">
            <div class="top-bar-inner">
                <a class="brand" href="/" aria-label="Cascade, home">
                    <Icon name=IconName::Cascade />
                    <span class="brand-name">"Cascade"</span>
                </a>
                <span class="workspace" title="Workspace">{name}</span>
                <Show when=inside>
                    <nav class="nav" aria-label="Main">
                        <A href="/traces">"Traces"</A>
                        <A href="/runs">"Runs"</A>
                        <A href="/compare">"Compare"</A>
                        <A href="/explore">"Explorer"</A>
                        <A href="/gpus">"GPUs"</A>
                        <a href="/docs" rel="external">"Docs"</a>
                    </nav>
                </Show>
                <div class="top-bar-end">
                    <Show when=inside>
                        <Palette />
                    </Show>
                    <ThemeSwitch />
                    <Show when=move || inside() && site.auth>
                        <form method="post" action="/session/end">
                            <button class="button ghost" type="submit">
                                "Log out"
                            </button>
                        </form>
                    </Show>
                </div>
            </div>
        </header>
    }
}

/// The line at the bottom: version and documents. The documents are files beside the app, so the browser loads them
/// anew (`external`).
#[component]
pub(crate) fn Footer() -> impl IntoView {
    let version = use_site().version;
    view! {
        <footer class="footer">
            <span>"Cascade " {version}</span>
            <nav class="footer-links" aria-label="More">
                <a href="/docs" rel="external">"Documentation"</a>
                <a href="/docs/api" rel="external">"API"</a>
                <a href="/ui">"Components"</a>
            </nav>
        </footer>
    }
}
