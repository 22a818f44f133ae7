//! What every handler can reach.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::auth::Auth;
use crate::metrics::Requests;
use crate::runs::Service;

/// State of the HTTP app; cheap to clone.
#[derive(Clone, Debug)]
pub struct AppState {
    /// Everything the server does.
    pub service: Service,
    /// Who may do what.
    pub auth: Auth,
    /// Counts of answers.
    pub requests: Arc<Requests>,
    /// Ends open streams when the server stops.
    pub shutdown: CancellationToken,
}

impl AppState {
    /// State around a service.
    pub fn new(service: Service, shutdown: CancellationToken) -> Self {
        Self {
            auth: service.auth.clone(),
            requests: Arc::default(),
            service,
            shutdown,
        }
    }
}
