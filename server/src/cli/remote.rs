//! The server that a command speaks to.

use cascade_client::Client;

use super::Result;

/// Where the server is and who we are.
#[derive(Debug, clap::Args)]
pub(crate) struct Remote {
    /// The app's address
    #[arg(long, env = "CASCADE_URL", default_value = "http://127.0.0.1:8000")]
    pub(crate) url: String,
    /// The app's token
    #[arg(
        long,
        env = "CASCADE_TOKEN",
        default_value = "",
        hide_env_values = true,
        hide_default_value = true
    )]
    pub(crate) token: String,
}

impl Remote {
    pub(crate) fn client(&self) -> Result<Client> {
        Ok(Client::new(&self.url, self.token.trim())?)
    }
}
