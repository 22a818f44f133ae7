//! Progress bars, shown only where a person watches.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::out::watched;

/// A bar over `total` bytes.
pub(crate) fn bytes(total: u64) -> ProgressBar {
    styled(
        total,
        "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta} {msg}",
    )
}

/// A bar over `total` things.
pub(crate) fn count(total: u64) -> ProgressBar {
    styled(total, "{bar:30} {pos}/{len} {eta} {msg}")
}

fn styled(total: u64, template: &str) -> ProgressBar {
    let target = if watched() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
