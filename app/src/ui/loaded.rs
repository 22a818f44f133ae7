//! The one way pages wait for data: rendered on the server with the data in it, shown as it was while new data
//! is on its way, a plain message when it fails.

use std::time::Duration;

use leptos::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Failure, Skeleton};
use crate::data::DataError;

/// How often a page that is not yet final asks again.
const POLL: Duration = Duration::from_secs(2);

/// Shows what `resource` brings through `render`, or why it brought nothing.
pub fn loaded<T, V>(
    resource: Resource<Result<T, DataError>>,
    render: impl Fn(T) -> V + Clone + Send + Sync + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + Serialize + DeserializeOwned + 'static,
    V: IntoView + 'static,
{
    let view = move || {
        let render = render.clone();
        Suspend::new(async move {
            match resource.await {
                Ok(data) => render(data).into_any(),
                Err(error) => view! { <Failure error on_retry=move |()| resource.refetch() /> }.into_any(),
            }
        })
    };
    view! { <Transition fallback=|| view! { <Skeleton /> }>{view}</Transition> }
}

/// Asks for the data again every two seconds while `unfinished` holds for it.
pub fn poll_while<T>(resource: Resource<Result<T, DataError>>, unfinished: impl Fn(&T) -> bool + 'static)
where
    T: Clone + Send + Sync + Serialize + DeserializeOwned + 'static,
{
    Effect::new(move || {
        // Runs again whenever data has arrived, so each answer decides whether there is a next question.
        let again = resource.with(|data| matches!(data, Some(Ok(data)) if unfinished(data)));
        if again && let Ok(timer) = set_timeout_with_handle(move || resource.refetch(), POLL) {
            on_cleanup(move || timer.clear());
        }
    });
}
