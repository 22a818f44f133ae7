//! Who may do what: the app's token, a browser's session made from it, and tokens for single sims.
//!
//! Everything is derived from the one token by HMAC-SHA256 under a label of its own, so nothing needs to be
//! stored, and a new token ends every session.

use cascade_api::{SimId, Timestamp};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::config::Secret;

/// How long a browser stays logged in: 30 days.
pub const SESSION_SECONDS: i64 = 30 * 24 * 3600;
/// Name of the session cookie.
pub const SESSION_COOKIE: &str = "cascade_session";

/// Checks what callers present. Without a token every caller is the owner.
#[derive(Clone, Debug)]
pub struct Auth {
    token: Option<Secret>,
}

impl Auth {
    /// Checks against `token`; `None` lets everyone in.
    pub fn new(token: Option<Secret>) -> Self {
        Self { token }
    }

    /// Whether there is anything to check.
    pub fn is_on(&self) -> bool {
        self.token.is_some()
    }

    /// Whether this is the app's token. Takes the same time for every wrong one.
    pub fn is_token(&self, given: &str) -> bool {
        match &self.token {
            None => true,
            // Comparing digests hides the token's length as well.
            Some(token) => same(
                &self.digest("token", token.expose()),
                &self.digest("token", given),
            ),
        }
    }

    /// A token that is good for this sim's own calls and nothing else. Without a token of our own, any text
    /// will do.
    pub fn sim_token(&self, sim: &SimId) -> Secret {
        Secret::new(format!("{sim}.{}", self.digest("sim", sim.as_str())))
    }

    /// Whether this is the sim's token.
    pub fn is_sim_token(&self, sim: &SimId, given: &str) -> bool {
        same(self.sim_token(sim).expose(), given)
    }

    /// A new session's cookie value.
    pub fn session(&self, now: Timestamp) -> String {
        let expiry = now.as_micros() / 1_000_000 + SESSION_SECONDS;
        format!("{expiry}.{}", self.digest("session", &expiry.to_string()))
    }

    /// Whether this is a session that has not run out.
    pub fn is_session(&self, given: &str, now: Timestamp) -> bool {
        let Some((expiry, digest)) = given.split_once('.') else {
            return false;
        };
        same(&self.digest("session", expiry), digest)
            && expiry
                .parse::<i64>()
                .is_ok_and(|expiry| expiry > now.as_micros() / 1_000_000)
    }

    fn digest(&self, label: &str, text: &str) -> String {
        let key = self.token.as_ref().map_or("", Secret::expose);
        // An HMAC takes a key of any length, so this cannot fail; an empty digest would match nothing.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else {
            return String::new();
        };
        mac.update(label.as_bytes());
        mac.update(b"\0");
        mac.update(text.as_bytes());
        hex::encode(mac.finalize().into_bytes())
    }
}

fn same(expected: &str, given: &str) -> bool {
    !expected.is_empty() && bool::from(expected.as_bytes().ct_eq(given.as_bytes()))
}

#[cfg(test)]
mod tests;
