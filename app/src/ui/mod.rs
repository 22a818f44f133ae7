//! The design system: small components that all pages share. Their looks live in `style/`.

mod badge;
mod button;
mod code;
mod dialog;
mod feedback;
mod field;
mod icon;
mod loaded;
mod measure;
mod page;
mod pager;
mod stat;
mod switch;
mod table;
#[cfg(test)]
mod tests;
mod time;

pub use badge::{
    Badge, EngineBadge, ReplayBadge, RunBadge, SampleBadge, SampleNote, SimBadge, Tone, TraceBadge,
    TraceMarks,
};
pub use button::{Button, ButtonLink, Look};
pub use code::{CodeBlock, CopyButton};
pub use dialog::ConfirmDialog;
pub(crate) use feedback::answer_with;
pub use feedback::{Empty, Failure, Notice};
pub use field::{Field, NumberInput, SelectInput, SelectOption};
pub use icon::{Icon, IconName};
pub use loaded::{loaded, poll_while};
pub(crate) use measure::width_of;
pub use page::{Card, Crumb, PageHead};
pub use pager::Pager;
pub use stat::{Progress, Stat};
pub use switch::Switch;
pub use table::{DataTable, SortTable};
pub use time::{Age, Elapsed, LocalTime};
