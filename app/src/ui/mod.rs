//! The design system: small components that all pages share. Their looks live in `style/`.

mod badge;
mod button;
mod code;
mod dialog;
mod feedback;
mod field;
mod gpu_notes;
mod icon;
mod loaded;
mod measure;
mod page;
mod pager;
mod refusal;
mod save;
mod skeleton;
mod stat;
mod switch;
mod table;
mod tabs;
#[cfg(test)]
mod tests;
mod time;
mod toast;
mod tooltip;
mod r#virtual;

pub use badge::{
    Badge, EngineBadge, ReplayBadge, RunBadge, SampleBadge, SampleNote, SimBadge, SyntheticBadge, Tone,
    TraceBadge, TraceMarks,
};
pub use button::{Button, ButtonLink, DocLink, Look};
pub(crate) use code::copy_text;
pub use code::{CodeBlock, CopyButton};
pub use dialog::{ConfirmDialog, Dialog};
pub use feedback::{Empty, Failure, Notice};
pub(crate) use feedback::{FailureText, answer_with};
pub(crate) use field::has_words;
pub use field::{Field, NumberInput, SearchInput, SelectInput, SelectOption, TextInput};
pub use gpu_notes::GpuNotes;
pub(crate) use gpu_notes::{NoteText, engine_gpus, status_word};
pub use icon::{Icon, IconName};
pub use loaded::{Kept, kept, loaded};
pub(crate) use measure::width_of;
pub use page::{Breadcrumb, Card, Crumb, PageHead};
pub use pager::Pager;
pub(crate) use refusal::{Refusal, focus_on, plain, plain_answer};
pub(crate) use save::save_text;
pub use skeleton::Skeleton;
pub use stat::{Progress, Stat, Tile};
pub use switch::Switch;
pub use table::{DataTable, SortTable};
pub use tabs::{Tab, Tabs};
pub use time::{Age, Elapsed, LocalTime};
pub use toast::{Toaster, Toasts, use_toasts};
pub use tooltip::TooltipHost;
pub use r#virtual::{VirtualColumn, VirtualTable};
