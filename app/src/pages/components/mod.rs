//! The design system on one page: every component in every state it has.

mod controls;
mod feedback;
mod figures;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::ui::{Card, PageHead};
use controls::{Buttons, Dialogs, Fields, TabViews};
use feedback::{Badges, Messages, Waiting};
use figures::{Colours, Figures, Tables};

/// A name longer than the room it has, as kernels have them.
const LONG: &str =
    "void_cutlass_90_tensorop_s1688gemm_128x128_32x5_nn_align4_Kernel2_with_a_name_that_never_ends";

/// Every component.
#[component]
pub(crate) fn Components() -> impl IntoView {
    view! {
        <Title text="Components" />
        <div class="page">
            <PageHead title="Components" />
            <p class="muted">"What the pages are made of, in every state. Nothing here changes the workspace."</p>
            <Card title="Buttons and links"><Buttons /></Card>
            <Card title="Fields"><Fields /></Card>
            <Card title="Tabs"><TabViews /></Card>
            <Card title="Dialogs and messages"><Dialogs /></Card>
            <Card title="Badges"><Badges /></Card>
            <Card title="Notices and code"><Messages /></Card>
            <Card title="Waiting, empty and failed"><Waiting /></Card>
            <Card title="Figures"><Figures /></Card>
            <Card title="Tables"><Tables /></Card>
            <Card title="Colours"><Colours /></Card>
        </div>
    }
}
