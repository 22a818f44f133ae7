//! Line icons, 16 × 16, drawn with the text's colour. Always beside a text or in a labelled control.

use leptos::prelude::*;

/// Which icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IconName {
    /// The product's mark.
    Cascade,
    /// Theme as the system says.
    Monitor,
    /// Light theme.
    Sun,
    /// Dark theme.
    Moon,
    /// Add a row.
    Plus,
    /// Remove a row, close.
    Cross,
    /// Copy to the clipboard.
    Copy,
    /// Done.
    Check,
    /// Download a file.
    Download,
    /// Go on, open.
    Chevron,
    /// Something is wrong.
    Alert,
    /// Look for something.
    Search,
}

impl IconName {
    /// The path in a 16 × 16 box.
    const fn path(self) -> &'static str {
        match self {
            Self::Cascade => "M2 3.5h7M4.5 8h7M7 12.5h7",
            Self::Monitor => "M2 3h12v8H2zM6 14h4M8 11v3",
            Self::Sun => {
                "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13"
            }
            Self::Moon => "M13.5 9.8A6 6 0 1 1 6.2 2.5a4.8 4.8 0 0 0 7.3 7.3z",
            Self::Plus => "M8 3v10M3 8h10",
            Self::Cross => "M4 4l8 8M12 4l-8 8",
            Self::Copy => "M6 6h7.5v7.5H6zM3.5 10H2.5V2.5H10v1",
            Self::Check => "M3 8.5l3.2 3L13 4.5",
            Self::Download => "M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.5h11",
            Self::Chevron => "M6 3.5 10.5 8 6 12.5",
            Self::Search => "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.4 10.4l3.1 3.1",
            Self::Alert => "M8 2 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.2",
        }
    }
}

/// One icon; hidden from screen readers.
#[component]
pub fn Icon(
    /// Which one.
    name: IconName,
) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
            <path
                d=name.path()
                fill="none"
                stroke="currentColor"
                stroke-width="1.5"
                stroke-linecap="round"
                stroke-linejoin="round"
            />
        </svg>
    }
}
