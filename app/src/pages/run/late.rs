//! The page's parts that are loaded after it: each a function that a [`Part`] comes from.

use cascade_api::{RunFile, RunId, SimId, SimStepDigest};
use leptos::prelude::*;

use super::files::Files;
use super::log::Log;
use super::panel::Panel;
use super::request::Request;
use super::sensitivity::Sensitivity;
use crate::data::Packed;
use crate::live::Live;
use crate::pages::timeline::TimelineCard;
use crate::part::Part;

#[cfg_attr(
    not(feature = "ssr"),
    leptos::wasm_split::wasm_split(detail, wasm_split_path = leptos::wasm_split, fallible)
)]
pub(super) fn timeline(live: Live, run: RunId, steps: bool, done: Signal<u64>) -> Part {
    let view = view! {
        <TimelineCard run steps done />
        <Sensitivity live />
    };
    Ok(view.into_any())
}

#[cfg_attr(
    not(feature = "ssr"),
    leptos::wasm_split::wasm_split(detail, wasm_split_path = leptos::wasm_split, fallible)
)]
pub(super) fn request(live: Live, run: RunId, digests: Packed<SimStepDigest>) -> Part {
    // A list of another version of the app shows as none; the page asks for the next one itself.
    let digests = digests.open().unwrap_or_default();
    Ok(view! { <Request live run digests /> }.into_any())
}

#[cfg_attr(
    not(feature = "ssr"),
    leptos::wasm_split::wasm_split(detail, wasm_split_path = leptos::wasm_split, fallible)
)]
pub(super) fn log(live: Live, selected: Memo<Option<SimId>>) -> Part {
    Ok(view! { <Log live selected /> }.into_any())
}

#[cfg_attr(
    not(feature = "ssr"),
    leptos::wasm_split::wasm_split(detail, wasm_split_path = leptos::wasm_split, fallible)
)]
pub(super) fn files(live: Live, run: RunId, files: Packed<RunFile>) -> Part {
    let files = files.open().unwrap_or_default();
    Ok(view! { <Files live run files /> }.into_any())
}

#[cfg_attr(
    not(feature = "ssr"),
    leptos::wasm_split::wasm_split(detail, wasm_split_path = leptos::wasm_split, fallible)
)]
pub(super) fn panel(
    live: Live,
    kernel: Signal<Option<u64>>,
    selected: Memo<Option<SimId>>,
    on_kernel: Callback<Option<u64>>,
    on_sim: Callback<SimId>,
) -> Part {
    Ok(view! { <Panel live kernel selected on_kernel on_sim /> }.into_any())
}
