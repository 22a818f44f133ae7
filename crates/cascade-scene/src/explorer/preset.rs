//! Loads to begin with. The lengths are round numbers of the order that published traces of such uses have.

use super::field::{Key, Section};
use super::state::State;

/// A named load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it stands for.
    pub hint: &'static str,
    values: &'static [(Key, &'static str)],
}

/// Every preset, in the order of the page.
pub const PRESETS: [Preset; 4] = [
    Preset {
        name: "Chat",
        hint: "Single questions with short answers, Poisson arrivals.",
        values: &[],
    },
    Preset {
        name: "RAG",
        hint: "Long prompts from eight document sets, short answers.",
        values: &[
            (Key::Requests, "250"),
            (Key::Rate, "5"),
            (Key::Prompt, "2000"),
            (Key::PromptSpread, "0.4"),
            (Key::Output, "160"),
            (Key::OutputSpread, "0.5"),
            (Key::Prefix, "512"),
            (Key::Groups, "8"),
            (Key::SloTtft, "1000"),
        ],
    },
    Preset {
        name: "Code completion",
        hint: "Bursts of middling prompts with a line or two of output, which must come at once.",
        values: &[
            (Key::Load, "gamma"),
            (Key::Requests, "600"),
            (Key::Rate, "20"),
            (Key::Burstiness, "0.5"),
            (Key::Prompt, "800"),
            (Key::PromptSpread, "0.5"),
            (Key::Output, "24"),
            (Key::OutputSpread, "0.5"),
            (Key::SloTtft, "200"),
            (Key::SloTpot, "30"),
        ],
    },
    Preset {
        name: "Agents",
        hint: "Conversations that grow by tool calls; every turn repeats what came before.",
        values: &[
            (Key::Load, "sessions"),
            (Key::Sessions, "24"),
            (Key::Turns, "6"),
            (Key::Rate, "2"),
            (Key::Think, "1"),
            (Key::Prompt, "250"),
            (Key::Output, "150"),
            (Key::Prefix, "1504"),
            (Key::SloTtft, "1000"),
        ],
    },
];

/// What a preset decides.
fn decided(key: Key) -> bool {
    let goal = matches!(key, Key::SloTtft | Key::SloTpot | Key::SloE2e);
    goal || (matches!(key.field().section, Section::Load | Section::Lengths) && key != Key::Seed)
}

impl Preset {
    /// The state with this load.
    pub fn apply(&self, state: &mut State) {
        for field in super::field::FIELDS.iter().filter(|field| decided(field.key)) {
            let given = self.values.iter().find(|(key, _)| *key == field.key);
            state.set(field.key, given.map_or(field.default, |(_, value)| value));
        }
        state.file = None;
    }

    /// Whether the state has this load.
    pub fn is_in(&self, state: &State) -> bool {
        let mut with = state.clone();
        self.apply(&mut with);
        with == *state
    }
}
