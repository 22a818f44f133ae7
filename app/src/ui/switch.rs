//! A choice between a few views of the same thing.

use leptos::prelude::*;

/// Buttons of which one is pressed.
#[component]
pub fn Switch<T>(
    /// What is chosen, for screen readers.
    #[prop(into)]
    label: String,
    /// Choices with their names.
    choices: Vec<(T, String)>,
    /// The choice now.
    #[prop(into)]
    chosen: Signal<T>,
    /// Takes another choice.
    #[prop(into)]
    on_choose: Callback<T>,
) -> impl IntoView
where
    T: Clone + PartialEq + Send + Sync + 'static,
{
    let buttons: Vec<_> = choices
        .into_iter()
        .map(|(choice, name)| {
            let this = choice.clone();
            let pressed = move || chosen.with(|chosen| *chosen == this).to_string();
            view! {
                <button
                    type="button"
                    class="segment"
                    aria-pressed=pressed
                    on:click=move |_| on_choose.run(choice.clone())
                >
                    {name}
                </button>
            }
        })
        .collect();
    view! { <div class="segmented" role="group" aria-label=label>{buttons}</div> }
}
