//! What is pressed, filled in or chosen.

use leptos::prelude::*;

use super::LONG;
use crate::ui::{
    Breadcrumb, Button, ButtonLink, ConfirmDialog, CopyButton, Crumb, DocLink, Field, Icon, IconName, Look,
    NumberInput, SearchInput, SelectInput, SelectOption, Switch, Tab, Tabs, TextInput, use_toasts,
};

/// Buttons by look and state, and links.
#[component]
pub(super) fn Buttons() -> impl IntoView {
    let looks = [
        (Look::Primary, "Primary"),
        (Look::Plain, "Plain"),
        (Look::Ghost, "Ghost"),
        (Look::Danger, "Danger"),
    ];
    let row = |disabled: bool, busy: bool| {
        let buttons = looks.map(|(look, name)| {
            view! { <Button look disabled busy on_press=|()| ()>{name}</Button> }
        });
        view! { <div class="actions">{buttons}</div> }
    };
    let way = vec![Crumb {
        href: "/runs",
        text: "Runs",
    }];
    view! {
        {row(false, false)}
        <p class="muted small">"Disabled, then at work"</p>
        {row(true, false)}
        {row(false, true)}
        <div class="actions">
            <ButtonLink href="/ui">"A link as a button"</ButtonLink>
            <Button look=Look::Ghost label="Add a row" on_press=|()| ()>
                <Icon name=IconName::Plus />
            </Button>
            <CopyButton text="copied from the components page" label="Copy a sentence" />
            <a href="/ui">"A link"</a>
            <DocLink href="/docs">"A link to the documents"</DocLink>
            <Breadcrumb way here="Components" />
        </div>
    }
}

/// Fields: filled, empty, wrong, disabled, with a refused choice.
#[component]
pub(super) fn Fields() -> impl IntoView {
    let text = |text: &str| RwSignal::new(text.to_owned());
    let options = vec![
        SelectOption {
            value: "a".to_owned(),
            label: "SM90_H100".to_owned(),
            refused: None,
        },
        SelectOption {
            value: "b".to_owned(),
            label: LONG.to_owned(),
            refused: Some("sm_80, but the trace is sm_90".to_owned()),
        },
    ];
    let wrong = || Signal::derive(|| Some("Letters, digits, - and _ only".to_owned()));
    let too_many = || Signal::derive(|| Some("A whole number from 1 to 64".to_owned()));
    let chosen = RwSignal::new(1_u8);
    let choices = [(0, "Off"), (1, "On"), (2, "Automatic")];
    let choices = choices.map(|(value, name)| (value, name.to_owned())).to_vec();
    view! {
        <div class="form-grid">
            <Field label="Name" id="ui-name" hint="What others see">
                <TextInput id="ui-name" value=text("demo-opt-125m") />
            </Field>
            <Field label="Name, wrong" id="ui-wrong" error=wrong()>
                <TextInput id="ui-wrong" value=text("demo opt") invalid=true />
            </Field>
            <Field label="Name, disabled" id="ui-disabled">
                <TextInput id="ui-disabled" value=text("fixed") disabled=true />
            </Field>
            <Field label="Long text" id="ui-long">
                <TextInput id="ui-long" value=text(LONG) />
            </Field>
            <Field label="GPU" id="ui-gpu">
                <SelectInput id="ui-gpu" value=text("a") options invalid=false />
            </Field>
            <Field label="Simulations" id="ui-count" error=too_many()>
                <NumberInput id="ui-count" value=text("65") range=(1, 64) invalid=true />
            </Field>
        </div>
        <div class="actions">
            <SearchInput label="Search components" value=RwSignal::new(String::new()) />
            <Switch label="Mode" choices chosen on_choose=move |to| chosen.set(to) />
            <label class="check"><input type="checkbox" checked /> "A choice of its own"</label>
        </div>
    }
}

/// Tabs, moved between by arrows.
#[component]
pub(super) fn TabViews() -> impl IntoView {
    let tab = |title, text: &'static str| Tab {
        title,
        view: view! { <p class="muted">{text}</p> }.into_any(),
    };
    let tabs = vec![
        tab(
            "Kernels",
            "Arrows, Home and End move between the tabs; Tab goes into the view.",
        ),
        tab("Steps", "The second view."),
        tab("Requests", "The third view."),
    ];
    view! { <Tabs label="Views" id="ui-tabs" tabs /> }
}

/// A dialog, and messages about what was done.
#[component]
pub(super) fn Dialogs() -> impl IntoView {
    let asked = RwSignal::new(false);
    let toasts = use_toasts();
    view! {
        <div class="actions">
            <Button look=Look::Danger on_press=move |()| asked.set(true)>"Delete…"</Button>
            <Button on_press=move |()| toasts.done("Saved")>"Say that it went well"</Button>
            <Button on_press=move |()| toasts.failed("The app could not be reached; nothing was saved.")>
                "Say that it failed"
            </Button>
            <span class="badge" data-tip="Shown with the pointer and with the focus; Escape takes it away." tabindex="0">
                "Tooltip"
            </span>
        </div>
        <ConfirmDialog
            open=asked
            title="Delete nothing?"
            confirm="Delete"
            on_confirm=move |()| toasts.done("Deleted nothing")
        >
            <p>"The focus stays in here until this is answered, and goes back to the button."</p>
        </ConfirmDialog>
    }
}
