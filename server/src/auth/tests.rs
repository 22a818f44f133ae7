//! Tokens, sessions and whom they let in.

use cascade_api::Timestamp;

use super::{Auth, SESSION_SECONDS};
use crate::config::Secret;

fn auth(token: &str) -> Auth {
    Auth::new(Some(Secret::new(token)))
}

#[test]
fn only_the_token_itself_is_the_token() {
    let auth = auth("s3cret");
    assert!(auth.is_on() && auth.is_token("s3cret"));
    for wrong in ["", "s3cre", "s3cret ", "S3CRET", "s3cret1"] {
        assert!(!auth.is_token(wrong), "{wrong}");
    }
    assert!(Auth::new(None).is_token("anything"));
}

#[test]
fn a_sims_token_is_good_for_that_sim_alone() {
    let auth = auth("s3cret");
    let token = auth.sim_token(&"sim-1".into());
    assert!(token.expose().starts_with("sim-1."));
    assert!(auth.is_sim_token(&"sim-1".into(), token.expose()));
    assert!(!auth.is_sim_token(&"sim-2".into(), token.expose()));
    assert!(!auth.is_token(token.expose()));
    assert!(!self::auth("other").is_sim_token(&"sim-1".into(), token.expose()));
}

#[test]
fn a_session_ends_in_time_and_cannot_be_prolonged() {
    let auth = auth("s3cret");
    let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
    let session = auth.session(at(1_000));
    assert!(auth.is_session(&session, at(999 + SESSION_SECONDS)));
    assert!(!auth.is_session(&session, at(1_000 + SESSION_SECONDS)));
    let (expiry, digest) = session.split_once('.').unwrap();
    let later = expiry.parse::<i64>().unwrap() + 1;
    assert!(!auth.is_session(&format!("{later}.{digest}"), at(1_000)));
    assert!(!auth.is_session(digest, at(1_000)) && !auth.is_session("", at(1_000)));
    assert!(!self::auth("other").is_session(&session, at(1_000)));
}
