//! Short messages about what was just done. They stand at the edge of the window for a few seconds; screen readers
//! hear them from a live region that is always there.

use std::time::Duration;

use leptos::prelude::*;

use super::{Icon, IconName, Tone};

/// How long a message stays. One about a failure stays until it is closed.
const STAYS: Duration = Duration::from_secs(5);
/// Most messages at once; the oldest makes room.
const MOST: usize = 4;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Toast {
    key: u64,
    tone: Tone,
    text: String,
}

/// The messages shown now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    last: StoredValue<u64>,
}

impl Toasts {
    /// Says that something was done.
    pub fn done(self, text: impl Into<String>) {
        let key = self.show(Tone::Good, text.into());
        set_timeout(move || self.close(key), STAYS);
    }

    /// Says that something failed.
    pub fn failed(self, text: impl Into<String>) {
        self.show(Tone::Bad, text.into());
    }

    fn show(self, tone: Tone, text: String) -> u64 {
        let key = self.last.get_value() + 1;
        self.last.set_value(key);
        self.shown.update(|shown| {
            shown.push(Toast { key, tone, text });
            if shown.len() > MOST {
                shown.remove(0);
            }
        });
        key
    }

    fn close(self, key: u64) {
        self.shown.update(|shown| shown.retain(|toast| toast.key != key));
    }
}

/// The page's messages. Outside the app, as in tests of one component, they go nowhere.
pub fn use_toasts() -> Toasts {
    use_context::<Toasts>().unwrap_or_default()
}

/// Where messages are shown; one in the whole app.
#[component]
pub fn Toaster(
    /// The messages.
    toasts: Toasts,
) -> impl IntoView {
    let one = move |toast: Toast| {
        let role = (toast.tone == Tone::Bad).then_some("alert");
        let icon = match toast.tone {
            Tone::Bad => IconName::Alert,
            _ => IconName::Check,
        };
        let key = toast.key;
        view! {
            <div class="toast" data-tone=toast.tone.as_str() role=role>
                <Icon name=icon />
                <span>{toast.text}</span>
                <button type="button" class="button ghost icon-only" aria-label="Close" on:click=move |_| toasts.close(key)>
                    <Icon name=IconName::Cross />
                </button>
            </div>
        }
    };
    view! {
        <div class="toasts" role="status" aria-live="polite" aria-atomic="false">
            <For each=move || toasts.shown.get() key=|toast| toast.key children=one />
        </div>
    }
}
