//! What a page is made of: a head with title and actions, and cards below it.

use leptos::prelude::*;

/// A step on the way to a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crumb {
    /// Where it leads.
    pub href: &'static str,
    /// What it reads.
    pub text: &'static str,
}

/// The way to a page from the top. The page itself ends it for screen readers; its title stands beside it for all.
#[component]
pub fn Breadcrumb(
    /// The pages above, the highest first.
    way: Vec<Crumb>,
    /// This page's name.
    #[prop(into)]
    here: String,
) -> impl IntoView {
    let way: Vec<_> = way
        .into_iter()
        .map(|crumb| view! { <li><a href=crumb.href>{crumb.text}</a></li> })
        .collect();
    view! {
        <nav class="breadcrumb" aria-label="Breadcrumb">
            <ol>{way} <li class="visually-hidden" aria-current="page">{here}</li></ol>
        </nav>
    }
}

/// Title, the way to it, what is said beside it and what can be done.
#[component]
pub fn PageHead(
    /// The page's name.
    #[prop(into)]
    title: String,
    /// The page above this one.
    #[prop(optional)]
    crumb: Option<Crumb>,
    /// Badges beside the title.
    #[prop(optional, into)]
    badges: ViewFnOnce,
    /// Buttons on the right.
    #[prop(optional, into)]
    actions: ViewFnOnce,
) -> impl IntoView {
    let way = crumb.map(|crumb| view! { <Breadcrumb way=vec![crumb] here=title.clone() /> });
    view! {
        <div class="page-head">
            <div class="page-title">{way} <h1 tabindex="-1">{title}</h1> <div class="badges">{badges.run()}</div></div>
            <div class="actions">{actions.run()}</div>
        </div>
    }
}

/// A part of a page with its own title.
#[component]
pub fn Card(
    /// Its title.
    #[prop(into)]
    title: String,
    /// What stands beside the title.
    #[prop(optional, into)]
    aside: ViewFnOnce,
    /// What is in it.
    children: Children,
) -> impl IntoView {
    view! {
        <section class="card" aria-label=title.clone()>
            <div class="card-head">
                <h2>{title.clone()}</h2>
                <div class="card-aside">{aside.run()}</div>
            </div>
            {children()}
        </section>
    }
}
