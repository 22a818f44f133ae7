//! The log of the selected sim: it grows, can be searched, and is read back as far as wanted.

use cascade_api::SimId;
use cascade_scene::format;
use cascade_scene::log::{LogText, cut};
use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;

use crate::data::{self, segment};
use crate::live::Live;
use crate::ui::{ButtonLink, Icon, IconName, copy_text, use_toasts};

/// Height of a line, px; the style sheet says the same.
const LINE: f64 = 18.0;
/// Lines in the document: those in sight and some above and below.
const SHOWN: usize = 60;
/// Lines kept above those in sight.
const OVER: usize = 20;

/// The log as far as it was read.
#[component]
pub(super) fn Log(
    /// The run.
    live: Live,
    /// The sim whose log is open.
    selected: Memo<Option<SimId>>,
) -> impl IntoView {
    let follow = RwSignal::new(true);
    let frame = NodeRef::<html::Div>::new();
    let top = RwSignal::new(0.0);
    let log = live.log;
    let words = RwSignal::new(String::new());
    let hits = Memo::new(move |_| log.with(|log| log.find(&words.read())));
    let hit = RwSignal::new(0_usize);
    let reading = RwSignal::new(false);

    let scroll_to = move |line: usize| {
        // After what is new is laid out, or the place would be another.
        request_animation_frame(move || {
            if let Some(Some(frame)) = frame.try_get_untracked() {
                let middle = f64::from(frame.client_height()) / 2.0;
                frame.set_scroll_top((line as f64 * LINE - middle).max(0.0) as i32);
            }
        });
    };
    Effect::new(move || {
        if log.with(LogText::is_empty) {
            // Another log begins at its own first line.
            top.set(0.0);
        }
    });
    Effect::new(move || {
        let lines = log.with(LogText::len);
        if follow.get() && lines > 0 {
            scroll_to(usize::from(u16::MAX).max(lines * 2));
        }
    });
    let turn = move |by: isize| {
        let all = hits.with(Vec::len);
        if all == 0 {
            return;
        }
        follow.set(false);
        hit.update(|hit| {
            *hit = (hit.min(&mut (all - 1)).cast_signed() + by)
                .rem_euclid(all.cast_signed())
                .cast_unsigned()
        });
        if let Some(line) = hits.with(|hits| hits.get(hit.get_untracked()).copied()) {
            scroll_to(line);
        }
    };
    let on_search = move |event| {
        words.set(event_target_value(&event));
        hit.set(0);
        turn(0);
    };
    let on_search_key = move |event: KeyboardEvent| {
        if event.key() == "Enter" {
            event.prevent_default();
            turn(if event.shift_key() { -1 } else { 1 });
        }
    };
    let told = move || {
        let (all, empty) = (hits.with(Vec::len), words.with(String::is_empty));
        match (empty, all) {
            (true, _) => String::new(),
            (false, 0) => "no hit".to_owned(),
            (false, all) => format!("{} of {}", hit.get().min(all - 1) + 1, format::count(all as u64)),
        }
    };
    // Reads pieces before what is here: one, or all there are room for.
    let read_back = move |all: bool| {
        let Some(sim) = selected.get_untracked().filter(|_| !reading.get_untracked()) else {
            return;
        };
        reading.set(true);
        follow.set(false);
        leptos::task::spawn_local_scoped(async move {
            // The page may be left while an answer is under way: nothing of it is there any more then.
            loop {
                let state = log.try_with_untracked(|log| (log.unread(), log.has_room(), log.len()));
                let Some((to, true, before)) = state.filter(|(to, ..)| *to > 0) else {
                    break;
                };
                let Ok(piece) = data::log_before(sim.clone(), to).await else {
                    break;
                };
                if live.followed.try_get_untracked().flatten().as_ref() != Some(&sim) {
                    break;
                }
                let hits_before = hits.with_untracked(Vec::len);
                let grown = log.try_update(|log| {
                    log.before(&piece.text, piece.from);
                    log.len().saturating_sub(before)
                });
                // The line that was looked at stays the hit: it has more hits before it now.
                hit.update(|hit| *hit += hits.with_untracked(Vec::len).saturating_sub(hits_before));
                if !all {
                    scroll_to(grown.unwrap_or(0));
                    break;
                }
            }
            _ = reading.try_set(false);
        });
    };
    let unread = move || {
        let bytes = log.with(LogText::unread);
        let room = log.with(LogText::has_room);
        (bytes > 0).then(|| {
            let said = format!("{} before this", format::bytes(bytes));
            let buttons = room.then(|| {
                let off = move || reading.get();
                view! {
                    <button type="button" class="button ghost" disabled=off on:click=move |_| read_back(false)>"Read back"</button>
                    <button type="button" class="button ghost" disabled=off on:click=move |_| read_back(true)>"Read all"</button>
                }
            });
            view! { <span class="muted small">{said}</span> {buttons} }
        })
    };
    let toasts = use_toasts();
    let copy = move |_| {
        let text = log.with_untracked(LogText::text);
        leptos::task::spawn_local(async move {
            copy_text(toasts, &text).await;
        });
    };
    let name = move || {
        let id = selected.get()?;
        live.run.with(|run| {
            let sim = run.sims.iter().find(|sim| sim.id == id)?;
            Some(format!("Log of {} #{}", sim.gpu_config, sim.replica))
        })
    };
    let full = move || {
        let href = format!("/api/sims/{}/log", segment(selected.get()?.as_str()));
        Some(view! {
            <ButtonLink href=href download=true>
                <Icon name=IconName::Download />
                "Full log"
            </ButtonLink>
        })
    };
    let from = Memo::new(move |_| ((top.get() / LINE) as usize).saturating_sub(OVER) / 10 * 10);
    let lines = move || {
        let from = from.get();
        let current = hits.with(|hits| hits.get(hit.get()).copied());
        log.with(|log| {
            let line = |at: usize| {
                let line = log.line(at)?;
                let pieces: Vec<_> = words.with(|words| {
                    cut(line, words)
                        .into_iter()
                        .map(|(piece, hit)| match hit {
                            true => view! { <mark>{piece.to_owned()}</mark> }.into_any(),
                            false => piece.to_owned().into_any(),
                        })
                        .collect()
                });
                Some(view! { <div class="log-line" class:hit=current == Some(at)>{pieces}</div> })
            };
            (from..(from + SHOWN).min(log.len()))
                .filter_map(line)
                .collect::<Vec<_>>()
        })
    };
    let nothing = move || match log.with(LogText::is_read) {
        true => "No output yet.",
        false => "Reading the log…",
    };
    let height = move || format!("height:{}px", log.with(LogText::len) as f64 * LINE);
    let shift = move || format!("transform:translateY({}px)", from.get() as f64 * LINE);
    let on_scroll = move |_| {
        if let Some(frame) = frame.get_untracked() {
            top.set(f64::from(frame.scroll_top()));
        }
    };
    view! {
        <section class="card" id="log" aria-label="Log">
            <div class="card-head">
                <h2>{move || name().unwrap_or_else(|| "Log".to_owned())}</h2>
                <div class="card-aside">
                    <label class="check">
                        <input
                            type="checkbox"
                            checked=true
                            prop:checked=move || follow.get()
                            on:change=move |event| follow.set(event_target_checked(&event))
                        />
                        "Follow"
                    </label>
                    <button type="button" class="button" on:click=copy>
                        <Icon name=IconName::Copy />
                        "Copy"
                    </button>
                    {full}
                </div>
            </div>
            <div class="table-bar">
                <div class="hit-search" role="search" aria-label="Log">
                    <input class="input" type="search" placeholder="Search the log" aria-label="Search the log" on:input=on_search on:keydown=on_search_key />
                    <button type="button" class="button ghost" aria-label="Previous hit" on:click=move |_| turn(-1)>"↑"</button>
                    <button type="button" class="button ghost" aria-label="Next hit" on:click=move |_| turn(1)>"↓"</button>
                </div>
                <span class="muted small log-hits" role="status">{told}</span>
                <span class="log-unread">{unread}</span>
            </div>
            <Show
                when=move || log.with(|log| !log.is_empty())
                fallback=move || view! { <p class="muted">{nothing}</p> }
            >
                <div class="log" tabindex="0" role="region" aria-label="Lines of the log" node_ref=frame on:scroll=on_scroll>
                    <div class="log-space" style=height>
                        <div class="log-lines" style=shift>{lines}</div>
                    </div>
                </div>
            </Show>
        </section>
    }
}
