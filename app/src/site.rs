//! Facts about this deployment that every page shows, known before the first paint on both sides.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

/// Name of the `<meta>` element that carries [`Site`] from the server to the browser.
pub const SITE_META: &str = "cascade-site";

/// What pages know about the deployment. The server fills it in from its settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Hash of the built browser files; a part of their addresses, so that caches never mix two builds.
    pub assets: String,
    /// The app's version.
    pub version: String,
    /// The workspace's name, if it has one.
    pub workspace: Option<String>,
    /// Whether the app asks for a token: only then is there something to log out of.
    pub auth: bool,
    /// Where scripts reach the API, such as `http://127.0.0.1:8000`.
    pub url: String,
    /// Where profilers upload to.
    pub s3_endpoint: Option<String>,
}

impl Site {
    /// The workspace's name as the top bar shows it.
    pub fn name(&self) -> &str {
        self.workspace.as_deref().unwrap_or("workspace")
    }

    /// The address of one built file, such as `/pkg/1a2b3c/cascade.js`.
    pub fn asset(&self, name: &str) -> String {
        format!("/pkg/{}/{name}", self.assets)
    }
}

/// This page's [`Site`]: from the context, which `App` fills.
pub fn use_site() -> Site {
    use_context::<Site>().unwrap_or_default()
}

/// Where `App` finds the [`Site`]: the server's context, or the page's `<meta>` in the browser.
pub(crate) fn initial_site() -> Site {
    #[cfg(feature = "hydrate")]
    {
        let read = || {
            let meta = document()
                .query_selector(&format!("meta[name={SITE_META}]"))
                .ok()??;
            serde_json::from_str(&meta.get_attribute("content")?).ok()
        };
        read().unwrap_or_default()
    }
    #[cfg(not(feature = "hydrate"))]
    use_site()
}
