//! The one way pages wait for data: rendered on the server with the data in it, shown as it was while new data
//! is on its way, a plain message when it fails.

use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Failure, Notice, Skeleton, Tone};
use crate::data::DataError;

/// How often a page that is not yet final asks again.
const POLL: Duration = Duration::from_secs(2);
/// Of so many times, one that nothing is expected of asks once.
const RARELY: u32 = 3;

/// Shows what `resource` brings through `render`, or why it brought nothing.
pub fn loaded<T, V>(
    resource: Resource<Result<T, DataError>>,
    render: impl Fn(T) -> V + Clone + Send + Sync + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + Serialize + DeserializeOwned + 'static,
    V: IntoView + 'static,
{
    // The next try of a page that the app did not answer; one at a time.
    let again = StoredValue::new(None::<TimeoutHandle>);
    let cancel = move || {
        if let Some(timer) = again.try_update_value(Option::take).flatten() {
            timer.clear();
        }
    };
    on_cleanup(cancel);
    let view = move || {
        let render = render.clone();
        Suspend::new(async move {
            let answer = resource.await;
            cancel();
            match answer {
                Ok(data) => render(data).into_any(),
                Err(error) => {
                    if error.status == 0 {
                        // Asked again by itself once the app may be back; on the server there is no such failure.
                        let timer = set_timeout_with_handle(move || resource.refetch(), POLL);
                        again.set_value(timer.ok());
                    }
                    view! { <Failure error on_retry=move |()| resource.refetch() /> }.into_any()
                }
            }
        })
    };
    view! { <Transition fallback=|| view! { <Skeleton /> }>{view}</Transition> }
}

/// What a page shows, kept as the server knows it.
#[derive(Debug)]
pub struct Kept<T: 'static> {
    /// The latest of it; it changes only when an answer differs, so what is in use on the page stays.
    pub now: RwSignal<T>,
    /// Why the last answer did not come.
    lost: RwSignal<Option<DataError>>,
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Kept<T> {}

impl<T: PartialEq + Send + Sync> Kept<T> {
    /// Takes an answer, or why none came.
    fn take(self, answer: Result<Option<T>, DataError>) {
        match answer {
            Ok(now) => {
                if self.lost.with_untracked(Option::is_some) {
                    self.lost.set(None);
                }
                if let Some(now) = now.filter(|now| self.now.with_untracked(|old| old != now)) {
                    self.now.set(now);
                }
            }
            // Said once, not with each try.
            Err(error) if self.lost.with_untracked(|lost| lost.as_ref() != Some(&error)) => {
                self.lost.set(Some(error));
            }
            Err(_) => {}
        }
    }

    /// What is said while no answer comes: what is shown may be old.
    pub fn warning(self) -> impl IntoView {
        move || {
            self.lost.get().map(|error| {
                view! {
                    <Notice tone=Tone::Warn>
                        <p>{error.to_string()} " What is shown may be old; the app is asked again every few seconds."</p>
                    </Notice>
                }
            })
        }
    }
}

/// Keeps `first` as the server knows it: `ask` is called with what is shown, every two seconds while it is
/// `unfinished` or no answer came, more rarely otherwise, and not while nobody looks at the page. Its answer is
/// `None` where nothing changed.
pub fn kept<T, F>(
    first: T,
    unfinished: impl Fn(&T) -> bool + 'static,
    ask: impl Fn(T) -> F + 'static,
) -> Kept<T>
where
    T: Clone + PartialEq + Send + Sync + 'static,
    F: Future<Output = Result<Option<T>, DataError>> + 'static,
{
    let kept = Kept {
        now: RwSignal::new(first),
        lost: RwSignal::new(None),
    };
    let (waited, asking) = (StoredValue::new(0), StoredValue::new(false));
    let ask = Rc::new((unfinished, ask));
    // Only in a browser: a server renders once.
    Effect::new(move || {
        let ask = Rc::clone(&ask);
        let tick = move || {
            let (unfinished, ask) = &*ask;
            let hidden = document().hidden();
            let soon = kept.lost.with_untracked(Option::is_some) || kept.now.with_untracked(unfinished);
            // Back at the page, the first tick asks.
            let ticks = if hidden || soon {
                RARELY
            } else {
                waited.get_value() + 1
            };
            waited.set_value(ticks);
            if hidden || asking.get_value() || ticks < RARELY {
                return;
            }
            waited.set_value(0);
            asking.set_value(true);
            let answer = ask(kept.now.get_untracked());
            spawn_local(async move {
                let answer = answer.await;
                // The page may have been left meanwhile.
                if asking.try_set_value(false).is_none() {
                    kept.take(answer);
                }
            });
        };
        if let Ok(timer) = set_interval_with_handle(tick, POLL) {
            on_cleanup(move || timer.clear());
        }
    });
    kept
}
